//! Comments, likes and view counts of articles that are neither there nor marked as deleted: their group would have marked
//! them, unless the deletion is still in its backlog. And marks on articles that are there, which nothing explains.

use madang_board::ArticleId;
use madang_board::check::{ArticlePart, CheckFinding, CheckReport};
use madang_engine_sqlite::Statements as _;
use madang_event::Topic;
use madang_kernel::{Id, StoreError};
use madang_messaging::GroupId;
use rusqlite::Connection;

use super::CheckDerived;
use super::backlog::backlog;

const COMMENTS: &str = include_str!("../../sql/check/comment_counts_without_article.sql");
const LIKES: &str = include_str!("../../sql/check/like_counts_without_article.sql");
const VIEWS: &str = include_str!("../../sql/check/view_counts_without_article.sql");

const COMMENTS_MARKED: &str = include_str!("../../sql/check/comments_marked_as_gone.sql");
const LIKES_MARKED: &str = include_str!("../../sql/check/likes_marked_as_gone.sql");
const VIEWS_MARKED: &str = include_str!("../../sql/check/views_marked_as_gone.sql");

/// Looks for what nobody will clean up; the caller holds one snapshot. Rows without a counter are found elsewhere.
pub(super) fn compare(tx: &Connection, derived: &CheckDerived, report: &mut CheckReport) -> Result<(), StoreError> {
    look(tx, COMMENTS, ArticlePart::Comments, &derived.comment_group, report)?;
    look(tx, LIKES, ArticlePart::Likes, &derived.like_group, report)?;
    look(tx, VIEWS, ArticlePart::Views, &derived.view_group, report)?;
    let marks = [
        (COMMENTS_MARKED, ArticlePart::Comments),
        (LIKES_MARKED, ArticlePart::Likes),
        (VIEWS_MARKED, ArticlePart::Views),
    ];
    for (sql, part) in marks {
        tx.each(sql, [], |row| {
            report.found(CheckFinding::MarkedAsGone { article_id: ArticleId::from_raw(row.get(0)?), part });
            Ok(!report.is_full())
        })?;
    }
    Ok(())
}

fn look(
    tx: &Connection,
    sql: &str,
    part: ArticlePart,
    group: &GroupId,
    report: &mut CheckReport,
) -> Result<(), StoreError> {
    let backlog = match backlog(tx, group, &[Topic::Article])? {
        Ok(articles) => articles,
        Err(reason) => {
            report.left_out.push(format!("{part} of articles that are gone: {reason}"));
            return Ok(());
        }
    };
    tx.each(sql, [], |row| {
        let article_id = ArticleId::from_raw(row.get(0)?);
        if !backlog.contains(&article_id) {
            report.found(CheckFinding::WithoutArticle { article_id, part });
        }
        Ok(!report.is_full())
    })
}
