//! Rows of comments, as values and back.

use madang_board::{ArticleId, CommentId, MemberId};
use madang_comment::{Comment, CommentCount, CommentPath, Counted, RemovedComment};
use madang_engine_mysql::{Cells, SqlError, Values, bytes};
use madang_event::{LastComment, Writer};
use madang_kernel::{Id, Timestamp};
use mysql_async::Value;

use crate::articles::row::{removal, removal_values};

/// Columns: id, article, parent, depth, deleted, created, path, writer, writer's name, content, HTML, version,
/// changed.
pub(super) fn comment(mut cells: Cells) -> Result<Comment, SqlError> {
    let comment_id = CommentId::from_raw(cells.next()?);
    let article_id = ArticleId::from_raw(cells.next()?);
    let parent_id = CommentId::from_raw(cells.next()?);
    let (depth, deleted): (_, bool) = (cells.next()?, cells.next()?);
    let created_at = Timestamp::from_millis(cells.next()?);
    let path = cells.next::<Option<String>>()?.map(|text| path(&text)).transpose()?;
    let (writer_id, name): (Option<i64>, Option<String>) = (cells.next()?, cells.next()?);
    let writer = writer_id.zip(name).map(|(id, name)| Writer { member_id: MemberId::from_raw(id), name });
    Ok(Comment {
        comment_id,
        article_id,
        parent_id: (parent_id != comment_id).then_some(parent_id),
        depth,
        path,
        content: cells.next()?,
        content_html: cells.next()?,
        deleted,
        writer,
        created_at,
        // Of a row older than this column: it changed once if only the mark is left, and never otherwise.
        version: cells.next::<Option<u64>>()?.unwrap_or_else(|| 1 + u64::from(deleted)),
        modified_at: cells.next::<Option<i64>>()?.map_or(created_at, Timestamp::from_millis),
    })
}

/// Columns: article, comments, rows, version, lock, then the version of the note and what is noted. A note of another version is
/// none: the newest comment is to be looked for.
pub(super) fn counted(cells: &mut Cells) -> Result<(ArticleId, Noted), SqlError> {
    let article = ArticleId::from_raw(cells.next()?);
    let count = CommentCount {
        comment_count: cells.next()?,
        row_count: cells.next()?,
        version: cells.next()?,
        locked: cells.next()?,
    };
    let is_noted = cells.next::<u64>()? == count.version;
    let (comment, at): (Option<i64>, Option<i64>) = (cells.next()?, cells.next()?);
    let (writer, name): (Option<i64>, Option<String>) = (cells.next()?, cells.next()?);
    let last = comment.zip(at).zip(writer.zip(name)).map(|((comment, at), (writer, name))| LastComment {
        comment_id: CommentId::from_raw(comment),
        writer: Writer { member_id: MemberId::from_raw(writer), name },
        created_at: Timestamp::from_millis(at),
    });
    Ok((article, Noted { counted: Counted { count, last: last.filter(|_| is_noted) }, is_noted }))
}

/// A counter, and whether its newest comment is noted.
#[derive(Clone)]
pub(super) struct Noted {
    pub(super) counted: Counted,
    pub(super) is_noted: bool,
}

/// Nobody has commented.
impl Default for Noted {
    fn default() -> Self {
        Self { counted: Counted::default(), is_noted: true }
    }
}

/// Columns: article, comment, created, writer, writer's name.
pub(super) fn newest(mut cells: Cells) -> Result<(ArticleId, LastComment), SqlError> {
    let article = ArticleId::from_raw(cells.next()?);
    let (comment_id, created_at) = (CommentId::from_raw(cells.next()?), Timestamp::from_millis(cells.next()?));
    let writer = Writer { member_id: MemberId::from_raw(cells.next()?), name: cells.next()? };
    Ok((article, LastComment { comment_id, writer, created_at }))
}

/// Columns: comment, article, writer, writer's name, text, then those of the removal.
pub(super) fn removed(mut cells: Cells) -> Result<RemovedComment, SqlError> {
    Ok(RemovedComment {
        comment_id: CommentId::from_raw(cells.next()?),
        article_id: ArticleId::from_raw(cells.next()?),
        writer: Writer { member_id: MemberId::from_raw(cells.next()?), name: cells.next()? },
        content: cells.next()?,
        removal: removal(&mut cells)?,
    })
}

/// What was removed, as its columns take it.
pub(super) fn removed_values(removed: &RemovedComment) -> Values {
    let mut values = key(removed.comment_id);
    values.extend([
        removed.article_id.raw().into(),
        removed.writer.member_id.raw().into(),
        bytes(removed.writer.name.as_str()),
        bytes(removed.content.as_str()),
    ]);
    values.extend(removal_values(&removed.removal));
    values
}

/// A path as it is stored.
pub(super) fn path(text: &str) -> Result<CommentPath, SqlError> {
    text.parse().map_err(|error| SqlError::defect(format!("\"{text}\": {error}")))
}

/// A comment as its columns take it.
pub(super) fn values(comment: &Comment) -> Values {
    let text = |text: Option<&str>| text.map_or(Value::NULL, bytes);
    vec![
        comment.comment_id.shard().number().into(),
        comment.comment_id.raw().into(),
        comment.article_id.raw().into(),
        comment.parent_id.unwrap_or(comment.comment_id).raw().into(),
        comment.depth.into(),
        comment.deleted.into(),
        comment.created_at.as_millis().into(),
        text(comment.path.as_ref().map(CommentPath::as_str)),
        comment.writer.as_ref().map(|writer| writer.member_id.raw()).into(),
        text(comment.writer.as_ref().map(|writer| writer.name.as_str())),
        text(comment.content.as_deref()),
        text(comment.content_html.as_deref()),
        comment.version.into(),
        comment.modified_at.as_millis().into(),
    ]
}

/// What changes of a comment, then its key.
pub(super) fn update(comment: &Comment) -> Values {
    let text = |text: Option<&str>| text.map_or(Value::NULL, bytes);
    let mut values = vec![
        comment.deleted.into(),
        comment.writer.as_ref().map(|writer| writer.member_id.raw()).into(),
        text(comment.writer.as_ref().map(|writer| writer.name.as_str())),
        text(comment.content.as_deref()),
        text(comment.content_html.as_deref()),
        comment.version.into(),
        comment.modified_at.as_millis().into(),
    ];
    values.extend(key(comment.comment_id));
    values
}

/// The primary key of a comment.
pub(super) fn key(comment: CommentId) -> Values {
    vec![comment.shard().number().into(), comment.raw().into()]
}
