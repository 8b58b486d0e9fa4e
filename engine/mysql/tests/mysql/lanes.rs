//! What lanes promise when things go wrong: every answer is true, and one caller's failure is nobody else's.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use madang_kernel::StoreError;
use madang_messaging::AfterCommit;
use mysql_async::prelude::Queryable;
use tokio::task::JoinSet;

use crate::program::{Changed, Mark, Marked, Mysql, Tallies, tallies, version_of};
use crate::proxy::Proxy;
use crate::support::{OneServer, TestDb, TwoServers, eventually, servers};

const TALLY: i64 = 77;
/// Times that a refused call is made again.
const ASK_MAX: i64 = 100;

fn mark_of(member: i64, event: i64) -> Mark {
    Mark { tally: TALLY, member, name: format!("m{member}"), set: true, event }
}

async fn answer(store: &Tallies, member: i64, set: bool, event: i64) -> Marked {
    for again in 0..ASK_MAX {
        // A call that was refused changed nothing, so that asking again is as good as asking for the first time.
        match store.mark(Mark { set, ..mark_of(member, event * ASK_MAX + again) }).await {
            Ok(answer) => return answer,
            Err(StoreError::Unavailable { .. }) => {}
            other => panic!("{other:?}"),
        }
    }
    panic!("refused {ASK_MAX} times")
}

