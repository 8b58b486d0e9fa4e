//! The programs as processes on real servers: what they refuse, and that what they refuse leaves no trace.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

use std::path::Path;
use std::time::{Duration, Instant};

use hyper::Method;
use madang_lab::programs::http::{Answer, HttpClient};
use madang_lab::runner::{Faults, Fleet, Spec, observe};
use mysql_async::prelude::Queryable as _;
use serde_json::Value;

/// Far longer than it takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

struct Lab {
    fleet: Fleet,
    mysql: String,
    prefix: String,
    client: HttpClient,
    _dir: tempfile::TempDir,
}

impl Lab {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mysql = madang_test_servers::mysql().remove(0);
        let prefix = format!("lab_test_{:08x}", rand::random::<u32>());
        let env = [
            ("LAB_MYSQL", mysql.clone()),
            ("LAB_KAFKA", madang_test_servers::kafka()),
            ("LAB_REDIS", madang_test_servers::redis()),
            ("LAB_PREFIX", prefix.clone()),
        ];
        let env = env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let binary = Path::new(env!("CARGO_BIN_EXE_madang-lab"));
        let fleet = Fleet::new(binary, dir.path(), env, 1, Faults::new(dir.path())).unwrap();
        Self { fleet, mysql, prefix, client: HttpClient::new(Duration::from_secs(20)), _dir: dir }
    }

    async fn post(&self, url: &str, body: &str) -> Answer {
        self.client.send(Method::POST, url, body.to_owned()).await.unwrap()
    }

    async fn count(&self, table: &str) -> u64 {
        let mut conn = observe::connect(&self.mysql).await.unwrap();
        observe::number(&mut conn, &format!("SELECT COUNT(*) FROM `{}_{table}", self.prefix)).await.unwrap()
    }

    async fn drop_databases(self) {
        let mut conn = observe::connect(&self.mysql).await.unwrap();
        for name in ["accounts", "projection"] {
            conn.query_drop(format!("DROP DATABASE IF EXISTS `{}_{name}`", self.prefix)).await.unwrap();
        }
    }
}

