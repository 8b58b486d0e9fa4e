//! Creating an article: the row, its board's count and blocks, its event and its idempotency key in one transaction.

use madang_article::{Article, CreateArticle, events};
use madang_engine_sqlite::idempotency::{self, Recorded};
use madang_engine_sqlite::sql_error;
use madang_kernel::{Created, EventId, Id, StoreError, Timestamp};
use rusqlite::params;

use super::blocks;
use crate::Tx;

const INSERT: &str = include_str!("../../sql/article/insert.sql");

pub(super) fn create(tx: &Tx, new: CreateArticle, now: Timestamp) -> Result<Created<Article>, StoreError> {
    let CreateArticle { article, event_id, idempotency } = new;
    if let Some(idempotency) = &idempotency {
        match idempotency::find(tx, idempotency, now)? {
            Recorded::Nothing => {}
            Recorded::Answer(article) => return Ok(Created::Before(article)),
            Recorded::OtherBody => return Ok(Created::KeyReused),
        }
    }
    insert(tx, &article, event_id, now)?;
    if let Some(idempotency) = &idempotency {
        idempotency::store(tx, idempotency, &article, now)?;
    }
    Ok(Created::Now(article))
}

/// The row, its counters and its event.
pub(super) fn insert(tx: &Tx, article: &Article, event_id: EventId, now: Timestamp) -> Result<(), StoreError> {
    let mut insert = tx.prepare_cached(INSERT).map_err(sql_error)?;
    insert
        .execute(params![
            article.article_id.raw(),
            article.board_id.raw(),
            article.writer.member_id.raw(),
            article.version as i64,
            article.created_at.as_millis(),
            article.modified_at.as_millis(),
            article.writer.name,
            article.title,
            article.content,
            article.content_html,
        ])
        .map_err(sql_error)?;
    let count = blocks::count_in(tx, article.board_id, article.article_id)?;
    tx.report(events::created(article, event_id, now, count))
}
