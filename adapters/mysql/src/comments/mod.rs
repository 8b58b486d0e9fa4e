//! Comments on MySQL: what many callers want of an article is decided in one transaction, each answered as if alone.

mod call;
mod decide;
mod load;
mod read;
mod row;

use async_trait::async_trait;
use madang_board::{ArticleId, BoardId, CommentId, CommentMode, MemberId};
use madang_comment::{
    Active, Comment, CommentCount, CommentCursor, CommentStore, Counted, CreateComment, CreateOutcome, DeleteComment,
    DeleteOutcome, EditComment, EditOutcome, LockOutcome, PurgeComment, RemovedComment, RestoreComment, RestoreOutcome,
    SetLock,
};
use madang_engine_mysql::{Lanes, PART, idempotency};
use madang_kernel::{Id, Page, PageNumber, PageSize, Scroll, ShardId, StoreError, Timestamp};

use crate::Mysql;
use crate::lane_call::lane_call;
use call::{Answer, Call};
use decide::CommentFold;

/// Comments in a service's databases. Clones share the lanes.
#[derive(Clone)]
pub struct MysqlComments {
    db: Mysql,
    lanes: Lanes<CommentFold>,
}

impl MysqlComments {
    /// The store in `db`; starts its lanes.
    pub fn new(db: Mysql) -> Self {
        let lanes = Lanes::start(&db, CommentFold { clock: db.clock().clone() });
        Self { db, lanes }
    }

    /// Forgets the answers to idempotency keys given before `before`, slice by slice; returns how many.
    pub async fn purge_once(&self, before: Timestamp) -> Result<u64, StoreError> {
        idempotency::purge(&self.db, before).await
    }
}

#[async_trait]
impl CommentStore for MysqlComments {
    async fn create(&self, new: CreateComment) -> Result<CreateOutcome, StoreError> {
        let (comment, article) = (new.comment_id, new.article_id);
        if comment.shard() != ShardId::of_parts(article) {
            let reason = format!("comment {comment} does not carry the shard of the parts of article {article}");
            return Err(StoreError::broken(PART, reason));
        }
        lane_call!(self.lanes, Call::Create(Box::new(new)) => Answer::Created)
    }

    async fn edit(&self, edit: EditComment) -> Result<EditOutcome, StoreError> {
        lane_call!(self.lanes, Call::Edit(Box::new(edit)) => Answer::Edited)
    }

    async fn delete(&self, delete: DeleteComment) -> Result<DeleteOutcome, StoreError> {
        lane_call!(self.lanes, Call::Delete(delete) => Answer::Deleted)
    }

    async fn restore(&self, restore: RestoreComment) -> Result<RestoreOutcome, StoreError> {
        lane_call!(self.lanes, Call::RestoreComment(Box::new(restore)) => Answer::RestoredComment)
    }

    async fn purge(&self, purge: PurgeComment) -> Result<bool, StoreError> {
        lane_call!(self.lanes, Call::Purge(purge) => Answer::Purged)
    }

    async fn find_removed(&self, comment: CommentId) -> Result<Option<RemovedComment>, StoreError> {
        read::find_removed(&self.db, comment).await
    }

    async fn removed_until(&self, until: Timestamp, limit: usize) -> Result<Vec<CommentId>, StoreError> {
        read::removed_until(&self.db, until, limit).await
    }

    async fn set_lock(&self, set: SetLock) -> Result<LockOutcome, StoreError> {
        lane_call!(self.lanes, Call::SetLock(Box::new(set)) => Answer::LockSet)
    }

    async fn find(&self, comment: CommentId) -> Result<Option<Comment>, StoreError> {
        read::find(&self.db, comment).await
    }

    /// Of one moment on each server.
    async fn find_many(&self, comments: Vec<CommentId>) -> Result<Vec<Option<Comment>>, StoreError> {
        read::find_many(&self.db, &comments).await
    }

    async fn page(
        &self,
        article: ArticleId,
        mode: CommentMode,
        page: PageNumber,
        size: PageSize,
    ) -> Result<Page<Comment>, StoreError> {
        read::page(&self.db, article, mode, page, size).await
    }

    async fn scroll(
        &self,
        article: ArticleId,
        mode: CommentMode,
        after: Option<CommentCursor>,
        size: PageSize,
    ) -> Result<Scroll<Comment, CommentCursor>, StoreError> {
        read::scroll(&self.db, article, mode, after, size).await
    }

    async fn by_writer(
        &self,
        writer: MemberId,
        before: Option<CommentId>,
        size: PageSize,
    ) -> Result<Scroll<Comment, CommentId>, StoreError> {
        read::by_writer(&self.db, writer, before, size).await
    }

    async fn count(&self, article: ArticleId) -> Result<CommentCount, StoreError> {
        read::count(&self.db, article).await
    }

    /// Of one moment on each server.
    async fn counts(&self, articles: Vec<ArticleId>) -> Result<Vec<Option<Counted>>, StoreError> {
        read::counts(&self.db, &articles).await
    }

    async fn active(&self, board: Option<BoardId>, until: Timestamp, limit: usize) -> Result<Vec<Active>, StoreError> {
        read::active(&self.db, board, until, limit).await
    }

    async fn unplaced(&self, after: Option<ArticleId>, size: PageSize) -> Result<Vec<ArticleId>, StoreError> {
        read::unplaced(&self.db, after, size).await
    }

    async fn place(&self, article: ArticleId, board: BoardId) -> Result<(), StoreError> {
        lane_call!(self.lanes, Call::Place(article, board) => Answer::Placed)
    }

    async fn mark_article_gone(&self, article: ArticleId) -> Result<(), StoreError> {
        lane_call!(self.lanes, Call::MarkGone(article) => Answer::Marked)
    }

    async fn clean_up(&self, article: ArticleId, slice_rows: u32) -> Result<u32, StoreError> {
        lane_call!(self.lanes, Call::CleanUp(article, slice_rows) => Answer::CleanedUp)
    }

    async fn counted_articles(&self, after: Option<ArticleId>, size: PageSize) -> Result<Vec<ArticleId>, StoreError> {
        read::counted_articles(&self.db, after, size).await
    }

    async fn gone_articles(&self, after: Option<ArticleId>, size: PageSize) -> Result<Vec<ArticleId>, StoreError> {
        read::gone_articles(&self.db, after, size).await
    }

    async fn restore_article(&self, article: ArticleId) -> Result<(), StoreError> {
        lane_call!(self.lanes, Call::Restore(article) => Answer::Restored)
    }
}
