//! Rows of comments, read back into values. What cannot be read is a defect, never a guess.

use madang_board::{ArticleId, CommentId, MemberId};
use madang_comment::{Comment, CommentPath};
use madang_engine_sqlite::Statements as _;
use madang_event::Writer;
use madang_kernel::{Id, StoreError, Timestamp};
use rusqlite::types::Type;
use rusqlite::{Connection, Row};

const FIND: &str = include_str!("../../sql/comment/find.sql");

/// One comment by its id, whether its article is gone or not.
pub(super) fn find(tx: &Connection, comment: CommentId) -> Result<Option<Comment>, StoreError> {
    tx.find(FIND, [comment.raw()], self::comment)
}

/// Columns: id, article, parent, depth, deleted, created, path, writer, writer's name, content, HTML, version,
/// changed.
pub(super) fn comment(row: &Row<'_>) -> rusqlite::Result<Comment> {
    let comment_id = CommentId::from_raw(row.get(0)?);
    let parent_id = CommentId::from_raw(row.get(2)?);
    let writer = match row.get::<_, Option<i64>>(7)? {
        Some(member) => Some(Writer { member_id: MemberId::from_raw(member), name: row.get(8)? }),
        None => None,
    };
    let deleted: bool = row.get(4)?;
    let created_at = Timestamp::from_millis(row.get(5)?);
    Ok(Comment {
        comment_id,
        article_id: ArticleId::from_raw(row.get(1)?),
        parent_id: (parent_id != comment_id).then_some(parent_id),
        depth: row.get(3)?,
        path: path(row, 6)?,
        content: row.get(9)?,
        content_html: row.get(10)?,
        deleted,
        writer,
        created_at,
        modified_at: row.get::<_, Option<i64>>(12)?.map_or(created_at, Timestamp::from_millis),
        // Of a row older than this column: it changed once if only the mark is left, and never otherwise.
        version: row.get::<_, Option<u64>>(11)?.unwrap_or_else(|| 1 + u64::from(deleted)),
    })
}

/// A path, where there is one.
pub(super) fn path(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<CommentPath>> {
    let Some(text) = row.get_ref(column)?.as_str_or_null()? else { return Ok(None) };
    let unreadable = |error| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error));
    text.parse().map(Some).map_err(unreadable)
}
