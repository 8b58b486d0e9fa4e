//! Folded likes share one change and one event, fail alone, are bounded, and are lost together; damage to them is found.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

mod support;

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::mpsc;
use std::task::Poll;
use std::time::{Duration, Instant};

use madang_board::check::CheckFinding;
use madang_board::{ArticleId, MemberId};
use madang_event::Writer;
use madang_kernel::{EventId, Id, StoreError, Timestamp};
use madang_like::{Like, LikeCount, LikeOutcome, LikeStore, Unlike};
use madang_sqlite::{CheckOptions, Priority, SqliteLikes, Tx};
use support::{TestDb, broken};

const PATIENCE: Duration = Duration::from_secs(20);
/// Longer than a batch goes on taking calls.
const BATCH_OVER: Duration = Duration::from_millis(20);
/// As many as may wait to be folded.
const PENDING_MAX: i64 = 4_096;

type Waiting<T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send>>;

struct Site {
    test: TestDb,
    likes: SqliteLikes,
}

fn article() -> ArticleId {
    ArticleId::from_raw(77)
}

fn like(member: i64) -> Like {
    let member = Writer { member_id: MemberId::from_raw(member), name: "m".into() };
    let event_id = EventId::from_raw(1_000 + member.member_id.raw());
    Like { article_id: article(), member, created_at: Timestamp::from_millis(0), event_id }
}

impl Site {
    fn open() -> Self {
        let test = TestDb::fresh();
        let likes = SqliteLikes::new(test.db.clone());
        Self { test, likes }
    }

    /// Hands a like in, and returns while it waits.
    async fn hand_in(&self, member: i64) -> Waiting<LikeOutcome> {
        let likes = self.likes.clone();
        waiting(async move { likes.like(like(member)).await }).await
    }

    /// Keeps the writer busy until the sender is dropped, and so long that its batch takes nobody else: those who wait meanwhile
    /// are the next one, all together.
    async fn hold_writer(&self) -> (mpsc::Sender<()>, Waiting<()>) {
        let (release, held) = mpsc::channel();
        let (busy, started) = tokio::sync::oneshot::channel();
        let db = self.test.db.clone();
        let hold = waiting(async move {
            let wait = move |_: &Tx| {
                let began = Instant::now();
                let _ = busy.send(());
                let _ = held.recv_timeout(PATIENCE);
                while began.elapsed() < BATCH_OVER {
                    std::thread::yield_now();
                }
                Ok(())
            };
            db.write(Priority::Foreground, wait).await
        });
        let hold = hold.await;
        started.await.unwrap();
        (release, hold)
    }

    /// Hands in a call that takes the whole transaction down.
    async fn hand_in_a_disaster(&self) -> Waiting<()> {
        let db = self.test.db.clone();
        waiting(async move { db.write(Priority::Foreground, |tx| tx.execute_batch("ROLLBACK").map_err(broken)).await })
            .await
    }

    async fn execute(&self, sql: &'static str) {
        self.test.db.write(Priority::Foreground, move |tx| tx.execute_batch(sql).map_err(broken)).await.unwrap();
    }

    async fn events(&self) -> i64 {
        let count = |tx: &rusqlite::Connection| {
            tx.query_row("SELECT count(*) FROM event_log", [], |row| row.get(0)).map_err(broken)
        };
        self.test.db.read(count).await.unwrap()
    }

    async fn count(&self) -> LikeCount {
        self.likes.counts(vec![article()]).await.unwrap()[0].unwrap()
    }

    async fn findings(&self) -> Vec<CheckFinding> {
        madang_sqlite::check(&self.test.db, CheckOptions::default(), |_| {}).await.unwrap().findings
    }
}

/// Starts a call and returns it while it waits for its answer.
async fn waiting<T>(call: impl Future<Output = Result<T, StoreError>> + Send + 'static) -> Waiting<T> {
    let mut call: Waiting<T> = Box::pin(call);
    let pending = poll_fn(|context| Poll::Ready(call.as_mut().poll(context).is_pending())).await;
    assert!(pending, "the writer is held, and yet there is an answer");
    call
}

fn like_count(outcome: Result<LikeOutcome, StoreError>) -> u64 {
    match outcome.unwrap() {
        LikeOutcome::Done(answer) => answer.state.like_count,
        LikeOutcome::Gone => panic!("the article is not gone"),
    }
}

#[tokio::test]
async fn calls_that_wait_together_share_one_event_and_one_version() {
    let site = Site::open();
    let (release, hold) = site.hold_writer().await;
    let mut calls = Vec::new();
    for member in 1..=200 {
        calls.push(site.hand_in(member).await);
    }
    drop(release);
    hold.await.unwrap();
    for (index, call) in calls.into_iter().enumerate() {
        assert_eq!(like_count(call.await), index as u64 + 1, "each has an answer of its own");
    }
    assert_eq!(site.count().await, LikeCount { like_count: 200, version: 1 });
    assert_eq!(site.events().await, 1);
    assert_eq!(site.findings().await, []);
}

