//! Boards and their articles: rules, use cases and the port to their store.

mod article_cache;
pub mod blocks;
mod board;
mod board_cache;
mod boards;
pub mod events;
mod lookup;
pub mod markdown;
mod model;
mod pin_cache;
mod pins;
mod removed;
pub mod replay;
mod rules;
mod service;
mod store;

pub use board::{Board, BoardState, BoardWithCount};
pub use boards::{BoardDraft, BoardEdit};
pub use madang_board::CommentMode;
pub use madang_event::{ArticleHead, ArticlePlace, NewestArticles};
pub use model::{Article, RemovedArticle};
pub use pins::PIN_DAYS_MAX;
pub use rules::{
    CONTENT_MAX_CHARS, Content, DESCRIPTION_MAX_CHARS, Description, POSITION_MAX, Position, SLUG_MAX_CHARS,
    SLUG_MIN_CHARS, Slug, TITLE_MAX_CHARS, Title,
};
pub use service::{ArticleDraft, ArticleError, ArticleService, SHARED_FACTS_TTL_MS};
pub use store::{
    ArticleStore, CreateArticle, CreateBoard, CreateOutcome, DeleteArticle, DeleteBoard, DeleteOutcome, EditArticle,
    EditBoard, EditOutcome, FIND_MANY_MAX, NEWEST_MAX, NewBoard, PinArticle, PinOutcome, Pinning, PurgeArticle,
    RestoreArticle, RestoreOutcome,
};
