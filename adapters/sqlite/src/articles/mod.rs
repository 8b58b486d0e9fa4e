//! Boards and articles on SQLite. Each method is one call to the writer or to a reader, and so one transaction.

mod board;
mod load;
mod page;
mod removed;
mod row;
mod write;

use async_trait::async_trait;
use madang_article::replay::{Announce, Loaded, Replay};
use madang_article::{
    Article, ArticleHead, ArticlePlace, ArticleStore, BoardWithCount, CreateArticle, CreateBoard, CreateOutcome,
    DeleteArticle, DeleteBoard, DeleteOutcome, EditArticle, EditBoard, EditOutcome, NewBoard, NewestArticles,
    PinArticle, PinOutcome, PurgeArticle, RemovedArticle, RestoreArticle, RestoreOutcome,
};
use madang_board::{ArticleId, BoardId, MemberId, Pin};
use madang_engine_sqlite::idempotency;
use madang_kernel::{Page, PageNumber, PageSize, Scroll, StoreError, Timestamp};

pub use page::PageQuery;

pub(crate) use self::removed::removal;
pub(crate) use self::row::{article, count};
use crate::{Priority, Sqlite, Tx};

/// Answers removed by one call to the writer: a slice of background work stays short.
const PURGE_SLICE_ROWS: usize = 500;

/// Boards and articles in one SQLite file.
#[derive(Clone)]
pub struct SqliteArticles {
    db: Sqlite,
    priority: Priority,
}

impl SqliteArticles {
    /// The store in `db`; its writes go before background work.
    pub fn new(db: Sqlite) -> Self {
        Self { db, priority: Priority::Foreground }
    }

    /// The same store for bulk work such as seeding: its writes wait while a person does.
    pub fn in_background(db: Sqlite) -> Self {
        Self { db, priority: Priority::Background }
    }

    /// Creates many articles in one call to the writer, each with its counters, blocks and event. Their idempotency keys are
    /// ignored. For seeding: all of them commit together or not at all.
    pub async fn create_many(&self, new: Vec<CreateArticle>) -> Result<u64, StoreError> {
        let load = |tx: &Tx, new: &Vec<CreateArticle>, now| load::for_many(tx, new, now);
        self.change(new, load, |replay, new| replay.create_many(new, Announce::Each)).await
    }

    /// Loads what a call needs, has it decided, and writes what that comes to.
    async fn change<C: Send + 'static, T: Send + 'static>(
        &self,
        call: C,
        load: fn(&Tx, &C, Timestamp) -> Result<Loaded, StoreError>,
        decide: fn(&mut Replay, &C) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let clock = self.db.clock().clone();
        let change = move |tx: &Tx| {
            let now = clock.now();
            let mut replay = Replay::new(load(tx, &call, now)?, now);
            let outcome = decide(&mut replay, &call)?;
            write::all(tx, replay.finish())?;
            Ok(outcome)
        };
        self.db.write(self.priority, change).await
    }

    /// Forgets the answers to idempotency keys given before `before`, slice by slice; returns how many.
    pub async fn purge_once(&self, before: Timestamp) -> Result<u64, StoreError> {
        let mut purged = 0;
        loop {
            let slice =
                self.db.write(Priority::Background, move |tx| idempotency::purge(tx, before, PURGE_SLICE_ROWS)).await?;
            purged += slice as u64;
            if slice < PURGE_SLICE_ROWS {
                return Ok(purged);
            }
        }
    }

    /// A page found the way `query` says: [`ArticleStore::page`] takes the blocks, the bench compares the others.
    pub async fn page_by(
        &self,
        query: PageQuery,
        board: BoardId,
        page: PageNumber,
        size: PageSize,
    ) -> Result<Page<ArticleHead>, StoreError> {
        self.db.read(move |tx| page::page(tx, query, board, page, size)).await
    }
}

#[async_trait]
impl ArticleStore for SqliteArticles {
    async fn create_board(&self, new: NewBoard) -> Result<CreateBoard, StoreError> {
        self.change(new, load::for_board, Replay::create_board).await
    }

    async fn edit_board(&self, edit: EditBoard) -> Result<Option<BoardWithCount>, StoreError> {
        let clock = self.db.clock().clone();
        let change = move |tx: &Tx| {
            let now = clock.now();
            let mut replay = Replay::new(load::for_state(tx, edit.board_id, now)?, now);
            replay.set_state(edit.board_id, edit.state);
            write::all(tx, replay.finish())?;
            board::update(tx, &edit)
        };
        self.db.write(self.priority, change).await
    }