fn assert_problem(answer: &Answer, status: u16, what: &str) {
    assert_eq!(answer.status.as_u16(), status, "{what}: {}", String::from_utf8_lossy(&answer.body));
    assert_eq!(answer.content_type, "application/problem+json", "{what}");
    let body: Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(body["status"], status, "{what}");
    assert!(body["title"].is_string() && body["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_command_is_refused_with_a_problem_and_leaves_no_trace() {
    let lab = Lab::new();
    let command = lab.fleet.start(Spec::new("command", &["command"])).await.unwrap();
    let opened = lab.client.send(Method::PUT, &format!("{command}/accounts/7"), "").await.unwrap();
    assert_eq!(opened.status.as_u16(), 204);
    let deposits = format!("{command}/accounts/7/deposits");
    let first = lab.post(&deposits, r#"{"tx_id":"t-1","amount":100}"#).await;
    assert_eq!(first.status.as_u16(), 201, "{first:?}");
    let again = lab.post(&deposits, r#"{"tx_id":"t-1","amount":100}"#).await;
    assert_eq!((again.status.as_u16(), &again.body), (200, &first.body), "repeated, it is the same answer");
    let max = i64::MAX;
    for (what, path, body, status) in [
        ("negative", "7/deposits", r#"{"tx_id":"t-2","amount":-1}"#.to_owned(), 422),
        ("zero", "7/deposits", r#"{"tx_id":"t-2","amount":0}"#.to_owned(), 422),
        ("a balance too large", "7/deposits", format!(r#"{{"tx_id":"t-2","amount":{max}}}"#), 422),
        ("past 64 bits", "7/deposits", r#"{"tx_id":"t-2","amount":9223372036854775808}"#.to_owned(), 422),
        ("no whole number", "7/deposits", r#"{"tx_id":"t-2","amount":1.5}"#.to_owned(), 422),
        ("an amount as text", "7/deposits", r#"{"tx_id":"t-2","amount":"1"}"#.to_owned(), 422),
        ("below zero", "7/withdrawals", r#"{"tx_id":"t-2","amount":101}"#.to_owned(), 422),
        ("unknown account", "8/deposits", r#"{"tx_id":"t-2","amount":1}"#.to_owned(), 404),
        ("no account", "0/deposits", r#"{"tx_id":"t-2","amount":1}"#.to_owned(), 404),
        ("no number", "x/deposits", r#"{"tx_id":"t-2","amount":1}"#.to_owned(), 404),
        ("reused with another amount", "7/deposits", r#"{"tx_id":"t-1","amount":101}"#.to_owned(), 409),
        ("reused the other way", "7/withdrawals", r#"{"tx_id":"t-1","amount":100}"#.to_owned(), 409),
        ("not JSON", "7/deposits", "amount=1".to_owned(), 400),
        ("nothing", "7/deposits", String::new(), 400),
        ("no amount", "7/deposits", r#"{"tx_id":"t-2"}"#.to_owned(), 400),
        ("an empty name", "7/deposits", r#"{"tx_id":"","amount":1}"#.to_owned(), 422),
        ("a long name", "7/deposits", format!(r#"{{"tx_id":"{}","amount":1}}"#, "x".repeat(65)), 422),
        ("too large", "7/deposits", format!(r#"{{"tx_id":"t-2","amount":1,"x":"{}"}}"#, "x".repeat(300_000)), 413),
        ("no such resource", "7/gifts", r#"{"tx_id":"t-2","amount":1}"#.to_owned(), 404),
        ("no such method", "7", r#"{"tx_id":"t-2","amount":1}"#.to_owned(), 405),
    ] {
        assert_problem(&lab.post(&format!("{command}/accounts/{path}"), &body).await, status, what);
    }
    for (table, rows) in [("accounts`.ledger", 1), ("accounts`.outbox_event", 1), ("accounts`.account", 1)] {
        assert_eq!(lab.count(table).await, rows, "{table}");
    }
    let mut conn = observe::connect(&lab.mysql).await.unwrap();
    let waiting = "SELECT dedup_key, event_type, status, CAST(attempts AS UNSIGNED) FROM";
    let waiting: Vec<(String, String, String, u32)> =
        conn.query(format!("{waiting} `{}_accounts`.outbox_event", lab.prefix)).await.unwrap();
    assert_eq!(waiting, [("t-1".to_owned(), "AccountBalanceChanged".to_owned(), "PENDING".to_owned(), 0)]);
    lab.drop_databases().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_question_is_refused_with_a_problem() {
    let lab = Lab::new();
    let query = lab.fleet.start(Spec::new("query", &["query"])).await.unwrap();
    for (what, path, status) in [
        ("unknown", "accounts/9", 404),
        ("no number", "accounts/x", 404),
        ("no account", "accounts/0", 404),
        ("else", "", 404),
    ] {
        assert_problem(&lab.client.get(&format!("{query}/{path}")).await.unwrap(), status, what);
    }
    assert_problem(&lab.post(&format!("{query}/accounts/9"), "{}").await, 405, "a method that is not known");
    assert_eq!(lab.count("projection`.account_projection").await, 0);
    lab.drop_databases().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deposit_comes_out_of_the_query_once_though_the_relay_sends_it_twice() {
    let lab = Lab::new();
    let crash = "after-send-before-delete=0.5";
    let relay = Spec::new("relay", &["relay"]).flag("poll-every-ms", 100).flag("min-age-ms", 100).crashing(crash);
    let relay = lab.fleet.start(relay).await.unwrap();
    let command = lab.fleet.start(Spec::new("command", &["command"]).env("LAB_RELAYS", &relay)).await.unwrap();
    lab.fleet.start(Spec::new("consumer", &["consumer"])).await.unwrap();
    let query = lab.fleet.start(Spec::new("query", &["query"])).await.unwrap();
    lab.client.send(Method::PUT, &format!("{command}/accounts/7"), "").await.unwrap();
    for number in 1..=10 {
        let body = format!(r#"{{"tx_id":"t-{number}","amount":{number}}}"#);
        assert_eq!(lab.post(&format!("{command}/accounts/7/deposits"), &body).await.status.as_u16(), 201);
    }
    let deadline = Instant::now() + PATIENCE;
    loop {
        let answer = lab.client.get(&format!("{query}/accounts/7")).await.unwrap();
        let shown: Value = serde_json::from_slice(&answer.body).unwrap();
        if shown["version"] == 10 {
            assert_eq!(shown["balance"], 55);
            break;
        }
        assert!(Instant::now() < deadline, "{shown}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let told = "consumer_group = 'projection' AND dedup_key LIKE 't-%' AND source_topic = 'account.balance.v1' \
        AND `partition` IS NOT NULL AND `offset` IS NOT NULL AND processed_at > 0";
    assert_eq!(lab.count(&format!("projection`.processed_event WHERE {told}")).await, 10);
    assert!(lab.fleet.faults().total() > 0, "no relay crashed, so nothing was shown");
    lab.drop_databases().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fleet_that_is_dropped_takes_its_processes_along_also_those_that_stand_still() {
    let lab = Lab::new();
    let runs = lab.fleet.start(Spec::new("runs", &["query"])).await.unwrap();
    let stands_still = lab.fleet.start(Spec::new("stands-still", &["query"])).await.unwrap();
    assert!(lab.fleet.freeze("stands-still"));
    let is_there = |url: &str| std::net::TcpStream::connect(url.trim_start_matches("http://")).is_ok();
    assert!(is_there(&runs) && is_there(&stands_still));
    lab.drop_databases().await;
    let deadline = Instant::now() + PATIENCE;
    while is_there(&runs) || is_there(&stands_still) {
        assert!(Instant::now() < deadline, "a process is still there");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_was_killed_is_started_again_and_counted() {
    let lab = Lab::new();
    let query = lab.fleet.start(Spec::new("query", &["query"])).await.unwrap();
    assert!(lab.fleet.kill("query") && !lab.fleet.kill("nobody"));
    let deadline = Instant::now() + PATIENCE;
    while lab.fleet.restarts() == 0 || lab.client.get(&format!("{query}/health")).await.is_err() {
        assert!(Instant::now() < deadline, "it did not come back");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!((lab.fleet.faults().total(), lab.fleet.unexpected().len()), (1, 0));
    lab.drop_databases().await;
}
