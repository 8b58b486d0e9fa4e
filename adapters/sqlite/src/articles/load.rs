//! What a call reads before it is decided, in as few statements as it takes.

use std::collections::BTreeSet;

use madang_article::blocks::{BLOCK, SUPER_BLOCK};
use madang_article::replay::{BoardCounter, CountedBlock, Loaded};
use madang_article::{Article, CreateArticle, NewBoard};
use madang_board::{ArticleId, BoardId};
use madang_engine_sqlite::{Statements as _, idempotency, sql_error};
use madang_event::BoardCount;
use madang_kernel::{Created, Id, IdempotencyRecords, StoreError, Timestamp};
use rusqlite::{Connection, Row};

use super::row;
use crate::Tx;

const SLUG_OWNER: &str = include_str!("../../sql/article/slug_owner.sql");
const COUNTER: &str = include_str!("../../sql/article/counter.sql");
const FIND_COUNTED: &str = include_str!("../../sql/article/find_counted.sql");

/// Columns of an article in front of those of its counter.
const ARTICLE_COLUMNS: usize = 10;

/// What decides about a new board.
pub(super) fn for_board(tx: &Tx, new: &NewBoard, now: Timestamp) -> Result<Loaded, StoreError> {
    let mut loaded = Loaded::nothing(idempotency::load(tx, new.idempotency.as_ref(), now)?);
    if tx.exists(SLUG_OWNER, [&new.board.slug])? {
        loaded.taken_slugs.insert(new.board.slug.clone());
    }
    Ok(loaded)
}

/// What decides about a new article.
pub(super) fn for_create(tx: &Tx, new: &CreateArticle, now: Timestamp) -> Result<Loaded, StoreError> {
    let mut loaded = Loaded::nothing(idempotency::load(tx, new.idempotency.as_ref(), now)?);
    // The answer to a repeated request needs no counter, but the article as it is now.
    match loaded.records.replay::<Article>(new.idempotency.as_ref())? {
        Some(Created::Before(mark)) => loaded.articles.extend(row::find(tx, mark.article_id)?),
        Some(_) => {}
        None => add_counter(tx, &mut loaded, new.article.board_id, new.article.article_id)?,
    }
    Ok(loaded)
}

/// What decides about many new articles, whose keys are ignored. Ids above the greatest of their board are all counted from
/// its newest block on, so that one read is enough for them.
pub(super) fn for_many(tx: &Connection, new: &[CreateArticle], now: Timestamp) -> Result<Loaded, StoreError> {
    let mut loaded = Loaded::nothing(IdempotencyRecords::new(now));
    let mut read: BTreeSet<(BoardId, i64)> = BTreeSet::new();
    for CreateArticle { article, .. } in new {
        let counter = loaded.counters.iter().find(|counter| counter.board_id == article.board_id);
        let id = counter.map(|counter| counter.id_in_block_of(article.article_id));
        if id.is_some_and(|id| read.contains(&(article.board_id, id))) {
            continue;
        }
        add_counter(tx, &mut loaded, article.board_id, article.article_id)?;
        let counter = loaded.counters.iter().find(|counter| counter.board_id == article.board_id);
        read.extend(counter.map(|counter| (article.board_id, counter.id_in_block_of(article.article_id))));
    }
    Ok(loaded)
}

/// What decides about a change of a board itself: its counter alone.
pub(super) fn for_state(tx: &Connection, board: BoardId, now: Timestamp) -> Result<Loaded, StoreError> {
    let mut loaded = Loaded::nothing(IdempotencyRecords::new(now));
    add_counter(tx, &mut loaded, board, ArticleId::from_raw(0))?;
    Ok(loaded)
}

/// What decides about an edit or a deletion.
pub(super) fn for_change(tx: &Connection, article: ArticleId, now: Timestamp) -> Result<Loaded, StoreError> {
    let mut loaded = Loaded::nothing(IdempotencyRecords::new(now));
    let mut statement = tx.prepare_cached(FIND_COUNTED).map_err(sql_error)?;
    let mut found = statement.query([article.raw()]).map_err(sql_error)?;
    if let Some(found) = found.next().map_err(sql_error)? {
        loaded.articles.push(row::article(found).map_err(sql_error)?);
        add_counter_row(&mut loaded, found, ARTICLE_COLUMNS).map_err(sql_error)?;
    }
    Ok(loaded)
}

/// What decides about a pin: the article, and what else is pinned on its board.
pub(super) fn for_pin(tx: &Connection, article: ArticleId, now: Timestamp) -> Result<Loaded, StoreError> {
    let mut loaded = for_change(tx, article, now)?;
    if let Some(found) = loaded.articles.first() {
        loaded.pins = row::pins(tx, found.board_id)?;
    }
    Ok(loaded)
}

/// The counter of a board, if it exists, and the blocks that hold an article.
pub(super) fn add_counter(
    tx: &Connection,
    loaded: &mut Loaded,
    board: BoardId,
    article: ArticleId,
) -> Result<(), StoreError> {
    let ids = [board.raw(), article.raw()];
    tx.find(COUNTER, ids, |found| add_counter_row(loaded, found, 0))?;
    Ok(())
}

/// Columns from `first` on: board, count, version, greatest id and state, then first id and count of the block of each level.
fn add_counter_row(loaded: &mut Loaded, found: &Row<'_>, first: usize) -> rusqlite::Result<()> {
    let Some(board_id) = found.get::<_, Option<i64>>(first)?.map(BoardId::from_raw) else { return Ok(()) };
    let count = BoardCount { article_count: found.get(first + 1)?, version: found.get(first + 2)? };
    if loaded.counters.iter().all(|counter| counter.board_id != board_id) {
        let (greatest_id, state) = (found.get(first + 3)?, row::state(found, first + 4)?);
        loaded.counters.push(BoardCounter { board_id, count, greatest_id, state });
    }
    for (level, column) in [(BLOCK, first + 5), (SUPER_BLOCK, first + 7)] {
        if let Some(first_id) = found.get(column)? {
            loaded.blocks.push(CountedBlock { board_id, level, first_id, article_count: found.get(column + 1)? });
        }
    }
    Ok(())
}
