//! Rows of boards and articles, as values and back.

use madang_article::replay::BoardCounter;
use madang_article::{Article, ArticleHead, ArticlePlace, Board, BoardState, CommentMode, RemovedArticle};
use madang_board::{ArticleId, BoardId, MemberId, Pin, Removal};
use madang_engine_mysql::{Cells, SqlError, Values, bytes};
use madang_event::{BoardCount, Writer};
use madang_kernel::{Id, Timestamp};

use crate::named;

/// Columns: the summary's, then the two texts.
pub(super) fn article(mut cells: Cells) -> Result<Article, SqlError> {
    read_article(&mut cells)
}

/// Columns: the article's, then those of the removal.
pub(super) fn removed(mut cells: Cells) -> Result<RemovedArticle, SqlError> {
    Ok(RemovedArticle { article: read_article(&mut cells)?, removal: removal(&mut cells)? })
}

/// Columns: when, who, their name, why.
pub(crate) fn removal(cells: &mut Cells) -> Result<Removal, SqlError> {
    Ok(Removal {
        removed_at: Timestamp::from_millis(cells.next()?),
        moderator_id: MemberId::from_raw(cells.next()?),
        moderator_name: cells.next()?,
        reason: cells.next()?,
    })
}

/// A removal as its columns take it.
pub(crate) fn removal_values(removal: &Removal) -> Values {
    vec![
        removal.removed_at.as_millis().into(),
        removal.moderator_id.raw().into(),
        bytes(removal.moderator_name.as_str()),
        bytes(removal.reason.as_str()),
    ]
}

/// A removed article as its columns take it.
pub(super) fn removed_values(removed: &RemovedArticle) -> Values {
    [values(&removed.article), removal_values(&removed.removal)].concat()
}

fn read_article(cells: &mut Cells) -> Result<Article, SqlError> {
    let ArticleHead { article_id, board_id, title, writer, created_at, modified_at, version } = read_summary(cells)?;
    let (content, content_html) = (cells.next()?, cells.next()?);
    Ok(Article { article_id, board_id, title, content, content_html, writer, created_at, modified_at, version })
}

pub(super) fn summary(mut cells: Cells) -> Result<ArticleHead, SqlError> {
    read_summary(&mut cells)
}

/// Columns: id, board, created.
pub(super) fn place(mut cells: Cells) -> Result<ArticlePlace, SqlError> {
    Ok(ArticlePlace {
        article_id: ArticleId::from_raw(cells.next()?),
        board_id: BoardId::from_raw(cells.next()?),
        created_at: Timestamp::from_millis(cells.next()?),
    })
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

/// Columns: article, board, since when, until when.
pub(super) fn pin(mut cells: Cells) -> Result<Pin, SqlError> {
    Ok(Pin {
        article_id: ArticleId::from_raw(cells.next()?),
        board_id: BoardId::from_raw(cells.next()?),
        pinned_at: Timestamp::from_millis(cells.next()?),
        until: cells.next::<Option<i64>>()?.map(Timestamp::from_millis),
    })
}

/// A pin as its columns take it.
pub(super) fn pin_values(pin: &Pin) -> Values {
    let mut values = key(pin.article_id);
    let until = pin.until.map(Timestamp::as_millis);
    values.extend([pin.board_id.raw().into(), pin.pinned_at.as_millis().into(), until.into()]);
    values
}

/// Columns: id, slug, title, comment mode, created, description, position.
pub(super) fn board(mut cells: Cells) -> Result<Board, SqlError> {
    Ok(Board {
        board_id: BoardId::from_raw(cells.next()?),
        slug: cells.next()?,
        title: cells.next()?,
        comment_mode: named("comment mode", &cells.next::<String>()?, CommentMode::named)?,
        created_at: Timestamp::from_millis(cells.next()?),
        description: cells.next()?,
        position: cells.next()?,
    })
}

/// Columns: board, count, version, greatest id, state.
pub(super) fn counter(mut cells: Cells) -> Result<BoardCounter, SqlError> {
    let board_id = BoardId::from_raw(cells.next()?);
    let count = BoardCount { article_count: cells.next()?, version: cells.next()? };
    let greatest_id = cells.next()?;
    let number: i64 = cells.next()?;
    let state = BoardState::numbered(number)
        .ok_or_else(|| SqlError::defect(format!("unknown state {number} of board {board_id}")))?;
    Ok(BoardCounter { board_id, count, greatest_id, state })
}
