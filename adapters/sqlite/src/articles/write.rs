//! What the replay of a call comes to, written in the transaction of the call.

use madang_article::replay::{BoardCounter, CountedBlock, Replayed};
use madang_article::{Article, Board, BoardState};
use madang_board::{ArticleId, BoardId, Pin};
use madang_engine_sqlite::{Statements as _, idempotency};
use madang_kernel::{Id, RowChanges, StoreError, Timestamp};
use rusqlite::{Connection, params};

use super::removed;
use crate::{Tx, moderation};

const INSERT_BOARD: &str = include_str!("../../sql/article/insert_board.sql");
const DELETE_BOARD: &str = include_str!("../../sql/article/delete_board.sql");
const DELETE_COUNT: &str = include_str!("../../sql/article/delete_count.sql");
const DELETE_BLOCKS: &str = include_str!("../../sql/article/delete_blocks.sql");
const SET_STATE: &str = include_str!("../../sql/article/set_state.sql");
const INSERT_COUNT: &str = include_str!("../../sql/article/insert_count.sql");
const INSERT: &str = include_str!("../../sql/article/insert.sql");
const UPDATE: &str = include_str!("../../sql/article/update.sql");
const DELETE: &str = include_str!("../../sql/article/delete.sql");
const SET_PIN: &str = include_str!("../../sql/article/set_pin.sql");
const DELETE_PIN: &str = include_str!("../../sql/article/delete_pin.sql");
const SET_COUNT: &str = include_str!("../../sql/article/set_count.sql");
const SET_BLOCK: &str = include_str!("../../sql/article/set_block.sql");

/// Writes boards, articles, what counts them, records and acts, and reports the events.
pub(super) fn all(tx: &Tx, replayed: Replayed) -> Result<(), StoreError> {
    let Replayed { boards, articles, pins, removed, counters, states, blocks, records, acts, events } = replayed;
    rows(tx, &boards, &articles.inserts, &articles.updates)?;
    for article in articles.deletes {
        tx.run(DELETE, [article.raw()])?;
        tx.run(DELETE_PIN, [article.raw()])?;
    }
    self::pins(tx, &pins)?;
    removed::write(tx, &removed)?;
    counts(tx, &counters, &blocks)?;
    for (board, state) in states {
        self::state(tx, board, state)?;
    }
    idempotency::store(tx, &records)?;
    moderation::record(tx, &acts)?;
    for event in events {
        tx.report(event)?;
    }
    Ok(())
}

fn rows(tx: &Connection, boards: &[Board], inserts: &[Article], updates: &[Article]) -> Result<(), StoreError> {
    for board in boards {
        let (id, mode) = (board.board_id.raw(), board.comment_mode.name());
        let created_at = board.created_at.as_millis();
        let board = params![id, board.slug, board.title, mode, created_at, board.description, board.position];
        tx.run(INSERT_BOARD, board)?;
        tx.run(INSERT_COUNT, [id])?;
    }
    for article in inserts {
        tx.run(
            INSERT,
            params![
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
            ],
        )?;
    }
    for article in updates {
        tx.run(
            UPDATE,
            params![
                article.article_id.raw(),
                article.title,
                article.content,
                article.content_html,
                article.modified_at.as_millis(),
                article.version,
            ],
        )?;
    }
    Ok(())
}

fn pins(tx: &Connection, pins: &RowChanges<ArticleId, Pin>) -> Result<(), StoreError> {
    for article in &pins.deletes {
        tx.run(DELETE_PIN, [article.raw()])?;
    }
    for Pin { article_id, board_id, pinned_at, until } in pins.inserts.iter().chain(&pins.updates) {
        let until = until.map(Timestamp::as_millis);
        tx.run(SET_PIN, params![article_id.raw(), board_id.raw(), pinned_at.as_millis(), until])?;
    }
    Ok(())
}

/// Whether a board takes changes; one that is deleted goes with its counter and its blocks, here in one transaction.
fn state(tx: &Connection, board: BoardId, state: BoardState) -> Result<(), StoreError> {
    if state != BoardState::Deleted {
        return tx.run(SET_STATE, params![board.raw(), state.number()]).map(drop);
    }
    for statement in [DELETE_BLOCKS, DELETE_COUNT, DELETE_BOARD] {
        tx.run(statement, [board.raw()])?;
    }
    Ok(())
}

fn counts(tx: &Connection, counters: &[BoardCounter], blocks: &[CountedBlock]) -> Result<(), StoreError> {
    for BoardCounter { board_id, count, greatest_id, .. } in counters {
        let counter = params![board_id.raw(), count.article_count, count.version, greatest_id];
        tx.run(SET_COUNT, counter)?;
    }
    for CountedBlock { board_id, level, first_id, article_count } in blocks {
        tx.run(SET_BLOCK, params![board_id.raw(), level, first_id, article_count])?;
    }
    Ok(())
}
