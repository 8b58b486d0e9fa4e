//! The HTML of comments, rendered once: a comment is never edited, so what was rendered stays right.

use std::sync::Arc;

use madang_article::markdown;
use madang_board::CommentId;
use madang_comment::Comment;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

/// All rendered comments together.
const BUDGET_BYTES: u64 = 16 * 1_024 * 1_024;
/// About how many that are.
const TYPICAL_COMMENTS: usize = 16_384;
/// What one weighs besides its HTML.
const OVERHEAD_BYTES: u64 = 64;

/// Keeps the HTML of comments that were shown lately.
pub(crate) struct RenderedComments(Cache<CommentId, Arc<str>, ByBytes>);

impl Default for RenderedComments {
    fn default() -> Self {
        Self(Cache::with_weighter(TYPICAL_COMMENTS, BUDGET_BYTES, ByBytes))
    }
}

impl RenderedComments {
    /// The HTML of a comment; `None` when only its mark is left.
    pub(crate) fn html(&self, comment: &Comment) -> Option<Arc<str>> {
        let content = comment.content.as_deref()?;
        if let Some(html) = self.0.get(&comment.comment_id) {
            return Some(html);
        }
        let html: Arc<str> = markdown::render(content).into();
        self.0.insert(comment.comment_id, Arc::clone(&html));
        Some(html)
    }
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<CommentId, Arc<str>> for ByBytes {
    fn weight(&self, _: &CommentId, html: &Arc<str>) -> u64 {
        OVERHEAD_BYTES + html.len() as u64
    }
}