    async fn delete_board(&self, board: BoardId) -> Result<DeleteBoard, StoreError> {
        let load = |tx: &Tx, board: &BoardId, now| load::for_state(tx, *board, now);
        self.change(board, load, |replay, board| Ok(replay.delete_board(*board))).await
    }

    async fn boards(&self) -> Result<Vec<BoardWithCount>, StoreError> {
        self.db.read(board::all).await
    }

    async fn find_board(&self, board: BoardId) -> Result<Option<BoardWithCount>, StoreError> {
        self.db.read(move |tx| board::find(tx, board)).await
    }

    async fn create(&self, new: CreateArticle) -> Result<CreateOutcome, StoreError> {
        self.change(new, load::for_create, Replay::create).await
    }

    async fn edit(&self, edit: EditArticle) -> Result<EditOutcome, StoreError> {
        self.change(edit, |tx, edit, now| load::for_change(tx, edit.article_id, now), Replay::edit).await
    }

    async fn delete(&self, delete: DeleteArticle) -> Result<DeleteOutcome, StoreError> {
        self.change(delete, |tx, delete, now| load::for_change(tx, delete.article_id, now), Replay::delete).await
    }

    async fn restore(&self, restore: RestoreArticle) -> Result<RestoreOutcome, StoreError> {
        let load = |tx: &Tx, restore: &RestoreArticle, now| removed::load(tx, restore.article_id, now);
        self.change(restore, load, Replay::restore).await
    }

    async fn purge(&self, purge: PurgeArticle) -> Result<bool, StoreError> {
        let load = |tx: &Tx, purge: &PurgeArticle, now| removed::load(tx, purge.article_id, now);
        let store = Self { priority: Priority::Background, ..self.clone() };
        store.change(purge, load, |replay, purge| Ok(replay.purge(purge))).await
    }

    async fn find_removed(&self, article: ArticleId) -> Result<Option<RemovedArticle>, StoreError> {
        self.db.read(move |tx| removed::find(tx, article)).await
    }

    async fn removed_until(&self, until: Timestamp, limit: usize) -> Result<Vec<ArticleId>, StoreError> {
        self.db.read(move |tx| removed::until(tx, until, limit)).await
    }

    async fn holds(&self, articles: Vec<ArticleId>) -> Result<Vec<bool>, StoreError> {
        self.db.read(move |tx| removed::holds(tx, &articles)).await
    }

    async fn pin(&self, pin: PinArticle) -> Result<PinOutcome, StoreError> {
        self.change(pin, |tx, pin, now| load::for_pin(tx, pin.article_id, now), Replay::pin).await
    }

    async fn pins(&self, board: BoardId) -> Result<Vec<Pin>, StoreError> {
        self.db.read(move |tx| row::pins(tx, board)).await
    }

    async fn find(&self, article: ArticleId) -> Result<Option<Article>, StoreError> {
        self.db.read(move |tx| row::find(tx, article)).await
    }

    async fn find_many(&self, articles: Vec<ArticleId>) -> Result<Vec<Option<Article>>, StoreError> {
        self.db.read(move |tx| articles.iter().map(|article| row::find(tx, *article)).collect()).await
    }

    async fn site_newest(&self, before: Option<ArticleId>, limit: usize) -> Result<Vec<ArticlePlace>, StoreError> {
        self.db.read(move |tx| page::site_newest(tx, before, limit)).await
    }

    async fn places(&self, articles: Vec<ArticleId>) -> Result<Vec<Option<ArticlePlace>>, StoreError> {
        self.db.read(move |tx| page::places(tx, &articles)).await
    }

    async fn newest(&self, board: BoardId, limit: usize) -> Result<Option<NewestArticles>, StoreError> {
        self.db.read(move |tx| page::newest(tx, board, limit)).await
    }

    async fn page(&self, board: BoardId, page: PageNumber, size: PageSize) -> Result<Page<ArticleHead>, StoreError> {
        self.page_by(PageQuery::Blocks, board, page, size).await
    }

    async fn scroll(
        &self,
        board: BoardId,
        before: Option<ArticleId>,
        size: PageSize,
    ) -> Result<Scroll<ArticleHead, ArticleId>, StoreError> {
        self.db.read(move |tx| page::scroll(tx, board, before, size)).await
    }

    async fn by_writer(
        &self,
        writer: MemberId,
        before: Option<ArticleId>,
        size: PageSize,
    ) -> Result<Scroll<ArticleHead, ArticleId>, StoreError> {
        self.db.read(move |tx| page::by_writer(tx, writer, before, size)).await
    }
}
