//! Editing and deleting an article, each with its event in the same transaction.

use madang_article::events::{self, Removed};
use madang_article::{DeleteArticle, DeleteOutcome, EditArticle, EditOutcome};
use madang_board::BoardId;
use madang_engine_sqlite::sql_error;
use madang_kernel::{Id, StoreError, Timestamp};
use rusqlite::{OptionalExtension, params};

use super::{blocks, row};
use crate::{Tx, moderation};

const UPDATE: &str = include_str!("../../sql/article/update.sql");
const DELETE: &str = include_str!("../../sql/article/delete.sql");

pub(super) fn edit(tx: &Tx, edit: EditArticle, now: Timestamp) -> Result<EditOutcome, StoreError> {
    let Some(mut article) = row::find(tx, edit.article_id)? else {
        return Ok(EditOutcome::Absent);
    };
    if edit.expected_version.is_some_and(|expected| expected != article.version) {
        return Ok(EditOutcome::Changed);
    }
    article.version += 1;
    article.title = edit.title;
    article.content = edit.content;
    article.content_html = edit.content_html;
    article.modified_at = edit.modified_at;
    let mut update = tx.prepare_cached(UPDATE).map_err(sql_error)?;
    update
        .execute(params![
            article.article_id.raw(),
            article.title,
            article.content,
            article.content_html,
            article.modified_at.as_millis(),
            article.version as i64,
        ])
        .map_err(sql_error)?;
    let count = blocks::board_count(tx, article.board_id)?.ok_or_else(|| blocks::no_board(article.board_id))?;
    tx.report(events::edited(&article, edit.event_id, now, count))?;
    moderation::record(tx, edit.act.as_ref())?;
    Ok(EditOutcome::Edited(article))
}

pub(super) fn delete(tx: &Tx, delete: &DeleteArticle, now: Timestamp) -> Result<DeleteOutcome, StoreError> {
    let article_id = delete.article_id;
    let mut statement = tx.prepare_cached(DELETE).map_err(sql_error)?;
    let removed = statement
        .query_row([article_id.raw()], |row| {
            Ok(Removed { article_id, board_id: BoardId::from_raw(row.get(0)?), last_version: row::count(row, 1)? })
        })
        .optional()
        .map_err(sql_error)?;
    let Some(removed) = removed else {
        return Ok(DeleteOutcome::Absent);
    };
    let count = blocks::count_out(tx, removed.board_id, article_id)?;
    tx.report(events::deleted(removed, delete.event_id, now, count))?;
    moderation::record(tx, delete.act.as_ref())?;
    Ok(DeleteOutcome::Deleted)
}
