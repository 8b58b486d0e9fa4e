//! Two instances of every role behind the proxy: one of them is killed, and people notice no more than a retry heals.

use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::http::{Answer, Call};
use crate::nginx::Nginx;
use crate::waiting::eventually;

const ROUNDS: usize = 40;

/// Sends a call and, when it was in the hands of whoever just died, once more.
fn send(call: impl Fn() -> Call) -> Answer {
    let first = call().send();
    if first.status != 503 {
        return first;
    }
    assert_eq!(first.header("retry-after"), Some("1"), "{}", first.text());
    call().send()
}

#[test]
fn people_go_on_when_one_of_two_instances_is_killed() {
    let mut cluster = Cluster::split(&["all", "all"]);
    let addresses: Vec<_> = cluster.processes.iter().map(crate::process::Process::address).collect();
    let nginx = Nginx::start(cluster.directory(), |_| addresses.clone());
    let (ann, board) = (cluster.member("ann"), cluster.board("talk", "two_level"));
    let to = |method: &str, path: &str| Call::new(&nginx.address, method, path).token(&ann);
    let articles = format!("/api/v1/boards/{board}/articles");
    let mut written: Vec<Value> = Vec::new();
    for round in 0..ROUNDS {
        if round == ROUNDS / 4 {
            cluster.processes[0].kill();
        }
        if round == ROUNDS * 3 / 4 {
            cluster.processes[0].spawn();
            cluster.processes[0].wait_until_up();
        }
        let body = json!({"title": format!("number {round}"), "content": "c"});
        let key = format!("key-{round}");
        let article = send(|| to("POST", &articles).header("idempotency-key", &key).json(&body)).json(201);
        let id = article["article_id"].as_str().expect("an id").to_owned();
        let path = format!("/api/v1/articles/{id}");
        assert_eq!(send(|| to("PUT", &format!("{path}/like"))).json(200)["like_count"], 1);
        assert_eq!(send(|| to("GET", &path)).json(200)["title"], body["title"]);
        written.insert(0, article["article_id"].clone());
    }
    // A list may be a moment behind where Redis was slow.
    eventually("each is there, once, newest first", || {
        let list = send(|| to("GET", &format!("{articles}?page_size=100"))).json(200);
        let listed = list["items"].as_array()?.iter().map(|item| &item["article_id"]);
        listed.eq(&written).then_some(())
    });
}
