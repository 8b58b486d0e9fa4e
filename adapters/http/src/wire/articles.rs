//! What is asked of the owner of articles.

use madang_article_read::{ArticleHead, ArticleText, Newest};
use madang_board::{ArticleFacts, ArticleId, BoardId, CommentMode, MemberId};
use madang_event::{BoardCount, Writer};
use madang_kernel::{Page, Scroll, Timestamp};
use serde::{Deserialize, Serialize};

use super::Question;

/// Articles whose texts one question may ask for.
pub(crate) const TEXTS_MAX: usize = 64;
/// Text that one answer carries, before escaping, beside its last article: whoever asked asks again for the rest.
pub(crate) const TEXTS_BYTES_MAX: usize = 2 * 1_024 * 1_024;
/// No article is larger: its text of 20,000 characters, the HTML made of it, the headline and a name.
pub(crate) const ARTICLE_BYTES_MAX: usize = 384 * 1_024;

/// Whether an article exists, and how its comments are arranged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FactsOf {
    pub(crate) article_id: ArticleId,
}

/// `None` when there is no such article.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FactsAnswer {
    pub(crate) facts: Option<FactsBody>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FactsBody {
    board_id: BoardId,
    comment_mode: CommentMode,
}

impl Question for FactsOf {
    const PATH: &'static str = "/internal/v1/articles/facts";
    type Answer = FactsAnswer;
}

/// The texts of articles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TextsOf {
    pub(crate) articles: Vec<ArticleId>,
}

/// The texts of the first of those asked for, at least one, in the order asked; `None` for one that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TextsAnswer {
    pub(crate) articles: Vec<Option<TextBody>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TextBody {
    head: HeadBody,
    content: String,
    content_html: String,
}

impl Question for TextsOf {
    const PATH: &'static str = "/internal/v1/articles/texts";
    type Answer = TextsAnswer;
}

/// An article as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HeadBody {
    article_id: ArticleId,
    board_id: BoardId,
    title: String,
    writer_id: MemberId,
    writer_name: String,
    created_at_ms: i64,
    modified_at_ms: i64,
    version: u64,
}

/// The newest articles of a board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NewestOf {
    pub(crate) board_id: BoardId,
    pub(crate) limit: u32,
}

/// `None` when there is no such board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NewestAnswer {
    pub(crate) newest: Option<NewestBody>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NewestBody {
    ids: Vec<ArticleId>,
    is_all: bool,
    article_count: u64,
    version: u64,
}

impl Question for NewestOf {
    const PATH: &'static str = "/internal/v1/articles/newest";
    type Answer = NewestAnswer;
}

/// A numbered page of a board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PageOf {
    pub(crate) board_id: BoardId,
    pub(crate) page: u32,
    pub(crate) page_size: u32,
}

/// `None` when there is no such board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PageAnswer {
    pub(crate) page: Option<PageBody>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PageBody {
    items: Vec<HeadBody>,
    known_count: u64,
}

impl Question for PageOf {
    const PATH: &'static str = "/internal/v1/articles/page";
    type Answer = PageAnswer;
}

/// The articles of a board before a cursor, or its newest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ScrollOf {
    pub(crate) board_id: BoardId,
    pub(crate) before: Option<ArticleId>,
    pub(crate) limit: u32,
}

/// `None` when there is no such board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ScrollAnswer {
    pub(crate) step: Option<ScrollBody>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ScrollBody {
    items: Vec<HeadBody>,
    next: Option<ArticleId>,
}

impl Question for ScrollOf {
    const PATH: &'static str = "/internal/v1/articles/scroll";
    type Answer = ScrollAnswer;
}

impl From<ArticleFacts> for FactsBody {
    fn from(facts: ArticleFacts) -> Self {
        let ArticleFacts { board_id, comment_mode } = facts;
        Self { board_id, comment_mode }
    }
}

impl From<FactsBody> for ArticleFacts {
    fn from(body: FactsBody) -> Self {
        let FactsBody { board_id, comment_mode } = body;
        Self { board_id, comment_mode }
    }
}

impl From<ArticleText> for TextBody {
    fn from(text: ArticleText) -> Self {
        let ArticleText { head, content, content_html } = text;
        Self { head: head.into(), content, content_html }
    }
}

impl From<TextBody> for ArticleText {
    fn from(body: TextBody) -> Self {
        let TextBody { head, content, content_html } = body;
        Self { head: head.into(), content, content_html }
    }
}

impl From<ArticleHead> for HeadBody {
    fn from(head: ArticleHead) -> Self {
        let ArticleHead { article_id, board_id, title, writer, created_at, modified_at, version } = head;
        Self {
            article_id,
            board_id,
            title,
            writer_id: writer.member_id,
            writer_name: writer.name,
            created_at_ms: created_at.as_millis(),
            modified_at_ms: modified_at.as_millis(),
            version,
        }
    }
}

impl From<HeadBody> for ArticleHead {
    fn from(body: HeadBody) -> Self {
        Self {
            article_id: body.article_id,
            board_id: body.board_id,
            title: body.title,
            writer: Writer { member_id: body.writer_id, name: body.writer_name },
            created_at: Timestamp::from_millis(body.created_at_ms),
            modified_at: Timestamp::from_millis(body.modified_at_ms),
            version: body.version,
        }
    }
}

impl From<Newest> for NewestBody {
    fn from(newest: Newest) -> Self {
        let Newest { ids, is_all, count: BoardCount { article_count, version } } = newest;
        Self { ids, is_all, article_count, version }
    }
}

impl From<NewestBody> for Newest {
    fn from(body: NewestBody) -> Self {
        let NewestBody { ids, is_all, article_count, version } = body;
        Self { ids, is_all, count: BoardCount { article_count, version } }
    }
}

impl From<Page<ArticleHead>> for PageBody {
    fn from(page: Page<ArticleHead>) -> Self {
        Self { items: page.items.into_iter().map(HeadBody::from).collect(), known_count: page.known_count }
    }
}

impl From<PageBody> for Page<ArticleHead> {
    fn from(body: PageBody) -> Self {
        Self { items: body.items.into_iter().map(ArticleHead::from).collect(), known_count: body.known_count }
    }
}

impl From<Scroll<ArticleHead, ArticleId>> for ScrollBody {
    fn from(step: Scroll<ArticleHead, ArticleId>) -> Self {
        Self { items: step.items.into_iter().map(HeadBody::from).collect(), next: step.next }
    }
}

impl From<ScrollBody> for Scroll<ArticleHead, ArticleId> {
    fn from(body: ScrollBody) -> Self {
        Self { items: body.items.into_iter().map(ArticleHead::from).collect(), next: body.next }
    }
}
