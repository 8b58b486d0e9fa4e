//! `madang dlq` on a cluster: what was given up is listed, shown as it came, and takes effect once it is replayed.

use bytes::Bytes;
use madang_messaging::{Message, header};
use serde_json::Value;

use crate::cluster::Cluster;
use crate::first_article::FirstArticle;
use crate::records::{self, LIKES, forged, message, publish};
use crate::waiting::eventually;

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
    let mut letter = forged(article, 5, records::likes(article, 5));
    letter.topic = format!("{LIKES}.hot-article.dlq");
    let reasons = [(header::GROUP, "hot-article"), (header::ORIGINAL_TOPIC, LIKES), (header::ATTEMPTS, "9")];
    for (name, value) in reasons.into_iter().chain([(header::REASON, "it was a bad day")]) {
        letter.set_header(name, value);
    }
    letter
}

#[test]
fn a_letter_is_shown_as_it_is_and_takes_effect_when_it_is_replayed() {
    let FirstArticle { servers, mut cluster, ann, article, .. } = FirstArticle::on_one_process();
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
    assert!(would.contains("would be sent to madang.like.v1.hot-article.retry.5s again"), "{would}");
    assert_eq!(letters(&cluster), std::slice::from_ref(&id), "a dry run does nothing");

    let done = cluster.command(&["dlq", "replay", &id], "").expect(0).stdout;
    assert!(done.contains("1 sent again, 0 failed"), "{done}");
    eventually("it takes effect", || (hot(&cluster)[0]["like_count"] == 5).then_some(()));
    assert!(letters(&cluster).is_empty());
    cluster.command(&["dlq", "show", &id], "").expect(1);
    cluster.command(&["dlq", "replay", &id], "").expect(1);
    cluster.stop();
}

#[test]
fn bytes_that_are_no_event_are_kept_as_they_came_and_die_again_when_they_are_replayed() {
    let FirstArticle { servers, mut cluster, ann, article, .. } = FirstArticle::on_one_process();
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
    assert!(shown.contains("11 bytes that are not text: ff fe 20"), "{shown}");
    let done = cluster.command(&["dlq", "replay", "--all"], "").expect(0).stdout;
    assert!(done.contains("2 sent again, 0 failed"), "{done}");
    let second = both("it died again");
    assert!(first.iter().all(|id| !second.contains(id)), "{first:?}, then {second:?}");
    // Nobody else was held up.
    cluster.like(&article, &ann);
    assert_eq!(cluster.read(&article)["like_count"], 1);
    cluster.stop();
}
