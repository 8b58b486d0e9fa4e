//! What must be true once everything is back: what was acknowledged, no more and no less, in every place that tells it.

use std::time::Duration;

use serde_json::Value;

use crate::cluster::Cluster;
use crate::load::Acknowledged;
pub(crate) use crate::quiet::{configure, quiet_zone};
use crate::waiting::within;

/// How long a backlog may take to be worked off, by a debug build on a busy machine.
const CATCH_UP: Duration = Duration::from_secs(120);
/// Places of the hot list.
const HOT_MAX: usize = 10;

/// The score and counts of each place, as they must be; ties go to the earlier article.
fn ranking(acknowledged: &Acknowledged) -> Vec<(u64, String, u64, u64)> {
    let mut scored: Vec<_> = acknowledged
        .articles
        .iter()
        .map(|(article, known)| {
            let (likes, comments) = (known.likes.len() as u64, known.comments.len() as u64);
            (3 * likes + 2 * comments + known.views, article.clone(), likes, comments)
        })
        .filter(|(score, ..)| *score > 0)
        .collect();
    let id = |text: &String| text.parse::<u64>().unwrap();
    scored.sort_by_key(|(score, article, ..)| (std::cmp::Reverse(*score), id(article)));
    scored.truncate(HOT_MAX);
    scored
}

fn shown(day: &Value) -> Vec<(u64, String, u64, u64)> {
    let place = |item: &Value| {
        let number = |field: &str| item[field].as_u64().unwrap();
        let article = item["article_id"].as_str().unwrap().to_owned();
        (number("score"), article, number("like_count"), number("comment_count"))
    };
    day["items"].as_array().unwrap().iter().map(place).collect()
}

/// Waits until everything that was acknowledged is told by the hot list, the query model and a check, and that no more is.
pub(crate) fn everything_is_right(cluster: &Cluster, acknowledged: &Acknowledged) {
    let expected = ranking(acknowledged);
    let mut last = Vec::new();
    let begun = std::time::Instant::now();
    while last != expected {
        assert!(begun.elapsed() < CATCH_UP, "the hot list is {last:?}, and should be {expected:?}");
        last = shown(&cluster.get("/api/v1/hot-articles").json(200)["days"][0]);
        std::thread::park_timeout(Duration::from_millis(50));
    }
    println!("the hot list is right after {:?}", begun.elapsed());
    every_article_is_read_as_it_is(cluster, acknowledged);
    check_compares_everything_and_finds_nothing(cluster);
    let letters = cluster.command(&["dlq", "list"], "").expect(0).stdout;
    assert!(letters.contains("0 of 0 dead letters"), "{letters}");
}

fn every_article_is_read_as_it_is(cluster: &Cluster, acknowledged: &Acknowledged) {
    for (article, known) in &acknowledged.articles {
        let wanted = (Some(known.likes.len() as u64), Some(known.comments.len() as u64));
        within(CATCH_UP, &format!("article {article} has {wanted:?} likes and comments"), || {
            let read = cluster.read(article);
            ((read["like_count"].as_u64(), read["comment_count"].as_u64()) == wanted).then_some(())
        });
    }
    for article in &acknowledged.deleted {
        assert_eq!(cluster.get(&format!("/api/v1/articles/{article}")).status, 404, "{article} is deleted");
    }
}

/// Events may be under way for a moment; then a check compares all there is.
pub(crate) fn check_compares_everything_and_finds_nothing(cluster: &Cluster) {
    let mut last = String::new();
    let begun = std::time::Instant::now();
    loop {
        let checked = cluster.command(&["check"], "");
        let is_whole = !checked.stdout.contains("not compared")
            && checked.stdout.contains("articles of the query model")
            && checked.stdout.contains("outbox 0,")
            && checked.stdout.contains("dead letters of relays 0,")
            && !checked.stdout.contains("are still to be cleaned up");
        if checked.code == 0 && is_whole {
            return;
        }
        assert!(begun.elapsed() < CATCH_UP, "{last}");
        last = format!("exit {}\n{}\n{}", checked.code, checked.stdout, checked.stderr);
    }
}
