//! Creating a comment: its place, the row, the article's counts, its event and its idempotency key in one transaction.

use madang_board::{ArticleId, CommentMode};
use madang_comment::{
    Comment, CommentPath, CreateComment, CreateOutcome, Parent, Place, Refusal, events, place as place_rule,
};
use madang_engine_sqlite::idempotency::{self, Recorded};
use madang_engine_sqlite::sql_error;
use madang_kernel::{Created, Id, Idempotency, StoreError, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

use super::{count, gone, row};
use crate::Tx;

const INSERT: &str = include_str!("../../sql/comment/insert.sql");
const LAST_DESCENDANT: &str = include_str!("../../sql/comment/last_descendant.sql");

/// Why a place was not found: a refusal, which is an outcome, or a failure.
enum NoPlace {
    Refused(Refusal),
    Failed(StoreError),
}

impl From<Refusal> for NoPlace {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<StoreError> for NoPlace {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

pub(super) fn create(tx: &Tx, new: CreateComment, now: Timestamp) -> Result<CreateOutcome, StoreError> {
    if gone::is_gone(tx, new.article_id)? {
        return Ok(CreateOutcome::Gone);
    }
    if let Some(idempotency) = &new.idempotency
        && let Some(created) = earlier(tx, idempotency, now)?
    {
        return Ok(CreateOutcome::Created(created));
    }
    let tally = count::tally(tx, new.article_id)?;
    if new.mode == CommentMode::TwoLevel && new.comment_id.raw() <= tally.greatest_id {
        return Ok(CreateOutcome::Late);
    }
    let place = match place(tx, &new) {
        Ok(place) => place,
        Err(NoPlace::Refused(refusal)) => return Ok(CreateOutcome::Refused(refusal)),
        Err(NoPlace::Failed(error)) => return Err(error),
    };
    let (event_id, idempotency) = (new.event_id, new.idempotency.clone());
    let comment = insert(tx, new, place)?;
    let count = count::count_in(tx, comment.article_id, tally, comment.comment_id.raw())?;
    tx.report(events::created(&comment, event_id, now, count))?;
    if let Some(idempotency) = &idempotency {
        // The text is kept in the row alone: once that is deleted, no answer of then may still tell it.
        idempotency::store(tx, idempotency, &comment.clone().into_mark(), now)?;
    }
    Ok(CreateOutcome::Created(Created::Now(comment)))
}

/// What the same request was answered: the comment, which never changes, or what is left of it.
fn earlier(tx: &Connection, idempotency: &Idempotency, now: Timestamp) -> Result<Option<Created<Comment>>, StoreError> {
    match idempotency::find::<Comment>(tx, idempotency, now)? {
        Recorded::Nothing => Ok(None),
        Recorded::OtherBody => Ok(Some(Created::KeyReused)),
        Recorded::Answer(mark) => Ok(Some(Created::Before(row::find(tx, mark.comment_id)?.unwrap_or(mark)))),
    }
}

fn place(tx: &Connection, new: &CreateComment) -> Result<Place, NoPlace> {
    let parent = match new.parent_id {
        None => None,
        Some(parent) => match row::find(tx, parent)? {
            // A comment of another article is no parent here.
            Some(found) if found.article_id == new.article_id => {
                Some(Parent { comment_id: parent, depth: found.depth, path: found.path, deleted: found.deleted })
            }
            _ => return Err(Refusal::NoParent.into()),
        },
    };
    place_rule(new.mode, new.depth_max, parent.as_ref(), |above| Ok(last_descendant(tx, new.article_id, above)?))
}

fn last_descendant(
    tx: &Connection,
    article: ArticleId,
    above: &CommentPath,
) -> Result<Option<CommentPath>, StoreError> {
    let mut statement = tx.prepare_cached(LAST_DESCENDANT).map_err(sql_error)?;
    let range = params![article.raw(), above.as_str(), above.end_of_descendants()];
    let found = statement.query_row(range, |found| row::path(found, 0)).optional().map_err(sql_error)?;
    Ok(found.flatten())
}

fn insert(tx: &Connection, new: CreateComment, place: Place) -> Result<Comment, StoreError> {
    let mut insert = tx.prepare_cached(INSERT).map_err(sql_error)?;
    insert
        .execute(params![
            new.comment_id.raw(),
            new.article_id.raw(),
            new.parent_id.unwrap_or(new.comment_id).raw(),
            place.depth,
            new.created_at.as_millis(),
            place.path.as_ref().map(CommentPath::as_str),
            new.writer.member_id.raw(),
            new.writer.name,
            new.content,
        ])
        .map_err(sql_error)?;
    Ok(Comment {
        comment_id: new.comment_id,
        article_id: new.article_id,
        parent_id: new.parent_id,
        depth: place.depth,
        path: place.path,
        content: Some(new.content),
        deleted: false,
        writer: Some(new.writer),
        created_at: new.created_at,
    })
}
