//! Changes in: each is merged into its row by version, and the tokens follow the row.

use madang_board::ArticleId;
use madang_engine_sqlite::{Statements as _, limit};
use madang_kernel::{Id, StoreError, Timestamp};
use madang_search::{Change, Document, Kind};
use rusqlite::{Connection, params};

use super::generation::{Generation, State};
use super::kind_number;

const FIND: &str = include_str!("../../sql/search/find.sql");
const STORE: &str = include_str!("../../sql/search/store.sql");
const COMMENTS_OF: &str = include_str!("../../sql/search/comments_of.sql");
const REMOVE: &str = include_str!("../../sql/search/remove.sql");

/// Comments of an article that one call removes.
const REMOVE_SLICE: usize = 128;

/// Merges changes; returns how many documents of the active generation stand differently now.
pub(super) fn apply(tx: &Connection, changes: &[Change], now: Timestamp) -> Result<u64, StoreError> {
    let state = State::read(tx)?;
    let mut changed = 0;
    for generation in state.changed() {
        for change in changes {
            let differs = match change {
                Change::Put(document) => put(tx, generation, document)?,
                Change::CommentGone { comment_id, article_id, version } => {
                    let gone =
                        Gone { kind: Kind::Comment, id: comment_id.raw(), article: *article_id, version: *version };
                    remove(tx, generation, &gone, now)?
                }
                Change::ArticleGone { article_id, version } => {
                    let gone =
                        Gone { kind: Kind::Article, id: article_id.raw(), article: *article_id, version: *version };
                    remove(tx, generation, &gone, now)?
                }
            };
            changed += u64::from(differs && generation == state.active);
        }
    }
    Ok(changed)
}

/// The articles that changes remove with all that belongs to them.
pub(super) fn articles_gone(changes: &[Change]) -> Vec<ArticleId> {
    let gone = changes.iter().filter_map(|change| match change {
        Change::ArticleGone { article_id, .. } => Some(*article_id),
        Change::Put(_) | Change::CommentGone { .. } => None,
    });
    gone.collect()
}

/// What is known of a document.
struct Known {
    version: u64,
    is_gone: bool,
}

fn known(tx: &Connection, generation: Generation, id: i64) -> Result<Option<Known>, StoreError> {
    let read = |row: &rusqlite::Row<'_>| Ok(Known { version: row.get(0)?, is_gone: row.get(1)? });
    tx.find(FIND, [generation.number(), id], read)
}

/// Adds a document where nothing as new is known.
pub(super) fn put(tx: &Connection, generation: Generation, document: &Document) -> Result<bool, StoreError> {
    let before = known(tx, generation, document.id)?;
    if before.as_ref().is_some_and(|before| before.version >= document.version) {
        return Ok(false);
    }
    let is_orphan = document.kind == Kind::Comment
        && known(tx, generation, document.article_id.raw())?.is_some_and(|article| article.is_gone);
    if is_orphan {
        return Ok(false);
    }
    let sql = generation.sql();
    if before.is_some_and(|before| !before.is_gone) {
        tx.run(sql.delete_text, [document.id])?;
    }
    tx.run(sql.insert_text, params![document.id, document.title, document.body])?;
    let Document { kind, id, article_id, board_id, writer_id, created_at, version, .. } = document;
    let values = params![
        generation.number(),
        id,
        kind_number(*kind),
        article_id.raw(),
        board_id.raw(),
        writer_id.raw(),
        created_at.as_millis(),
        version,
        None::<i64>
    ];
    tx.run(STORE, values)?;
    Ok(true)
}

/// What cannot be read any more.
struct Gone {
    kind: Kind,
    id: i64,
    article: ArticleId,
    version: u64,
}

/// Leaves the mark of a document where nothing newer is known.
fn remove(tx: &Connection, generation: Generation, gone: &Gone, now: Timestamp) -> Result<bool, StoreError> {
    let before = known(tx, generation, gone.id)?;
    let is_settled =
        |before: &Known| before.version > gone.version || (before.is_gone && before.version == gone.version);
    if before.as_ref().is_some_and(is_settled) {
        return Ok(false);
    }
    let was_there = before.is_some_and(|before| !before.is_gone);
    if was_there {
        tx.run(generation.sql().delete_text, [gone.id])?;
    }
    let values = params![
        generation.number(),
        gone.id,
        kind_number(gone.kind),
        gone.article.raw(),
        0,
        0,
        0,
        gone.version,
        now.as_millis()
    ];
    tx.run(STORE, values)?;
    Ok(was_there)
}

/// Removes some comments of an article that is gone, marks included: should it come back, they come again as they are. How many;
/// none of an article that is there.
pub(super) fn remove_comments(tx: &Connection, article: ArticleId) -> Result<u64, StoreError> {
    let mut removed = 0;
    for generation in State::read(tx)?.changed() {
        if !known(tx, generation, article.raw())?.is_some_and(|article| article.is_gone) {
            continue;
        }
        let asked = [generation.number(), article.raw(), limit(REMOVE_SLICE)];
        let comments: Vec<(i64, bool)> = tx.list(COMMENTS_OF, asked, |row| Ok((row.get(0)?, row.get(1)?)))?;
        for (id, is_there) in comments {
            if is_there {
                tx.run(generation.sql().delete_text, [id])?;
            }
            tx.run(REMOVE, [generation.number(), id])?;
            removed += 1;
        }
    }
    Ok(removed)
}
