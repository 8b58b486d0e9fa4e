//! A record that is larger than a dead letter may be, written by somebody else: it is given up like any other, nobody waits
//! behind it, and what is said about it is said once.

use crate::cluster::Cluster;
use crate::first_article::FirstArticle;
use crate::records::{self, LIKES};
use crate::waiting::eventually;

/// What topics take and dead letters do not: those hold a payload of 4 MiB.
const TOO_LARGE_BYTES: usize = 4_250_000;

/// Lines of the log of the one process that speak of dead letters.
fn lines(cluster: &Cluster) -> Vec<String> {
    let log = cluster.processes[0].log();
    log.lines().filter(|line| line.contains("dead letter")).map(str::to_owned).collect()
}

#[test]
fn a_record_too_large_for_the_dead_letters_is_buried_by_its_beginning_and_stops_no_group() {
    let FirstArticle { servers, mut cluster, ann, article, .. } = FirstArticle::on_one_process();
    records::write(&servers, &cluster, &article, &vec![b'x'; TOO_LARGE_BYTES]);
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
    assert!(refused.stdout.contains("only the beginning of this message was kept"), "{refused:?}");
    assert_eq!(lines(&cluster).len(), 2, "one line a group: {:?}", lines(&cluster));
    let groups = cluster.command(&["groups", "list"], "").expect(0).stdout;
    assert!(groups.contains("hot-article: up to date") && groups.contains("article-read: up to date"), "{groups}");
    cluster.stop();
}
