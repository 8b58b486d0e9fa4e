//! Boards: created with their counter in one transaction, read together with it.

use madang_article::{BoardWithCount, CreateBoard, NewBoard};
use madang_board::BoardId;
use madang_engine_sqlite::idempotency::{self, Recorded};
use madang_engine_sqlite::sql_error;
use madang_kernel::{Created, Id, StoreError, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

use super::row;

const INSERT: &str = include_str!("../../sql/article/insert_board.sql");
const INSERT_COUNT: &str = include_str!("../../sql/article/insert_count.sql");
const ALL: &str = include_str!("../../sql/article/boards.sql");
const FIND: &str = include_str!("../../sql/article/find_board.sql");

pub(super) fn create(tx: &Connection, new: NewBoard, now: Timestamp) -> Result<CreateBoard, StoreError> {
    let NewBoard { board, idempotency } = new;
    if let Some(idempotency) = &idempotency {
        match idempotency::find(tx, idempotency, now)? {
            Recorded::Nothing => {}
            Recorded::Answer(board) => return Ok(CreateBoard::Created(Created::Before(board))),
            Recorded::OtherBody => return Ok(CreateBoard::Created(Created::KeyReused)),
        }
    }
    let id = board.board_id.raw();
    let mode = row::comment_mode_name(board.comment_mode);
    let mut insert = tx.prepare_cached(INSERT).map_err(sql_error)?;
    let inserted =
        insert.execute(params![id, board.slug, board.title, mode, board.created_at.as_millis()]).map_err(sql_error)?;
    if inserted == 0 {
        return Ok(CreateBoard::SlugTaken);
    }
    tx.prepare_cached(INSERT_COUNT).and_then(|mut insert| insert.execute([id])).map_err(sql_error)?;
    if let Some(idempotency) = &idempotency {
        idempotency::store(tx, idempotency, &board, now)?;
    }
    Ok(CreateBoard::Created(Created::Now(board)))
}

pub(super) fn all(tx: &Connection) -> Result<Vec<BoardWithCount>, StoreError> {
    let mut statement = tx.prepare_cached(ALL).map_err(sql_error)?;
    let rows = statement.query_map([], row::board).map_err(sql_error)?;
    rows.collect::<Result<_, _>>().map_err(sql_error)
}

pub(super) fn find(tx: &Connection, board: BoardId) -> Result<Option<BoardWithCount>, StoreError> {
    let mut statement = tx.prepare_cached(FIND).map_err(sql_error)?;
    statement.query_row([board.raw()], row::board).optional().map_err(sql_error)
}
