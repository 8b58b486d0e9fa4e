//! Reads of comments. Those of an article that is gone are not there, whether they are cleaned up already or not.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::LazyLock;

use madang_board::{ArticleId, BoardId, CommentId, CommentMode, MemberId};
use madang_comment::{Active, Comment, CommentCount, CommentCursor, Counted, RemovedComment};
use madang_engine_mysql::{Cells, Many, SqlError, Tx, Values, bytes, snapshot};
use madang_event::LastComment;
use madang_kernel::{Id, Page, PageNumber, PageSize, Scroll, ServerIndex, ShardId, StoreError, Timestamp, known_count};

use super::load::NEWEST;
use super::row::{self, Noted};
use crate::Mysql;
use crate::several_servers::{self, Part, first_of_all, from_each, newest_of_all, parts_key};

static COUNTS: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/comment/counts.sql")));
static GONE: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/comment/gone.sql")));
static FIND_READABLE: LazyLock<Many> =
    LazyLock::new(|| Many::parse(include_str!("../../sql/comment/find_readable.sql")));
static FIND_REMOVED: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/comment/find_removed.sql")));
const REMOVED_UNTIL: &str = include_str!("../../sql/comment/removed_until.sql");
const FIND: &str = include_str!("../../sql/comment/find.sql");
const PAGE_TWO_LEVEL: &str = include_str!("../../sql/comment/page_two_level.sql");
const PAGE_TREE: &str = include_str!("../../sql/comment/page_tree.sql");
const SCROLL_GROUP: &str = include_str!("../../sql/comment/scroll_group.sql");
const SCROLL_AFTER_GROUP: &str = include_str!("../../sql/comment/scroll_after_group.sql");
const SCROLL_TREE: &str = include_str!("../../sql/comment/scroll_tree.sql");
const BY_WRITER: &str = include_str!("../../sql/comment/by_writer.sql");
const ACTIVE: &str = include_str!("../../sql/comment/active.sql");
const ACTIVE_ON_BOARD: &str = include_str!("../../sql/comment/active_on_board.sql");
const UNPLACED: &str = include_str!("../../sql/comment/unplaced.sql");
const GONE_ARTICLES: &str = include_str!("../../sql/comment/gone_articles.sql");
const COUNTED_ARTICLES: &str = include_str!("../../sql/comment/counted_articles.sql");
const COMMENTED_ARTICLES: &str = include_str!("../../sql/comment/commented_articles.sql");

/// One comment, or its mark.
pub(super) async fn find(db: &Mysql, comment: CommentId) -> Result<Option<Comment>, StoreError> {
    let mut found = db.read(db.server_of(comment.shard()), FIND, row::key(comment)).await?;
    Ok(found.pop().map(row::comment).transpose()?)
}

/// Comments or their marks in the order asked, of one moment on each server.
pub(super) async fn find_many(db: &Mysql, comments: &[CommentId]) -> Result<Vec<Option<Comment>>, StoreError> {
    let (map, mut by_server) = (db.map(), HashMap::<ServerIndex, Vec<Values>>::new());
    for comment in comments {
        by_server.entry(map.server(comment.shard())).or_default().push(row::key(*comment));
    }
    let mut found: HashMap<CommentId, Comment> = HashMap::with_capacity(comments.len());
    for (server, keys) in by_server {
        for cells in db.read_many(db.server(server), &FIND_READABLE, keys).await? {
            let comment = row::comment(cells).map_err(StoreError::from)?;
            found.insert(comment.comment_id, comment);
        }
    }
    Ok(comments.iter().map(|comment| found.get(comment).cloned()).collect())
}

/// What was removed of one comment.
pub(super) async fn find_removed(db: &Mysql, comment: CommentId) -> Result<Option<RemovedComment>, StoreError> {
    let mut found = db.read_many(db.server_of(comment.shard()), &FIND_REMOVED, vec![row::key(comment)]).await?;
    Ok(found.pop().map(row::removed).transpose()?)
}

/// Comments that were removed at a moment or before: each server tells some.
pub(super) async fn removed_until(db: &Mysql, until: Timestamp, most: usize) -> Result<Vec<CommentId>, StoreError> {
    let id = |mut cells: Cells| Ok(CommentId::from_raw(cells.next()?));
    let values = vec![until.as_millis().into(), most.into()];
    let mut found = several_servers::some_of_each(db, REMOVED_UNTIL, &values, id, |comment| comment.shard()).await?;
    found.truncate(most);
    Ok(found)
}

