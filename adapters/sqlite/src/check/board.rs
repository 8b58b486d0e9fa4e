//! One board: its counter and both levels of blocks against its rows, in one walk over their ids.

use madang_article::blocks::{BLOCK, SUPER_BLOCK};
use madang_board::check::{CheckFinding, CheckReport};
use madang_board::{ArticleId, BoardId};
use madang_engine_sqlite::{Statements as _, sql_error};
use madang_kernel::{Id, StoreError};
use rusqlite::Connection;

const BOARDS: &str = include_str!("../../sql/check/boards.sql");
const BLOCKS: &str = include_str!("../../sql/check/blocks.sql");
const PINS_WITHOUT_ARTICLE: &str = include_str!("../../sql/check/pins_without_article.sql");
const ARTICLE_IDS: &str = include_str!("../../sql/check/article_ids.sql");

struct Counter {
    board_id: BoardId,
    counted: i64,
    version: i64,
    greatest: i64,
}

/// The blocks of one level, with the rows found in each.
struct Level {
    level: i64,
    blocks: Vec<Block>,
    before_first: i64,
    next: usize,
}

struct Block {
    first_id: i64,
    counted: i64,
    rows: i64,
}

/// Every board that has a counter.
pub(super) fn ids(tx: &Connection) -> Result<Vec<BoardId>, StoreError> {
    Ok(counters(tx)?.into_iter().map(|counter| counter.board_id).collect())
}

/// What all counters say together.
pub(super) fn counted_total(tx: &Connection) -> Result<i64, StoreError> {
    Ok(counters(tx)?.iter().map(|counter| counter.counted).sum())
}

/// Compares one board; the caller holds one snapshot.
pub(super) fn compare(tx: &Connection, board: BoardId, report: &mut CheckReport) -> Result<(), StoreError> {
    let Some(counter) = counters(tx)?.into_iter().find(|counter| counter.board_id == board) else {
        return Ok(());
    };
    let mut levels = [Level::read(tx, board, BLOCK.into())?, Level::read(tx, board, SUPER_BLOCK.into())?];
    let (mut rows, mut greatest) = (0_i64, 0);
    let mut statement = tx.prepare_cached(ARTICLE_IDS).map_err(sql_error)?;
    let mut articles = statement.query([board.raw()]).map_err(sql_error)?;
    while let Some(row) = articles.next().map_err(sql_error)? {
        greatest = row.get(0).map_err(sql_error)?;
        rows += 1;
        for level in &mut levels {
            level.add(greatest);
        }
    }
    report.articles += rows.cast_unsigned();
    compare_counter(&counter, rows, greatest, report);
    for level in &levels {
        level.compare(board, report);
    }
    compare_boundaries(board, &levels, report);
    let astray: Vec<ArticleId> =
        tx.list(PINS_WITHOUT_ARTICLE, [board.raw()], |row| Ok(ArticleId::from_raw(row.get(0)?)))?;
    for article_id in astray {
        report.found(CheckFinding::PinWithoutArticle { board_id: board, article_id });
    }
    Ok(())
}

fn compare_counter(counter: &Counter, rows: i64, greatest: i64, report: &mut CheckReport) {
    let Counter { board_id, counted, version, greatest: known } = *counter;
    if counted != rows {
        report.found(CheckFinding::BoardCount { board_id, counted, rows });
    }
    if version < counted {
        report.found(CheckFinding::CountVersion { board_id, counted, version });
    }
    if known < greatest {
        report.found(CheckFinding::GreatestId { board_id, known, greatest });
    }
}

fn compare_boundaries(board_id: BoardId, [blocks, super_blocks]: &[Level; 2], report: &mut CheckReport) {
    for Block { first_id, .. } in &super_blocks.blocks {
        if blocks.blocks.binary_search_by_key(first_id, |block| block.first_id).is_err() {
            report.found(CheckFinding::Boundary { board_id, first_id: *first_id });
        }
    }
}

impl Level {
    fn read(tx: &Connection, board: BoardId, level: i64) -> Result<Self, StoreError> {
        let blocks = tx.list(BLOCKS, [board.raw(), level], |row| {
            Ok(Block { first_id: row.get(0)?, counted: row.get(1)?, rows: 0 })
        })?;
        Ok(Self { level, blocks, before_first: 0, next: 0 })
    }

    /// Adds a row; ids come in ascending order.
    fn add(&mut self, id: i64) {
        while self.blocks.get(self.next).is_some_and(|block| block.first_id <= id) {
            self.next += 1;
        }
        match self.next.checked_sub(1) {
            Some(holder) => self.blocks[holder].rows += 1,
            None => self.before_first += 1,
        }
    }

    fn compare(&self, board_id: BoardId, report: &mut CheckReport) {
        let level = self.level;
        if self.before_first > 0 {
            report.found(CheckFinding::Uncounted { board_id, level, rows: self.before_first });
        }
        for &Block { first_id, counted, rows } in self.blocks.iter().filter(|block| block.counted != block.rows) {
            report.found(CheckFinding::Block { board_id, level, first_id, counted, rows });
        }
    }
}

fn counters(tx: &Connection) -> Result<Vec<Counter>, StoreError> {
    tx.list(BOARDS, [], |row| {
        Ok(Counter {
            board_id: BoardId::from_raw(row.get(0)?),
            counted: row.get(1)?,
            version: row.get(2)?,
            greatest: row.get(3)?,
        })
    })
}
