//! Locks: decided in the transaction of the comment, told in the order of the comments, kept with the counts.

use std::sync::Arc;

use madang_board::{Act, ActId, ActKind, Actor, ArticleId, CommentMode, MemberId, Role};
use madang_comment::{CommentCount, CreateComment, CreateOutcome, LockOutcome, SetLock};
use madang_event::{ArticleLock, Event};
use madang_kernel::{Created, EventId, Id, Timestamp};
use tokio::task::JoinSet;

use super::CommentStoreHarness;
use super::site::{Site, idempotency, page_size};

fn call<H: CommentStoreHarness>(site: &Site<H>, article_id: ArticleId, locked: bool) -> SetLock {
    let moderator = Actor::new(MemberId::from_raw(8), "관리자", Role::Moderator);
    let kind = if locked { ActKind::ArticleLocked } else { ActKind::ArticleUnlocked };
    let at = Timestamp::from_millis(1_760_000_000_000);
    let act = Act::of(&moderator, ActId::from_raw(site.next_id()), kind, article_id.raw(), at);
    SetLock { article_id, locked, event_id: EventId::from_raw(site.next_id()), act }
}

async fn set<H: CommentStoreHarness>(site: &Site<H>, locked: bool) -> CommentCount {
    match site.store.set_lock(call(site, site.article, locked)).await.unwrap() {
        LockOutcome::Set(count) => count,
        LockOutcome::Gone => panic!("the article is there"),
    }
}

pub(super) async fn a_locked_article_takes_comments_of_the_exempt_alone<H: CommentStoreHarness>(harness: H) {
    for mode in [CommentMode::TwoLevel, CommentMode::Tree] {
        let site = Site::open(H::fresh().await, mode);
        let root = site.reply(None).await.comment_id;
        let key = CreateComment { idempotency: idempotency("k", 1), ..site.draft(Some(root)) };
        let CreateOutcome::Created(Created::Now(keyed)) = site.store.create(key).await.unwrap() else { panic!("new") };
        assert_eq!(set(&site, true).await, CommentCount { comment_count: 2, row_count: 2, version: 3, locked: true });
        for parent in [None, Some(root)] {
            assert_eq!(site.store.create(site.draft(parent)).await.unwrap(), CreateOutcome::Locked);
        }
        // A request that is repeated is answered as it was.
        let again = CreateComment { idempotency: idempotency("k", 1), ..site.draft(Some(root)) };
        let again = site.store.create(again).await.unwrap();
        assert_eq!(again, CreateOutcome::Created(Created::Before(keyed)));
        let exempt = CreateComment { despite_lock: true, ..site.draft(Some(root)) };
        assert!(matches!(site.store.create(exempt).await.unwrap(), CreateOutcome::Created(Created::Now(_))));
        let count = CommentCount { comment_count: 3, row_count: 3, version: 4, locked: true };
        assert_eq!((site.count().await, site.counted().await.count), (count, count));
        // What is there can still be taken back, and the lock stays.
        site.delete(root).await;
        assert!(site.count().await.locked);
        assert!(!set(&site, false).await.locked);
        site.reply(None).await;
        site.assert_sound().await;
    }
    drop(harness);
}

pub(super) async fn a_lock_is_told_once_and_in_the_order_of_the_comments<H: CommentStoreHarness>(harness: H) {
    let site = Site::open(harness, CommentMode::TwoLevel);
    // Also of an article that nobody has commented on.
    assert_eq!(set(&site, true).await, CommentCount { version: 1, locked: true, ..CommentCount::default() });
    assert_eq!(set(&site, true).await.version, 1, "locked twice is once");
    set(&site, false).await;
    site.reply(None).await;
    let events = site.events().await;
    let lock = |locked| {
        Event::ArticleLockChanged(ArticleLock { article_id: site.article, comment_count: 0, locked, last: None })
    };
    assert_eq!(events.iter().map(|event| event.version).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!((&events[0].event, &events[1].event), (&lock(true), &lock(false)));
    assert!(events.iter().all(|event| event.key == site.article));
    let told = site.harness.acts().acts(None, None, page_size(10)).await.unwrap().items;
    let kinds: Vec<_> = told.iter().rev().map(|act| (act.kind, act.subject)).collect();
    let subject = site.article.raw();
    assert_eq!(kinds, [(ActKind::ArticleLocked, subject), (ActKind::ArticleUnlocked, subject)]);
    site.assert_sound().await;
}

pub(super) async fn a_gone_article_is_not_locked_and_one_that_comes_back_is_as_it_was<H: CommentStoreHarness>(
    harness: H,
) {
    let site = Site::open(harness, CommentMode::Tree);
    site.reply(None).await;
    set(&site, true).await;
    site.store.mark_article_gone(site.article).await.unwrap();
    for locked in [true, false] {
        let outcome = site.store.set_lock(call(&site, site.article, locked)).await.unwrap();
        assert_eq!(outcome, LockOutcome::Gone);
    }
    site.store.restore_article(site.article).await.unwrap();
    let count = site.count().await;
    assert!(count.locked && count.version > 2 && count.comment_count == 1, "{count:?}");
    site.assert_sound().await;
}

pub(super) async fn once_an_article_is_locked_no_comment_slips_through<H: CommentStoreHarness>(harness: H) {
    let site = Arc::new(Site::open(harness, CommentMode::Tree));
    let mut writers = JoinSet::new();
    for _ in 0..32 {
        let site = Arc::clone(&site);
        writers.spawn(async move {
            let mut written = 0_u64;
            for _ in 0..4 {
                match site.store.create(site.draft(None)).await.unwrap() {
                    CreateOutcome::Created(Created::Now(_)) => written += 1,
                    CreateOutcome::Locked => {}
                    other => panic!("{other:?}"),
                }
            }
            written
        });
    }
    let (written, locked) = tokio::join!(writers.join_all(), set(&site, true));
    let written: u64 = written.into_iter().sum();
    let (end, events) = (site.count().await, site.events().await);
    assert_eq!((end.comment_count, end.version), (written, written + 1));
    assert_eq!(locked, end, "nothing was counted after the lock");
    assert!(matches!(events.last().unwrap().event, Event::ArticleLockChanged(_)));
    site.assert_sound().await;
}
