//! Articles as they travel: what is sent in, and what goes out with the counts that other services keep. Texts are borrowed
//! from the query model: a hit copies nothing but the bytes of its answer.

use madang_article::{Article, ArticleDraft};
use madang_article_read::{ArticleHead, ReadArticle, ReadSummary};
use madang_board::{ArticleId, BoardId, CommentId};
use madang_event::{LastComment, Writer};
use madang_kernel::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::named_member::NamedMember;
use crate::openapi::{IdText, TimeText};

/// About how long an article is in a list, as JSON.
pub(super) const SUMMARY_BYTES_HINT: usize = 384;

/// An article as its writer hands it in.
#[derive(Deserialize, ToSchema)]
#[schema(as = ArticleDraft)]
pub(crate) struct DraftBody {
    /// The headline.
    #[schema(
        example = "Where do we meet on Sunday?",
        min_length = 1,
        max_length = 100,
        pattern = r"^\s*[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*[^\s\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0][^\u0000-\u001f\u007f-\u009f\u2028\u2029]*\s*$"
    )]
    title: String,
    /// The text, in Markdown.
    #[schema(
        example = "At the *old mill*, at ten.",
        min_length = 1,
        max_length = 20_000,
        pattern = r"^[^\u0000]*[^\s\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0][^\u0000]*$"
    )]
    content: String,
}

impl From<DraftBody> for ArticleDraft {
    fn from(DraftBody { title, content }: DraftBody) -> Self {
        Self { title, content }
    }
}

/// Why something is deleted.
#[derive(Deserialize, ToSchema)]
pub(crate) struct Deletion {
    /// For the moderators' log.
    #[schema(example = "Advertising", max_length = 500, pattern = r"^[^\u0000]*$")]
    #[serde(default)]
    pub(crate) reason: Option<String>,
}

/// What other services count about an article. A new one starts with zeros.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counts {
    comments: u64,
    likes: u64,
    views: u64,
    /// Whether it takes no new comments, which whoever counts them says.
    locked: bool,
    pinned: bool,
    /// The newest visible comment.
    last: Option<LastComment>,
}

impl From<&ReadArticle> for Counts {
    fn from(read: &ReadArticle) -> Self {
        let &ReadArticle { comment_count, like_count, view_count, locked, pinned, .. } = read;
        let last = read.last.clone();
        Self { comments: comment_count, likes: like_count, views: view_count, locked, pinned, last }
    }
}

/// The newest comment of an article that is not deleted.
#[derive(Serialize, ToSchema)]
#[schema(as = LastComment)]
pub(crate) struct LastCommentBody<'a> {
    #[schema(value_type = IdText)]
    comment_id: CommentId,
    #[schema(value_type = NamedMember)]
    writer: &'a Writer,
    #[schema(value_type = TimeText)]
    created_at: Timestamp,
}

impl<'a> From<&'a LastComment> for LastCommentBody<'a> {
    fn from(last: &'a LastComment) -> Self {
        Self { comment_id: last.comment_id, writer: &last.writer, created_at: last.created_at }
    }
}

/// An article with its text.
#[derive(Serialize, ToSchema)]
#[schema(as = Article)]
pub(crate) struct ArticleBody<'a> {
    #[schema(value_type = IdText)]
    pub(crate) article_id: ArticleId,
    #[schema(value_type = IdText)]
    board_id: BoardId,
    /// The headline.
    #[schema(example = "Where do we meet on Sunday?")]
    title: &'a str,
    /// The text as written, in Markdown.
    #[schema(example = "At the *old mill*, at ten.")]
    content: &'a str,
    /// The text as shown: cleaned HTML.
    #[schema(example = "<p>At the <em>old mill</em>, at ten.</p>\n")]
    content_html: &'a str,
    #[schema(value_type = NamedMember)]
    writer: &'a Writer,
    #[schema(value_type = TimeText)]
    created_at: Timestamp,
    #[schema(value_type = TimeText)]
    modified_at: Timestamp,
    /// 1 when created, and one more with each edit and each change of its pin.
    #[schema(example = 1)]
    version: u64,
    /// Comments on it, deleted ones left out.
    #[schema(example = 4)]
    comment_count: u64,
    /// Members who like it.
    #[schema(example = 12)]
    like_count: u64,
    /// Views so far, up to a second late.
    #[schema(example = 345)]
    view_count: u64,
    /// Whether it stands on top of its board.
    #[schema(example = false)]
    pinned: bool,
    /// Whether it takes no new comments, but from moderators of its board.
    #[schema(example = false)]
    locked: bool,
    /// Whether its text was changed since it was written.
    #[schema(example = false)]
    edited: bool,
    /// When the newest comment was written; where there is none, when the article was.
    #[schema(value_type = TimeText)]
    last_activity_at: Timestamp,
    /// The newest comment; null where there is none.
    #[schema(value_type = Option<LastCommentBody>, required = true)]
    last_comment: Option<LastCommentBody<'a>>,
}

impl<'a> ArticleBody<'a> {
    /// An article as its owner has just written it, and what is counted about it.
    pub(crate) fn written(article: &'a Article, counts: &'a Counts) -> Self {
        Self {
            article_id: article.article_id,
            board_id: article.board_id,
            title: &article.title,
            content: &article.content,
            content_html: &article.content_html,
            writer: &article.writer,
            created_at: article.created_at,
            modified_at: article.modified_at,
            version: article.version,
            comment_count: counts.comments,
            like_count: counts.likes,
            view_count: counts.views,
            pinned: counts.pinned,
            locked: counts.locked,
            edited: article.modified_at > article.created_at,
            last_activity_at: counts.last.as_ref().map_or(article.created_at, |last| last.created_at),
            last_comment: counts.last.as_ref().map(LastCommentBody::from),
        }
    }

