//! Live changes between processes: who has an article open in one is told what happens in another.

use std::time::Instant;

use serde_json::json;

use crate::cache::Cache;
use crate::cluster::Cluster;
use crate::http::Call;
use crate::nginx::Nginx;
use crate::servers::Servers;
use crate::stream::{EventStream, Lateness, TOLD_WITHIN, who_never_reads};

/// Comments of which each is timed.
const SAMPLES: usize = 5;
/// A burst, written as fast as it goes.
const BURST: usize = 100;

/// Writes a comment at an address; gives its id, and when the writer was answered.
fn comment(address: &str, article: &str, token: &str) -> (String, Instant) {
    let path = format!("/api/v1/articles/{article}/comments");
    let written = Call::new(address, "POST", &path).token(token).json(&json!({"content": "a word"})).send().json(201);
    (written["comment_id"].as_str().unwrap().to_owned(), Instant::now())
}

/// A cluster with an article, its writer's token, and the article.
fn with_article(cluster: &Cluster) -> (String, String) {
    let ann = cluster.member("ann");
    let board = cluster.board("talk", "two_level");
    let article = cluster.article(&board, &ann, "open in two places");
    (ann, article)
}

/// Every sample is told in time, but for what the machine itself kept everybody waiting.
fn assert_told_in_time(written_at: &str, article: &str, token: &str, readers: &[&EventStream]) {
    let lateness = Lateness::watch();
    for _ in 0..SAMPLES {
        let (id, answered) = comment(written_at, article, token);
        for reader in readers {
            let heard = reader.until_created(&id);
            let (took, late) = (heard.at.saturating_duration_since(answered), lateness.most());
            assert!(took < TOLD_WITHIN + late, "told after {took:?}, on a machine that was {late:?} late");
            assert_eq!(heard.news["missed"], false, "{heard:?}");
        }
    }
}

#[test]
fn a_comment_in_one_process_is_told_in_the_other_within_a_second() {
    let cluster = Cluster::split(&["all", "all"]);
    let [one, other] = &cluster.processes[..] else { panic!("two processes") };
    let (ann, article) = with_article(&cluster);
    let here = EventStream::open(&one.address(), &article, None);
    let there = EventStream::open(&other.address(), &article, None);
    assert_eq!(there.next().news["comments"], 0, "the first event tells the state");
    one.call("PUT", &format!("/api/v1/articles/{article}/like")).token(&ann).send().json(200);
    for reader in [&here, &there] {
        reader.until("the like", |news| news["likes"] == 1);
    }
    assert_told_in_time(&one.address(), &article, &ann, &[&here, &there]);
    let (id, _) = comment(&one.address(), &article, &ann);
    let corrected =
        one.call("PUT", &format!("/api/v1/comments/{id}")).token(&ann).json(&json!({"content": "a better word"}));
    corrected.send().json(200);
    for reader in [&here, &there] {
        let heard = reader.until("the correction", |news| news["edited"].as_array().is_some_and(|ids| !ids.is_empty()));
        assert_eq!((&heard.news["edited"], &heard.news["missed"]), (&json!([id]), &json!(false)));
    }
    assert_told_in_time(&other.address(), &article, &ann, &[&there, &here]);

    // Somebody who comes back, to another process, is told what differs, and nothing when nothing does.
    let (id, _) = comment(&one.address(), &article, &ann);
    let last = there.until_created(&id).id;
    drop(there);
    let back = EventStream::open(&one.address(), &article, Some(&last));
    let (id, _) = comment(&other.address(), &article, &ann);
    let heard = back.next();
    assert_eq!((&heard.news["missed"], &heard.news["created"]), (&json!(false), &json!([id])));
    drop(back);
    comment(&one.address(), &article, &ann);
    let back = EventStream::open(&other.address(), &article, Some(&heard.id));
    let count = 2 * SAMPLES + 4;
    let heard = back.next();
    assert_eq!((&heard.news["missed"], &heard.news["comments"]), (&json!(true), &json!(count)));
}

#[test]
fn who_never_reads_holds_nothing_back() {
    let cluster = Cluster::split(&["all", "all"]);
    let [one, other] = &cluster.processes[..] else { panic!("two processes") };
    let (ann, article) = with_article(&cluster);
    let _slow: Vec<_> = (0..20).map(|_| who_never_reads(&other.address(), &article)).collect();
    let reader = EventStream::open(&other.address(), &article, None);
    reader.next();
    for _ in 0..BURST {
        comment(&one.address(), &article, &ann);
    }
    reader.until("the last count", |news| news["comments"] == BURST);
    assert_told_in_time(&one.address(), &article, &ann, &[&reader]);
}

#[test]
fn without_redis_readers_are_told_what_happens_here_and_later_the_rest() {
    let mut cache = Cache::start();
    let servers = Servers { redis: cache.servers(), ..Servers::of_environment() };
    let mut cluster = Cluster::prepared(&servers, &["all", "all"]);
    cluster.start();
    let [one, other] = &cluster.processes[..] else { panic!("two processes") };
    let (ann, article) = with_article(&cluster);
    let here = EventStream::open(&one.address(), &article, None);
    let there = EventStream::open(&other.address(), &article, None);
    let (id, _) = comment(&one.address(), &article, &ann);
    here.until_created(&id);
    there.until("the first comment", |news| news["comments"] == 1);

    cache.kill();
    let (id, _) = comment(&one.address(), &article, &ann);
    here.until_created(&id);
    let heard = there.until("that there is a second", |news| news["comments"] == 2);
    assert_eq!(heard.news["missed"], true, "it was found by looking, not heard of: {heard:?}");

    cache.start_empty();
    // Words are heard again by themselves; until then comments are found by looking.
    crate::waiting::eventually("a comment is told by its name again", || {
        let (_, before) = comment(&one.address(), &article, &ann);
        let heard = there.until("a further one", |news| news["comments"].as_u64() > Some(2));
        let is_named = heard.news["created"].as_array().is_some_and(|ids| !ids.is_empty());
        (is_named && heard.at >= before).then_some(())
    });
}

#[test]
fn the_proxy_passes_a_stream_on_as_it_comes() {
    let roles = ["member", "article", "comment", "like", "view", "hot-article", "article-read", "web"];
    let cluster = Cluster::split(&roles);
    let nginx = Nginx::start(cluster.directory(), |role| vec![cluster.with_role(role).address()]);
    let (ann, article) = with_article(&cluster);
    let reader = EventStream::open(&nginx.address, &article, None);
    reader.next();
    cluster.like(&article, &ann);
    reader.until("the like", |news| news["likes"] == 1);
    assert_told_in_time(&nginx.address, &article, &ann, &[&reader]);
}
