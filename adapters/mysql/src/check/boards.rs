//! Boards: each counter and both levels of blocks against the rows, in one walk over a board's ids within one snapshot.

use std::collections::{BTreeMap, BTreeSet};

use madang_board::check::CheckFinding;
use madang_board::{ArticleId, BoardId};
use madang_engine_mysql::{Server, SqlError, Tx, snapshot};
use madang_kernel::{Id, ShardId, StoreError};

use super::Run;
use crate::articles::{BLOCK, SUPER_BLOCK, strays};

const COUNTERS: &str = include_str!("../../sql/article/check_boards.sql");
const BLOCKS: &str = include_str!("../../sql/article/check_blocks.sql");
const IDS: &str = include_str!("../../sql/article/check_ids.sql");
const PINS: &str = include_str!("../../sql/article/check_pins.sql");
const NEXT_BOARD: &str = include_str!("../../sql/article/check_next_board.sql");
const DIRECTORY: &str = include_str!("../../sql/article/boards.sql");

/// Ids read at a time.
const IDS_SLICE: u64 = 10_000;

/// Compares every board of every server.
pub(super) async fn compare(run: &mut Run<'_>) -> Result<(), StoreError> {
    let mut boards = Vec::new();
    for (server, shards) in run.db.holders() {
        let counted = counted_boards(run, &server, &shards).await?;
        stray_articles(run, &server, &shards, &counted).await?;
        boards.extend(counted.into_iter().map(|board| (server.clone(), board)));
    }
    run.parts(boards.len());
    let known: BTreeSet<BoardId> = boards.iter().map(|(_, board)| *board).collect();
    for board in directory(run).await? {
        if !known.contains(&board) {
            run.found(CheckFinding::NoCounter { board_id: board });
        }
    }
    for board_id in strays(run.db, known.clone()).await? {
        run.found(CheckFinding::NoBoard { board_id });
    }
    for (server, board) in boards {
        let compared: Result<Compared, SqlError> = snapshot!(server, |tx| compare_board(&mut tx, board));
        let compared = compared?;
        run.report.boards += 1;
        run.report.articles += compared.articles;
        compared.findings.into_iter().for_each(|finding| run.found(finding));
        run.part_done();
    }
    Ok(())
}

async fn counted_boards(run: &Run<'_>, server: &Server, shards: &[ShardId]) -> Result<BTreeSet<BoardId>, StoreError> {
    let mut boards = BTreeSet::new();
    for mut cells in run.db.read(server, COUNTERS, Vec::new()).await? {
        let board = BoardId::from_raw(cells.next()?);
        if shards.contains(&board.shard()) {
            boards.insert(board);
        }
    }
    Ok(boards)
}

async fn directory(run: &Run<'_>) -> Result<Vec<BoardId>, StoreError> {
    let home = run.db.server_of(ShardId::HOME);
    let mut boards = Vec::new();
    for mut cells in run.db.read(home, DIRECTORY, Vec::new()).await? {
        boards.push(BoardId::from_raw(cells.next()?));
    }
    Ok(boards)
}

/// Steps from board to board in the index of the articles.
async fn stray_articles(
    run: &mut Run<'_>,
    server: &Server,
    shards: &[ShardId],
    counted: &BTreeSet<BoardId>,
) -> Result<(), StoreError> {
    let mut after = i64::MIN;
    while let Some(mut cells) = run.db.read(server, NEXT_BOARD, vec![after.into()]).await?.pop() {
        after = cells.next()?;
        let board_id = BoardId::from_raw(after);
        if shards.contains(&board_id.shard()) && !counted.contains(&board_id) {
            run.found(CheckFinding::ArticlesWithoutCounter { board_id });
        }
    }
    Ok(())
}

struct Compared {
    articles: u64,
    findings: Vec<CheckFinding>,
}

/// The blocks of one level by where they start: what they say, and the rows found in each.
#[derive(Default)]
struct Level {
    blocks: BTreeMap<i64, (i64, i64)>,
    before_first: i64,
}

async fn compare_board(tx: &mut Tx<'_>, board: BoardId) -> Result<Compared, SqlError> {
    let mut compared = Compared { articles: 0, findings: Vec::new() };
    let counter = tx.read(COUNTERS, Vec::new()).await?.into_iter().find_map(|mut cells| {
        let id: i64 = cells.next().ok()?;
        (id == board.raw()).then_some(cells)
    });
    let Some(mut counter) = counter else { return Ok(compared) };
    let (counted, version, known): (i64, i64, i64) = (counter.next()?, counter.next()?, counter.next()?);
    let mut levels = levels(tx, board).await?;
    let mut greatest = 0;
    loop {
        let slice = tx.read(IDS, vec![board.raw().into(), greatest.into(), IDS_SLICE.into()]).await?;
        let is_last = (slice.len() as u64) < IDS_SLICE;
        for mut cells in slice {
            greatest = cells.next()?;
            compared.articles += 1;
            levels.values_mut().for_each(|level| level.add(greatest));
        }
        if is_last {
            break;
        }
    }
    let rows = compared.articles.cast_signed();
    let board_id = board;
    if counted != rows {
        compared.findings.push(CheckFinding::BoardCount { board_id, counted, rows });
    }
    if version < counted {
        compared.findings.push(CheckFinding::CountVersion { board_id, counted, version });
    }
    if known < greatest {
        compared.findings.push(CheckFinding::GreatestId { board_id, known, greatest });
    }
    compare_levels(board_id, &levels, &mut compared.findings);
    for mut cells in tx.read(PINS, vec![board.raw().into()]).await? {
        let article_id = ArticleId::from_raw(cells.next()?);
        compared.findings.push(CheckFinding::PinWithoutArticle { board_id, article_id });
    }
    Ok(compared)
}

async fn levels(tx: &mut Tx<'_>, board: BoardId) -> Result<BTreeMap<u8, Level>, SqlError> {
    let mut levels = BTreeMap::from([(BLOCK, Level::default()), (SUPER_BLOCK, Level::default())]);
    for mut cells in tx.read(BLOCKS, vec![board.shard().number().into(), board.raw().into()]).await? {
        let (level, first_id, counted): (u8, i64, i64) = (cells.next()?, cells.next()?, cells.next()?);
        levels.entry(level).or_default().blocks.insert(first_id, (counted, 0));
    }
    Ok(levels)
}

fn compare_levels(board_id: BoardId, levels: &BTreeMap<u8, Level>, findings: &mut Vec<CheckFinding>) {
    for (level, Level { blocks, before_first }) in levels {
        let number = i64::from(*level);
        if *before_first > 0 {
            findings.push(CheckFinding::Uncounted { board_id, level: number, rows: *before_first });
        }
        for (first_id, (counted, rows)) in blocks.iter().filter(|(_, (counted, rows))| counted != rows) {
            let (first_id, counted, rows) = (*first_id, *counted, *rows);
            findings.push(CheckFinding::Block { board_id, level: number, first_id, counted, rows });
        }
    }
    let starts = |level: u8| levels.get(&level).map(|level| &level.blocks);
    if let (Some(blocks), Some(super_blocks)) = (starts(BLOCK), starts(SUPER_BLOCK)) {
        let lost = super_blocks.keys().filter(|first_id| !blocks.contains_key(first_id));
        findings.extend(lost.map(|first_id| CheckFinding::Boundary { board_id, first_id: *first_id }));
    }
}

impl Level {
    fn add(&mut self, article: i64) {
        match self.blocks.range_mut(..=article).next_back() {
            Some((_, (_, rows))) => *rows += 1,
            None => self.before_first += 1,
        }
    }
}