#[tokio::test]
async fn a_like_taken_back_in_the_same_batch_leaves_no_trace() {
    let site = Site::open();
    let (release, hold) = site.hold_writer().await;
    let given = site.hand_in(1).await;
    let likes = site.likes.clone();
    let unlike = Unlike { article_id: article(), member_id: MemberId::from_raw(1), event_id: EventId::from_raw(2) };
    let taken_back = waiting(async move { likes.unlike(unlike).await }).await;
    drop(release);
    hold.await.unwrap();
    assert_eq!((like_count(given.await), like_count(taken_back.await)), (1, 0));
    assert_eq!((site.count().await, site.events().await), (LikeCount::default(), 0));
}

#[tokio::test]
async fn one_call_too_many_is_refused_and_the_others_are_counted() {
    let site = Site::open();
    let (release, hold) = site.hold_writer().await;
    let mut calls = Vec::new();
    for member in 1..=PENDING_MAX {
        calls.push(site.hand_in(member).await);
    }
    // The writer is still held: only a refusal can answer.
    let refused = site.likes.like(like(PENDING_MAX + 1)).await;
    assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
    drop(release);
    hold.await.unwrap();
    for call in calls {
        call.await.unwrap();
    }
    assert_eq!(site.count().await, LikeCount { like_count: PENDING_MAX as u64, version: 16 });
    assert_eq!(site.findings().await, []);
}

#[tokio::test]
async fn a_defect_fails_alone() {
    let site = Site::open();
    site.execute(
        "CREATE TRIGGER unlucky BEFORE INSERT ON article_like WHEN new.member_id = 13
         BEGIN SELECT RAISE(ABORT, 'unlucky'); END",
    )
    .await;
    let (release, hold) = site.hold_writer().await;
    let mut calls = Vec::new();
    for member in 1..=20 {
        calls.push((member, site.hand_in(member).await));
    }
    drop(release);
    hold.await.unwrap();
    for (member, call) in calls {
        let outcome = call.await;
        assert_eq!(matches!(outcome, Err(StoreError::Broken { .. })), member == 13, "{member}: {outcome:?}");
    }
    assert_eq!(site.count().await.like_count, 19);
    assert_eq!(site.findings().await, []);
}

#[tokio::test]
async fn a_lost_batch_is_unavailable_to_all_and_changes_nothing() {
    // Decided and then lost, and lost before it was decided.
    for decided in [true, false] {
        let site = Site::open();
        let (release, hold) = site.hold_writer().await;
        let mut calls = Vec::new();
        let mut disasters = Vec::new();
        if !decided {
            disasters.push(site.hand_in_a_disaster().await);
        }
        for member in 1..=20 {
            calls.push(site.hand_in(member).await);
        }
        if decided {
            disasters.push(site.hand_in_a_disaster().await);
        }
        drop(release);
        hold.await.unwrap();
        for disaster in disasters {
            assert!(disaster.await.is_err());
        }
        for call in calls {
            let outcome = call.await;
            assert!(matches!(outcome, Err(StoreError::Unavailable { .. })), "{outcome:?}");
        }
        assert_eq!((site.count().await, site.events().await), (LikeCount::default(), 0));
        assert_eq!(like_count(site.likes.like(like(1)).await), 1, "the next one is not harmed");
    }
}

#[tokio::test]
async fn closing_answers_everyone_who_waits() {
    let site = Site::open();
    let (release, hold) = site.hold_writer().await;
    let mut calls = Vec::new();
    for member in 1..=300 {
        calls.push(site.hand_in(member).await);
    }
    drop(release);
    site.test.db.close().await;
    hold.await.unwrap();
    for call in calls {
        call.await.unwrap();
    }
    assert!(matches!(site.likes.like(like(301)).await, Err(StoreError::Unavailable { .. })));
}

#[tokio::test]
async fn likes_that_differ_from_their_counter_are_found() {
    let article_id = article();
    for (damage, expected) in [
        (
            "UPDATE article_like_count SET like_count = 5, version = 2",
            vec![
                CheckFinding::LikeCount { article_id, counted: 5, rows: 2 },
                CheckFinding::LikeEventDiffers { article_id, reported: (2, 2), stored: Some((5, 2)) },
            ],
        ),
        (
            "DELETE FROM article_like_count",
            vec![
                CheckFinding::UncountedLikes { article_id, rows: 2 },
                CheckFinding::LikeEventDiffers { article_id, reported: (2, 2), stored: None },
            ],
        ),
        (
            "DELETE FROM article_like WHERE member_id = 1",
            vec![CheckFinding::LikeCount { article_id, counted: 2, rows: 1 }],
        ),
        (
            "UPDATE article_like_count SET version = 3",
            vec![CheckFinding::LikeEventDiffers { article_id, reported: (2, 2), stored: Some((2, 3)) }],
        ),
    ] {
        let site = Site::open();
        for member in [1, 2] {
            site.likes.like(like(member)).await.unwrap();
        }
        assert_eq!(site.findings().await, []);
        site.execute(damage).await;
        assert_eq!(site.findings().await, expected, "{damage}");
    }
}
