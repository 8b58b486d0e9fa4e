//! The disk of a database is full: that is an outage of a part, said as such, and never the fault of a message or of whoever
//! writes.

use std::time::Duration;

use serde_json::Value;

use crate::cluster::Cluster;
use crate::disk::SmallDisk;
use crate::servers::Servers;
use crate::truth::{check_compares_everything_and_finds_nothing, configure, quiet_zone};
use crate::turns::{alone, is_long, last};
use crate::waiting::eventually;
use madang_test_servers::Relational;

/// Room for the tables and a little more.
const DISK_BYTES: u64 = 6 << 20;
/// Articles with a like each: their scores fill more pages than are there.
const ARTICLES: usize = 400;

fn parts(cluster: &Cluster) -> Vec<Value> {
    cluster.processes[0].get("/readyz").json(200)["parts"].as_array().unwrap().clone()
}

/// What `/readyz` says of the first part that is not well and is called so.
fn trouble(cluster: &Cluster, name: &str) -> Option<String> {
    let found = parts(cluster).into_iter().find(|part| part["name"].as_str().unwrap().starts_with(name))?;
    (found["ok"] == false).then(|| found["detail"].as_str().unwrap().to_owned())
}

/// A site on a server of its own, two of whose databases have small disks.
fn site() -> (Relational, Cluster, [SmallDisk; 2]) {
    let mut server = Relational::start();
    let servers = Servers { mysql: vec![server.url()], ..Servers::of_environment() };
    let mut cluster = Cluster::prepared(&servers, &["all"]);
    configure(&cluster, &format!("time_zone = {:?}", quiet_zone()));
    cluster.start();
    cluster.stop();
    server.stop();
    let disks = ["hot_article", "like"]
        .map(|service| SmallDisk::under(&server.files_of(&format!("{}_{service}", cluster.name)), DISK_BYTES));
    server.start_again();
    cluster.start();
    (server, cluster, disks)
}

#[test]
fn a_full_disk_of_a_database_holds_up_what_it_keeps_and_blames_nobody() {
    let _turn = alone();
    let (_server, mut cluster, [hot, likes]) = site();
    let (ann, board) = (cluster.member("ann"), cluster.board("talk", "two_level"));

    hot.fill();
    let liked: Vec<String> = (0..ARTICLES).map(|number| cluster.article(&board, &ann, &number.to_string())).collect();
    for article in &liked {
        cluster.like(article, &ann);
    }
    let said = eventually("/readyz says that the server takes no writes", || trouble(&cluster, "mysql"));
    println!("/readyz: {said}");
    assert!(said.contains("has no room for writes of hot-article"), "{said}");
    // Longer than it takes a message to fail three times and to climb to the first rung.
    last(Duration::from_secs(if is_long() { 110 } else { 10 }));
    let groups = cluster.command(&["groups", "list"], "").expect(0).stdout;
    println!("{groups}");
    assert!(groups.contains("hot-article") && !groups.contains("waiting to be retried"), "{groups}");
    let letters = cluster.command(&["dlq", "list"], "").expect(0).stdout;
    assert!(letters.contains("0 of 0 dead letters"), "{letters}");
    hot.free();

    likes.fill();
    let bob = cluster.member("bob");
    let like = |article: &String| cluster.call("PUT", &format!("/api/v1/articles/{article}/like")).token(&bob).send();
    let refused = liked.iter().find_map(|article| {
        let answer = like(article);
        assert!([200, 503].contains(&answer.status), "{} {}", answer.status, answer.text());
        (answer.status == 503).then_some(answer)
    });
    let refused = refused.expect("there is no room for so many likes");
    assert!(refused.header("retry-after").is_some());
    let said = eventually("/readyz says so of likes too", || trouble(&cluster, "mysql"));
    assert!(said.contains("has no room for writes of"), "{said}");
    assert_eq!(cluster.get(&format!("/api/v1/articles/{}", liked[0])).status, 200, "reading goes on");
    likes.free();
    for article in &liked {
        eventually("people like again", || (like(article).status == 200).then_some(()));
    }
    check_compares_everything_and_finds_nothing(&cluster);
    let letters = cluster.command(&["dlq", "list"], "").expect(0).stdout;
    assert!(letters.contains("0 of 0 dead letters"), "{letters}");
    cluster.stop();
}
