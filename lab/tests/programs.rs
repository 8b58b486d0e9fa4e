//! The programs as processes on real servers: what they refuse, and that what they refuse leaves no trace.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

use std::path::Path;
use std::time::{Duration, Instant};

use hyper::Method;
use madang_engine_kafka::KafkaLog;
use madang_kernel::Id as _;
use madang_lab::domain::{AccountId, TOPIC, event_id};
use madang_lab::programs::http::{Answer, HttpClient};
use madang_lab::programs::settings::KafkaSettings;
use madang_lab::runner::{Faults, Fleet, Spec, observe};
use madang_messaging::{ConsumerConfig, DeadLetters as _, GroupId};
use mysql_async::prelude::Queryable as _;
use rdkafka::ClientConfig;
use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer as _};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// Far longer than it takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Known to the programs of a test.
const SECRET: &str = "0123456789abcdef0123456789abcdef";

struct Lab {
    fleet: Fleet,
    mysql: String,
    prefix: String,
    client: HttpClient,
    _dir: tempfile::TempDir,
}

impl Lab {
    fn new() -> Self {
        Self::with_secret(Some(SECRET))
    }

    fn with_secret(secret: Option<&str>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mysql = madang_test_servers::mysql().remove(0);
        let prefix = format!("lab_test_{:08x}", rand::random::<u32>());
        let env = [
            ("LAB_MYSQL", mysql.clone()),
            ("LAB_KAFKA", madang_test_servers::kafka()),
            ("LAB_REDIS", madang_test_servers::redis()),
            ("LAB_PREFIX", prefix.clone()),
        ];
        let env = env.into_iter().chain(secret.map(|secret| ("LAB_SECRET", secret.to_owned())));
        let env = env.map(|(name, value)| (name.to_owned(), value)).collect();
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

    /// What the query program shows once it shows `version`.
    async fn shown(&self, query: &str, account: u16, version: u64) -> Value {
        let mut shown = Value::Null;
        until("the version is shown", async || {
            let answer = self.client.get(&format!("{query}/accounts/{account}")).await.unwrap();
            shown = serde_json::from_slice(&answer.body).unwrap();
            shown["version"] == version
        })
        .await;
        shown
    }

    /// The log of the programs, with the topics of the projection's group.
    async fn log(&self) -> (KafkaLog, ConsumerConfig) {
        let settings = KafkaSettings { kafka: madang_test_servers::kafka(), session_ms: 6_000 };
        let log = KafkaLog::connect(settings.options(&self.prefix)).await.unwrap();
        let group = ConsumerConfig::new(GroupId::new("projection"), vec![TOPIC.to_owned()]);
        log.prepare(std::slice::from_ref(&group)).await.unwrap();
        (log, group)
    }

    /// Writes records into one partition, past every program: `ce_id` if there is one, and a payload.
    fn write_records(&self, records: &[(Option<String>, String)]) {
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", madang_test_servers::kafka());
        let producer: BaseProducer = config.create().unwrap();
        let topic = format!("{}.{TOPIC}", self.prefix);
        for (id, payload) in records {
            let mut record = BaseRecord::<[u8], str>::to(&topic).partition(0).payload(payload);
            if let Some(id) = id {
                record = record.headers(OwnedHeaders::new().insert(Header { key: "ce_id", value: Some(id) }));
            }
            producer.send(record).map_err(|(error, _)| error).unwrap();
        }
        tokio::task::block_in_place(|| producer.flush(PATIENCE)).unwrap();
    }

    async fn drop_databases(self) {
        let mut conn = observe::connect(&self.mysql).await.unwrap();
        for name in ["accounts", "projection"] {
            conn.query_drop(format!("DROP DATABASE IF EXISTS `{}_{name}`", self.prefix)).await.unwrap();
        }
    }
}

/// Waits until something holds.
async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds().await {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Sends bytes as they are, and reads until the server closes.
async fn exchange(url: &str, request: &str) -> Answer {
    let exchange = async {
        let mut stream = tokio::net::TcpStream::connect(url.trim_start_matches("http://")).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        String::from_utf8(answer).unwrap()
    };
    let answer = tokio::time::timeout(Duration::from_secs(20), exchange).await.expect("no answer in time");
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let content_type = head.lines().find_map(|line| line.strip_prefix("content-type: ")).unwrap_or_default();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, content_type: content_type.to_owned(), body: body.to_owned().into() }
}

/// An event of account `account`, as JSON, with the id that it should have.
fn event(tx_id: &str, account: u16, amount: i64, balance: i64, version: u64) -> (Option<String>, String) {
    let id = event_id(AccountId::new(account).unwrap(), version);
    let payload = serde_json::json!({
        "tx_id": tx_id, "account_id": account, "amount": amount, "balance": balance, "version": version, "occurred_at_ms": 1
    });
    (Some(id.raw().to_string()), payload.to_string())
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
        ("past every float", "7/deposits", r#"{"tx_id":"t-2","amount":1e400}"#.to_owned(), 422),
        ("a list", "7/deposits", r#"["t-2",1]"#.to_owned(), 400),
        ("a sign in the path", "+7/deposits", r#"{"tx_id":"t-2","amount":1}"#.to_owned(), 404),
        ("a zero in front", "07/deposits", r#"{"tx_id":"t-2","amount":1}"#.to_owned(), 404),
        ("no text in the path", "%ff/deposits", r#"{"tx_id":"t-2","amount":1}"#.to_owned(), 400),
    ] {
        assert_problem(&lab.post(&format!("{command}/accounts/{path}"), &body).await, status, what);
    }
    for (what, headers, status) in [
        ("a form", "content-type: application/x-www-form-urlencoded\r\ncontent-length: 27", 415),
        ("of no type", "content-length: 27", 415),
        ("too large by its own word", "content-type: application/json\r\ncontent-length: 50000000", 413),
    ] {
        let head = format!("POST /accounts/7/deposits HTTP/1.1\r\nhost: lab\r\nconnection: close\r\n{headers}\r\n\r\n");
        assert_problem(&exchange(&command, &(head + r#"{"tx_id":"t-2","amount":10}"#)).await, status, what);
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
        ("a sign", "accounts/+9", 404),
        ("a zero in front", "accounts/09", 404),
        ("no text", "accounts/%C0%AF", 400),
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
    assert_eq!(lab.shown(&query, 7, 10).await["balance"], 55);
    let told = "consumer_group = 'projection' AND dedup_key LIKE 't-%' AND source_topic = 'account.balance.v1' \
        AND `partition` IS NOT NULL AND `offset` IS NOT NULL AND processed_at > 0";
    assert_eq!(lab.count(&format!("projection`.processed_event WHERE {told}")).await, 10);
    assert!(lab.fleet.faults().total() > 0, "no relay crashed, so nothing was shown");
    lab.drop_databases().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_publishes_no_event_of_whoever_does_not_know_the_secret() {
    let lab = Lab::new();
    // Polling would come too late: what is shown was handed over.
    let relay = lab.fleet.start(Spec::new("relay", &["relay"]).flag("min-age-ms", 3_600_000)).await.unwrap();
    let command = lab.fleet.start(Spec::new("command", &["command"]).env("LAB_RELAYS", &relay)).await.unwrap();
    lab.fleet.start(Spec::new("consumer", &["consumer"])).await.unwrap();
    let query = lab.fleet.start(Spec::new("query", &["query"])).await.unwrap();
    let (_, forged) = event("forged-1", 2, 1_000, 1_000, 1);
    let forged = format!("[{forged}]");
    assert_problem(&lab.post(&format!("{relay}/hand-over"), &forged).await, 401, "without a secret");
    let length = forged.len();
    for guess in
        ["Bearer", "Bearer ", "Bearer 0123456789abcdef0123456789abcdee", "Basic 0123456789abcdef0123456789abcdef"]
    {
        let head = format!(
            "POST /hand-over HTTP/1.1\r\nhost: lab\r\nconnection: close\r\ncontent-type: application/json\r\n\
             authorization: {guess}\r\ncontent-length: {length}\r\n\r\n"
        );
        assert_problem(&exchange(&relay, &(head + &forged)).await, 401, guess);
    }
    lab.client.send(Method::PUT, &format!("{command}/accounts/2"), "").await.unwrap();
    let deposit = lab.post(&format!("{command}/accounts/2/deposits"), r#"{"tx_id":"t-1","amount":7}"#).await;
    assert_eq!(deposit.status.as_u16(), 201);
    assert_eq!(lab.shown(&query, 2, 1).await["balance"], 7);
    assert_eq!(lab.count("projection`.processed_event").await, 1);
    lab.drop_databases().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_secret_a_relay_takes_nothing_over_and_finds_events_by_polling() {
    let lab = Lab::with_secret(None);
    let relay = Spec::new("relay", &["relay"]).flag("poll-every-ms", 100).flag("min-age-ms", 100);
    let relay = lab.fleet.start(relay).await.unwrap();
    let command = lab.fleet.start(Spec::new("command", &["command"]).env("LAB_RELAYS", &relay)).await.unwrap();
    let (_, forged) = event("forged-1", 2, 1_000, 1_000, 1);
    assert_problem(&lab.post(&format!("{relay}/hand-over"), &format!("[{forged}]")).await, 401, "there is no secret");
    lab.client.send(Method::PUT, &format!("{command}/accounts/2"), "").await.unwrap();
    let deposit = lab.post(&format!("{command}/accounts/2/deposits"), r#"{"tx_id":"t-1","amount":7}"#).await;
    assert_eq!(deposit.status.as_u16(), 201);
    until("the outbox is empty", async || lab.count("accounts`.outbox").await == 0).await;
    lab.drop_databases().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_cannot_be_becomes_a_dead_letter_with_its_reason_and_changes_nothing() {
    let lab = Lab::new();
    let (log, _) = lab.log().await;
    let consumer = lab.fleet.start(Spec::new("consumer", &["consumer"])).await.unwrap();
    let right = |account| event("t-1", account, 5, 5, 1);
    let payload = |fields: &str| {
        let rest = r#""tx_id":"t-2","amount":5,"occurred_at_ms":1"#;
        (right(3).0, format!("{{{rest},{fields}}}"))
    };
    let wrong = [
        (None, right(3).1),
        (None, right(3).1),
        (Some("x".to_owned()), right(3).1),
        (Some("0".to_owned()), right(3).1),
        (right(4).0, right(3).1),
        event("t-3", 3, 5, 99_999, u64::MAX),
        event("t-4", 3, 5, 5, 1 << 41),
        event("t-5", 3, 5, 5, 0),
        event("t-6", 3, 5, i64::MIN, 1),
        event("t-7", 3, 5, -1, 1),
        event("t-8", 3, 5, 6, 1),
        payload(r#""account_id":0,"balance":5,"version":1"#),
        (right(3).0, r#"["t-9",3,5,5,1,1]"#.to_owned()),
    ];
    lab.write_records(&wrong);
    lab.write_records(&[event("t-last", 5, 5, 5, 1)]);
    until("the right one is applied", async || lab.count("projection`.account_projection").await > 0).await;
    let letters = format!("{consumer}/dead-letters");
    let mut count = String::new();
    until("all others are dead letters", async || {
        count = String::from_utf8(lab.client.get(&letters).await.unwrap().body.to_vec()).unwrap();
        count == wrong.len().to_string() || lab.count("projection`.account_projection").await > 1
    })
    .await;
    assert_eq!(lab.count("projection`.account_projection").await, 1, "{count} dead letters");
    assert_eq!(lab.count("projection`.processed_event").await, 1);
    for letter in log.dead_letters().list(None, 100).await.unwrap() {
        let reason = letter.message.header("reason").unwrap_or_default();
        let reasons = ["ce_id is ", "no entry ", "no account ", "an account is ", "the payload is no JSON object"];
        assert!(reasons.iter().any(|start| reason.starts_with(start)), "{:?}", letter.message);
    }
    lab.drop_databases().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_that_was_applied_changes_nothing_under_another_event_id_and_is_acknowledged() {
    let lab = Lab::new();
    let (log, group) = lab.log().await;
    lab.fleet.start(Spec::new("consumer", &["consumer"])).await.unwrap();
    lab.write_records(&[event("t-1", 3, 5, 5, 1), event("t-1", 4, 5, 5, 1), event("t-1", 3, 2, 7, 2)]);
    lab.write_records(&[event("t-last", 5, 5, 5, 1)]);
    until("all are acknowledged", async || log.lag(&group.group, &group.topics).await.unwrap() == 0).await;
    let mut conn = observe::connect(&lab.mysql).await.unwrap();
    let shown = "SELECT account_id, balance, version, entries FROM";
    let shown = format!("{shown} `{}_projection`.account_projection ORDER BY account_id", lab.prefix);
    let shown: Vec<(u16, i64, u64, u64)> = conn.query(shown).await.unwrap();
    assert_eq!(shown, [(3, 5, 1, 1), (5, 5, 1, 1)]);
    assert_eq!(lab.count("projection`.processed_event").await, 2);
    for level in group.levels() {
        assert_eq!(log.lag(&group.group, &level.topics).await.unwrap(), 0, "{:?} is to be tried again", level.topics);
    }
    assert_eq!(log.dead_letters().count().await.unwrap(), 0);
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
