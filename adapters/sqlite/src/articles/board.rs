//! Boards, read together with their counters.

use madang_article::{BoardWithCount, EditBoard};
use madang_board::BoardId;
use madang_engine_sqlite::Statements as _;
use madang_event::BoardCount;
use madang_kernel::{Id, StoreError};
use rusqlite::{Connection, Row, params};

use super::row;

const ALL: &str = include_str!("../../sql/article/boards.sql");
const FIND: &str = include_str!("../../sql/article/find_board.sql");
const UPDATE: &str = include_str!("../../sql/article/update_board.sql");
const COUNT: &str = include_str!("../../sql/article/count.sql");

pub(super) fn all(tx: &Connection) -> Result<Vec<BoardWithCount>, StoreError> {
    tx.list(ALL, [], row::board)
}

pub(super) fn find(tx: &Connection, board: BoardId) -> Result<Option<BoardWithCount>, StoreError> {
    tx.find(FIND, [board.raw()], row::board)
}

/// Changes what people see of a board; the board as it is then, `None` when there is no such.
pub(super) fn update(tx: &Connection, edit: &EditBoard) -> Result<Option<BoardWithCount>, StoreError> {
    tx.run(UPDATE, params![edit.board_id.raw(), edit.title, edit.description, edit.position])?;
    find(tx, edit.board_id)
}

/// The board's count as it stands; `None` when there is no such board.
pub(super) fn count(tx: &Connection, board: BoardId) -> Result<Option<BoardCount>, StoreError> {
    let read = |row: &Row<'_>| Ok(BoardCount { article_count: row.get(0)?, version: row.get(1)? });
    tx.find(COUNT, [board.raw()], read)
}
