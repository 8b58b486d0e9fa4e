//! Boards and their articles: rules, use cases and the port to their store.

mod board;
mod store;

pub use board::{Board, BoardWithCount, CommentMode};
pub use store::{
    ArticleStore, CreateArticle, CreateBoard, DeleteArticle, DeleteOutcome, EditArticle, EditOutcome, NewBoard,
};
mod model;
pub use model::{Article, ArticleSummary};