/// A page and the count beside it, of one moment.
pub(super) async fn page(
    db: &Mysql,
    article: ArticleId,
    mode: CommentMode,
    page: PageNumber,
    size: PageSize,
) -> Result<Page<Comment>, StoreError> {
    let offset = page.offset(size);
    let server = db.server_of(ShardId::of_parts(article));
    let read: Result<(u64, Vec<Comment>), SqlError> =
        snapshot!(server, |tx| page_in(&mut tx, article, mode, offset, size));
    let (rows, items) = read?;
    Ok(Page { items, known_count: known_count(rows, page, size) })
}

async fn page_in(
    tx: &mut Tx<'_>,
    article: ArticleId,
    mode: CommentMode,
    offset: u64,
    size: PageSize,
) -> Result<(u64, Vec<Comment>), SqlError> {
    // The counts of an article go in the transaction that marks it as gone.
    let mut found = tx.read_many(&COUNTS, vec![parts_key(article)]).await?;
    let rows = found.pop().map(counted).transpose()?.map_or(0, |(_, noted)| noted.counted.count.row_count);
    // Past the end there is nothing to look for, however far past it is.
    if offset >= rows {
        return Ok((rows, Vec::new()));
    }
    let sql = match mode {
        CommentMode::TwoLevel => PAGE_TWO_LEVEL,
        CommentMode::Tree => PAGE_TREE,
    };
    Ok((rows, comments(tx, sql, vec![article.raw().into(), size.get().into(), offset.into()]).await?))
}

/// The comments after `after`, or the first.
pub(super) async fn scroll(
    db: &Mysql,
    article: ArticleId,
    mode: CommentMode,
    after: Option<CommentCursor>,
    size: PageSize,
) -> Result<Scroll<Comment, CommentCursor>, StoreError> {
    let server = db.server_of(ShardId::of_parts(article));
    let items: Result<Vec<Comment>, SqlError> =
        snapshot!(server, |tx| scroll_in(&mut tx, article, mode, after.as_ref(), size));
    Ok(Scroll::from_surplus(items?, size, CommentCursor::after))
}

async fn scroll_in(
    tx: &mut Tx<'_>,
    article: ArticleId,
    mode: CommentMode,
    after: Option<&CommentCursor>,
    size: PageSize,
) -> Result<Vec<Comment>, SqlError> {
    if !tx.read_many(&GONE, vec![parts_key(article)]).await?.is_empty() {
        return Ok(Vec::new());
    }
    // One more than asked for tells whether there are others.
    let limit = size.get() as usize + 1;
    let id = article.raw();
    if mode == CommentMode::Tree {
        let (path, comment) = match after {
            Some(CommentCursor::Tree { path, comment_id }) => (path.as_str(), comment_id.raw()),
            _ => ("", 0),
        };
        return comments(tx, SCROLL_TREE, vec![id.into(), bytes(path), comment.into(), limit.into()]).await;
    }
    let (parent, comment) = match after {
        Some(CommentCursor::TwoLevel { parent_id, comment_id }) => (parent_id.raw(), comment_id.raw()),
        _ => (0, 0),
    };
    let mut items = comments(tx, SCROLL_GROUP, vec![id.into(), parent.into(), comment.into(), limit.into()]).await?;
    let left = limit - items.len();
    if left > 0 {
        items.extend(comments(tx, SCROLL_AFTER_GROUP, vec![id.into(), parent.into(), left.into()]).await?);
    }
    Ok(items)
}

async fn comments(tx: &mut Tx<'_>, sql: &'static str, values: Values) -> Result<Vec<Comment>, SqlError> {
    tx.read(sql, values).await?.into_iter().map(row::comment).collect()
}

/// The count of one article; zeros when nobody has commented.
pub(super) async fn count(db: &Mysql, article: ArticleId) -> Result<CommentCount, StoreError> {
    let server = db.server_of(ShardId::of_parts(article));
    let mut found = db.read(server, COUNTS.sql(1), parts_key(article)).await?;
    Ok(found.pop().map(counted).transpose()?.map_or_else(CommentCount::default, |(_, noted)| noted.counted.count))
}

fn counted(mut cells: Cells) -> Result<(ArticleId, Noted), SqlError> {
    row::counted(&mut cells)
}

