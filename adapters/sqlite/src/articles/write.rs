//! Calls that change boards and articles: each loads what it needs, is decided by the replay and writes what that says, in
//! one transaction.

use madang_article::replay::{BoardCounter, CountedBlock, Loaded, Replay, Replayed};
use madang_article::{Article, Board};
use madang_engine_sqlite::{idempotency, sql_error};
use madang_kernel::{Id, StoreError, Timestamp};
use rusqlite::{Connection, params};

use super::row;
use crate::{Tx, moderation};

const INSERT_BOARD: &str = include_str!("../../sql/article/insert_board.sql");
const INSERT_COUNT: &str = include_str!("../../sql/article/insert_count.sql");
const INSERT: &str = include_str!("../../sql/article/insert.sql");
const UPDATE: &str = include_str!("../../sql/article/update.sql");
const DELETE: &str = include_str!("../../sql/article/delete.sql");
const SET_COUNT: &str = include_str!("../../sql/article/set_count.sql");
const SET_BLOCK: &str = include_str!("../../sql/article/set_block.sql");

/// Decides a call on what was loaded for it, and writes what it comes to.
pub(super) fn decide<T>(
    tx: &Tx,
    loaded: Loaded,
    now: Timestamp,
    call: impl FnOnce(&mut Replay) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let mut replay = Replay::new(loaded, now);
    let outcome = call(&mut replay)?;
    write(tx, replay.finish())?;
    Ok(outcome)
}

fn write(tx: &Tx, replayed: Replayed) -> Result<(), StoreError> {
    let Replayed { boards, articles, counters, blocks, records, acts, events } = replayed;
    rows(tx, &boards, &articles.inserts, &articles.updates).map_err(sql_error)?;
    for article in articles.deletes {
        tx.prepare_cached(DELETE).and_then(|mut delete| delete.execute([article.raw()])).map_err(sql_error)?;
    }
    counts(tx, &counters, &blocks).map_err(sql_error)?;
    idempotency::store(tx, &records)?;
    for act in &acts {
        moderation::record(tx, Some(act))?;
    }
    for event in events {
        tx.report(event)?;
    }
    Ok(())
}

fn rows(tx: &Connection, boards: &[Board], inserts: &[Article], updates: &[Article]) -> rusqlite::Result<()> {
    for board in boards {
        let (id, mode) = (board.board_id.raw(), row::comment_mode_name(board.comment_mode));
        let board = params![id, board.slug, board.title, mode, board.created_at.as_millis()];
        tx.prepare_cached(INSERT_BOARD)?.execute(board)?;
        tx.prepare_cached(INSERT_COUNT)?.execute([id])?;
    }
    for article in inserts {
        tx.prepare_cached(INSERT)?.execute(params![
            article.article_id.raw(),
            article.board_id.raw(),
            article.writer.member_id.raw(),
            article.version,
            article.created_at.as_millis(),
            article.modified_at.as_millis(),
            article.writer.name,
            article.title,
            article.content,
            article.content_html,
        ])?;
    }
    for article in updates {
        tx.prepare_cached(UPDATE)?.execute(params![
            article.article_id.raw(),
            article.title,
            article.content,
            article.content_html,
            article.modified_at.as_millis(),
            article.version,
        ])?;
    }
    Ok(())
}

fn counts(tx: &Connection, counters: &[BoardCounter], blocks: &[CountedBlock]) -> rusqlite::Result<()> {
    for BoardCounter { board_id, count, greatest_id } in counters {
        let counter = params![board_id.raw(), count.article_count, count.version, greatest_id];
        tx.prepare_cached(SET_COUNT)?.execute(counter)?;
    }
    for CountedBlock { board_id, level, first_id, article_count } in blocks {
        tx.prepare_cached(SET_BLOCK)?.execute(params![board_id.raw(), level, first_id, article_count])?;
    }
    Ok(())
}
