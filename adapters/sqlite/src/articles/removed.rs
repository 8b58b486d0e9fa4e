//! What moderators removed: kept apart until it is restored or purged.

use madang_article::replay::Loaded;
use madang_article::{Article, RemovedArticle};
use madang_board::{ArticleId, MemberId, Removal};
use madang_engine_sqlite::{Statements as _, limit};
use madang_kernel::{Id, IdempotencyRecords, RowChanges, StoreError, Timestamp};
use rusqlite::{Connection, Row, params};

use super::{load, row};

const FIND: &str = include_str!("../../sql/article/find_removed.sql");
const SET: &str = include_str!("../../sql/article/set_removed.sql");
const DELETE: &str = include_str!("../../sql/article/delete_removed.sql");
const UNTIL: &str = include_str!("../../sql/article/removed_until.sql");
const HOLDS: &str = include_str!("../../sql/article/holds.sql");

/// Columns of an article in front of those of its removal.
const ARTICLE_COLUMNS: usize = 10;

/// One removed article.
pub(super) fn find(tx: &Connection, article: ArticleId) -> Result<Option<RemovedArticle>, StoreError> {
    tx.find(FIND, [article.raw()], removed)
}

/// What decides about a restore or a purge: what was removed, and how it is counted on its board.
pub(super) fn load(tx: &Connection, article: ArticleId, now: Timestamp) -> Result<Loaded, StoreError> {
    let mut loaded = Loaded::nothing(IdempotencyRecords::new(now));
    if let Some(found) = find(tx, article)? {
        load::add_counter(tx, &mut loaded, found.article.board_id, article)?;
        loaded.removed.push(found);
    }
    Ok(loaded)
}

/// Articles that were removed at a moment or before.
pub(super) fn until(tx: &Connection, until: Timestamp, most: usize) -> Result<Vec<ArticleId>, StoreError> {
    tx.list(UNTIL, [until.as_millis(), limit(most)], |row| Ok(ArticleId::from_raw(row.get(0)?)))
}

/// Whether there are such articles, or removed ones.
pub(super) fn holds(tx: &Connection, articles: &[ArticleId]) -> Result<Vec<bool>, StoreError> {
    let holds = |article: &ArticleId| Ok(tx.find(HOLDS, [article.raw()], |row| row.get(0))?.unwrap_or(false));
    articles.iter().map(holds).collect()
}

/// Writes what is removed, and what is no longer.
pub(super) fn write(tx: &Connection, changes: &RowChanges<ArticleId, RemovedArticle>) -> Result<(), StoreError> {
    for article in &changes.deletes {
        tx.run(DELETE, [article.raw()])?;
    }
    for RemovedArticle { article, removal } in changes.inserts.iter().chain(&changes.updates) {
        tx.run(
            SET,
            params![
                article.article_id.raw(),
                article.board_id.raw(),
                article.writer.member_id.raw(),
                article.version,
                article.created_at.as_millis(),
                article.modified_at.as_millis(),
                article.writer.name,
                article.title,
                article.content,
                article.content_html,
                removal.removed_at.as_millis(),
                removal.moderator_id.raw(),
                removal.moderator_name,
                removal.reason,
            ],
        )?;
    }
    Ok(())
}

fn removed(row: &Row<'_>) -> rusqlite::Result<RemovedArticle> {
    let article: Article = row::article(row)?;
    Ok(RemovedArticle { article, removal: removal(row, ARTICLE_COLUMNS)? })
}

/// Columns from `first` on: when, who, their name, why.
pub(crate) fn removal(row: &Row<'_>, first: usize) -> rusqlite::Result<Removal> {
    Ok(Removal {
        removed_at: Timestamp::from_millis(row.get(first)?),
        moderator_id: MemberId::from_raw(row.get(first + 1)?),
        moderator_name: row.get(first + 2)?,
        reason: row.get(first + 3)?,
    })
}
