//! Boards and articles on SQLite. Each method is one call to the writer or to a reader, and so one transaction.

mod board;
mod load;
mod page;
mod row;
mod write;

use async_trait::async_trait;
use madang_article::replay::Announce;
use madang_article::{
    Article, ArticleStore, ArticleSummary, BoardWithCount, CreateArticle, CreateBoard, DeleteArticle, DeleteOutcome,
    EditArticle, EditOutcome, NewBoard, NewestArticles,
};
use madang_board::{ArticleId, BoardId, MemberId};
use madang_engine_sqlite::idempotency;
use madang_kernel::{Created, Page, PageNumber, PageSize, Scroll, StoreError, Timestamp};

pub use page::PageQuery;

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
        let call = move |tx: &Tx, now| {
            let loaded = load::for_many(tx, &new, now)?;
            write::decide(tx, loaded, now, |replay| replay.create_many(&new, Announce::Each))
        };
        self.change(call).await
    }

    async fn change<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Tx, Timestamp) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let clock = self.db.clock().clone();
        self.db.write(self.priority, move |tx| call(tx, clock.now())).await
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
    ) -> Result<Page<ArticleSummary>, StoreError> {
        self.db.read(move |tx| page::page(tx, query, board, page, size)).await
    }

    /// A page whose whole offset is skipped in the index: what a covering sub-query alone can do.
    pub async fn page_by_covering_subquery(
        &self,
        board: BoardId,
        page: PageNumber,
        size: PageSize,
    ) -> Result<Page<ArticleSummary>, StoreError> {
        self.page_by(PageQuery::CoveringSubquery, board, page, size).await
    }

    /// A page whose offset reads every row it skips: what most boards do.
    pub async fn page_by_plain_offset(
        &self,
        board: BoardId,
        page: PageNumber,
        size: PageSize,
    ) -> Result<Page<ArticleSummary>, StoreError> {
        self.page_by(PageQuery::PlainOffset, board, page, size).await
    }
}

#[async_trait]
impl ArticleStore for SqliteArticles {
    async fn create_board(&self, new: NewBoard) -> Result<CreateBoard, StoreError> {
        let call = move |tx: &Tx, now| {
            let loaded = load::for_board(tx, &new, now)?;
            write::decide(tx, loaded, now, |replay| replay.create_board(&new))
        };
        self.change(call).await
    }

    async fn boards(&self) -> Result<Vec<BoardWithCount>, StoreError> {
        self.db.read(board::all).await
    }

    async fn find_board(&self, board: BoardId) -> Result<Option<BoardWithCount>, StoreError> {
        self.db.read(move |tx| board::find(tx, board)).await
    }

    async fn create(&self, new: CreateArticle) -> Result<Created<Article>, StoreError> {
        let call = move |tx: &Tx, now| {
            let loaded = load::for_create(tx, &new, now)?;
            write::decide(tx, loaded, now, |replay| replay.create(&new))
        };
        self.change(call).await
    }

    async fn edit(&self, edit: EditArticle) -> Result<EditOutcome, StoreError> {
        let call = move |tx: &Tx, now| {
            let loaded = load::for_change(tx, edit.article_id, now)?;
            write::decide(tx, loaded, now, |replay| replay.edit(&edit))
        };
        self.change(call).await
    }

    async fn delete(&self, delete: DeleteArticle) -> Result<DeleteOutcome, StoreError> {
        let call = move |tx: &Tx, now| {
            let loaded = load::for_change(tx, delete.article_id, now)?;
            write::decide(tx, loaded, now, |replay| replay.delete(&delete))
        };
        self.change(call).await
    }

    async fn find(&self, article: ArticleId) -> Result<Option<Article>, StoreError> {
        self.db.read(move |tx| row::find(tx, article)).await
    }

    async fn find_many(&self, articles: Vec<ArticleId>) -> Result<Vec<Option<Article>>, StoreError> {
        self.db.read(move |tx| articles.iter().map(|article| row::find(tx, *article)).collect()).await
    }

    async fn newest(&self, board: BoardId, limit: usize) -> Result<Option<NewestArticles>, StoreError> {
        self.db.read(move |tx| page::newest(tx, board, limit)).await
    }

    async fn page(&self, board: BoardId, page: PageNumber, size: PageSize) -> Result<Page<ArticleSummary>, StoreError> {
        self.page_by(PageQuery::Blocks, board, page, size).await
    }

    async fn scroll(
        &self,
        board: BoardId,
        before: Option<ArticleId>,
        size: PageSize,
    ) -> Result<Scroll<ArticleSummary, ArticleId>, StoreError> {
        self.db.read(move |tx| page::scroll(tx, board, before, size)).await
    }

    async fn by_writer(
        &self,
        writer: MemberId,
        before: Option<ArticleId>,
        size: PageSize,
    ) -> Result<Scroll<ArticleSummary, ArticleId>, StoreError> {
        self.db.read(move |tx| page::by_writer(tx, writer, before, size)).await
    }
}
