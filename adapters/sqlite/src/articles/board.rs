//! Boards, read together with their counters.

use madang_article::BoardWithCount;
use madang_board::BoardId;
use madang_engine_sqlite::Statements as _;
use madang_event::BoardCount;
use madang_kernel::{Id, StoreError};
use rusqlite::{Connection, Row};

use super::row;

const ALL: &str = include_str!("../../sql/article/boards.sql");
const FIND: &str = include_str!("../../sql/article/find_board.sql");
const COUNT: &str = include_str!("../../sql/article/count.sql");

pub(super) fn all(tx: &Connection) -> Result<Vec<BoardWithCount>, StoreError> {
    tx.list(ALL, [], row::board)
}

pub(super) fn find(tx: &Connection, board: BoardId) -> Result<Option<BoardWithCount>, StoreError> {
    tx.find(FIND, [board.raw()], row::board)
}

/// The board's count as it stands; `None` when there is no such board.
pub(super) fn count(tx: &Connection, board: BoardId) -> Result<Option<BoardCount>, StoreError> {
    let read = |row: &Row<'_>| Ok(BoardCount { article_count: row.get(0)?, version: row.get(1)? });
    tx.find(COUNT, [board.raw()], read)
}
