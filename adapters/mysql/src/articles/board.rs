//! Boards: the directory on the home shard, and a counter on the shard of each board.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use madang_article::replay::BoardCounter;
use madang_article::{Board, BoardState, BoardWithCount, EditBoard};
use madang_board::BoardId;
use madang_engine_mysql::{Cells, SqlError, Tx, Values, bytes, transact};
use madang_event::BoardCount;
use madang_kernel::{Id, ShardId, StoreError};

use super::row;
use crate::Mysql;

const INSERT: &str = include_str!("../../sql/article/insert_board.sql");
const INSERT_COUNT: &str = include_str!("../../sql/article/insert_count.sql");
const DROP_COUNT: &str = include_str!("../../sql/article/drop_count.sql");
const DROP_BLOCKS: &str = include_str!("../../sql/article/drop_blocks.sql");
const SET_STATE: &str = include_str!("../../sql/article/set_state.sql");
const UPDATE: &str = include_str!("../../sql/article/update_board.sql");
const DELETE: &str = include_str!("../../sql/article/delete_board.sql");
const ALL: &str = include_str!("../../sql/article/boards.sql");
const FIND: &str = include_str!("../../sql/article/find_board.sql");
const COUNTS: &str = include_str!("../../sql/article/board_counts.sql");
const COUNT: &str = include_str!("../../sql/article/board_count.sql");

/// Far longer than a board takes from its counter to the directory, however long a server stands still.
const CREATING_MAX: Duration = Duration::from_secs(3_600);

/// The primary key of a board's counter.
pub(super) fn count_key(board: BoardId) -> Values {
    vec![board.shard().number().into(), board.raw().into()]
}

/// Makes the counter of a board that is about to be created; doing it again changes nothing.
pub(super) async fn open_count(db: &Mysql, board: BoardId) -> Result<(), StoreError> {
    let opened: Result<u64, SqlError> = transact!(db, board.shard(), |tx| tx.write(INSERT_COUNT, count_key(board)));
    opened?;
    Ok(())
}

/// Removes the counter of a board that was not created after all, or is deleted, and its blocks.
pub(super) async fn drop_count(db: &Mysql, board: BoardId) -> Result<(), StoreError> {
    let dropped: Result<(), SqlError> = transact!(db, board.shard(), |tx| dropping(&mut tx, board));
    dropped.map_err(StoreError::from)
}

async fn dropping(tx: &mut Tx<'_>, board: BoardId) -> Result<(), SqlError> {
    if tx.write(DROP_COUNT, count_key(board)).await? > 0 {
        tx.write(DROP_BLOCKS, count_key(board)).await?;
    }
    Ok(())
}

/// Has a board take changes, or no longer, under the lock of its counter.
pub(super) async fn set_state(tx: &mut Tx<'_>, board: BoardId, state: BoardState) -> Result<(), SqlError> {
    let mut values = vec![state.number().into()];
    values.extend(count_key(board));
    tx.write(SET_STATE, values).await?;
    Ok(())
}

/// Changes what people see of a board.
pub(super) async fn update(db: &Mysql, edit: &EditBoard) -> Result<(), StoreError> {
    let values = || {
        let (title, description) = (bytes(edit.title.as_str()), bytes(edit.description.as_str()));
        vec![title, description, edit.position.into(), edit.board_id.raw().into()]
    };
    let updated: Result<u64, SqlError> = transact!(db, ShardId::HOME, |tx| tx.write(UPDATE, values()));
    updated.map(drop).map_err(StoreError::from)
}

/// Takes a board out of the directory.
pub(super) async fn leave(db: &Mysql, board: BoardId) -> Result<(), StoreError> {
    let left: Result<u64, SqlError> = transact!(db, ShardId::HOME, |tx| tx.write(DELETE, vec![board.raw().into()]));
    left.map(drop).map_err(StoreError::from)
}

/// Removes counters without a board that nothing was ever counted in, or whose board is deleted.
pub(super) async fn drop_stray_counts(db: &Mysql) -> Result<u64, StoreError> {
    let mut counted = BTreeSet::new();
    for (server, shards) in db.holders() {
        for mut cells in db.read(server, COUNTS, Vec::new()).await? {
            let board = BoardId::from_raw(cells.next()?);
            if shards.contains(&board.shard()) {
                counted.insert(board);
            }
        }
    }
    let mut dropped = 0;
    for board in strays(db, counted).await? {
        drop_count(db, board).await?;
        dropped += 1;
    }
    Ok(dropped)
}

