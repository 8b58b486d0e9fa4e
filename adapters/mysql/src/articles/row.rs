//! Rows of boards and articles, as values and back.

use madang_article::{Article, ArticleHead, Board, CommentMode};
use madang_board::{ArticleId, BoardId, MemberId};
use madang_engine_mysql::{Cells, SqlError, Values, bytes};
use madang_event::Writer;
use madang_kernel::{Id, Timestamp};

use crate::named;

/// Columns: the summary's, then the two texts.
pub(super) fn article(mut cells: Cells) -> Result<Article, SqlError> {
    let ArticleHead { article_id, board_id, title, writer, created_at, modified_at, version } =
        read_summary(&mut cells)?;
    let (content, content_html) = (cells.next()?, cells.next()?);
    Ok(Article { article_id, board_id, title, content, content_html, writer, created_at, modified_at, version })
}

pub(super) fn summary(mut cells: Cells) -> Result<ArticleHead, SqlError> {
    read_summary(&mut cells)
}

/// Columns: id, board, writer, version, created, modified, writer's name, title.
fn read_summary(cells: &mut Cells) -> Result<ArticleHead, SqlError> {
    let article_id = ArticleId::from_raw(cells.next()?);
    let board_id = BoardId::from_raw(cells.next()?);
    let member_id = MemberId::from_raw(cells.next()?);
    let version = cells.next()?;
    let created_at = Timestamp::from_millis(cells.next()?);
    let modified_at = Timestamp::from_millis(cells.next()?);
    let writer = Writer { member_id, name: cells.next()? };
    Ok(ArticleHead { article_id, board_id, title: cells.next()?, writer, created_at, modified_at, version })
}

/// An article as its columns take it.
pub(super) fn values(article: &Article) -> Values {
    vec![
        article.article_id.shard().number().into(),
        article.article_id.raw().into(),
        article.board_id.raw().into(),
        article.writer.member_id.raw().into(),
        article.version.into(),
        article.created_at.as_millis().into(),
        article.modified_at.as_millis().into(),
        bytes(article.writer.name.as_str()),
        bytes(article.title.as_str()),
        bytes(article.content.as_str()),
        bytes(article.content_html.as_str()),
    ]
}

/// The primary key of an article.
pub(super) fn key(article: ArticleId) -> Values {
    vec![article.shard().number().into(), article.raw().into()]
}

/// Columns: id, slug, title, comment mode, created.
pub(super) fn board(mut cells: Cells) -> Result<Board, SqlError> {
    Ok(Board {
        board_id: BoardId::from_raw(cells.next()?),
        slug: cells.next()?,
        title: cells.next()?,
        comment_mode: named("comment mode", &cells.next::<String>()?, CommentMode::named)?,
        created_at: Timestamp::from_millis(cells.next()?),
    })
}
