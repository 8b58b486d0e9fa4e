//! Reads of comments. Those of an article that is gone are not there, whether they are cleaned up already or not.

use madang_board::{ArticleId, CommentId, CommentMode, MemberId};
use madang_comment::{Comment, CommentCursor};
use madang_engine_sqlite::Statements as _;
use madang_kernel::{Id, Page, PageNumber, PageSize, Scroll, StoreError, known_count};
use rusqlite::{Connection, Params, params};

use super::{count, gone, row};

const BY_WRITER: &str = include_str!("../../sql/comment/by_writer.sql");
const PAGE_TWO_LEVEL: &str = include_str!("../../sql/comment/page_two_level.sql");
const PAGE_TREE: &str = include_str!("../../sql/comment/page_tree.sql");
const SCROLL_GROUP: &str = include_str!("../../sql/comment/scroll_group.sql");
const SCROLL_AFTER_GROUP: &str = include_str!("../../sql/comment/scroll_after_group.sql");
const SCROLL_TREE: &str = include_str!("../../sql/comment/scroll_tree.sql");

/// One comment, or its mark.
pub(super) fn find(reader: &Connection, comment: CommentId) -> Result<Option<Comment>, StoreError> {
    match row::find(reader, comment)? {
        Some(found) if !gone::is_gone(reader, found.article_id)? => Ok(Some(found)),
        _ => Ok(None),
    }
}

/// A page and the count beside it, of one moment: a call to a reader is one snapshot.
pub(super) fn page(
    reader: &Connection,
    article: ArticleId,
    mode: CommentMode,
    page: PageNumber,
    size: PageSize,
) -> Result<Page<Comment>, StoreError> {
    // The counts of an article go in the transaction that marks it as gone.
    let rows = count::counter(reader, article)?.count.row_count;
    let offset = page.offset(size);
    let sql = match mode {
        CommentMode::TwoLevel => PAGE_TWO_LEVEL,
        CommentMode::Tree => PAGE_TREE,
    };
    // Past the end there is nothing to look for, however far past it is.
    let items =
        if offset < rows { comments(reader, sql, params![article.raw(), size.get(), offset])? } else { Vec::new() };
    Ok(Page { items, known_count: known_count(rows, page, size) })
}

/// The comments after `after`, or the first.
pub(super) fn scroll(
    reader: &Connection,
    article: ArticleId,
    mode: CommentMode,
    after: Option<CommentCursor>,
    size: PageSize,
) -> Result<Scroll<Comment, CommentCursor>, StoreError> {
    if gone::is_gone(reader, article)? {
        return Ok(Scroll { items: Vec::new(), next: None });
    }
    let limit = size.get() as usize + 1;
    let items = match mode {
        CommentMode::TwoLevel => {
            let (parent, comment) = match after {
                Some(CommentCursor::TwoLevel { parent_id, comment_id }) => (parent_id.raw(), comment_id.raw()),
                _ => (0, 0),
            };
            let mut items = comments(reader, SCROLL_GROUP, params![article.raw(), parent, comment, limit])?;
            let left = limit.saturating_sub(items.len());
            if left > 0 {
                items.extend(comments(reader, SCROLL_AFTER_GROUP, params![article.raw(), parent, left])?);
            }
            items
        }
        CommentMode::Tree => {
            let (path, comment) = match after {
                Some(CommentCursor::Tree { path, comment_id }) => (path.to_string(), comment_id.raw()),
                _ => (String::new(), 0),
            };
            comments(reader, SCROLL_TREE, params![article.raw(), path, comment, limit])?
        }
    };
    Ok(Scroll::from_surplus(items, size, CommentCursor::after))
}

/// The comments of one writer before `before`, or the newest.
pub(super) fn by_writer(
    reader: &Connection,
    writer: MemberId,
    before: Option<CommentId>,
    size: PageSize,
) -> Result<Scroll<Comment, CommentId>, StoreError> {
    let below = before.map_or(i64::MAX, CommentId::raw);
    let items = comments(reader, BY_WRITER, [writer.raw(), below, i64::from(size.get()) + 1])?;
    Ok(Scroll::from_surplus(items, size, |comment| comment.comment_id))
}

fn comments(reader: &Connection, sql: &str, params: impl Params) -> Result<Vec<Comment>, StoreError> {
    reader.list(sql, params, row::comment)
}
