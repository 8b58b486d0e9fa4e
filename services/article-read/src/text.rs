//! What the model keeps of an article: its head, which lists show, and the text below it. Shared, never copied on a read.

use madang_event::{ArticleHead, ArticleState};
use serde::{Deserialize, Serialize};

/// An article with its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArticleText {
    /// What lists show of it.
    pub head: ArticleHead,
    /// The text as written.
    pub content: String,
    /// The text as shown.
    pub content_html: String,
}

impl ArticleText {
    /// The text that an event reports.
    pub fn of(state: ArticleState, version: u64) -> Self {
        let ArticleState {
            article_id, board_id, title, content, content_html, writer, created_at, modified_at, ..
        } = state;
        let head = ArticleHead { article_id, board_id, title, writer, created_at, modified_at, version };
        Self { head, content, content_html }
    }

    /// Memory behind one shared text.
    pub fn weight_bytes(&self) -> usize {
        let Self { head, content, content_html } = self;
        let texts = head.title.capacity() + head.writer.name.capacity() + content.capacity() + content_html.capacity();
        size_of::<Self>() + texts
    }
}
