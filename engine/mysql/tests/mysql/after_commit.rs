//! What follows a commit: callers wait for it, the lane does not, and it comes in commit order.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use madang_engine_mysql::MysqlOutbox;
use madang_kernel::SystemClock;
use madang_messaging::{
    AfterCommit, Assignment, EventLog, GroupId, Message, OnError, Outage, PublishOutcome, Relay, RelayConfig,
    Subscription, Supervisor,
};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use crate::program::{Changed, Mark, Tallies, tallies, version_of};
use crate::support::{OneServer, TestDb, eventually};

fn mark(member: i64) -> Mark {
    Mark { tally: 77, member, name: "m".into(), set: true, event: member }
}

/// Notes the versions that are committed, and once more before their answers, each time once it is let through.
struct Gate {
    permits: Semaphore,
    committed: Mutex<Vec<u64>>,
    heard: Mutex<Vec<u64>>,
}

impl Gate {
    fn closed() -> Arc<Self> {
        Arc::new(Self { permits: Semaphore::new(0), committed: Mutex::default(), heard: Mutex::default() })
    }

    fn heard(&self) -> Vec<u64> {
        self.heard.lock().unwrap().clone()
    }
}

#[async_trait]
impl AfterCommit<Changed> for Gate {
    fn committed(&self, events: &[Changed]) {
        self.committed.lock().unwrap().extend(events.iter().map(|event| event.version));
    }

    async fn before_answers(&self, events: &[Changed]) {
        self.permits.acquire().await.unwrap().forget();
        self.heard.lock().unwrap().extend(events.iter().map(|event| event.version));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_are_answered_after_the_hook_of_their_batch_in_commit_order() {
    let test = TestDb::fresh::<OneServer>(tallies()).await;
    let gate = Gate::closed();
    gate.permits.add_permits(1_000);
    test.db.after_commit(gate.clone());
    let store = Tallies::new(test.db.clone());
    let mut tasks = JoinSet::new();
    for member in 1..=50 {
        let (store, gate) = (store.clone(), Arc::clone(&gate));
        tasks.spawn(async move {
            let answer = store.mark(mark(member)).await.unwrap();
            assert!(gate.heard().contains(&answer.version), "heard of before it was answered");
        });
    }
    tasks.join_all().await;
    let heard = gate.heard();
    assert_eq!(heard, (1..=heard.len() as u64).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_lane_commits_on_while_a_hook_is_under_way() {
    let test = TestDb::fresh::<OneServer>(tallies()).await;
    let gate = Gate::closed();
    test.db.after_commit(gate.clone());
    let store = Tallies::new(test.db.clone());
    let mut calls = JoinSet::new();
    for member in 1..=3 {
        let store = store.clone();
        calls.spawn(async move { store.mark(mark(member)).await });
        // Each in a batch of its own: the next call comes once this one is committed.
        eventually("committed though the first hook has not ended", async || {
            test.rows::<i64>("SELECT COUNT(*) FROM mark").await == [member]
        })
        .await;
    }
    assert_eq!(*gate.committed.lock().unwrap(), [1, 2, 3], "whoever does not wait learns of it at once");
    assert!(calls.try_join_next().is_none(), "nobody is answered before their hook");
    gate.permits.add_permits(3);
    for call in calls.join_all().await {
        call.unwrap();
    }
    assert_eq!(gate.heard(), [1, 2, 3]);
}

/// A log that takes everything, and says which versions it was handed.
#[derive(Default)]
struct Published(Mutex<Vec<u64>>);

#[async_trait]
impl EventLog for Published {
    async fn publish(&self, messages: &[Message]) -> Result<Vec<PublishOutcome>, Outage> {
        self.0.lock().unwrap().extend(messages.iter().map(version_of));
        Ok(vec![PublishOutcome::Published; messages.len()])
    }

    async fn subscribe(&self, _group: &GroupId, _topics: &[String]) -> Result<Box<dyn Subscription>, Outage> {
        Err(Outage::new("log", "nobody reads it"))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_relay_publishes_while_a_hook_is_under_way() {
    let test = TestDb::fresh::<OneServer>(tallies()).await;
    let (gate, log, tasks) = (Gate::closed(), Arc::new(Published::default()), Supervisor::new("test"));
    test.db.after_commit(gate.clone());
    // Leaves rows to polling so late that only what is handed over after the commit is published in time.
    let config = RelayConfig { min_age_ms: 3_600_000, ..RelayConfig::default() };
    let (_, all_shards) = watch::channel(Assignment::ALL);
    let outbox = Arc::new(MysqlOutbox::new(&test.db));
    let (relay, hand_over) = Relay::new(config, outbox, log.clone(), all_shards, Arc::new(SystemClock));
    test.db.hand_over_to(hand_over);
    tasks.spawn("relay", OnError::Restart, move |stop| relay.clone().run(stop));
    let store = Tallies::new(test.db.clone());
    let mut call = JoinSet::new();
    call.spawn(async move { store.mark(mark(1)).await });
    eventually("published though the hook has not ended", async || *log.0.lock().unwrap() == [1]).await;
    assert!(call.try_join_next().is_none() && gate.heard().is_empty(), "the hook was still under way");
    gate.permits.add_permits(1);
    call.join_next().await.unwrap().unwrap().unwrap();
    tasks.shutdown(Duration::from_secs(10)).await;
}

/// Falls over at the first thing it hears.
struct Falls;

#[async_trait]
impl AfterCommit<Changed> for Falls {
    fn committed(&self, _events: &[Changed]) {
        panic!("as the test wants");
    }

    async fn before_answers(&self, _events: &[Changed]) {
        panic!("as the test wants");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hook_that_panics_takes_no_answer_with_it() {
    let test = TestDb::fresh::<OneServer>(tallies()).await;
    test.db.after_commit(Arc::new(Falls));
    let store = Tallies::new(test.db.clone());
    for member in 1..=3 {
        let answer = store.mark(mark(member)).await.unwrap();
        assert_eq!(answer.marks, member.cast_unsigned());
    }
}
