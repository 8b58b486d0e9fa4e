//! Rows of boards and articles, read back into values. What cannot be read is a defect, never a guess.

use madang_article::replay::BoardCounter;
use madang_article::{Article, ArticleHead, ArticlePlace, Board, BoardState, BoardWithCount, CommentMode};
use madang_board::{ArticleId, BoardId, MemberId, Pin};
use madang_engine_sqlite::Statements as _;
use madang_event::{BoardCount, Writer};
use madang_kernel::{Id, StoreError, Timestamp};
use rusqlite::{Connection, Row};

use crate::named;

const PINS: &str = include_str!("../../sql/article/pins.sql");
const FIND: &str = include_str!("../../sql/article/find.sql");

/// One article by its id.
pub(super) fn find(tx: &Connection, article: ArticleId) -> Result<Option<Article>, StoreError> {
    tx.find(FIND, [article.raw()], self::article)
}

/// The pins of a board.
pub(super) fn pins(tx: &Connection, board: BoardId) -> Result<Vec<Pin>, StoreError> {
    let pin = |row: &Row<'_>| {
        Ok(Pin {
            article_id: ArticleId::from_raw(row.get(0)?),
            board_id: BoardId::from_raw(row.get(1)?),
            pinned_at: Timestamp::from_millis(row.get(2)?),
            until: row.get::<_, Option<i64>>(3)?.map(Timestamp::from_millis),
        })
    };
    tx.list(PINS, [board.raw()], pin)
}

/// Columns: the summary's, then the two texts.
pub(crate) fn article(row: &Row<'_>) -> rusqlite::Result<Article> {
    let summary = summary(row)?;
    Ok(Article {
        article_id: summary.article_id,
        board_id: summary.board_id,
        title: summary.title,
        content: row.get(8)?,
        content_html: row.get(9)?,
        writer: summary.writer,
        created_at: summary.created_at,
        modified_at: summary.modified_at,
        version: summary.version,
    })
}

/// Columns: id, board, writer, version, created, modified, writer's name, title.
pub(super) fn summary(row: &Row<'_>) -> rusqlite::Result<ArticleHead> {
    Ok(ArticleHead {
        article_id: ArticleId::from_raw(row.get(0)?),
        board_id: BoardId::from_raw(row.get(1)?),
        writer: Writer { member_id: MemberId::from_raw(row.get(2)?), name: row.get(6)? },
        version: count(row, 3)?,
        created_at: Timestamp::from_millis(row.get(4)?),
        modified_at: Timestamp::from_millis(row.get(5)?),
        title: row.get(7)?,
    })
}

/// Columns: id, board, created.
pub(super) fn place(row: &Row<'_>) -> rusqlite::Result<ArticlePlace> {
    Ok(ArticlePlace {
        article_id: ArticleId::from_raw(row.get(0)?),
        board_id: BoardId::from_raw(row.get(1)?),
        created_at: Timestamp::from_millis(row.get(2)?),
    })
}

/// Columns: id, slug, title, comment mode, created, count, description, position, state, greatest id.
pub(super) fn board(row: &Row<'_>) -> rusqlite::Result<BoardWithCount> {
    let board = Board {
        board_id: BoardId::from_raw(row.get(0)?),
        slug: row.get(1)?,
        title: row.get(2)?,
        comment_mode: named(row, 3, "comment mode", CommentMode::named)?,
        created_at: Timestamp::from_millis(row.get(4)?),
        description: row.get(6)?,
        position: row.get(7)?,
    };
    let article_count = count(row, 5)?;
    let count = BoardCount { article_count, version: 0 };
    let counter = BoardCounter { board_id: board.board_id, count, state: state(row, 8)?, greatest_id: row.get(9)? };
    let (archived, last_activity_at) = (counter.state == BoardState::Archived, counter.last_activity_at());
    Ok(BoardWithCount { board, article_count, archived, last_activity_at })
}

/// Whether a board takes changes.
pub(super) fn state(row: &Row<'_>, column: usize) -> rusqlite::Result<BoardState> {
    let number: i64 = row.get(column)?;
    BoardState::numbered(number).ok_or(rusqlite::Error::IntegralValueOutOfRange(column, number))
}

/// A number that never lies below zero.
pub(crate) fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let value: i64 = row.get(column)?;
    u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, value))
}
