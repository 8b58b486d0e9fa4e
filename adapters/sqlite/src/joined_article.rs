//! What an entry of the query model is made of, by one statement: here one file holds what several services own, and three
//! calls to the readers cost more than the reads.

use async_trait::async_trait;
use madang_article_read::{ArticleHead, ArticleText, Count, Discussion, Entry, JoinedArticle, ReadJoined};
use madang_board::ArticleId;
use madang_engine_sqlite::Statements as _;
use madang_kernel::{Id, StoreError};
use rusqlite::{Connection, Row};

use crate::Sqlite;
use crate::articles::{article, count};
use crate::comments::count::{last, newest};

const READ: &str = include_str!("../sql/article_read/joined_article.sql");

/// Articles that are read on the thread of the caller; more would keep it from its other work.
const INLINE_MAX: usize = 4;

/// Reads articles with their counts.
#[derive(Clone)]
pub struct SqliteJoinedArticles {
    db: Sqlite,
}

impl SqliteJoinedArticles {
    /// Reads from this database.
    pub fn new(db: Sqlite) -> Self {
        Self { db }
    }
}

#[async_trait]
impl ReadJoined for SqliteJoinedArticles {
    async fn read_joined(&self, articles: &[ArticleId]) -> Result<Vec<JoinedArticle>, StoreError> {
        if articles.len() <= INLINE_MAX
            && let Some(found) = self.db.read_inline(|tx| find_all(tx, articles))
        {
            return Ok(found);
        }
        let articles = articles.to_vec();
        self.db.read(move |tx| find_all(tx, &articles)).await
    }
}

fn find_all(tx: &Connection, articles: &[ArticleId]) -> Result<Vec<JoinedArticle>, StoreError> {
    articles.iter().map(|article| find(tx, *article)).collect()
}

fn find(tx: &Connection, article: ArticleId) -> Result<JoinedArticle, StoreError> {
    let Some((mut found, is_noted)) = tx.find(READ, [article.raw()], joined)? else {
        return Ok(JoinedArticle::default());
    };
    if !is_noted && let Some(comments) = found.entry.as_mut().and_then(|entry| entry.comments.as_mut()) {
        comments.last = newest(tx, article, 1)?.pop();
    }
    Ok(found)
}

/// Columns: the article's, then the counts with their versions, the newest comment, and whether that is noted.
fn joined(row: &Row<'_>) -> rusqlite::Result<(JoinedArticle, bool)> {
    let article = article(row)?;
    let head = ArticleHead {
        article_id: article.article_id,
        board_id: article.board_id,
        title: article.title,
        writer: article.writer,
        created_at: article.created_at,
        modified_at: article.modified_at,
        version: article.version,
    };
    let text = ArticleText { head, content: article.content, content_html: article.content_html };
    let (locked, last) = (row.get(15)?, last(row, 16)?);
    let comments = Discussion { count: count(row, 10)?, locked, last, version: count(row, 11)? };
    let likes = Count { count: count(row, 12)?, version: count(row, 13)? };
    let entry = Entry::from_owners(Some(text), Some(comments), Some(likes));
    Ok((JoinedArticle { entry, views: count(row, 14)? }, row.get(20)?))
}
