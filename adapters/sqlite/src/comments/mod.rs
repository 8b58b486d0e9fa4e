//! Comments on SQLite. Each method is one call to the writer or to a reader, and so one transaction.

pub(crate) mod count;
mod gone;
mod list;
mod load;
mod removed;
mod row;
mod write;

use async_trait::async_trait;
use madang_board::{ArticleId, BoardId, CommentId, CommentMode, MemberId};
use madang_comment::replay::{Loaded, Replay};
use madang_comment::{
    Active, Comment, CommentCount, CommentCursor, CommentStore, Counted, CreateComment, CreateOutcome, DeleteComment,
    DeleteOutcome, EditComment, EditOutcome, LockOutcome, PurgeComment, RemovedComment, RestoreComment, RestoreOutcome,
    SetLock,
};
use madang_kernel::{Page, PageNumber, PageSize, Scroll, StoreError, Timestamp};

use crate::{Priority, Sqlite, Tx};

/// Comments in one SQLite file.
#[derive(Clone)]
pub struct SqliteComments {
    db: Sqlite,
}

impl SqliteComments {
    /// The store in `db`.
    pub fn new(db: Sqlite) -> Self {
        Self { db }
    }

    /// Loads what a person's call needs, has it decided, and writes what that comes to.
    async fn change<C: Send + 'static, T: Send + 'static>(
        &self,
        call: C,
        load: fn(&Tx, &C, Timestamp) -> Result<Loaded, StoreError>,
        decide: fn(&mut Replay, &C) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.change_at(Priority::Foreground, call, load, decide).await
    }

    /// The same before or behind what people do.
    async fn change_at<C: Send + 'static, T: Send + 'static>(
        &self,
        priority: Priority,
        call: C,
        load: fn(&Tx, &C, Timestamp) -> Result<Loaded, StoreError>,
        decide: fn(&mut Replay, &C) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let clock = self.db.clock().clone();
        let change = move |tx: &Tx| {
            let now = clock.now();
            let mut replay = Replay::new(load(tx, &call, now)?, now);
            let outcome = decide(&mut replay, &call)?;
            write::all(tx, replay.finish(), now)?;
            Ok(outcome)
        };
        self.db.write(priority, change).await
    }
}

#[async_trait]
impl CommentStore for SqliteComments {
    async fn create(&self, new: CreateComment) -> Result<CreateOutcome, StoreError> {
        self.change(new, load::for_create, Replay::create).await
    }

    async fn edit(&self, edit: EditComment) -> Result<EditOutcome, StoreError> {
        self.change(edit, |tx, edit, now| load::for_edit(tx, edit.comment_id, now), Replay::edit).await
    }

    async fn delete(&self, delete: DeleteComment) -> Result<DeleteOutcome, StoreError> {
        self.change(delete, |tx, delete, now| load::for_delete(tx, delete.comment_id, now), Replay::delete).await
    }

    async fn restore(&self, restore: RestoreComment) -> Result<RestoreOutcome, StoreError> {
        let load = |tx: &Tx, restore: &RestoreComment, now| load::for_restore(tx, restore.comment_id, now);
        self.change(restore, load, Replay::restore).await
    }

    async fn purge(&self, purge: PurgeComment) -> Result<bool, StoreError> {
        let load = |tx: &Tx, purge: &PurgeComment, now| load::for_purge(tx, purge.comment_id, now);
        self.change_at(Priority::Background, purge, load, Replay::purge).await
    }

    async fn find_removed(&self, comment: CommentId) -> Result<Option<RemovedComment>, StoreError> {
        self.db.read(move |tx| removed::find(tx, comment)).await
    }

    async fn removed_until(&self, until: Timestamp, limit: usize) -> Result<Vec<CommentId>, StoreError> {
        self.db.read(move |tx| removed::until(tx, until, limit)).await
    }

