//! A crowd likes one article at the same time, through two processes: every like is counted, and none twice.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::client::{Client, Request};
use crate::cluster::Cluster;
use crate::load::fill;
use crate::truth::check_compares_everything_and_finds_nothing;
use crate::turns::{alone, is_long};
use crate::waiting::within;

const CONNECTIONS: usize = 100;

#[test]
fn likes_of_a_crowd_through_two_processes_are_counted_exactly() {
    let _turn = alone();
    let likes = if is_long() { 3_000 } else { 300 };
    let mut cluster = Cluster::split(&["all", "all"]);
    let (boards, tokens) = fill(&cluster, 1, likes);
    let article = cluster.article(&boards[0], &tokens[0], "liked by everybody");
    let path = format!("/api/v1/articles/{article}/like");
    let answered: Vec<u64> = std::thread::scope(|scope| {
        let shares = tokens.chunks(likes / CONNECTIONS).enumerate();
        let crowd: Vec<_> = shares
            .map(|(number, share)| {
                // Each connection stays with one of the processes.
                let mut client = Client::of_one(&cluster.processes[number % 2]);
                let path = &path;
                scope.spawn(move || {
                    let like = |token: &String| {
                        let request = Request { method: "PUT", path, token: Some(token), body: None };
                        let answer = client.send(&request).unwrap().answer.json(200);
                        assert_eq!(answer["liked"], true);
                        answer["like_count"].as_u64().unwrap()
                    };
                    share.iter().map(like).collect::<Vec<u64>>()
                })
            })
            .collect();
        crowd.into_iter().flat_map(|person| person.join().unwrap()).collect()
    });
    assert_eq!(answered.len(), likes);
    let distinct: BTreeSet<u64> = answered.iter().copied().collect();
    assert!(distinct.iter().copied().eq(1..=likes as u64), "each was told the count with their own like");
    for process in &cluster.processes {
        within(Duration::from_secs(60), "every process reads the exact count", || {
            let read = process.get(&format!("/api/v1/articles/{article}")).json(200);
            (read["like_count"] == likes as u64).then_some(())
        });
        assert_eq!(process.call("GET", &path).token(&tokens[0]).send().json(200)["like_count"], likes as u64);
    }
    check_compares_everything_and_finds_nothing(&cluster);
    cluster.stop();
}
