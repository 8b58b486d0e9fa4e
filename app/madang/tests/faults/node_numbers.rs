//! A process stands still past the lease of its node number, and another takes the number: no id is issued twice.

use std::collections::BTreeSet;
use std::time::Duration;

use madang_board::ArticleId;
use madang_kernel::Id as _;
use serde_json::json;

use crate::client::{Client, Request};
use crate::cluster::Cluster;
use crate::process::Process;
use crate::servers::Servers;
use crate::turns::{alone, last};
use crate::waiting::{eventually, within};

/// The shortest lease that can be set.
const LEASE: Duration = Duration::from_secs(5);
/// Requests that wait in front of the process while it stands still.
const WAITING: usize = 16;
const SEQUENCE_BITS: u32 = 8;

/// The node number in the id of an article.
fn node_of(article: &str) -> u8 {
    (raw(article) >> SEQUENCE_BITS) as u8
}

fn raw(article: &str) -> i64 {
    article.parse::<ArticleId>().unwrap().raw()
}

/// Writes an article through one process: its id, or the status of a refusal.
fn write(process: &Process, board: &str, token: &str) -> Result<String, u16> {
    let (path, body) = (format!("/api/v1/boards/{board}/articles"), Some(json!({"title": "t", "content": "c"})));
    let request = Request { method: "POST", path: &path, token: Some(token), body };
    let answer = Client::of_one(process).send(&request).unwrap().answer;
    match answer.status {
        201 => Ok(answer.json(201)["article_id"].as_str().unwrap().to_owned()),
        status => Err(status),
    }
}

#[test]
fn a_process_paused_past_its_lease_repeats_no_id() {
    let _turn = alone();
    let mut cluster = Cluster::prepared(&Servers::of_environment(), &["all", "all"]);
    for process in &mut cluster.processes {
        process.set(&format!("cluster.node_lease_ms={}", LEASE.as_millis()));
    }
    cluster.processes[0].spawn();
    cluster.processes[0].wait_until_up();
    // Not by a command: that would take a number too, and give it back for the other process to take.
    let (board, token) = (&cluster.board("talk", "two_level"), &cluster.member("ann"));
    let (paused, other) = cluster.processes.split_at_mut(1);
    let (paused, other) = (&paused[0], &mut other[0]);
    let mut ids = vec![write(paused, board, token).unwrap()];
    let number = node_of(&ids[0]);

    paused.signal("STOP");
    let (answers, theirs) = std::thread::scope(|scope| {
        let waiting: Vec<_> = (0..WAITING).map(|_| scope.spawn(|| write(paused, board, token))).collect();
        last(LEASE + Duration::from_secs(1));
        other.spawn();
        other.wait_until_up();
        let theirs: Vec<String> = (0..50).filter_map(|_| write(other, board, token).ok()).collect();
        paused.signal("CONT");
        // Both issue ids from now on.
        let more: Vec<String> = (0..50).filter_map(|_| write(other, board, token).ok()).collect();
        let answers: Vec<Result<String, u16>> = waiting.into_iter().map(|one| one.join().unwrap()).collect();
        (answers, [theirs, more].concat())
    });
    assert_eq!(theirs.len(), 100, "the new holder issues ids");
    assert!(theirs.iter().all(|id| node_of(id) == number), "the number went to the other process");
    let refused = answers.iter().filter(|answer| answer.is_err()).count();
    println!("{refused} of {WAITING} requests that waited were refused, the others got a new number");
    assert!(answers.iter().all(|answer| !matches!(answer, Err(status) if *status != 503)), "{answers:?}");
    let late = eventually("the process has a number again", || write(paused, board, token).ok());
    let afterwards: Vec<String> = answers.into_iter().flatten().chain([late]).collect();
    // One that was drawn in the moment before the process stood still is older than all of the other's.
    let first = theirs.iter().map(|id| raw(id)).min().unwrap();
    let is_own = |id: &String| node_of(id) != number || raw(id) < first;
    assert!(afterwards.iter().all(is_own), "nothing is issued with the number of another");
    ids.extend(theirs);
    ids.extend(afterwards);
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "no id twice");
    let count = format!("/api/v1/boards/{board}/articles/count");
    within(Duration::from_secs(30), "every article is there", || {
        (cluster.get(&count).json(200)["count"] == ids.len()).then_some(())
    });
    cluster.stop();
}
