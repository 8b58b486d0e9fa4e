//! A small site to test on: comments on one article of each arrangement, with ids in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use madang_board::{ArticleId, BoardId, CommentId, CommentMode, MemberId};
use madang_comment::{
    Comment, CommentCount, CommentCursor, CommentStore, Counted, CreateComment, CreateOutcome, DeleteComment,
    DeleteOutcome, DepthMax,
};
use madang_event::{Envelope, Writer};
use madang_kernel::{Created, EventId, Id, Idempotency, PageNumber, PageSize, ShardId, Timestamp};

use super::CommentStoreHarness;

/// Where an id has its time, and where its shard.
const TIME_SHIFT: u32 = 22;
const SHARD_SHIFT: u32 = 16;
/// Ids drawn for one comment at most.
const ATTEMPTS_MAX: usize = 1_000;

pub(super) struct Site<H> {
    pub(super) harness: H,
    pub(super) store: Arc<dyn CommentStore>,
    pub(super) article: ArticleId,
    pub(super) mode: CommentMode,
    next: AtomicI64,
}

impl<H: CommentStoreHarness> Site<H> {
    pub(super) fn open(harness: H, mode: CommentMode) -> Self {
        let store = harness.store();
        Self { harness, store, article: ArticleId::from_raw(71), mode, next: AtomicI64::new(1_000) }
    }

    /// A comment that is not yet stored, with the next id.
    pub(super) fn draft(&self, parent: Option<CommentId>) -> CreateComment {
        let id = self.next_id();
        CreateComment {
            despite_lock: false,
            comment_id: CommentId::from_raw(id),
            article_id: self.article,
            board_id: home(),
            parent_id: parent,
            mode: self.mode,
            depth_max: DepthMax::DEFAULT,
            content: format!("text {id} 마당"),
            content_html: format!("<p>text {id} 마당</p>\n"),
            writer: Writer { member_id: MemberId::from_raw(7), name: "글쓴이".into() },
            created_at: Timestamp::from_millis(1_750_000_000_000 + id),
            event_id: EventId::from_raw(self.next_id()),
            idempotency: None,
        }
    }

    /// Writes a comment; draws another id when one was overtaken, as the service does.
    pub(super) async fn reply(&self, parent: Option<CommentId>) -> Comment {
        for _ in 0..ATTEMPTS_MAX {
            match self.store.create(self.draft(parent)).await.unwrap() {
                CreateOutcome::Created(Created::Now(comment)) => return comment,
                CreateOutcome::Late => {}
                other => panic!("{other:?}"),
            }
        }
        panic!("overtaken {ATTEMPTS_MAX} times");
    }

    pub(super) async fn delete(&self, comment: CommentId) -> DeleteOutcome {
        let delete = DeleteComment {
            comment_id: comment,
            expected_version: None,
            event_id: EventId::from_raw(self.next_id()),
            act: None,
        };
        self.store.delete(delete).await.unwrap()
    }

    pub(super) async fn count(&self) -> CommentCount {
        self.store.count(self.article).await.unwrap()
    }

    /// The counts with the newest comment.
    pub(super) async fn counted(&self) -> Counted {
        self.store.counts(vec![self.article]).await.unwrap().pop().flatten().unwrap()
    }

    pub(super) async fn page(&self, number: usize, size: usize) -> Vec<Comment> {
        let number = PageNumber::new("page", number as i64).unwrap();
        self.store.page(self.article, self.mode, number, page_size(size)).await.unwrap().items
    }

    /// Every comment, by cursor in steps of `size`.
    pub(super) async fn walk(&self, size: usize) -> Vec<Comment> {
        let mut all = Vec::new();
        let mut after: Option<CommentCursor> = None;
        loop {
            let step = self.store.scroll(self.article, self.mode, after, page_size(size)).await.unwrap();
            all.extend(step.items);
            after = step.next;
            if after.is_none() {
                return all;
            }
        }
    }

    /// The committed events, decoded.
    pub(super) async fn events(&self) -> Vec<Envelope> {
        let messages = self.harness.committed().await;
        messages.iter().map(|message| Envelope::decode(&message.payload).unwrap()).collect()
    }

    pub(super) async fn assert_sound(&self) {
        assert_eq!(self.harness.differences().await, Vec::<String>::new());
    }

    /// Grows with time, and carries the shard of the article's parts, as every id of a comment and its events does.
    pub(super) fn next_id(&self) -> i64 {
        let shard = i64::from(ShardId::of_parts(self.article).number());
        self.next.fetch_add(1, Ordering::Relaxed) << TIME_SHIFT | shard << SHARD_SHIFT
    }
}

/// The board of every article.
pub(super) fn home() -> BoardId {
    BoardId::from_raw(9)
}

pub(super) fn idempotency(key: &str, body: u8) -> Option<Idempotency> {
    Some(Idempotency { caller: 7, scope: "POST /c".into(), key: key.to_owned(), fingerprint: [body; 32] })
}

pub(super) fn page_size(size: usize) -> PageSize {
    PageSize::new("page_size", size as i64).unwrap()
}

pub(super) fn ids(comments: &[Comment]) -> Vec<CommentId> {
    comments.iter().map(|comment| comment.comment_id).collect()
}
