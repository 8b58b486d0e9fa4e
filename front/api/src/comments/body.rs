//! Comments as they travel.

use madang_board::{ArticleId, CommentId};
use madang_comment::{Comment, CommentDraft};
use madang_kernel::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::named_member::NamedMember;
use crate::openapi::{IdText, TimeText};

/// HTML of all comments in a list; thirty as long as they may be, of plain text, fit.
const LIST_HTML_BYTES_MAX: usize = 512 * 1_024;
/// About how long a comment is beside its text, as JSON.
const FRAME_BYTES_HINT: usize = 400;

/// A comment as its writer hands it in.
#[derive(Deserialize, ToSchema)]
#[schema(as = CommentDraft)]
pub(crate) struct DraftBody {
    /// The text.
    #[schema(
        example = "I shall be there.",
        min_length = 1,
        max_length = 3_000,
        pattern = r"^[^\u0000]*[^\s\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0][^\u0000]*$"
    )]
    content: String,
    /// The comment to reply to, on the same article; none for a comment on the article itself.
    #[schema(value_type = Option<IdText>)]
    #[serde(default)]
    parent_id: Option<CommentId>,
}

impl From<DraftBody> for CommentDraft {
    fn from(DraftBody { content, parent_id }: DraftBody) -> Self {
        Self { content, parent_id }
    }
}

/// The new text of a comment.
#[derive(Deserialize, ToSchema)]
#[schema(as = CommentEdit)]
pub(crate) struct EditBody {
    /// The text.
    #[schema(
        example = "I shall be there at eight.",
        min_length = 1,
        max_length = 3_000,
        pattern = r"^[^\u0000]*[^\s\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0][^\u0000]*$"
    )]
    pub(crate) content: String,
}

/// A comment, or what is left of one that was deleted while it had replies.
#[derive(Serialize, ToSchema)]
#[schema(as = Comment)]
pub(crate) struct CommentBody {
    #[schema(value_type = IdText)]
    pub(crate) comment_id: CommentId,
    #[schema(value_type = IdText)]
    article_id: ArticleId,
    /// The comment it replies to; null for a comment on the article itself.
    #[schema(value_type = Option<IdText>, required = true)]
    parent_id: Option<CommentId>,
    /// 1 for a comment on the article itself, and one more for each level below.
    #[schema(minimum = 1, example = 1)]
    depth: u32,
    /// Its place among the others, five characters a level; null where comments have two levels.
    #[schema(required = true, example = "0000A")]
    path: Option<String>,
    /// The text as written; null when deleted.
    #[schema(required = true, example = "I shall be there.")]
    content: Option<String>,
    /// The text as HTML that is safe to show; null when deleted, and in a list past its first 512 KiB of HTML: read the comment
    /// by itself then.
    #[schema(required = true, example = "<p>I shall be there.</p>\n")]
    content_html: Option<String>,
    /// Whether only its place is left.
    #[schema(example = false)]
    deleted: bool,
    /// Who wrote it; null when deleted.
    #[schema(required = true)]
    writer: Option<NamedMember>,
    #[schema(value_type = TimeText)]
    created_at: Timestamp,
    /// When its text was last changed; `created_at` until then.
    #[schema(value_type = TimeText)]
    modified_at: Timestamp,
    /// 1 when written, and one more with each change; goes into If-Match as `"1"`.
    #[schema(minimum = 1, example = 1)]
    version: u64,
}

impl From<Comment> for CommentBody {
    fn from(comment: Comment) -> Self {
        Self {
            comment_id: comment.comment_id,
            article_id: comment.article_id,
            parent_id: comment.parent_id,
            depth: comment.depth,
            path: comment.path.map(|path| path.as_str().to_owned()),
            content: comment.content,
            content_html: comment.content_html,
            deleted: comment.deleted,
            writer: comment.writer.map(NamedMember::from),
            created_at: comment.created_at,
            modified_at: comment.modified_at,
            version: comment.version,
        }
    }
}

impl CommentBody {
    /// The entity tag.
    pub(crate) fn tag(&self) -> String {
        format!("\"{}\"", self.version)
    }

    /// About how long the text is as JSON.
    pub(crate) fn text_bytes(&self) -> usize {
        let text: usize = [&self.content, &self.content_html].into_iter().flatten().map(String::len).sum();
        // Room for escapes, so that the buffer rarely grows.
        text + text / 8
    }
}

/// The comments of a list. A small text may become much HTML, and a hundred of them too much for one answer.
pub(super) fn listed(comments: Vec<Comment>) -> Vec<CommentBody> {
    let mut left_bytes = LIST_HTML_BYTES_MAX;
    let mut fits = |html: &String| {
        let left = left_bytes.checked_sub(html.len());
        left_bytes = left.unwrap_or(0);
        left.is_some()
    };
    let body = |mut comment: Comment| {
        comment.content_html = comment.content_html.filter(&mut fits);
        CommentBody::from(comment)
    };
    comments.into_iter().map(body).collect()
}

/// About how long a list of these is as JSON.
pub(super) fn bytes_hint(comments: &[CommentBody]) -> usize {
    comments.iter().map(|comment| comment.text_bytes() + FRAME_BYTES_HINT).sum()
}
