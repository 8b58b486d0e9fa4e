//! A board's counter and counted blocks, kept in the transaction of the article. The rules are `madang_article::blocks`;
//! here is what they read and write.

use madang_article::blocks::{self, OLDEST_FIRST_ID};
use madang_board::{ArticleId, BoardId};
use madang_engine_sqlite::sql_error;
use madang_event::BoardCount;
use madang_kernel::{Id, StoreError};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::row::count;

const TALLY: &str = include_str!("../../sql/article/tally.sql");
const COUNT: &str = include_str!("../../sql/article/count.sql");
const SET_COUNT: &str = include_str!("../../sql/article/set_count.sql");
const OPEN_BLOCK: &str = include_str!("../../sql/article/open_block.sql");
const SET_BLOCK: &str = include_str!("../../sql/article/set_block.sql");

/// Blocks of about 1,000 articles.
pub(crate) const BLOCK: i64 = 1;
/// Super-blocks of about 64,000.
pub(crate) const SUPER_BLOCK: i64 = 2;

/// How a board counts, with the block of each level that holds the article in question.
struct Tally {
    count: BoardCount,
    greatest_id: i64,
    block: Option<Block>,
    super_block: Option<Block>,
}

#[derive(Clone, Copy)]
struct Block {
    first_id: i64,
    count: u64,
}

/// Counts an article in; returns the board's count with it.
pub(super) fn count_in(tx: &Connection, board: BoardId, article: ArticleId) -> Result<BoardCount, StoreError> {
    let tally = tally(tx, board, article)?;
    let greatest = ArticleId::from_raw(tally.greatest_id);
    let opens_block = tally.block.is_some_and(|block| blocks::opens_new_block(block.count, article, greatest));
    let opens_super = tally.super_block.is_some_and(|block| blocks::opens_new_super_block(block.count, opens_block));
    add(tx, board, BLOCK, tally.block, opens_block.then_some(article))?;
    add(tx, board, SUPER_BLOCK, tally.super_block, opens_super.then_some(article))?;
    let count = BoardCount { article_count: tally.count.article_count + 1, version: tally.count.version + 1 };
    set_count(tx, board, count, tally.greatest_id.max(article.raw()))?;
    Ok(count)
}

/// Counts an article out; returns the board's count without it.
pub(super) fn count_out(tx: &Connection, board: BoardId, article: ArticleId) -> Result<BoardCount, StoreError> {
    let tally = tally(tx, board, article)?;
    remove(tx, board, BLOCK, tally.block)?;
    remove(tx, board, SUPER_BLOCK, tally.super_block)?;
    let article_count = tally.count.article_count.checked_sub(1).ok_or_else(|| uncounted(board))?;
    let count = BoardCount { article_count, version: tally.count.version + 1 };
    set_count(tx, board, count, tally.greatest_id)?;
    Ok(count)
}

/// The board's count as it stands; `None` when there is no such board.
pub(super) fn board_count(tx: &Connection, board: BoardId) -> Result<Option<BoardCount>, StoreError> {
    let mut statement = tx.prepare_cached(COUNT).map_err(sql_error)?;
    let read = |row: &Row<'_>| Ok(BoardCount { article_count: count(row, 0)?, version: count(row, 1)? });
    statement.query_row([board.raw()], read).optional().map_err(sql_error)
}

/// A board that is not there, although the caller has an article of it.
pub(super) fn no_board(board: BoardId) -> StoreError {
    StoreError::broken("board_article_count", format!("there is no board {board}"))
}

fn tally(tx: &Connection, board: BoardId, article: ArticleId) -> Result<Tally, StoreError> {
    let mut statement = tx.prepare_cached(TALLY).map_err(sql_error)?;
    let read = |row: &Row<'_>| {
        Ok(Tally {
            count: BoardCount { article_count: count(row, 0)?, version: count(row, 1)? },
            greatest_id: row.get(2)?,
            block: block(row, 3)?,
            super_block: block(row, 5)?,
        })
    };
    let found = statement.query_row([board.raw(), article.raw()], read).optional().map_err(sql_error)?;
    found.ok_or_else(|| no_board(board))
}

fn block(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Block>> {
    match row.get::<_, Option<i64>>(column)? {
        Some(first_id) => Ok(Some(Block { first_id, count: count(row, column + 1)? })),
        None => Ok(None),
    }
}

/// Adds one to the block that holds the article, or opens one: at the article, or as the board's first.
fn add(
    tx: &Connection,
    board: BoardId,
    level: i64,
    holder: Option<Block>,
    opens_at: Option<ArticleId>,
) -> Result<(), StoreError> {
    match (holder, opens_at) {
        (Some(block), None) => set_block(tx, board, level, Block { count: block.count + 1, ..block }),
        (_, opens_at) => {
            let first_id = opens_at.map_or(OLDEST_FIRST_ID, ArticleId::raw);
            let mut open = tx.prepare_cached(OPEN_BLOCK).map_err(sql_error)?;
            open.execute([board.raw(), level, first_id]).map_err(sql_error)?;
            Ok(())
        }
    }
}

fn remove(tx: &Connection, board: BoardId, level: i64, holder: Option<Block>) -> Result<(), StoreError> {
    let block = holder.ok_or_else(|| uncounted(board))?;
    let count = block.count.checked_sub(1).ok_or_else(|| uncounted(board))?;
    set_block(tx, board, level, Block { count, ..block })
}

fn set_block(tx: &Connection, board: BoardId, level: i64, block: Block) -> Result<(), StoreError> {
    let mut set = tx.prepare_cached(SET_BLOCK).map_err(sql_error)?;
    set.execute([board.raw(), level, block.first_id, block.count as i64]).map_err(sql_error)?;
    Ok(())
}

fn set_count(tx: &Connection, board: BoardId, count: BoardCount, greatest_id: i64) -> Result<(), StoreError> {
    let mut set = tx.prepare_cached(SET_COUNT).map_err(sql_error)?;
    set.execute(params![board.raw(), count.article_count as i64, count.version as i64, greatest_id])
        .map_err(sql_error)?;
    Ok(())
}

fn uncounted(board: BoardId) -> StoreError {
    StoreError::broken("article_block", format!("an article of board {board} was never counted; run `madang check`"))
}
