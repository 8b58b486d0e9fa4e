//! Shards move to another server while everybody writes: nothing acknowledged is lost or doubled, wherever a move is
//! interrupted, and rows that a server has of shards which it does not hold are nobody's.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use madang_engine_mysql::{
    Database, MoveError, MovePace, Mover, MysqlDeadLetters, MysqlInbox, MysqlOutbox, Step, idempotency,
    unfinished_moves,
};
use madang_kernel::{ServerIndex, ShardId, StoreError, Timestamp};
use madang_messaging::{DeadLetters, Inbox, Outbox, UnsentMessages};
use mysql_async::prelude::Queryable;
use tokio::task::JoinSet;

use crate::program::{Mark, Tallies, tallies, version_of};
use crate::support::{TestDb, TwoServers, eventually};

const TALLY: i64 = 7;
const SHARD: u8 = 7;
/// The old copy goes at once, and slices are small enough that there are some.
const FAST: MovePace = MovePace { slice_rows: 50, release_after: Duration::ZERO };
/// Far more than writers wait on a machine of their own.
const PAUSE_MAX: Duration = Duration::from_secs(5);

fn shards(numbers: impl IntoIterator<Item = u8>) -> BTreeSet<ShardId> {
    numbers.into_iter().map(|number| ShardId::new(number).unwrap()).collect()
}

async fn mover(test: &TestDb, numbers: impl IntoIterator<Item = u8>, target: u8) -> Result<Mover, MoveError> {
    Mover::open(&test.options, &[tallies()], &shards(numbers), target, FAST).await
}

fn mark(tally: i64, member: i64) -> Mark {
    Mark { tally, member, name: format!("m{member}"), set: true, event: (tally << 40) + member }
}

/// What writers saw.
#[derive(Default)]
struct Seen {
    /// Marks that were acknowledged.
    acknowledged: Vec<(i64, i64)>,
    /// Calls that were refused, and made again.
    refused: u64,
    longest: Duration,
}

/// Writers in two processes, until they are told to stop.
struct Writers {
    done: Arc<AtomicBool>,
    callers: JoinSet<Seen>,
    stores: [Tallies; 2],
}

impl Writers {
    async fn start(test: &TestDb, on: &[i64]) -> Self {
        let stores = [Tallies::new(test.db.clone()), Tallies::new(test.another().await)];
        let (done, mut callers) = (Arc::new(AtomicBool::new(false)), JoinSet::new());
        for caller in 0..8_i64 {
            let (store, done) = (stores[usize::from(caller % 2 == 1)].clone(), Arc::clone(&done));
            let tally = on[usize::try_from(caller).unwrap() % on.len()];
            callers.spawn(async move {
                let (mut seen, mut number) = (Seen::default(), caller * 1_000_000);
                while !done.load(Ordering::Relaxed) {
                    number += 1;
                    let began = Instant::now();
                    while let Err(refused) = store.mark(mark(tally, number)).await {
                        assert!(matches!(refused, StoreError::Unavailable { .. }), "{refused}");
                        seen.refused += 1;
                    }
                    seen.longest = seen.longest.max(began.elapsed());
                    seen.acknowledged.push((tally, number));
                }
                seen
            });
        }
        Self { done, callers, stores }
    }

    /// Ends them, and compares what they were told with what there is.
    async fn compare(self, test: &TestDb, on: &[i64]) -> Seen {
        self.done.store(true, Ordering::Relaxed);
        let mut all = Seen::default();
        for seen in self.callers.join_all().await {
            all.acknowledged.extend(seen.acknowledged);
            all.refused += seen.refused;
            all.longest = all.longest.max(seen.longest);
        }
        for tally in on {
            let acknowledged = all.acknowledged.iter().filter(|(of, _)| of == tally).count() as u64;
            assert_eq!(self.stores[0].marks(*tally).await.unwrap(), acknowledged, "tally {tally}");
        }
        let mut kept: Vec<(i64, i64)> = test.rows("SELECT tally, member FROM mark").await;
        kept.sort_unstable();
        all.acknowledged.sort_unstable();
        assert_eq!(kept, all.acknowledged, "each acknowledged mark is there once, and no other");
        for tally in on {
            let outbox = test.outbox().await.into_iter().filter(|message| message.key == tally.to_string());
            let mut versions: Vec<u64> = outbox.map(|message| version_of(&message)).collect();
            versions.sort_unstable();
            assert_eq!(versions, (1..=versions.len() as u64).collect::<Vec<_>>(), "each event of {tally} once");
        }
        assert!(test.differences().await.is_empty());
        println!("{} marks, {} calls made again, longest call {:?}", all.acknowledged.len(), all.refused, all.longest);
        all
    }
}

