//! What a call reads before it is decided, in as few statements as it takes.

use std::collections::BTreeSet;

use madang_board::{ArticleId, CommentId};
use madang_comment::replay::{Loaded, path_above};
use madang_comment::{Comment, CommentPath, CreateComment};
use madang_engine_sqlite::{Statements as _, idempotency};
use madang_kernel::{Created, Id, IdempotencyRecords, StoreError, Timestamp};
use rusqlite::{Connection, params};

use super::{count, removed, row};
use crate::Tx;

const LAST_DESCENDANT: &str = include_str!("../../sql/comment/last_descendant.sql");
const REPLIES: &str = include_str!("../../sql/comment/replies.sql");

/// A deletion takes one reply from a comment at most, so two replies tell that one will be left.
const REPLIES_MAX: usize = 2;

/// What decides about a new comment.
pub(super) fn for_create(tx: &Tx, new: &CreateComment, now: Timestamp) -> Result<Loaded, StoreError> {
    let mut loaded = for_article(tx, new.article_id, now)?;
    if loaded.counters.iter().any(|counter| counter.is_gone) {
        return Ok(loaded);
    }
    loaded.records = idempotency::load(tx, new.idempotency.as_ref(), now)?;
    match loaded.records.replay::<Comment>(new.idempotency.as_ref())? {
        Some(Created::Before(mark)) => loaded.comments.extend(row::find(tx, mark.comment_id)?),
        Some(_) => {}
        None => add_surroundings(tx, &mut loaded, new)?,
    }
    Ok(loaded)
}

/// What decides about an edit: the comment, and the counter whose version it raises.
pub(super) fn for_edit(tx: &Connection, comment: CommentId, now: Timestamp) -> Result<Loaded, StoreError> {
    let Some(found) = row::find(tx, comment)? else {
        return Ok(Loaded::nothing(IdempotencyRecords::new(now)));
    };
    let mut loaded = for_article(tx, found.article_id, now)?;
    loaded.comments.push(found);
    Ok(loaded)
}

/// What decides about a restore: the mark, what was removed of it, and the counter.
pub(super) fn for_restore(tx: &Connection, comment: CommentId, now: Timestamp) -> Result<Loaded, StoreError> {
    let mut loaded = for_edit(tx, comment, now)?;
    loaded.removed.extend(removed::find(tx, comment)?);
    Ok(loaded)
}

/// What decides about a purge: what was removed, and what goes with its mark.
pub(super) fn for_purge(tx: &Connection, comment: CommentId, now: Timestamp) -> Result<Loaded, StoreError> {
    let Some(found) = removed::find(tx, comment)? else {
        return Ok(Loaded::nothing(IdempotencyRecords::new(now)));
    };
    let mut loaded = match row::find(tx, comment)? {
        Some(mark) => with_marks_above(tx, mark, now)?,
        None => for_article(tx, found.article_id, now)?,
    };
    if loaded.removed.iter().all(|known| known.comment_id != comment) {
        loaded.removed.push(found);
    }
    Ok(loaded)
}

/// What decides about a deletion: the comment, and what is above it for as long as it consists of marks that may go too.
pub(super) fn for_delete(tx: &Connection, comment: CommentId, now: Timestamp) -> Result<Loaded, StoreError> {
    match row::find(tx, comment)? {
        None => Ok(Loaded::nothing(IdempotencyRecords::new(now))),
        // Of a mark nothing is left to delete.
        Some(mark) if mark.deleted => for_edit(tx, mark.comment_id, now),
        Some(leaf) => with_marks_above(tx, leaf, now),
    }
}

fn with_marks_above(tx: &Connection, leaf: Comment, now: Timestamp) -> Result<Loaded, StoreError> {
    let mut loaded = for_article(tx, leaf.article_id, now)?;
    // The one that goes may be the newest; then the one before it is.
    let newest = count::newest(tx, leaf.article_id, 2)?;
    loaded.newest.extend(newest.into_iter().map(|last| (leaf.article_id, last)));
    let may_go = loaded.counters.iter().all(|counter| !counter.is_gone);
    let mut next = Some(leaf);
    while let Some(comment) = next.take() {
        let (id, parent) = (comment.comment_id, comment.parent_id);
        let is_leaf = loaded.comments.is_empty();
        if comment.deleted {
            loaded.removed.extend(removed::find(tx, id)?);
        }
        loaded.comments.push(comment);
        if !may_go {
            break;
        }
        let replies = replies(tx, &loaded, id)?;
        // The one that goes below a mark is still among its replies.
        let stays = replies.len() > usize::from(!is_leaf);
        loaded.replies.insert(id, replies);
        if let Some(parent) = parent.filter(|_| !stays) {
            next = row::find(tx, parent)?.filter(|above| above.deleted);
        }
    }
    Ok(loaded)
}

/// What decides whether an article can be marked as gone or cleaned up.
pub(super) fn for_article(tx: &Connection, article: ArticleId, now: Timestamp) -> Result<Loaded, StoreError> {
    let mut loaded = Loaded::nothing(IdempotencyRecords::new(now));
    loaded.counters.push(count::counter(tx, article)?);
    Ok(loaded)
}

/// The parent, and the last descendant of what a new comment of a tree comes below.
fn add_surroundings(tx: &Connection, loaded: &mut Loaded, new: &CreateComment) -> Result<(), StoreError> {
    let parent = match new.parent_id {
        Some(parent) => row::find(tx, parent)?,
        None => None,
    };
    if let Some(above) = path_above(new, parent.as_ref())
        && let Some(last) = last_descendant(tx, new.article_id, &above)?
    {
        loaded.last_descendants.insert((new.article_id, above), last);
    }
    loaded.comments.extend(parent);
    Ok(())
}

fn last_descendant(
    tx: &Connection,
    article: ArticleId,
    above: &CommentPath,
) -> Result<Option<CommentPath>, StoreError> {
    let range = params![article.raw(), above.as_str(), above.end_of_descendants()];
    let found = tx.find(LAST_DESCENDANT, range, |found| row::path(found, 0))?;
    Ok(found.flatten())
}

fn replies(tx: &Connection, loaded: &Loaded, comment: CommentId) -> Result<BTreeSet<CommentId>, StoreError> {
    let article = loaded.comments.first().map(|leaf| leaf.article_id.raw());
    tx.list(REPLIES, params![article, comment.raw(), REPLIES_MAX], |row| Ok(CommentId::from_raw(row.get(0)?)))
}
