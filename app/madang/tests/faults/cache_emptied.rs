//! Redis is killed and comes back empty while people write, like and read: they go on, and what it held is made again.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cache::Cache;
use crate::client::Client;
use crate::cluster::Cluster;
use crate::load::{Load, fill};
use crate::servers::Servers;
use crate::truth::{configure, everything_is_right, quiet_zone};
use crate::turns::{alone, is_long, last};
use crate::waiting::eventually;

/// Views that are stored before Redis goes.
const VIEWS: u64 = 30;
/// An answer later than this is noticed.
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// What the hot list of today says about an article.
fn hot(cluster: &Cluster, article: &str) -> Option<Value> {
    let days = cluster.get("/api/v1/hot-articles").json(200);
    days["days"][0]["items"].as_array()?.iter().find(|item| item["article_id"] == article).cloned()
}

/// A view that counts, once views are counted again.
fn a_view_that_counts(cluster: &Cluster, article: &str) -> Value {
    let mut browser = 0;
    eventually("views are counted again", || {
        browser += 1;
        let view = cluster.view(article, &format!("later-{browser}"));
        (view["counted"] == true).then_some(view)
    })
}

#[test]
fn people_go_on_without_redis_and_what_it_held_comes_back() {
    let _turn = alone();
    let mut cache = Cache::start();
    let servers = Servers { redis: cache.servers(), ..Servers::of_environment() };
    let mut cluster = Cluster::prepared(&servers, &["all"]);
    configure(&cluster, &format!("time_zone = {:?}", quiet_zone()));
    cluster.start();
    let (boards, tokens) = fill(&cluster, 3, 40);
    let viewed = cluster.article(&boards[0], &tokens[0], "seen by many");
    for browser in 0..VIEWS {
        assert_eq!(cluster.view(&viewed, &format!("browser-{browser}"))["counted"], true);
    }
    eventually("the views are stored, and scored", || {
        hot(&cluster, &viewed).filter(|item| item["view_count"] == VIEWS)
    });
    let load = Load::start(6, &boards, &tokens, || Client::new(&cluster));
    eventually("people are at work", || (load.calls() > 300).then_some(()));

    cache.kill();
    let before = load.calls();
    let away = cluster.view(&viewed, "while it is away");
    assert_eq!(away["counted"], false, "{away}");
    assert_eq!(cluster.read(&viewed)["view_count"], VIEWS, "readers are answered by the owner");
    assert_eq!(cluster.get("/api/v1/hot-articles").status, 200);
    last(Duration::from_secs(if is_long() { 15 } else { 5 }));
    let meanwhile = load.calls() - before;
    cache.start_empty();
    eventually("readers see the stored views", || (cluster.read(&viewed)["view_count"] == VIEWS).then_some(()));
    assert_eq!(a_view_that_counts(&cluster, &viewed), json!({"counted": true, "view_count": VIEWS + 1}));
    let again = load.calls();
    eventually("people go on after its return", || (load.calls() > again + 300).then_some(()));

    let mut acknowledged = load.finish();
    println!(
        "{} calls, {meanwhile} of them without Redis; half under {:?}, 99 % under {:?}, all under {:?}",
        acknowledged.took.len(),
        acknowledged.permille(500),
        acknowledged.permille(990),
        acknowledged.permille(1_000)
    );
    assert!(meanwhile > 100, "only {meanwhile} calls were made without Redis");
    assert_eq!(acknowledged.failures, Vec::<String>::new());
    assert!(acknowledged.permille(1_000) < ANSWER_MAX, "{:?}", acknowledged.permille(1_000));
    acknowledged.articles.entry(viewed).or_default().views = VIEWS + 1;
    everything_is_right(&cluster, &acknowledged);
    cluster.stop();
}
