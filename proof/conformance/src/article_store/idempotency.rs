//! Idempotency keys: one effect and one answer, in the transaction of the effect.

use std::time::Duration;

use madang_article::{CreateBoard, CreateOutcome, DeleteOutcome, NewBoard};
use madang_kernel::{Created, IDEMPOTENCY_KEPT_MS, Id};

use super::ArticleStoreHarness;
use super::site::{Site, board, idempotency};

pub(super) async fn the_same_key_creates_one_article_and_tells_no_text_that_is_gone<H: ArticleStoreHarness>(
    harness: H,
) {
    let site = Site::open(harness).await;
    let mut new = site.draft();
    new.idempotency = idempotency(7, "POST /a", "k1", 1);
    let first = site.create_from(new).await;
    // A repeated request carries a new id, as its sender's did not arrive.
    let mut again = site.draft();
    again.idempotency = idempotency(7, "POST /a", "k1", 1);
    assert_eq!(site.store.create(again.clone()).await.unwrap(), CreateOutcome::Created(Created::Before(first.clone())));
    site.edit(first.article_id, "edited since").await;
    let edited = site.store.find(first.article_id).await.unwrap().unwrap();
    assert_eq!(
        site.store.create(again.clone()).await.unwrap(),
        CreateOutcome::Created(Created::Before(edited.clone()))
    );
    assert_eq!((site.count().await, site.events().await.len()), (1, 2));
    assert_eq!(site.delete(first.article_id).await, DeleteOutcome::Deleted);
    let mark = first.into_mark();
    assert!(mark.is_mark() && !edited.is_mark());
    assert_eq!(site.store.create(again).await.unwrap(), CreateOutcome::Created(Created::Before(mark)));
    assert_eq!(site.count().await, 0);
    site.assert_sound().await;
}

pub(super) async fn a_key_with_another_body_is_refused<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let mut new = site.draft();
    new.idempotency = idempotency(7, "POST /a", "k1", 1);
    site.create_from(new).await;
    let mut other = site.draft();
    other.idempotency = idempotency(7, "POST /a", "k1", 2);
    assert_eq!(site.store.create(other).await.unwrap(), CreateOutcome::Created(Created::KeyReused));
    assert_eq!((site.count().await, site.events().await.len()), (1, 1));
}

pub(super) async fn a_key_belongs_to_its_member_and_scope<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    for (member, scope, key) in [(7, "POST /a", "k"), (8, "POST /a", "k"), (7, "POST /b", "k"), (7, "POST /a", "K")] {
        let mut new = site.draft();
        new.idempotency = idempotency(member, scope, key, 1);
        site.create_from(new).await;
    }
    assert_eq!(site.count().await, 4);
}

pub(super) async fn a_key_is_forgotten_after_a_day<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let keyed = |body| {
        let mut new = site.draft();
        new.idempotency = idempotency(7, "POST /a", "k1", body);
        new
    };
    let first = site.create_from(keyed(1)).await;
    site.harness.clock().advance(Duration::from_millis(IDEMPOTENCY_KEPT_MS as u64 - 1));
    assert_eq!(site.store.create(keyed(1)).await.unwrap(), CreateOutcome::Created(Created::Before(first)));
    site.harness.clock().advance(Duration::from_millis(1));
    let second = site.create_from(keyed(2)).await;
    assert_eq!(site.store.create(keyed(2)).await.unwrap(), CreateOutcome::Created(Created::Before(second)));
    assert_eq!(site.count().await, 2);
}

pub(super) async fn a_board_key_answers_as_then<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let new = |id, slug: &str, body| NewBoard {
        board: board(id, slug),
        idempotency: idempotency(7, "POST /boards", "k", body),
    };
    let made = CreateBoard::Created(Created::Now(board(2, "second")));
    assert_eq!(site.store.create_board(new(2, "second", 1)).await.unwrap(), made);
    let before = CreateBoard::Created(Created::Before(board(2, "second")));
    assert_eq!(site.store.create_board(new(3, "second", 1)).await.unwrap(), before);
    let refused = CreateBoard::Created(Created::KeyReused);
    assert_eq!(site.store.create_board(new(4, "third", 2)).await.unwrap(), refused);
    // A slug that is taken is no answer to keep: the same key may be tried with another slug.
    let taken = NewBoard { board: board(5, "general"), idempotency: idempotency(7, "POST /boards", "k2", 1) };
    assert_eq!(site.store.create_board(taken).await.unwrap(), CreateBoard::SlugTaken);
    let retried = NewBoard { board: board(6, "fourth"), idempotency: idempotency(7, "POST /boards", "k2", 2) };
    assert!(matches!(site.store.create_board(retried).await.unwrap(), CreateBoard::Created(Created::Now(_))));
    assert_eq!(site.store.boards().await.unwrap().last().unwrap().board.board_id.raw(), 6);
}