    /// The same with a pin or a lock that was set just now, whatever the query model has heard of it.
    pub(crate) fn with(self, pinned: Option<bool>, locked: Option<bool>) -> Self {
        Self { pinned: pinned.unwrap_or(self.pinned), locked: locked.unwrap_or(self.locked), ..self }
    }

    /// An article as it is read.
    pub(crate) fn read(read: &'a ReadArticle) -> Self {
        let head = &read.text.head;
        Self {
            article_id: head.article_id,
            board_id: head.board_id,
            title: &head.title,
            content: &read.text.content,
            content_html: &read.text.content_html,
            writer: &head.writer,
            created_at: head.created_at,
            modified_at: head.modified_at,
            version: head.version,
            comment_count: read.comment_count,
            like_count: read.like_count,
            view_count: read.view_count,
            pinned: read.pinned,
            locked: read.locked,
            edited: head.modified_at > head.created_at,
            last_activity_at: read.last_activity_at(),
            last_comment: read.last.as_ref().map(LastCommentBody::from),
        }
    }

    /// The entity tag: everything in the body that can change.
    pub(crate) fn tag(&self) -> String {
        let Self { version, comment_count, like_count, view_count, pinned, locked, .. } = self;
        let marks = [(pinned, "p"), (locked, "l")].map(|(is_set, mark)| if *is_set { mark } else { "" }).concat();
        // A comment that goes and one that comes leave the count as it was.
        let last = self.last_comment.as_ref().map(|last| format!(".{}", last.comment_id)).unwrap_or_default();
        format!("\"{version}.{comment_count}.{like_count}.{view_count}{marks}{last}\"")
    }

    /// About how long it is as JSON.
    pub(crate) fn json_bytes(&self) -> usize {
        let text = self.title.len() + self.content.len() + self.content_html.len();
        // Room for escapes and for all that is no text, so that the buffer rarely grows.
        text + text / 8 + 512
    }
}

/// An article as a list shows it: without its text.
#[derive(Serialize, ToSchema)]
#[schema(as = ArticleSummary)]
pub(crate) struct SummaryBody<'a> {
    #[schema(value_type = IdText)]
    article_id: ArticleId,
    #[schema(value_type = IdText)]
    board_id: BoardId,
    /// The headline.
    #[schema(example = "Where do we meet on Sunday?")]
    title: &'a str,
    #[schema(value_type = NamedMember)]
    writer: &'a Writer,
    #[schema(value_type = TimeText)]
    created_at: Timestamp,
    #[schema(value_type = TimeText)]
    modified_at: Timestamp,
    /// 1 when created, and one more with each edit and each change of its pin.
    #[schema(example = 1)]
    version: u64,
    /// Comments on it, deleted ones left out.
    #[schema(example = 4)]
    comment_count: u64,
    /// Members who like it.
    #[schema(example = 12)]
    like_count: u64,
    /// Views so far, up to a second late.
    #[schema(example = 345)]
    view_count: u64,
    /// Whether it stands on top of its board.
    #[schema(example = false)]
    pinned: bool,
    /// Whether it takes no new comments, but from moderators of its board.
    #[schema(example = false)]
    locked: bool,
    /// Whether its text was changed since it was written.
    #[schema(example = false)]
    edited: bool,
    /// When the newest comment was written; where there is none, when the article was.
    #[schema(value_type = TimeText)]
    last_activity_at: Timestamp,
    /// The newest comment; null where there is none.
    #[schema(value_type = Option<LastCommentBody>, required = true)]
    last_comment: Option<LastCommentBody<'a>>,
}

impl<'a> SummaryBody<'a> {
    fn new(head: &'a ArticleHead, counts: &Counts, last: Option<&'a LastComment>) -> Self {
        Self {
            article_id: head.article_id,
            board_id: head.board_id,
            title: &head.title,
            writer: &head.writer,
            created_at: head.created_at,
            modified_at: head.modified_at,
            version: head.version,
            comment_count: counts.comments,
            like_count: counts.likes,
            view_count: counts.views,
            pinned: counts.pinned,
            locked: counts.locked,
            edited: head.modified_at > head.created_at,
            last_activity_at: last.map_or(head.created_at, |last| last.created_at),
            last_comment: last.map(LastCommentBody::from),
        }
    }

    /// An article that was read whole.
    pub(crate) fn of(read: &'a ReadArticle) -> Self {
        let &ReadArticle { comment_count, like_count, view_count, locked, pinned, .. } = read;
        let (comments, likes, views) = (comment_count, like_count, view_count);
        Self::new(&read.text.head, &Counts { comments, likes, views, locked, pinned, last: None }, read.last.as_ref())
    }
}

impl<'a> From<&'a ReadSummary> for SummaryBody<'a> {
    fn from(read: &'a ReadSummary) -> Self {
        let &ReadSummary { comment_count, like_count, view_count, locked, pinned, .. } = read;
        let (comments, likes, views) = (comment_count, like_count, view_count);
        Self::new(read.head(), &Counts { comments, likes, views, locked, pinned, last: None }, read.last.as_ref())
    }
}