/// Of boards with a counter those that the directory does not have, but for young ones, which may just be being created.
pub(crate) async fn strays(db: &Mysql, mut counted: BTreeSet<BoardId>) -> Result<BTreeSet<BoardId>, StoreError> {
    let now = db.clock().now();
    counted.retain(|board| now.since(board.issued_at()) > CREATING_MAX);
    if counted.is_empty() {
        return Ok(counted);
    }
    // After the counters: whatever was created meanwhile is in it.
    for cells in db.read(db.server_of(ShardId::HOME), ALL, Vec::new()).await? {
        counted.remove(&row::board(cells)?.board_id);
    }
    Ok(counted)
}

/// Puts new boards into the directory.
pub(super) async fn insert(tx: &mut Tx<'_>, boards: &[Board]) -> Result<(), SqlError> {
    for board in boards {
        let values = vec![
            board.board_id.raw().into(),
            bytes(board.slug.as_str()),
            bytes(board.title.as_str()),
            bytes(board.comment_mode.name()),
            board.created_at.as_millis().into(),
            bytes(board.description.as_str()),
            board.position.into(),
        ];
        tx.write(INSERT, values).await?;
    }
    Ok(())
}

/// The counts of boards as they were last read. A list of boards tells them of a server that is away: an old count is a
/// count, and the boards of other servers do not vanish with it.
#[derive(Default)]
pub(super) struct LastCounts(Mutex<HashMap<BoardId, BoardCounter>>);

/// Every board, oldest first, with the counters that each server has.
pub(super) async fn all(db: &Mysql, last: &LastCounts) -> Result<Vec<BoardWithCount>, StoreError> {
    let boards = db.read(db.server_of(ShardId::HOME), ALL, Vec::new()).await?;
    let boards = boards.into_iter().map(row::board).collect::<Result<Vec<_>, _>>()?;
    let mut away = None;
    for (server, shards) in db.holders() {
        match db.read(server, COUNTS, Vec::new()).await {
            Ok(counted) => last.note(counted, &shards)?,
            Err(error) if error.is_unavailable() => away = Some(error),
            Err(error) => return Err(error.into()),
        }
    }
    let counts = last.0.lock().unwrap_or_else(PoisonError::into_inner);
    // A count that was never read is not zero.
    if let Some(error) = away.filter(|_| boards.iter().any(|board| !counts.contains_key(&board.board_id))) {
        return Err(error.into());
    }
    Ok(boards.into_iter().filter_map(|board| counted(counts.get(&board.board_id).copied(), board)).collect())
}

/// A board of the directory with its counter; `None` when it is being deleted.
fn counted(counter: Option<BoardCounter>, board: Board) -> Option<BoardWithCount> {
    let counter = counter.unwrap_or_else(|| BoardCounter::new(board.board_id));
    let (article_count, last_activity_at) = (counter.count.article_count, counter.last_activity_at());
    let archived = match counter.state {
        BoardState::Open => false,
        BoardState::Archived => true,
        BoardState::Deleted => return None,
    };
    Some(BoardWithCount { board, article_count, archived, last_activity_at })
}

impl LastCounts {
    /// Takes in the counters of a server's own shards; others may be old, or not complete yet.
    fn note(&self, counted: Vec<Cells>, shards: &[ShardId]) -> Result<(), SqlError> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for cells in counted {
            let counter = row::counter(cells)?;
            if shards.contains(&counter.board_id.shard()) {
                counts.insert(counter.board_id, counter);
            }
        }
        Ok(())
    }
}

pub(super) async fn find(db: &Mysql, board: BoardId) -> Result<Option<BoardWithCount>, StoreError> {
    let Some(cells) = db.read(db.server_of(ShardId::HOME), FIND, vec![board.raw().into()]).await?.pop() else {
        return Ok(None);
    };
    let found = row::board(cells).map_err(StoreError::from)?;
    let count = db.read(db.server_of(board.shard()), COUNT, count_key(board)).await?.pop();
    Ok(counted(count.map(row::counter).transpose()?, found))
}

/// The count of a board as a transaction sees it; `None` when there is no such board.
pub(super) async fn count(tx: &mut Tx<'_>, board: BoardId) -> Result<Option<BoardCount>, SqlError> {
    let Some(cells) = tx.first(COUNT, count_key(board)).await? else { return Ok(None) };
    let counter = row::counter(cells)?;
    Ok((counter.state != BoardState::Deleted).then_some(counter.count))
}