/// Counts with the newest comments. Where a version before noted none, it is looked for; what is deleted in between is told by
/// an event of a later version.
pub(super) async fn counts(db: &Mysql, articles: &[ArticleId]) -> Result<Vec<Option<Counted>>, StoreError> {
    let found = several_servers::counts(db, articles, [&COUNTS, &GONE], counted).await?;
    let is_unnoted = |noted: &Option<Noted>| noted.as_ref().is_some_and(|noted| !noted.is_noted);
    let unnoted = articles.iter().zip(&found).filter(|(_, noted)| is_unnoted(noted)).map(|(article, _)| *article);
    let mut newest = newest(db, &unnoted.collect::<Vec<_>>()).await?;
    let told = articles.iter().zip(found).map(|(article, noted)| {
        let mut counted = noted?.counted;
        counted.last = counted.last.or_else(|| newest.remove(article));
        Some(counted)
    });
    Ok(told.collect())
}

/// The newest visible comment of each article that has one.
async fn newest(db: &Mysql, articles: &[ArticleId]) -> Result<HashMap<ArticleId, LastComment>, StoreError> {
    let (map, mut by_server) = (db.map(), HashMap::<_, Vec<Values>>::new());
    for article in articles {
        let key = vec![article.raw().into(), 1_u64.into()];
        by_server.entry(map.server(ShardId::of_parts(*article))).or_default().push(key);
    }
    let mut found = HashMap::new();
    for (server, keys) in by_server {
        for cells in db.read_many(db.server(server), &NEWEST, keys).await? {
            let (article, last) = row::newest(cells)?;
            found.insert(article, last);
        }
    }
    Ok(found)
}

/// Each server tells its last commented; the last of them all are the answer.
pub(super) async fn active(
    db: &Mysql,
    board: Option<BoardId>,
    until: Timestamp,
    most: usize,
) -> Result<Vec<Active>, StoreError> {
    let active = |mut cells: Cells| {
        let (article_id, last_at) = (ArticleId::from_raw(cells.next()?), Timestamp::from_millis(cells.next()?));
        Ok(Active { article_id, last_at, version: cells.next()? })
    };
    let mut values = vec![until.as_millis().into(), most.into()];
    let sql = match board {
        None => ACTIVE,
        Some(board) => {
            values.insert(0, board.raw().into());
            ACTIVE_ON_BOARD
        }
    };
    let shard = |active: &Active| ShardId::of_parts(active.article_id);
    let mut found = several_servers::some_of_each(db, sql, &values, active, shard).await?;
    found.sort_by_key(|active| Reverse((active.last_at, active.article_id)));
    found.truncate(most);
    Ok(found)
}

/// Articles whose counter a version before wrote.
pub(super) async fn unplaced(
    db: &Mysql,
    after: Option<ArticleId>,
    size: PageSize,
) -> Result<Vec<ArticleId>, StoreError> {
    several_servers::articles_after(db, UNPLACED, after, size.get() as usize).await
}

/// Each server tells its next ones, by counters and by rows; the first of them all are the answer.
pub(super) async fn counted_articles(
    db: &Mysql,
    after: Option<ArticleId>,
    size: PageSize,
) -> Result<Vec<ArticleId>, StoreError> {
    let (after, limit) = (after.map_or(0, ArticleId::raw), size.get() as usize);
    let mut told = from_each(db, &several_servers::articles(COUNTED_ARTICLES), after, limit).await?;
    told.extend(from_each(db, &several_servers::articles(COMMENTED_ARTICLES), after, limit).await?);
    Ok(first_of_all(told, limit))
}

pub(super) async fn gone_articles(
    db: &Mysql,
    after: Option<ArticleId>,
    size: PageSize,
) -> Result<Vec<ArticleId>, StoreError> {
    several_servers::articles_after(db, GONE_ARTICLES, after, size.get() as usize).await
}

/// Each server tells its newest; the newest of them all are the answer.
pub(super) async fn by_writer(
    db: &Mysql,
    writer: MemberId,
    before: Option<CommentId>,
    size: PageSize,
) -> Result<Scroll<Comment, CommentId>, StoreError> {
    let below = before.map_or(i64::MAX, CommentId::raw);
    let part = Part {
        sql: BY_WRITER,
        values: vec![writer.raw().into()],
        read: row::comment,
        cursor: |comment| comment.comment_id.raw(),
        shard: |comment| comment.comment_id.shard(),
    };
    let told = from_each(db, &part, below, size.get() as usize + 1).await?;
    Ok(newest_of_all(told, size, |comment| comment.comment_id))
}
