//! `madang dlq` on a cluster: what was given up is listed, shown as it came, and takes effect once it is replayed.

use bytes::Bytes;
use madang_board::{ArticleId, MemberId};
use madang_engine_kafka::{KafkaLog, KafkaOptions};
use madang_event::{ArticleLikes, Envelope, Event};
use madang_kernel::{EventId, Id as _, ShardId, Timestamp};
use madang_messaging::{EventLog as _, Message, PublishOutcome, header};
use serde_json::Value;

use crate::cluster::Cluster;
use crate::quiet::{configure, quiet_zone};
use crate::servers::Servers;
use crate::waiting::eventually;

const LIKES: &str = "madang.like.v1";

/// Publishes a message as a process of the cluster would.
fn publish(servers: &Servers, cluster: &Cluster, message: Message) {
    let options = KafkaOptions {
        prefix: format!("{}.", cluster.name),
        // As the processes are configured.
        partitions: 2,
        ..KafkaOptions::new("madang", servers.kafka.clone())
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let outcome = runtime.block_on(async {
        let log = KafkaLog::open(options).unwrap();
        log.publish(&[message]).await.unwrap()
    });
    assert_eq!(outcome, [PublishOutcome::Published]);
}

fn message(article: &str, topic: &str, payload: Bytes) -> Message {
    let occurred_at =
        Timestamp::from_millis(i64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap());
    let event_id = EventId::from_raw(rand::random_range(1..i64::MAX));
    Message {
        event_id,
        topic: topic.to_owned(),
        key: article.to_owned(),
        shard: ShardId::HOME,
        occurred_at,
        headers: Vec::new(),
        payload,
    }
}

/// The ids of the letters that are there.
fn letters(cluster: &Cluster) -> Vec<String> {
    let listed = cluster.command(&["dlq", "list"], "").expect(0).stdout;
    let lines: Vec<&str> = listed.lines().collect();
    let (total, lines) = lines.split_last().unwrap();
    // They are counted after they were listed, and another may have died meanwhile.
    assert!(total.starts_with(&format!("{} of ", lines.len())) && total.ends_with(" dead letters"), "{total}");
    lines.iter().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
}

fn hot(cluster: &Cluster) -> Value {
    cluster.get("/api/v1/hot-articles").json(200)["days"][0]["items"].clone()
}

/// A change that the group of hot articles gave up: five likes, of which nobody else was told.
fn given_up(article: &str) -> Message {
    let article_id: ArticleId = article.parse().unwrap();
    let liked: Vec<MemberId> = (1..=5).map(MemberId::from_raw).collect();
    let mut letter = message(article, &format!("{LIKES}.hot-article.dlq"), Bytes::new());
    let likes = ArticleLikes { article_id, liked, unliked: Vec::new(), like_count: 5 };
    let envelope = Envelope {
        event_id: letter.event_id,
        occurred_at: letter.occurred_at,
        key: article_id,
        version: 5,
        event: Event::ArticleLikesChanged(likes),
    };
    letter.payload = envelope.encode();
    let reasons = [(header::GROUP, "hot-article"), (header::ORIGINAL_TOPIC, LIKES), (header::ATTEMPTS, "9")];
    for (name, value) in reasons.into_iter().chain([(header::REASON, "it was a bad day")]) {
        letter.set_header(name, value);
    }
    letter
}

#[test]
fn a_letter_is_shown_as_it_is_and_takes_effect_when_it_is_replayed() {
    let servers = Servers::of_environment();
    let mut cluster = Cluster::prepared(&servers, &["all"]);
    configure(&cluster, &format!("time_zone = {:?}", quiet_zone()));
    cluster.start();
    let (ann, board) = (cluster.member("ann"), cluster.board("talk", "two_level"));
    let article = cluster.article(&board, &ann, "first");
    cluster.comment(&article, &ann, None);
    eventually("the list tells of it", || (hot(&cluster)[0]["comment_count"] == 1).then_some(()));
    assert!(letters(&cluster).is_empty());

    publish(&servers, &cluster, given_up(&article));
    let id = eventually("the letter is listed", || letters(&cluster).pop());
    let shown = cluster.command(&["dlq", "show", &id], "").expect(0).stdout;
    for words in [&format!("key: {article}"), "header reason: it was a bad day", "\"like_count\":5"] {
        assert!(shown.contains(words), "{words} in {shown}");
    }
    let would = cluster.command(&["dlq", "replay", &id, "--dry-run"], "").expect(0).stdout;
    assert!(would.contains("would be published to madang.like.v1.hot-article.retry.5s"), "{would}");
    assert_eq!(letters(&cluster), std::slice::from_ref(&id), "a dry run does nothing");

    let done = cluster.command(&["dlq", "replay", &id], "").expect(0).stdout;
    assert!(done.contains("1 replayed, 0 failed"), "{done}");
    eventually("it takes effect", || (hot(&cluster)[0]["like_count"] == 5).then_some(()));
    assert!(letters(&cluster).is_empty());
    cluster.command(&["dlq", "show", &id], "").expect(1);
    cluster.command(&["dlq", "replay", &id], "").expect(1);
    cluster.stop();
}

#[test]
fn bytes_that_are_no_event_are_kept_as_they_came_and_die_again_when_they_are_replayed() {
    let servers = Servers::of_environment();
    let mut cluster = Cluster::prepared(&servers, &["all"]);
    cluster.start();
    let (ann, board) = (cluster.member("ann"), cluster.board("talk", "two_level"));
    let article = cluster.article(&board, &ann, "first");
    publish(&servers, &cluster, message(&article, LIKES, Bytes::from_static(b"\xff\xfe no event")));
    // Two groups read likes, and each has dead letters of its own.
    let both = |what: &str| {
        eventually(what, || {
            let ids = letters(&cluster);
            (ids.len() == 2).then_some(ids)
        })
    };
    let first = both("both groups gave it up");
    let shown = cluster.command(&["dlq", "show", &first[0]], "").expect(0).stdout;
    assert!(shown.contains("11 bytes that are no text: ff fe 20"), "{shown}");
    let done = cluster.command(&["dlq", "replay", "--all"], "").expect(0).stdout;
    assert!(done.contains("2 replayed, 0 failed"), "{done}");
    let second = both("it died again");
    assert!(first.iter().all(|id| !second.contains(id)), "{first:?}, then {second:?}");
    // Nobody else was held up.
    cluster.like(&article, &ann);
    assert_eq!(cluster.read(&article)["like_count"], 1);
    cluster.stop();
}
