//! Boards and their articles: rules, use cases and the port to their store.

mod article_cache;
pub mod blocks;
mod board;
mod board_cache;
pub mod events;
mod lookup;
pub mod markdown;
mod model;
pub mod replay;
mod rules;
mod service;
mod store;

pub use board::{Board, BoardWithCount};
pub use madang_board::CommentMode;
pub use madang_event::{ArticleHead, NewestArticles};
pub use model::Article;
pub use rules::{CONTENT_MAX_CHARS, Content, SLUG_MAX_CHARS, SLUG_MIN_CHARS, Slug, TITLE_MAX_CHARS, Title};
pub use service::{ArticleDraft, ArticleError, ArticleService, BoardDraft, SHARED_FACTS_TTL_MS};
pub use store::{
    ArticleStore, CreateArticle, CreateBoard, DeleteArticle, DeleteOutcome, EditArticle, EditOutcome, FIND_MANY_MAX,
    NEWEST_MAX, NewBoard,
};
