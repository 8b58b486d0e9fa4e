//! Articles as they travel: what is sent in, and what goes out with the counts that other services keep.

use madang_article::{Article, ArticleDraft, ArticleSummary};
use madang_event::Writer;
use madang_kernel::{ArticleId, BoardId, MemberId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::openapi::IdText;

/// An article as its writer hands it in.
#[derive(Deserialize, ToSchema)]
#[schema(as = ArticleDraft)]
pub(crate) struct DraftBody {
    /// The headline.
    #[schema(min_length = 1, max_length = 100)]
    title: String,
    /// The text, in Markdown.
    #[schema(min_length = 1, max_length = 20_000)]
    content: String,
}

impl From<DraftBody> for ArticleDraft {
    fn from(DraftBody { title, content }: DraftBody) -> Self {
        Self { title, content }
    }
}

/// Why an article is deleted.
#[derive(Deserialize, ToSchema)]
pub(crate) struct Deletion {
    /// For the moderators' log.
    #[schema(max_length = 500)]
    #[serde(default)]
    pub(crate) reason: Option<String>,
}

/// What other services count about an article. Nobody counts yet: all are 0.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    comments: u64,
    likes: u64,
    views: u64,
}

/// Who wrote something.
#[derive(Serialize, ToSchema)]
#[schema(as = Writer)]
pub(crate) struct WriterBody {
    #[schema(value_type = IdText)]
    member_id: MemberId,
    name: String,
}

impl From<Writer> for WriterBody {
    fn from(Writer { member_id, name }: Writer) -> Self {
        Self { member_id, name }
    }
}

/// An article with its text.
#[derive(Serialize, ToSchema)]
#[schema(as = Article)]
pub(crate) struct ArticleBody {
    #[schema(value_type = IdText)]
    pub(crate) article_id: ArticleId,
    #[schema(value_type = IdText)]
    board_id: BoardId,
    title: String,
    /// The text as written, in Markdown.
    content: String,
    /// The text as shown: cleaned HTML.
    content_html: String,
    writer: WriterBody,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    modified_at: Timestamp,
    /// 1 when created, and one more with each edit.
    version: u64,
    comment_count: u64,
    like_count: u64,
    view_count: u64,
}

impl ArticleBody {
    /// An article and what is counted about it.
    pub(crate) fn new(article: Article, counts: Counts) -> Self {
        Self {
            article_id: article.article_id,
            board_id: article.board_id,
            title: article.title,
            content: article.content,
            content_html: article.content_html,
            writer: article.writer.into(),
            created_at: article.created_at,
            modified_at: article.modified_at,
            version: article.version,
            comment_count: counts.comments,
            like_count: counts.likes,
            view_count: counts.views,
        }
    }

    /// The entity tag: everything in the body that can change.
    pub(crate) fn tag(&self) -> String {
        format!("\"{}.{}.{}.{}\"", self.version, self.comment_count, self.like_count, self.view_count)
    }

    /// About how long the texts are as JSON.
    pub(crate) fn text_bytes(&self) -> usize {
        let text = self.title.len() + self.content.len() + self.content_html.len();
        // Room for escapes, so that the buffer rarely grows.
        text + text / 8
    }
}

/// An article as a list shows it: without its text.
#[derive(Serialize, ToSchema)]
#[schema(as = ArticleSummary)]
pub(crate) struct SummaryBody {
    #[schema(value_type = IdText)]
    article_id: ArticleId,
    #[schema(value_type = IdText)]
    board_id: BoardId,
    title: String,
    writer: WriterBody,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    modified_at: Timestamp,
    version: u64,
    comment_count: u64,
    like_count: u64,
    view_count: u64,
}

impl SummaryBody {
    /// An article of a list and what is counted about it.
    pub(crate) fn new(article: ArticleSummary, counts: Counts) -> Self {
        Self {
            article_id: article.article_id,
            board_id: article.board_id,
            title: article.title,
            writer: article.writer.into(),
            created_at: article.created_at,
            modified_at: article.modified_at,
            version: article.version,
            comment_count: counts.comments,
            like_count: counts.likes,
            view_count: counts.views,
        }
    }
}
