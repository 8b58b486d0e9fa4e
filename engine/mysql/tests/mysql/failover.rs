//! A replica takes the place of its primary under running processes: they find it, nothing that was acknowledged is lost, and an
//! old primary that comes back is not taken for one. The servers are these tests' own.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use madang_engine_mysql::{MysqlOptions, ServerOptions};
use madang_kernel::{ManualClock, StoreError, Timestamp};
use madang_test_servers::Pair;
use tokio::task::JoinSet;

use crate::program::{Mark, Mysql, Tallies, tallies};
use crate::support::eventually;

const CALLERS: i64 = 8;
const TALLY: i64 = 7;
/// From the moment in which a replica was promoted until writes are acknowledged again; a frozen server is waited for.
const BACK_MAX: Duration = Duration::from_secs(15);

fn options(url: String) -> MysqlOptions {
    let mut options = MysqlOptions::new(vec![ServerOptions { url, shards: "0-63".to_owned() }]);
    options.database_prefix = format!("t{:08x}", rand::random::<u32>());
    options
}

async fn open(options: &MysqlOptions) -> (Mysql, Tallies) {
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_800_000_000_000)));
    let db = Mysql::open(options, tallies(), clock).await.unwrap();
    (db.clone(), Tallies::new(db))
}

async fn mark(store: &Tallies, member: i64) -> Result<u64, StoreError> {
    let event = rand::random_range(1..i64::MAX);
    Ok(store.mark(Mark { tally: TALLY, member, name: "m".into(), set: true, event }).await?.marks)
}

/// Callers who write for as long as it is held, each call for a member of its own.
struct Callers {
    stop: Arc<AtomicBool>,
    acknowledged: Arc<Mutex<Vec<(Instant, i64)>>>,
    tasks: JoinSet<()>,
}

impl Callers {
    fn start(stores: &[Tallies]) -> Self {
        let (stop, next): (Arc<AtomicBool>, Arc<AtomicI64>) = Default::default();
        let acknowledged: Arc<Mutex<Vec<(Instant, i64)>>> = Arc::default();
        let mut tasks = JoinSet::new();
        for caller in 0..CALLERS {
            let store = stores[usize::try_from(caller).unwrap() % stores.len()].clone();
            let (stop, next, acknowledged) = (stop.clone(), next.clone(), acknowledged.clone());
            tasks.spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    let member = next.fetch_add(1, Ordering::Relaxed);
                    match mark(&store, member).await {
                        Ok(_) => acknowledged.lock().unwrap().push((Instant::now(), member)),
                        Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
                    }
                }
            });
        }
        Self { stop, acknowledged, tasks }
    }

    fn count(&self) -> usize {
        self.acknowledged.lock().unwrap().len()
    }

    async fn are_at_work(&self) {
        let count = self.count();
        eventually("callers are acknowledged", async || self.count() > count + 100).await;
    }

    /// How long after `since` somebody was acknowledged.
    async fn back(&self, since: Instant) -> Duration {
        let first = || self.acknowledged.lock().unwrap().iter().map(|(at, _)| *at).find(|at| *at > since);
        eventually("writes are back", async || first().is_some()).await;
        first().unwrap() - since
    }

    async fn finish(mut self) -> BTreeSet<i64> {
        self.stop.store(true, Ordering::Relaxed);
        while self.tasks.join_next().await.is_some() {}
        self.acknowledged.lock().unwrap().iter().map(|(_, member)| *member).collect()
    }
}

