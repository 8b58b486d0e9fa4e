//! Boards: the directory on the home shard, and a counter on the shard of each board.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use madang_article::{Board, BoardWithCount};
use madang_board::BoardId;
use madang_engine_mysql::{Cells, SqlError, Tx, Values, bytes, transact};
use madang_event::BoardCount;
use madang_kernel::{Id, ShardId, StoreError};

use super::row;
use crate::Mysql;

const INSERT: &str = include_str!("../../sql/article/insert_board.sql");
const INSERT_COUNT: &str = include_str!("../../sql/article/insert_count.sql");
const DROP_COUNT: &str = include_str!("../../sql/article/drop_count.sql");
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
    let opened: Result<u64, SqlError> =
        transact!(db.server_of(board.shard()), |tx| tx.write(INSERT_COUNT, count_key(board)));
    opened?;
    Ok(())
}

/// Removes the counter of a board that was not created after all.
pub(super) async fn drop_count(db: &Mysql, board: BoardId) -> Result<(), StoreError> {
    let dropped: Result<u64, SqlError> =
        transact!(db.server_of(board.shard()), |tx| tx.write(DROP_COUNT, count_key(board)));
    dropped.map(drop).map_err(StoreError::from)
}

/// Removes counters without a board that nothing was ever counted in.
pub(super) async fn drop_stray_counts(db: &Mysql) -> Result<u64, StoreError> {
    let mut counted = BTreeSet::new();
    for server in db.servers() {
        for mut cells in db.read(server, COUNTS, Vec::new()).await? {
            counted.insert(BoardId::from_raw(cells.next()?));
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
        ];
        tx.write(INSERT, values).await?;
    }
    Ok(())
}

/// The counts of boards as they were last read. A list of boards tells them of a server that is away: an old count is a
/// count, and the boards of other servers do not vanish with it.
#[derive(Default)]
pub(super) struct LastCounts(Mutex<HashMap<i64, u64>>);

/// Every board, oldest first, with the counters that each server has.
pub(super) async fn all(db: &Mysql, last: &LastCounts) -> Result<Vec<BoardWithCount>, StoreError> {
    let boards = db.read(db.server_of(ShardId::HOME), ALL, Vec::new()).await?;
    let boards = boards.into_iter().map(row::board).collect::<Result<Vec<_>, _>>()?;
    let mut away = None;
    for server in db.servers() {
        match db.read(server, COUNTS, Vec::new()).await {
            Ok(counted) => last.note(counted)?,
            Err(error) if error.is_unavailable() => away = Some(error),
            Err(error) => return Err(error.into()),
        }
    }
    let counts = last.0.lock().unwrap_or_else(PoisonError::into_inner);
    // A count that was never read is not zero.
    if let Some(error) = away.filter(|_| boards.iter().any(|board| !counts.contains_key(&board.board_id.raw()))) {
        return Err(error.into());
    }
    let with_count = |board: Board| {
        let article_count = counts.get(&board.board_id.raw()).copied().unwrap_or(0);
        BoardWithCount { board, article_count }
    };
    Ok(boards.into_iter().map(with_count).collect())
}

impl LastCounts {
    fn note(&self, counted: Vec<Cells>) -> Result<(), SqlError> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for mut cells in counted {
            counts.insert(cells.next()?, cells.next()?);
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
    let article_count = count.map(|mut cells| cells.next()).transpose()?.unwrap_or(0);
    Ok(Some(BoardWithCount { board: found, article_count }))
}

/// The count of a board as a transaction sees it; `None` when there is no such board.
pub(super) async fn count(tx: &mut Tx<'_>, board: BoardId) -> Result<Option<BoardCount>, SqlError> {
    let Some(mut cells) = tx.first(COUNT, count_key(board)).await? else { return Ok(None) };
    Ok(Some(BoardCount { article_count: cells.next()?, version: cells.next()? }))
}
