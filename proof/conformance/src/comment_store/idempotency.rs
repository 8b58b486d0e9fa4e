//! Idempotency keys: one effect, one answer, and no text that was deleted since.

use madang_board::CommentMode;
use madang_comment::CreateOutcome;
use madang_kernel::Created;

use super::CommentStoreHarness;
use super::site::{Site, idempotency};

pub(super) async fn the_same_key_creates_one_comment_and_answers_as_then<H: CommentStoreHarness>(harness: H) {
    let site = Site::open(harness, CommentMode::TwoLevel);
    let mut first = site.draft(None);
    first.idempotency = idempotency("k", 1);
    let CreateOutcome::Created(Created::Now(comment)) = site.store.create(first).await.unwrap() else {
        panic!("the first is created");
    };
    let mut again = site.draft(None);
    again.idempotency = idempotency("k", 1);
    let before = CreateOutcome::Created(Created::Before(comment));
    assert_eq!(site.store.create(again).await.unwrap(), before);
    assert_eq!((site.count().await.comment_count, site.events().await.len()), (1, 1));
}

pub(super) async fn a_repeated_request_tells_no_deleted_text<H: CommentStoreHarness>(harness: H) {
    let site = Site::open(harness, CommentMode::Tree);
    let mut draft = site.draft(None);
    draft.idempotency = idempotency("k", 1);
    let CreateOutcome::Created(Created::Now(comment)) = site.store.create(draft.clone()).await.unwrap() else {
        panic!("the first is created");
    };
    site.delete(comment.comment_id).await;
    let before = CreateOutcome::Created(Created::Before(comment.into_mark()));
    assert_eq!(site.store.create(draft).await.unwrap(), before);
    assert_eq!(site.count().await.row_count, 0);
}

pub(super) async fn a_key_with_another_body_is_refused<H: CommentStoreHarness>(harness: H) {
    let site = Site::open(harness, CommentMode::Tree);
    for (body, expected_rows) in [(1, 1), (2, 1)] {
        let mut draft = site.draft(None);
        draft.idempotency = idempotency("k", body);
        let outcome = site.store.create(draft).await.unwrap();
        assert_eq!(outcome == CreateOutcome::Created(Created::KeyReused), body == 2);
        assert_eq!(site.count().await.row_count, expected_rows);
    }
}
