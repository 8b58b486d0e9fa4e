//! View counts on SQLite: each write-back with its event in one transaction, nothing for an article that is gone.

mod row;
mod write_back;

use async_trait::async_trait;
use madang_board::ArticleId;
use madang_engine_sqlite::Statements as _;
use madang_kernel::{Id, StoreError};
use madang_view::{StoredViews, ViewCount, ViewStore, WriteBack, WrittenBack};
use rusqlite::Connection;

use crate::{Priority, Sqlite, Tx};

const MARK_GONE: &str = include_str!("../../sql/view/mark_gone.sql");
const DELETE: &str = include_str!("../../sql/view/delete.sql");
const GONE_ARTICLES: &str = include_str!("../../sql/view/gone_articles.sql");
const RESTORE_COUNT: &str = include_str!("../../sql/view/restore_count.sql");
const UNMARK_GONE: &str = include_str!("../../sql/view/unmark_gone.sql");
const COUNTED_AFTER: &str = include_str!("../../sql/view/counted_after.sql");

/// View counts in one SQLite file. Nobody waits for a write-back, so it is background work.
#[derive(Clone)]
pub struct SqliteViews {
    db: Sqlite,
}

impl SqliteViews {
    /// The store in `db`.
    pub fn new(db: Sqlite) -> Self {
        Self { db }
    }
}

#[async_trait]
impl ViewStore for SqliteViews {
    async fn find(&self, article: ArticleId) -> Result<StoredViews, StoreError> {
        self.db.read(move |tx| Ok(row::find(tx, article)?.views())).await
    }

    async fn find_many(&self, articles: Vec<ArticleId>) -> Result<Vec<StoredViews>, StoreError> {
        let find_all = move |tx: &Connection| articles.iter().map(|id| Ok(row::find(tx, *id)?.views())).collect();
        self.db.read(find_all).await
    }

    async fn counts(&self, articles: Vec<ArticleId>) -> Result<Vec<Option<ViewCount>>, StoreError> {
        let find_all = move |tx: &Connection| articles.iter().map(|id| Ok(row::find(tx, *id)?.count())).collect();
        self.db.read(find_all).await
    }

    async fn write_back(&self, counts: Vec<WriteBack>) -> Result<Vec<WrittenBack>, StoreError> {
        let clock = self.db.clock().clone();
        let write = move |tx: &Tx| {
            let now = clock.now();
            counts.iter().map(|back| write_back::write_back(tx, *back, now)).collect()
        };
        self.db.write(Priority::Background, write).await
    }

    async fn mark_article_gone(&self, article: ArticleId) -> Result<(), StoreError> {
        let mark = move |tx: &Tx| {
            for sql in [MARK_GONE, DELETE] {
                tx.run(sql, [article.raw()])?;
            }
            Ok(())
        };
        self.db.write(Priority::Background, mark).await
    }

    async fn counted_after(&self, after: Option<ArticleId>, limit: usize) -> Result<Vec<ArticleId>, StoreError> {
        self.db.read(move |tx| articles(tx, COUNTED_AFTER, after, limit)).await
    }

    async fn gone_after(&self, after: Option<ArticleId>, limit: usize) -> Result<Vec<ArticleId>, StoreError> {
        self.db.read(move |tx| articles(tx, GONE_ARTICLES, after, limit)).await
    }

    async fn restore_article(&self, article: ArticleId) -> Result<(), StoreError> {
        let restore = move |tx: &Tx| {
            for sql in [RESTORE_COUNT, UNMARK_GONE] {
                tx.run(sql, [article.raw()])?;
            }
            Ok(())
        };
        self.db.write(Priority::Background, restore).await
    }
}

fn articles(tx: &Connection, sql: &str, after: Option<ArticleId>, limit: usize) -> Result<Vec<ArticleId>, StoreError> {
    let after = after.map_or(i64::MIN, ArticleId::raw);
    tx.list(sql, [after, madang_engine_sqlite::limit(limit)], |row| row.get(0).map(ArticleId::from_raw))
}
