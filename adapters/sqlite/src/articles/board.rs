//! Boards, read together with their counters.

use madang_article::BoardWithCount;
use madang_board::BoardId;
use madang_engine_sqlite::sql_error;
use madang_event::BoardCount;
use madang_kernel::{Id, StoreError};
use rusqlite::{Connection, OptionalExtension, Row};

use super::row;

const ALL: &str = include_str!("../../sql/article/boards.sql");
const FIND: &str = include_str!("../../sql/article/find_board.sql");
const COUNT: &str = include_str!("../../sql/article/count.sql");

pub(super) fn all(tx: &Connection) -> Result<Vec<BoardWithCount>, StoreError> {
    let mut statement = tx.prepare_cached(ALL).map_err(sql_error)?;
    let rows = statement.query_map([], row::board).map_err(sql_error)?;
    rows.collect::<Result<_, _>>().map_err(sql_error)
}

pub(super) fn find(tx: &Connection, board: BoardId) -> Result<Option<BoardWithCount>, StoreError> {
    let mut statement = tx.prepare_cached(FIND).map_err(sql_error)?;
    statement.query_row([board.raw()], row::board).optional().map_err(sql_error)
}

/// The board's count as it stands; `None` when there is no such board.
pub(super) fn count(tx: &Connection, board: BoardId) -> Result<Option<BoardCount>, StoreError> {
    let mut statement = tx.prepare_cached(COUNT).map_err(sql_error)?;
    let read = |row: &Row<'_>| Ok(BoardCount { article_count: row.get(0)?, version: row.get(1)? });
    statement.query_row([board.raw()], read).optional().map_err(sql_error)
}
