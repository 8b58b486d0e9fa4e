//! `madang groups skip`: a record that a group cannot get past, because its dead letters are refused too, is passed over by an
//! operator's word, in whichever process runs the group.

use std::time::Instant;

use rdkafka::ClientConfig;
use rdkafka::admin::{AdminClient, AdminOptions, AlterConfig, ResourceSpecifier};
use rdkafka::client::DefaultClientContext;
use serde_json::Value;

use crate::cluster::Cluster;
use crate::first_article::FirstArticle;
use crate::records::{self, LIKES};
use crate::servers::Servers;
use crate::waiting::eventually;

/// The groups that read likes.
const GROUPS: [&str; 2] = ["hot-article", "article-read"];
/// What topics take and dead letters do not.
const TOO_LARGE_BYTES: usize = 4_250_000;

/// Has the broker refuse every dead letter of likes, however little of it is kept.
fn refuse_letters(servers: &Servers, cluster: &Cluster) {
    let admin: AdminClient<DefaultClientContext> =
        ClientConfig::new().set("bootstrap.servers", &servers.kafka).create().unwrap();
    let topics = GROUPS.map(|group| format!("{}.{LIKES}.{group}.dlq", cluster.name));
    let configs = topics
        .iter()
        .map(|topic| AlterConfig::new(ResourceSpecifier::Topic(topic)).set("max.message.bytes", "1000"))
        .collect::<Vec<_>>();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let altered = runtime.block_on(admin.alter_configs(&configs, &AdminOptions::new())).unwrap();
    assert!(altered.iter().all(Result::is_ok), "{altered:?}");
}

/// What `/readyz` says of a group.
fn group(cluster: &Cluster, group: &str) -> Value {
    let ready = cluster.processes[0].get("/readyz").json(200);
    let parts = ready["parts"].as_array().unwrap();
    parts.iter().find(|part| part["name"] == format!("group {group}").as_str()).unwrap().clone()
}

/// The record at which a group is stuck.
fn stuck_at(cluster: &Cluster, name: &str) -> Option<String> {
    let part = group(cluster, name);
    let detail = part["detail"].as_str().unwrap();
    let record = detail.strip_prefix("stuck at ")?.split(": ").next().unwrap();
    assert_eq!(part["ok"], false, "{part}");
    Some(record.to_owned())
}

#[test]
fn a_record_that_cannot_be_buried_is_passed_over_when_an_operator_says_so() {
    let FirstArticle { servers, mut cluster, ann, article, .. } = FirstArticle::on_one_process();
    refuse_letters(&servers, &cluster);
    // Bytes of chance: what is kept of them does not become small by compression.
    let payload: Vec<u8> = std::iter::repeat_with(rand::random).take(TOO_LARGE_BYTES).collect();
    records::write(&servers, &cluster, &article, &payload);
    // Behind it in its partition, which is that of its key.
    cluster.like(&article, &ann);
    let hot_likes = || cluster.get("/api/v1/hot-articles").json(200)["days"][0]["items"][0]["like_count"].clone();
    let records = GROUPS.map(|group| {
        let begun = Instant::now();
        let record = eventually("the group says where it is stuck", || stuck_at(&cluster, group));
        println!("{group} is stuck at {record} after {:?}", begun.elapsed());
        assert!(record.starts_with(&format!("{LIKES}/")), "{record}");
        record
    });
    assert_eq!(hot_likes(), Value::Null, "what is behind it waits");
    let refused = cluster.command(&["groups", "skip", "hot-article", "kitchen/0/1"], "").expect(1).stderr;
    assert!(refused.contains("does not read the topic kitchen"), "{refused}");

    for (group_name, record) in GROUPS.iter().zip(&records) {
        let said = cluster.command(&["groups", "skip", group_name, record], "").expect(0).stdout;
        assert!(said.contains(&format!("{group_name} will skip {record}")), "{said}");
    }
    let begun = Instant::now();
    eventually("what is behind it is scored", || (hot_likes() == 1).then_some(()));
    println!("past it {:?} after the word", begun.elapsed());
    for name in GROUPS {
        eventually("the group is well again", || (group(&cluster, name)["ok"] == true).then_some(()));
    }
    let log = cluster.processes[0].log();
    let lines = log.lines().filter(|line| line.contains("stuck")).count();
    println!("{lines} lines say that a group is stuck, or no longer");
    assert!((2..=12).contains(&lines), "said, and not at every attempt: {lines}");
    let letters = cluster.command(&["dlq", "list"], "").expect(0).stdout;
    assert!(letters.contains("0 of 0 dead letters"), "neither applied nor kept: {letters}");
    eventually("and nothing differs", || (cluster.command(&["check"], "").code == 0).then_some(()));
    cluster.stop();
}