fn owner(test: &TestDb, shard: u8) -> ServerIndex {
    test.db.map().server(ShardId::new(shard).unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shard_moves_there_and_back_while_everybody_writes() {
    let test = TestDb::fresh::<TwoServers>(tallies()).await;
    let on = [TALLY, 8, 40];
    let writers = Writers::start(&test, &on).await;
    for (target, version) in [(1, 2), (0, 3)] {
        let moved = mover(&test, [SHARD], target).await.unwrap().run(|_| {}).await.unwrap();
        println!("{moved:?}");
        assert!(moved.switched == 1 && moved.longest_pause < PAUSE_MAX, "{moved:?}");
        assert_eq!((owner(&test, SHARD), test.db.map().owners().version()), (ServerIndex(target), version));
        let left: Vec<u64> = test.rows(&format!("SELECT COUNT(*) FROM mark WHERE shard = {SHARD}")).await;
        assert_eq!(left[usize::from(1 - target)], 0, "the old copy is gone");
    }
    let seen = writers.compare(&test, &on).await;
    assert!(seen.longest < PAUSE_MAX, "{:?}", seen.longest);
    let triggers: Vec<String> =
        test.rows("SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE()").await;
    assert!(triggers.is_empty(), "{triggers:?}");
    let left: Vec<u64> = test.rows("SELECT (SELECT COUNT(*) FROM shard_move) + (SELECT COUNT(*) FROM shard_change) + (SELECT COUNT(*) FROM shard_map WHERE moving = 1)").await;
    assert_eq!(left, [0, 0], "nothing is left of the move");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_move_that_is_interrupted_after_every_step_is_finished_by_the_next_command() {
    let test = TestDb::fresh::<TwoServers>(tallies()).await;
    let on = [TALLY, 8];
    let store = Tallies::new(test.db.clone());
    for member in 0..200 {
        store.mark(mark(9, -1 - member)).await.unwrap();
    }
    let writers = Writers::start(&test, &on).await;
    let mut steps = Vec::new();
    // A command for each step: the next one knows nothing but what the databases say.
    // Large slices: writers that never rest must not add rows faster than commands that open everything anew copy them.
    let pace = MovePace { slice_rows: 2_000, ..FAST };
    let mover = async || Mover::open(&test.options, &[tallies()], &shards([SHARD, 9]), 1, pace).await;
    let mut command = mover().await.unwrap();
    while let Some(done) = command.step().await.unwrap() {
        steps.push(done.step);
        assert!(steps.len() < 200, "{steps:?}");
        // Writers that a command leaves waiting are helped by processes, before the next command is there: shown below.
        if done.step != Step::Fence {
            drop(command);
            command = mover().await.unwrap();
        }
    }
    // A new owner that waits to be told and opened is everybody's: on a busy machine a process is faster than the next command.
    for step in [
        Step::Begin,
        Step::Clear,
        Step::Watch,
        Step::Copy,
        Step::Verify,
        Step::Fence,
        Step::HandOver,
        Step::Unwatch,
        Step::Release,
    ] {
        assert!(steps.contains(&step), "{step:?} is missing in {steps:?}");
    }
    assert_eq!([owner(&test, SHARD), owner(&test, 9)], [ServerIndex(1); 2]);
    assert_eq!(store.marks(9).await.unwrap(), 200);
    let mut conn = test.connect(1).await;
    conn.query_drop("DELETE FROM mark WHERE tally = 9").await.unwrap();
    conn.query_drop("DELETE FROM tally WHERE tally = 9").await.unwrap();
    writers.compare(&test, &on).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_was_paused_cannot_undo_what_its_successor_did() {
    let test = TestDb::fresh::<TwoServers>(tallies()).await;
    let store = Tallies::new(test.db.clone());
    store.mark(mark(TALLY, 1)).await.unwrap();
    let mut paused = mover(&test, [SHARD], 1).await.unwrap();
    while paused.step().await.unwrap().unwrap().step != Step::Fence {}
    assert!(matches!(mover(&test, [SHARD], 1).await, Err(MoveError::Busy)));
    // Its connection is lost, and with it the lock; the command itself does not know yet.
    let lock = format!("madang.{}.shards", test.options.database_prefix);
    let mut conn = test.connect(0).await;
    let holder: Option<u64> = conn.exec_first("SELECT IS_USED_LOCK(?)", (lock,)).await.unwrap();
    conn.query_drop(format!("KILL {}", holder.unwrap())).await.unwrap();
    let mut next = mover(&test, [SHARD], 1).await.unwrap();
    let refused = paused.step().await;
    assert!(matches!(refused, Err(MoveError::TakenOver { .. })), "{refused:?}");
    next.run(|_| {}).await.unwrap();
    assert_eq!(store.mark(mark(TALLY, 2)).await.unwrap().marks, 2);
    assert_eq!(owner(&test, SHARD), ServerIndex(1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_let_writers_go_on_when_a_command_ends_while_they_wait() {
    let test = TestDb::fresh::<TwoServers>(tallies()).await;
    let store = Tallies::new(test.db.clone());
    store.mark(mark(TALLY, 1)).await.unwrap();
    // Before the commit point writes go on at the old server, past it at the new one.
    for (last, member, served_by) in [(Step::Fence, 2, 0), (Step::HandOver, 3, 1)] {
        let mut command = mover(&test, [SHARD], 1).await.unwrap();
        while command.step().await.unwrap().unwrap().step != last {}
        drop(command);
        eventually("writes go on", async || store.mark(mark(TALLY, member)).await.is_ok()).await;
        assert_eq!(owner(&test, SHARD), ServerIndex(served_by));
    }
    mover(&test, [SHARD], 1).await.unwrap().run(|_| {}).await.unwrap();
    assert_eq!(store.marks(TALLY).await.unwrap(), 3);
    assert!(test.differences().await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_emptied() {
    let test = TestDb::fresh::<TwoServers>(tallies()).await;
    let on = [0, 7, 31, 63];
    let writers = Writers::start(&test, &on).await;
    let moved = mover(&test, 0..32, 1).await.unwrap().run(|_| {}).await.unwrap();
    println!("{moved:?}");
    assert_eq!(test.db.map().owners().shards_of(ServerIndex(0)).count(), 0);
    for table in tallies().moved_tables() {
        let rows: Vec<u64> = test.rows(&format!("SELECT COUNT(*) FROM {table}")).await;
        assert_eq!(rows[0], 0, "{table}");
    }
    writers.compare(&test, &on).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_would_lose_data_is_refused_with_what_to_do() {
    let test = TestDb::fresh::<TwoServers>(tallies()).await;
    let refused = mover(&test, [SHARD], 5).await.err().unwrap().to_string();
    assert!(refused.contains("no server 5") && refused.contains("add-server"), "{refused}");
    let mut begun = mover(&test, [SHARD], 1).await.unwrap();
    while begun.step().await.unwrap().unwrap().step != Step::Copy {}
    drop(begun);
    let refused = mover(&test, [8], 1).await.err().unwrap().to_string();
    assert!(refused.contains("run `madang shards move 7 --to 1` first"), "{refused}");
    let left = unfinished_moves(&test.options, &[tallies()]).await;
    assert!(left.len() == 1 && left[0].phase.name() == "copying", "{left:?}");

    let mut conn = test.connect(0).await;
    conn.query_drop("CREATE TABLE note (shard TINYINT UNSIGNED PRIMARY KEY, text TEXT)").await.unwrap();
    let refused = mover(&test, [SHARD], 1).await.err().unwrap().to_string();
    assert!(refused.contains("the table note") && refused.contains("upgrade"), "{refused}");
    conn.query_drop("DROP TABLE note").await.unwrap();
    conn.query_drop("ALTER TABLE mark ADD COLUMN more INT NULL").await.unwrap();
    let refused = mover(&test, [SHARD], 1).await.err().unwrap();
    assert!(matches!(refused, MoveError::OtherTables { .. }), "{refused}");
    conn.query_drop("ALTER TABLE mark DROP COLUMN more").await.unwrap();
    mover(&test, [SHARD], 1).await.unwrap().run(|_| {}).await.unwrap();
    let other = Database::new("nobody-made-it");
    let refused = Mover::open(&test.options, &[other], &shards([SHARD]), 0, FAST).await.err().unwrap();
    assert!(matches!(refused, MoveError::NoMap { .. }), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_that_differs_is_not_switched_and_made_anew() {
    let test = TestDb::fresh::<TwoServers>(tallies()).await;
    let store = Tallies::new(test.db.clone());
    store.mark(mark(TALLY, 1)).await.unwrap();
    let mut begun = mover(&test, [SHARD], 1).await.unwrap();
    while begun.step().await.unwrap().unwrap().step != Step::Watch {}
    while unfinished_moves(&test.options, &[tallies()]).await[0].phase.name() != "catching up" {
        begun.step().await.unwrap().unwrap();
    }
    let mut conn = test.connect(1).await;
    conn.query_drop("UPDATE mark SET name = 'x'").await.unwrap();
    let refused = begun.run(|_| {}).await.unwrap_err();
    assert!(matches!(&refused, MoveError::Differs { table, .. } if table == "mark"), "{refused}");
    assert_eq!(store.mark(mark(TALLY, 2)).await.unwrap().marks, 2, "the shard is served from where it was");
    drop(begun);
    mover(&test, [SHARD], 1).await.unwrap().run(|_| {}).await.unwrap();
    let names: Vec<String> = test.rows("SELECT name FROM mark ORDER BY member").await;
    assert_eq!(names, ["m1", "m2"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_of_shards_that_a_server_does_not_hold_are_neither_told_nor_touched() {
    let test = TestDb::fresh::<TwoServers>(tallies()).await;
    let mut conn = test.connect(0).await;
    // Shard 40 is the second server's.
    for sql in [
        "INSERT INTO outbox (shard, event_id, topic, message_key, occurred_at, headers, payload, inserted_at) VALUES (40, 1, 't', 'k', 1, '[]', '', 1)",
        "INSERT INTO outbox_parked_key (shard, message_key, until_ms, reason) VALUES (40, 'k', 1, '')",
        "INSERT INTO dead_letter (shard, event_id, topic, message_key, occurred_at, headers, payload, died_at) VALUES (40, 2, 't', 'k', 1, '[]', '', 1)",
        "INSERT INTO processed_event (shard, group_name, event_id, processed_at) VALUES (40, 'g', 3, 1)",
        "INSERT INTO once_answer (shard, member_id, scope, once_key, fingerprint, answer, answered_at) VALUES (40, 1, 's', 'k', REPEAT('x', 32), '', 1)",
    ] {
        conn.query_drop(sql).await.unwrap();
    }
    let (outbox, letters) = (MysqlOutbox::new(&test.db), MysqlDeadLetters::new(&test.db));
    assert_eq!(outbox.backlog().await.unwrap().unsent, 0);
    assert!(!outbox.has_unsent_before(Timestamp::from_millis(1_000)).await.unwrap());
    assert_eq!((letters.count().await.unwrap(), letters.list(None, 10).await.unwrap().len()), (0, 0));
    assert_eq!(test.db.sizes().await.unwrap(), madang_engine_mysql::Sizes::default());
    let now = Timestamp::from_millis(1_800_000_000_000);
    assert_eq!(idempotency::purge(&test.db, now).await.unwrap(), 0);
    assert_eq!(MysqlInbox::new(&test.db).forget_older_than(Duration::from_secs(1)).await.unwrap(), 0);
    let claim =
        madang_messaging::Claim { shards: shards(0..64).into_iter().collect(), min_age: Duration::ZERO, limit: 100 };
    assert!(outbox.claim(claim).await.unwrap().is_empty());
    for table in ["outbox", "outbox_parked_key", "dead_letter", "processed_event", "once_answer"] {
        let rows: Vec<u64> = test.rows(&format!("SELECT COUNT(*) FROM {table}")).await;
        assert_eq!(rows, [1, 0], "{table}");
    }
}
