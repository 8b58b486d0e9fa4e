//! Two processes with every role: what one is told the other knows, and one goes on when the other stops or dies.

use std::time::Duration;

use serde_json::json;

use crate::cluster::Cluster;
use crate::process::Process;
use crate::waiting::{eventually, within};

/// Graceful: within a second; the rest is for a machine that is busy.
const HANDED_OVER: Duration = Duration::from_secs(10);
/// After a kill: dead after 9 s by the store's clock, and the next look.
const TAKEN_OVER: Duration = Duration::from_secs(40);

/// The shards of a service that a process says it serves; it says so at every change.
fn shards(process: &Process, service: &str) -> Option<u32> {
    let log = process.log();
    let of_service = format!("={service} ");
    let mut said = log.lines().filter(|line| line.contains("this instance now has") && line.contains(&of_service));
    let (_, number) = said.next_back()?.rsplit_once("shards=")?;
    number.trim().parse().ok()
}

fn wait_until_shared(cluster: &Cluster) {
    eventually("both serve half of the shards", || {
        let halves = cluster.processes.iter().all(|process| shards(process, "article") == Some(32));
        halves.then_some(())
    });
}

#[test]
fn what_is_written_in_one_is_read_in_the_other_at_once() {
    let cluster = Cluster::split(&["all", "all"]);
    let [one, other] = &cluster.processes[..] else { panic!("two processes") };
    let ann = cluster.member("ann");
    let board = cluster.board("talk", "two_level");
    for number in 0..20 {
        let body = json!({"title": format!("number {number}"), "content": "c"});
        let path = format!("/api/v1/boards/{board}/articles");
        let article = one.call("POST", &path).token(&ann).json(&body).send().json(201);
        let id = article["article_id"].as_str().unwrap();
        let read = other.get(&format!("/api/v1/articles/{id}")).json(200);
        assert_eq!(read["title"], article["title"]);
        eventually("it is the first of the list", || {
            let list = other.get(&format!("/api/v1/boards/{board}/articles")).json(200);
            (list["items"][0]["article_id"] == id).then_some(())
        });
        let path = format!("/api/v1/articles/{id}/like");
        other.call("PUT", &path).token(&ann).send().json(200);
        eventually("the like is read", || {
            (one.get(&format!("/api/v1/articles/{id}")).json(200)["like_count"] == 1).then_some(())
        });
    }
}

#[test]
fn a_process_that_stops_hands_its_shards_over_at_once() {
    let mut cluster = Cluster::split(&["all", "all"]);
    wait_until_shared(&cluster);
    cluster.processes[0].stop();
    within(HANDED_OVER, "the other serves every shard", || {
        (shards(&cluster.processes[1], "article") == Some(64)).then_some(())
    });
}

#[test]
fn a_process_that_is_killed_loses_nothing_that_it_acknowledged() {
    let mut cluster = Cluster::split(&["all", "all"]);
    wait_until_shared(&cluster);
    let ann = cluster.member("ann");
    let board = cluster.board("talk", "two_level");
    let articles: Vec<String> = (0..30).map(|number| cluster.article(&board, &ann, &format!("{number}"))).collect();
    for article in &articles {
        cluster.like(article, &ann);
    }
    cluster.processes[0].kill();
    let survivor = &cluster.processes[1];
    let path = format!("/api/v1/boards/{board}/articles?page_size=100");
    eventually("every article is there with its like", || {
        let list = survivor.get(&path).json(200);
        let items = list["items"].as_array()?;
        (items.len() == articles.len() && items.iter().all(|item| item["like_count"] == 1)).then_some(())
    });
    within(TAKEN_OVER, "the other serves every shard", || (shards(survivor, "article") == Some(64)).then_some(()));
    // What the dead one had not sent is found in the outbox, and reaches the scores.
    eventually("a check finds no difference and leaves nothing out", || {
        let checked = cluster.command(&["check"], "");
        (checked.code == 0 && !checked.stdout.contains("not compared")).then_some(())
    });
}
