//! Boards and their articles: rules, use cases and the port to their store.

pub mod blocks;
mod board;
pub mod events;
mod model;
mod service;
mod store;

pub use board::{Board, BoardWithCount, CommentMode};
pub use model::{Article, ArticleSummary};
pub use service::{ArticleDraft, ArticleError, ArticleService, BoardDraft};
pub use store::{
    ArticleStore, CreateArticle, CreateBoard, DeleteArticle, DeleteOutcome, EditArticle, EditOutcome, NewBoard,
};
