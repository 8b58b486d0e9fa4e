//! Boards and their articles: rules, use cases and the port to their store.

pub mod blocks;
mod board;
pub mod events;
mod known_articles;
mod known_boards;
mod lookup;
pub mod markdown;
mod model;
mod rules;
mod service;
mod store;

pub use board::{Board, BoardWithCount};
pub use madang_board::CommentMode;
pub use model::{Article, ArticleSummary};
pub use rules::{CONTENT_MAX_CHARS, Content, SLUG_MAX_CHARS, SLUG_MIN_CHARS, Slug, TITLE_MAX_CHARS, Title};
pub use service::{ArticleDraft, ArticleError, ArticleService, BoardDraft, SHARED_FACTS_KEPT_MS};
pub use store::{
    ArticleStore, CreateArticle, CreateBoard, DeleteArticle, DeleteOutcome, EditArticle, EditOutcome, FIND_MANY_MAX,
    NEWEST_MAX, NewBoard, NewestArticles,
};