/// The members whose mark the primary has.
fn there(pair: &Pair, db: &Mysql) -> BTreeSet<i64> {
    let told = pair.primary().sql(&format!("SELECT member FROM {}.mark", db.name_on_servers())).unwrap();
    told.lines().map(|line| line.parse().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_that_takes_over_is_found_and_has_all_that_was_acknowledged() {
    let mut pair = tokio::task::spawn_blocking(Pair::start).await.unwrap();
    let options = options(pair.url());
    let [(db, one), (_other, other)] = [open(&options).await, open(&options).await];
    let callers = Callers::start(&[one, other]);
    callers.are_at_work().await;

    pair.primary_mut().kill();
    pair.promote();
    let killed = callers.back(Instant::now()).await;
    callers.are_at_work().await;

    // The old one comes back as its options say, and is rebuilt while people write.
    pair.rejoin();
    callers.are_at_work().await;
    pair.primary().signal("STOP");
    tokio::time::sleep(Duration::from_secs(3)).await;
    pair.promote();
    // It goes on as if it were the primary, before anybody has found the other one: nobody told it otherwise.
    pair.replica().signal("CONT");
    let frozen = callers.back(Instant::now()).await;
    assert_eq!(pair.replica().sql("SELECT @@global.read_only").unwrap(), "0");
    callers.are_at_work().await;
    let (fresh, _) = open(&options).await;
    let at_primary = pair.primary().address();
    assert_eq!((db.addresses(), fresh.addresses()), (vec![at_primary.clone()], vec![at_primary]));

    let acknowledged = callers.finish().await;
    let lost: Vec<_> = acknowledged.difference(&there(&pair, &db)).copied().collect();
    println!(
        "{} acknowledged, {} lost; writes were back {killed:?} after the promotion of one whose primary was killed, {frozen:?} \
         after that of one whose primary was frozen",
        acknowledged.len(),
        lost.len()
    );
    assert_eq!(lost, Vec::<i64>::new());
    assert!(killed < BACK_MAX && frozen < BACK_MAX, "{killed:?}, {frozen:?}");
}

/// Waits until somebody is acknowledged; where nobody is, says what the servers are doing.
async fn writes_are_back(pair: &Pair, store: &Tallies, member: i64) {
    let until = Instant::now() + Duration::from_secs(60);
    while let Err(error) = mark(store, member).await {
        if Instant::now() > until {
            let asked = "SELECT @@server_id, @@read_only; SHOW FULL PROCESSLIST; SHOW STATUS LIKE 'Rpl_semi%'; SELECT @@gtid_binlog_pos";
            panic!("{error}\nprimary: {:?}\nreplica: {:?}", pair.primary().sql(asked), pair.replica().sql(asked));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_read_only_or_lacks_what_was_acknowledged_is_not_written_to() {
    let mut pair = tokio::task::spawn_blocking(Pair::start).await.unwrap();
    // As somebody whom no server refuses.
    let (db, store) = open(&options(pair.url_of_root())).await;
    assert_eq!(mark(&store, 1).await.unwrap(), 1);
    pair.primary().sql("SET GLOBAL read_only = ON").unwrap();
    assert!(matches!(mark(&store, 2).await, Err(StoreError::Unavailable { .. })), "it is fenced");
    assert_eq!(store.marks(TALLY).await.unwrap(), 1, "reads go on");
    pair.primary().sql("SET GLOBAL read_only = OFF").unwrap();
    writes_are_back(&pair, &store, 3).await;

    // A primary that does not wait for its replica acknowledges what the replica does not have.
    pair.replica().sql("STOP SLAVE").unwrap();
    pair.primary().sql("SET GLOBAL rpl_semi_sync_master_enabled = OFF").unwrap();
    let told = mark(&store, 4).await.unwrap();
    pair.primary_mut().kill();
    pair.replica().sql("SET GLOBAL read_only = OFF").unwrap();
    let until = Instant::now() + Duration::from_secs(3);
    while Instant::now() < until {
        assert!(matches!(mark(&store, 5).await, Err(StoreError::Unavailable { .. })), "{told} marks were acknowledged");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // Who has them is used again, though another one takes writes.
    pair.primary_mut().start_again();
    pair.primary().sql("SET GLOBAL read_only = OFF").unwrap();
    writes_are_back(&pair, &store, 6).await;
    assert!(store.marks(TALLY).await.unwrap() > told);
    assert_eq!(db.addresses(), [pair.primary().address()]);
}
