//! A host whose clock is wrong: it is said, with what to do, and nobody is sent there until the clock is right.

use serde_json::Value;

use crate::cluster::Cluster;
use crate::servers::Servers;
use crate::shifted_clock::ShiftedClock;
use crate::waiting::eventually;

const HOUR_S: i64 = 3_600;

fn clock_part(ready: &Value) -> (bool, String) {
    let part = ready["parts"].as_array().unwrap().iter().find(|part| part["name"] == "clock").unwrap();
    (part["ok"] == true, part["detail"].as_str().unwrap().to_owned())
}

/// Waits until the process says that it can be sent requests, or that it cannot, because of its clock.
fn becomes(cluster: &Cluster, ready: bool) -> String {
    let status = if ready { 200 } else { 503 };
    eventually(if ready { "it is ready" } else { "it is not ready" }, || {
        let answer = cluster.processes[0].get("/readyz");
        let (is_well, detail) = (answer.status == status).then(|| clock_part(&answer.json(status)))?;
        (is_well == ready).then_some(detail)
    })
}

/// The gauge of the skew, by server.
fn skews_s(cluster: &Cluster) -> Vec<f64> {
    let metrics = cluster.processes[0].get("/metrics").text();
    let lines = metrics.lines().filter(|line| line.starts_with("madang_clock_skew_seconds{server="));
    lines.map(|line| line.rsplit(' ').next().unwrap().parse().unwrap()).collect()
}

fn said(cluster: &Cluster, words: &str) -> usize {
    cluster.processes[0].log().lines().filter(|line| line.contains(words)).count()
}

#[test]
fn a_clock_that_is_wrong_is_said_with_what_to_do_and_makes_its_process_not_ready() {
    let clock = ShiftedClock::new();
    let mut cluster = Cluster::prepared(&Servers::of_environment(), &["all"]);
    for (name, value) in clock.variables() {
        cluster.processes[0].set_variable(name, &value);
    }
    cluster.start();
    let (ann, board) = (cluster.member("ann"), cluster.board("talk", "two_level"));
    let article = cluster.article(&board, &ann, "first");
    let comment = || {
        let path = format!("/api/v1/articles/{article}/comments");
        cluster.call("POST", &path).token(&ann).json(&serde_json::json!({"content": "a word"})).send()
    };
    assert_eq!(comment().status, 201);
    assert!(becomes(&cluster, true).starts_with("within "));
    assert!(skews_s(&cluster).iter().all(|skew| skew.abs() < 1.0), "{:?}", skews_s(&cluster));

    for (shift_s, words) in [(HOUR_S, "s ahead of"), (-HOUR_S, "s behind")] {
        clock.set(shift_s);
        let detail = becomes(&cluster, false);
        println!("{shift_s} s: {detail}; {:?} s; a comment is answered with {}", skews_s(&cluster), comment().status);
        assert!(detail.contains(words) && detail.contains("synchronise the clocks"), "{detail}");
        let expected_s = shift_s as f64;
        assert!(skews_s(&cluster).iter().all(|skew| (skew - expected_s).abs() < 5.0), "{:?}", skews_s(&cluster));
        let lines = said(&cluster, &format!("{words} that of database"));
        assert_eq!(lines, cluster_servers(), "one line a server, and not one a measurement");
        clock.set(0);
        becomes(&cluster, true);
        eventually("people write again", || (comment().status == 201).then_some(()));
    }
    assert!(said(&cluster, "chrony") >= 2 && said(&cluster, "agrees with that of database") >= 2);

    // A start with a wrong clock says so at once.
    cluster.stop();
    clock.set(HOUR_S);
    cluster.start();
    becomes(&cluster, false);
    clock.set(0);
    becomes(&cluster, true);
    cluster.stop();
}

/// How many relational servers there are.
fn cluster_servers() -> usize {
    Servers::of_environment().mysql.len()
}