    async fn set_lock(&self, set: SetLock) -> Result<LockOutcome, StoreError> {
        let load = |tx: &Tx, set: &SetLock, now| load::for_article(tx, set.article_id, now);
        self.change(set, load, |replay, set| Ok(replay.set_lock(set))).await
    }

    async fn find(&self, comment: CommentId) -> Result<Option<Comment>, StoreError> {
        self.db.read(move |tx| list::find(tx, comment)).await
    }

    async fn find_many(&self, comments: Vec<CommentId>) -> Result<Vec<Option<Comment>>, StoreError> {
        self.db.read(move |tx| comments.iter().map(|comment| list::find(tx, *comment)).collect()).await
    }

    async fn page(
        &self,
        article: ArticleId,
        mode: CommentMode,
        page: PageNumber,
        size: PageSize,
    ) -> Result<Page<Comment>, StoreError> {
        self.db.read(move |tx| list::page(tx, article, mode, page, size)).await
    }

    async fn scroll(
        &self,
        article: ArticleId,
        mode: CommentMode,
        after: Option<CommentCursor>,
        size: PageSize,
    ) -> Result<Scroll<Comment, CommentCursor>, StoreError> {
        self.db.read(move |tx| list::scroll(tx, article, mode, after, size)).await
    }

    async fn by_writer(
        &self,
        writer: MemberId,
        before: Option<CommentId>,
        size: PageSize,
    ) -> Result<Scroll<Comment, CommentId>, StoreError> {
        self.db.read(move |tx| list::by_writer(tx, writer, before, size)).await
    }

    async fn count(&self, article: ArticleId) -> Result<CommentCount, StoreError> {
        self.db.read(move |tx| Ok(count::counter(tx, article)?.count)).await
    }

    async fn counts(&self, articles: Vec<ArticleId>) -> Result<Vec<Option<Counted>>, StoreError> {
        self.db.read(move |tx| count::counts(tx, &articles)).await
    }

    async fn active(&self, board: Option<BoardId>, until: Timestamp, limit: usize) -> Result<Vec<Active>, StoreError> {
        self.db.read(move |tx| count::active(tx, board, until, limit)).await
    }

    async fn unplaced(&self, after: Option<ArticleId>, size: PageSize) -> Result<Vec<ArticleId>, StoreError> {
        self.db.read(move |tx| count::unplaced(tx, after, size)).await
    }

    async fn place(&self, article: ArticleId, board: BoardId) -> Result<(), StoreError> {
        let load = |tx: &Tx, (article, _): &(ArticleId, BoardId), now| load::for_article(tx, *article, now);
        let place = |replay: &mut Replay, (article, board): &(ArticleId, BoardId)| {
            replay.place(*article, *board);
            Ok(())
        };
        self.change_at(Priority::Background, (article, board), load, place).await
    }

    async fn mark_article_gone(&self, article: ArticleId) -> Result<(), StoreError> {
        // Until the mark is there people may comment on nothing, so it does not wait for them.
        let load = |tx: &Tx, article: &ArticleId, now| load::for_article(tx, *article, now);
        let mark = |replay: &mut Replay, article: &ArticleId| {
            replay.mark_gone(*article);
            Ok(())
        };
        self.change(article, load, mark).await
    }

    async fn clean_up(&self, article: ArticleId, slice_rows: u32) -> Result<u32, StoreError> {
        self.db.write(Priority::Background, move |tx| gone::clean_up(tx, article, slice_rows)).await
    }

    async fn counted_articles(&self, after: Option<ArticleId>, size: PageSize) -> Result<Vec<ArticleId>, StoreError> {
        self.db.read(move |tx| gone::counted_articles(tx, after, size)).await
    }

    async fn gone_articles(&self, after: Option<ArticleId>, size: PageSize) -> Result<Vec<ArticleId>, StoreError> {
        self.db.read(move |tx| gone::marked(tx, after, size)).await
    }

    async fn restore_article(&self, article: ArticleId) -> Result<(), StoreError> {
        self.db.write(Priority::Background, move |tx| gone::restore(tx, article)).await
    }
}
