//! A record that is larger than a dead letter may be, written by somebody else: it is given up like any other, nobody waits
//! behind it, and what is said about it is said once.

use std::time::Duration;

use rdkafka::ClientConfig;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer as _};

use crate::cluster::Cluster;
use crate::quiet::{configure, quiet_zone};
use crate::servers::Servers;
use crate::waiting::eventually;

const LIKES: &str = "madang.like.v1";
/// What topics take and dead letters do not: those hold a payload of 4 MiB.
const TOO_LARGE_BYTES: usize = 4_250_000;

/// Writes a record as somebody with access to the broker can.
fn write(servers: &Servers, cluster: &Cluster, key: &str) {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", &servers.kafka).set("message.max.bytes", "5000000");
    // As the processes choose the partition of a key.
    config.set("partitioner", "murmur2_random");
    let producer: BaseProducer = config.create().unwrap();
    let (topic, payload) = (format!("{}.{LIKES}", cluster.name), vec![b'x'; TOO_LARGE_BYTES]);
    producer.send(BaseRecord::to(&topic).key(key).payload(&payload)).map_err(|(error, _)| error).unwrap();
    producer.flush(Duration::from_secs(30)).unwrap();
}

/// Lines of the log of the one process that speak of dead letters.
fn lines(cluster: &Cluster) -> Vec<String> {
    let log = cluster.processes[0].log();
    log.lines().filter(|line| line.contains("dead letter")).map(str::to_owned).collect()
}

#[test]
fn a_record_too_large_for_the_dead_letters_is_buried_by_its_beginning_and_stops_no_group() {
    let servers = Servers::of_environment();
    let mut cluster = Cluster::prepared(&servers, &["all"]);
    configure(&cluster, &format!("time_zone = {:?}", quiet_zone()));
    cluster.start();
    let (ann, board) = (cluster.member("ann"), cluster.board("talk", "two_level"));
    let article = cluster.article(&board, &ann, "first");
    write(&servers, &cluster, &article);
    // Behind it in its partition, which is that of its key.
    cluster.like(&article, &ann);
    let begun = std::time::Instant::now();
    eventually("the group of hot articles is past it", || {
        let hot = cluster.get("/api/v1/hot-articles").json(200);
        (hot["days"][0]["items"][0]["like_count"] == 1).then_some(())
    });
    println!("past it after {:?}; lines about dead letters: {}", begun.elapsed(), lines(&cluster).len());

    let letters = eventually("both groups that read likes gave it up", || {
        let listed = cluster.command(&["dlq", "list"], "").expect(0).stdout;
        listed.contains("2 of 2 dead letters").then_some(listed)
    });
    let id = letters.split(' ').next().unwrap();
    let shown = cluster.command(&["dlq", "show", id], "").expect(0).stdout;
    let beginning = format!("header cut-from-bytes: {TOO_LARGE_BYTES}");
    assert!(shown.contains(&beginning) && shown.contains(&format!("header record: {LIKES}/")), "{shown}");
    let refused = cluster.command(&["dlq", "replay", id], "").expect(1);
    assert!(refused.stdout.contains("only its beginning was kept"), "{refused:?}");
    assert_eq!(lines(&cluster).len(), 2, "one line a group: {:?}", lines(&cluster));
    let groups = cluster.command(&["groups", "list"], "").expect(0).stdout;
    assert!(groups.contains("hot-article: up to date") && groups.contains("article-read: up to date"), "{groups}");
    cluster.stop();
}
