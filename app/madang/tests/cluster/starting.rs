//! A server starts while a part is away, says so, and serves what it can.

use crate::cluster::Cluster;
use crate::servers::{RedisServers, Servers};
use madang_test_servers::ports;

fn nobody(scheme: &str) -> String {
    format!("{scheme}127.0.0.1:{}", ports::free())
}

fn part<'a>(ready: &'a serde_json::Value, name: &str) -> &'a serde_json::Value {
    let parts = ready["parts"].as_array().unwrap();
    parts.iter().find(|part| part["name"].as_str().unwrap().starts_with(name)).unwrap()
}

#[test]
fn without_redis_people_write_and_read_and_views_are_not_counted() {
    let servers = Servers { redis: RedisServers::Single(nobody("redis://")), ..Servers::of_environment() };
    let mut cluster = Cluster::prepared(&servers, &["all"]);
    cluster.start();
    let ready = cluster.processes[0].get("/readyz").json(200);
    assert_eq!(part(&ready, "redis")["ok"], false, "{ready}");
    let ann = cluster.member("ann");
    let board = cluster.board("talk", "two_level");
    let article = cluster.article(&board, &ann, "first");
    cluster.like(&article, &ann);
    cluster.comment(&article, &ann, None);
    let read = cluster.read(&article);
    assert_eq!((read["like_count"].as_u64(), read["comment_count"].as_u64()), (Some(1), Some(1)), "{read}");
    assert_eq!(cluster.view(&article, "one")["counted"], false);
    let list = cluster.get(&format!("/api/v1/boards/{board}/articles")).json(200);
    assert_eq!(list["items"][0]["article_id"], article.as_str());
    cluster.stop();
}

#[test]
fn without_kafka_people_write_and_read_what_they_wrote() {
    let servers = Servers { kafka: nobody(""), ..Servers::of_environment() };
    let mut cluster = Cluster::prepared(&servers, &["all"]);
    cluster.start();
    let ready = cluster.processes[0].get("/readyz").json(200);
    assert_eq!(part(&ready, "kafka")["ok"], false, "{ready}");
    let ann = cluster.member("ann");
    let board = cluster.board("talk", "two_level");
    let article = cluster.article(&board, &ann, "first");
    cluster.like(&article, &ann);
    assert_eq!(cluster.read(&article)["like_count"], 1);
    cluster.stop();
}

#[test]
fn without_one_relational_server_the_shards_of_the_other_are_served() {
    let mut servers = Servers::of_environment();
    servers.mysql[1] = nobody("mysql://root:x@");
    let mut cluster = Cluster::prepared(&servers, &["all"]);
    cluster.start();
    let ready = cluster.processes[0].get("/readyz").json(200);
    let (_, away) = servers.mysql[1].rsplit_once('@').unwrap();
    assert_eq!(part(&ready, &format!("mysql {away}"))["ok"], false, "{ready}");
    cluster.member("ann");
    let boards = cluster.get("/api/v1/boards");
    assert!([200, 503].contains(&boards.status), "{}", boards.text());
    cluster.stop();
}
