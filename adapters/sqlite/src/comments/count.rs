//! The counts of an article's comments, and whether it is gone.

use madang_board::ArticleId;
use madang_comment::CommentCount;
use madang_comment::replay::CommentCounter;
use madang_engine_sqlite::Statements as _;
use madang_kernel::{Id, StoreError};
use rusqlite::{Connection, Row};

const COUNT: &str = include_str!("../../sql/comment/count.sql");

/// What the article counts; zeros when nobody has commented, or when it is gone.
pub(super) fn counter(tx: &Connection, article: ArticleId) -> Result<CommentCounter, StoreError> {
    let read = |row: &Row<'_>| {
        let number = |column: usize| Ok::<u64, rusqlite::Error>(row.get::<_, Option<u64>>(column)?.unwrap_or(0));
        let count = CommentCount {
            comment_count: number(0)?,
            row_count: number(1)?,
            version: number(2)?,
            locked: number(5)? == 1,
        };
        let greatest_id = row.get::<_, Option<i64>>(3)?.unwrap_or(0);
        Ok(CommentCounter { article_id: article, count, greatest_id, is_gone: row.get(4)? })
    };
    tx.one(COUNT, [article.raw()], read)
}

/// The counts in the order asked; `None` for an article that is gone.
pub(super) fn counts(tx: &Connection, articles: &[ArticleId]) -> Result<Vec<Option<CommentCount>>, StoreError> {
    let count = |article| counter(tx, article).map(|counter| (!counter.is_gone).then_some(counter.count));
    articles.iter().copied().map(count).collect()
}