/// Each caller has a member of their own, and so knows what their own answers must be.
async fn call_for_a_while(store: &Tallies, callers: i64, turns: i64) {
    let mut tasks = JoinSet::new();
    for member in 1..=callers {
        let store = store.clone();
        tasks.spawn(async move {
            let mut is_set = false;
            for turn in 0..turns {
                // Two of three turns ask for what is so already.
                let wish = (member + turn) % 3 != 0;
                let event = member * 100_000 + turn;
                let answer = answer(&store, member, wish, event).await;
                assert_eq!(answer.changed, wish != is_set, "member {member}, turn {turn}");
                is_set = wish;
            }
            is_set
        });
    }
    let set = tasks.join_all().await.into_iter().filter(|is_set| *is_set).count() as u64;
    assert_eq!(store.marks(TALLY).await.unwrap(), set);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_are_true_when_replies_to_commit_are_lost() {
    for lost_after in [true, false] {
        let mut test = TestDb::fresh::<OneServer>(tallies()).await;
        let direct = servers()[0].clone();
        let (proxy, through) = Proxy::start(&direct).await;
        test.options.servers[0].url = through;
        let db = test.another().await;
        let store = Tallies::new(db.clone());
        let cuts = Arc::clone(&proxy.cuts);
        let armed = if lost_after { &cuts.after } else { &cuts.before };
        let arming = async {
            // One cut after another, each once the last has hit.
            for _ in 0..15 {
                armed.store(1, Ordering::SeqCst);
                while armed.load(Ordering::SeqCst) > 0 {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            }
        };
        let calling = call_for_a_while(&store, 32, 60);
        let cut_all = tokio::time::timeout(Duration::from_secs(60), async { tokio::join!(calling, arming) }).await;
        assert!(cut_all.is_ok(), "after {lost_after}: the calls ended before all cuts were made");
        test.options.servers[0].url = direct;
        assert_eq!(test.differences().await, Vec::<String>::new());
        assert_versions_are_gapless(&test).await;
        db.close().await;
    }
}

/// Every version once: a batch that ran twice would show.
async fn assert_versions_are_gapless(test: &TestDb) {
    let versions: Vec<u64> = test.outbox().await.iter().map(version_of).collect();
    assert_eq!(versions, (1..=versions.len() as u64).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_count_every_mark_of_one_tally() {
    let test = TestDb::fresh::<TwoServers>(tallies()).await;
    let stores = [Tallies::new(test.db.clone()), Tallies::new(test.another().await)];
    let mut tasks = JoinSet::new();
    for task in 0..100 {
        let store = stores[task as usize % 2].clone();
        tasks.spawn(async move {
            let mut counts = Vec::new();
            for member in (1..=3_000).filter(|member| member % 100 == task) {
                let answer = answer(&store, member, true, member).await;
                assert!(answer.changed);
                counts.push(answer.marks);
            }
            counts
        });
    }
    let counts: BTreeSet<u64> = tasks.join_all().await.into_iter().flatten().collect();
    assert_eq!(counts, (1..=3_000).collect(), "everyone was told their own count");
    assert_eq!(test.differences().await, Vec::<String>::new());
    assert_versions_are_gapless(&test).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_bad_call_fails_alone() {
    let mut test = TestDb::fresh::<OneServer>(tallies()).await;
    test.options.lock_wait_s = 60;
    let db = test.another().await;
    let store = Tallies::new(db.clone());
    answer(&store, 1, true, 1).await;
    // The counter's lock holds the lane up while calls gather behind it.
    let mut holder = test.connect(0).await;
    holder.query_drop("START TRANSACTION").await.unwrap();
    holder.query_drop("SELECT * FROM tally FOR UPDATE").await.unwrap();
    let mut tasks = JoinSet::new();
    let gathered = Arc::new(AtomicUsize::new(0));
    for member in 2..=60 {
        let (store, gathered) = (store.clone(), Arc::clone(&gathered));
        let mut mark = mark_of(member, member);
        if member == 30 {
            // Longer than its column takes.
            mark.name = "x".repeat(1_000);
        }
        tasks.spawn(async move {
            let mut call = Box::pin(store.mark(mark));
            // A call that has begun is in its lane.
            assert!(futures_util::poll!(&mut call).is_pending());
            gathered.fetch_add(1, Ordering::SeqCst);
            (member, call.await)
        });
    }
    eventually("all of them wait", async || gathered.load(Ordering::SeqCst) == 59).await;
    holder.query_drop("COMMIT").await.unwrap();
    for (member, outcome) in tasks.join_all().await {
        match outcome {
            Ok(answer) => assert!(answer.changed && member != 30),
            Err(StoreError::Broken { .. }) => assert_eq!(member, 30),
            other => panic!("member {member}: {other:?}"),
        }
    }
    assert_eq!(store.marks(TALLY).await.unwrap(), 59);
    assert_eq!(test.differences().await, Vec::<String>::new());
    db.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_that_is_held_too_long_is_an_unavailable_store_and_nothing_is_changed() {
    let mut test = TestDb::fresh::<OneServer>(tallies()).await;
    test.options.lock_wait_s = 1;
    let db = test.another().await;
    let store = Tallies::new(db.clone());
    answer(&store, 1, true, 1).await;
    let mut holder = test.connect(0).await;
    holder.query_drop("START TRANSACTION").await.unwrap();
    holder.query_drop("SELECT * FROM tally FOR UPDATE").await.unwrap();
    let refused = store.mark(mark_of(2, 2)).await;
    assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
    holder.query_drop("COMMIT").await.unwrap();
    assert_eq!(store.marks(TALLY).await.unwrap(), 1);
    assert_eq!(answer(&store, 2, true, 3).await.marks, 2);
    db.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_the_server_closed_are_made_anew() {
    let test = TestDb::fresh::<OneServer>(tallies()).await;
    let store = Tallies::new(test.db.clone());
    answer(&store, 1, true, 1).await;
    for _ in 0..8 {
        store.marks(TALLY).await.unwrap();
    }
    let mut conn = test.connect(0).await;
    let sql = format!(
        "SELECT ID FROM information_schema.PROCESSLIST WHERE DB = '{}' AND ID <> CONNECTION_ID()",
        test.database()
    );
    let ids: Vec<u64> = conn.query(sql).await.unwrap();
    assert!(ids.len() >= 2, "a lane and a reader");
    for id in ids {
        let _ = conn.query_drop(format!("KILL {id}")).await;
    }
    assert_eq!(answer(&store, 2, true, 2).await.marks, 2);
    assert_eq!(store.marks(TALLY).await.unwrap(), 2);
}

/// Notes the versions that are committed.
#[derive(Default)]
struct Versions(Mutex<Vec<u64>>);

impl AfterCommit<Changed> for Versions {
    fn committed(&self, events: &[Changed]) {
        self.0.lock().unwrap().extend(events.iter().map(|event| event.version));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn committed_events_are_followed_in_commit_order_before_the_answer() {
    let test = TestDb::fresh::<OneServer>(tallies()).await;
    let follower = Arc::new(Versions::default());
    test.db.after_commit(follower.clone());
    let store = Tallies::new(test.db.clone());
    let mut tasks = JoinSet::new();
    for member in 1..=50 {
        let (store, follower) = (store.clone(), Arc::clone(&follower));
        tasks.spawn(async move {
            let answer = answer(&store, member, true, member).await;
            assert!(follower.0.lock().unwrap().contains(&answer.version), "followed before it was answered");
        });
    }
    tasks.join_all().await;
    let followed = follower.0.lock().unwrap().clone();
    assert_eq!(followed, (1..=followed.len() as u64).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_store_has_committed_what_waited_and_takes_no_more() {
    let test = TestDb::fresh::<OneServer>(tallies()).await;
    let db: Mysql = test.another().await;
    let store = Tallies::new(db.clone());
    let mut tasks = JoinSet::new();
    for member in 1..=20 {
        let store = store.clone();
        tasks.spawn(async move { store.mark(mark_of(member, member)).await });
    }
    tokio::task::yield_now().await;
    db.close().await;
    let committed = tasks.join_all().await.into_iter().filter(Result::is_ok).count();
    let rows: Vec<u64> = test.rows("SELECT COUNT(*) FROM mark").await;
    assert_eq!(rows, [committed as u64]);
    let refused = store.mark(mark_of(99, 99)).await;
    assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_unreachable_refuses_its_shards_and_no_others_and_comes_back() {
    let mut test = TestDb::fresh::<TwoServers>(tallies()).await;
    let direct = test.options.servers[1].url.clone();
    let (proxy, through) = Proxy::start(&direct).await;
    test.options.servers[1].url = through;
    let db = test.another().await;
    test.options.servers[1].url = direct.clone();
    let store = Tallies::new(db.clone());
    // Tallies whose shards are on one of the servers.
    let on = |server: i64| (1..=10).map(move |number| 32 * server + number);
    let mark = |tally: i64, member: i64| store.mark(Mark { tally, ..mark_of(member, tally * 100 + member) });
    for tally in on(0).chain(on(1)) {
        mark(tally, 1).await.unwrap();
    }
    let port = proxy.port();
    drop(proxy);
    let started = Instant::now();
    for tally in on(1) {
        assert!(matches!(mark(tally, 2).await, Err(StoreError::Unavailable { .. })));
        assert!(matches!(store.marks(tally).await, Err(StoreError::Unavailable { .. })));
    }
    for tally in on(0) {
        assert!(mark(tally, 2).await.is_ok());
        assert_eq!(store.marks(tally).await.unwrap(), 2);
    }
    assert!(started.elapsed() < Duration::from_secs(10), "refusals are quick: {:?}", started.elapsed());
    let _proxy = Proxy::start_at(port, &direct).await;
    for tally in on(1) {
        assert!(mark(tally, 3).await.is_ok(), "back without a restart");
        assert_eq!(store.marks(tally).await.unwrap(), 2, "what was refused was not done");
    }
    assert_eq!(test.differences().await, Vec::<String>::new());
    db.close().await;
}
