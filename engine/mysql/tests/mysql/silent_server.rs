//! What callers notice of a server that stands still, or is gone before it said what became of a COMMIT: a short wait for
//! the first of them, a refusal at once for all others, and the truth when it is back.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use madang_kernel::StoreError;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::program::{Mark, Mysql, Tallies, tallies};
use crate::proxy::{Cuts, Line, Proxy};
use crate::support::{OneServer, TestDb, eventually};

const TALLY: i64 = 77;
/// What a refusal at once may take on a busy machine.
const AT_ONCE: Duration = Duration::from_secs(1);
/// How long the first to find out may wait: a second until somebody asks, two for the answer that does not come.
const FIRST_WAIT: Duration = Duration::from_secs(8);

/// A store that reaches its server through a proxy, in one lane.
struct Site {
    test: TestDb,
    db: Mysql,
    store: Tallies,
    cuts: Arc<Cuts>,
    _proxy: Proxy,
}

impl Site {
    async fn new() -> Self {
        let mut test = TestDb::fresh::<OneServer>(tallies()).await;
        let direct = test.options.servers[0].url.clone();
        let (proxy, through) = Proxy::start(&direct).await;
        test.options.servers[0].url = through;
        test.options.lanes = 1;
        let db = test.another().await;
        test.options.servers[0].url = direct;
        let site = Self { store: Tallies::new(db.clone()), cuts: Arc::clone(&proxy.cuts), test, db, _proxy: proxy };
        assert_eq!(site.mark(1).await.unwrap(), 1);
        site
    }

    /// The count that a member is told when they set their mark.
    async fn mark(&self, member: i64) -> Result<u64, StoreError> {
        mark(&self.store, member).await
    }

    #[expect(clippy::disallowed_methods, reason = "the call goes on while the test does")]
    fn mark_meanwhile(&self, member: i64) -> JoinHandle<Result<u64, StoreError>> {
        let store = self.store.clone();
        tokio::spawn(async move { mark(&store, member).await })
    }

    async fn marks(&self) -> Result<u64, StoreError> {
        self.store.marks(TALLY).await
    }

    /// Everybody is refused, and nobody waits.
    async fn refuses_at_once(&self) {
        for member in 100..120 {
            let begun = Instant::now();
            let refused = timeout(FIRST_WAIT, self.mark(member)).await.expect("an answer");
            assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
            assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
        }
    }

    /// A new call is served, and every count is what its rows are.
    async fn comes_back(self, count: u64) {
        eventually("it is served again", async || self.mark(3).await.is_ok()).await;
        assert_eq!(self.marks().await.unwrap(), count + 1);
        assert_eq!(self.test.differences().await, Vec::<String>::new());
        self.db.close().await;
    }
}

async fn mark(store: &Tallies, member: i64) -> Result<u64, StoreError> {
    let event = rand::random_range(1..i64::MAX);
    let marked = store.mark(Mark { tally: TALLY, member, name: "m".into(), set: true, event }).await?;
    Ok(marked.marks)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_the_fate_of_a_commit_is_unknown_others_are_refused_at_once_and_its_caller_is_told_the_truth() {
    for reaches_the_server in [true, false] {
        let site = Site::new().await;
        site.cuts.line.send_replace(Line::Closed);
        let lost = if reaches_the_server { &site.cuts.after } else { &site.cuts.before };
        lost.store(1, Ordering::SeqCst);
        let first = site.mark_meanwhile(2);
        eventually("its COMMIT is lost", async || lost.load(Ordering::SeqCst) == 0).await;
        let begun = Instant::now();
        let queued = timeout(FIRST_WAIT, site.mark(100)).await.expect("an answer, though the server is away");
        assert!(matches!(queued, Err(StoreError::Unavailable { .. })), "{queued:?} after {:?}", begun.elapsed());
        site.refuses_at_once().await;
        assert!(!first.is_finished(), "nobody can know");
        site.cuts.line.send_replace(Line::Open);
        let told = timeout(Duration::from_secs(60), first).await.expect("an answer").unwrap();
        if reaches_the_server {
            assert_eq!(told.unwrap(), 2);
        } else {
            assert!(matches!(told, Ok(2) | Err(StoreError::Unavailable { .. })), "run again, or refused: {told:?}");
        }
        let count = site.test.rows::<u64>("SELECT COUNT(*) FROM mark").await[0];
        site.comes_back(count).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stands_still_is_waited_for_once() {
    let site = Site::new().await;
    site.cuts.line.send_replace(Line::Still);
    let first = timeout(FIRST_WAIT, site.mark(2)).await.expect("an answer, though the server has none");
    assert!(matches!(first, Err(StoreError::Unavailable { .. })), "{first:?}");
    site.refuses_at_once().await;
    let begun = Instant::now();
    assert!(matches!(site.marks().await, Err(StoreError::Unavailable { .. })), "readers too");
    assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
    site.cuts.line.send_replace(Line::Open);
    site.comes_back(1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_of_a_server_that_stands_still_are_refused() {
    let site = Site::new().await;
    assert_eq!(site.marks().await.unwrap(), 1);
    site.cuts.line.send_replace(Line::Still);
    let read = timeout(FIRST_WAIT, site.marks()).await.expect("an answer, though the server has none");
    assert!(matches!(read, Err(StoreError::Unavailable { .. })), "{read:?}");
    site.cuts.line.send_replace(Line::Open);
    site.comes_back(1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_a_server_standing_still_got_late_is_told_truly() {
    let site = Site::new().await;
    site.cuts.still.store(1, Ordering::SeqCst);
    let first = site.mark_meanwhile(2);
    eventually("the line stands still", async || *site.cuts.line.borrow() == Line::Still).await;
    let queued = timeout(FIRST_WAIT, site.mark(100)).await.expect("an answer, though the server has none");
    assert!(matches!(queued, Err(StoreError::Unavailable { .. })), "{queued:?}");
    site.refuses_at_once().await;
    site.cuts.line.send_replace(Line::Open);
    let told = timeout(Duration::from_secs(60), first).await.expect("an answer").unwrap();
    let count = site.test.rows::<u64>("SELECT COUNT(*) FROM mark").await[0];
    match told {
        Ok(told) => assert_eq!((told, count), (2, 2)),
        Err(StoreError::Unavailable { .. }) => assert_eq!(count, 1),
        Err(other) => panic!("{other}"),
    }
    site.comes_back(count).await;
}
