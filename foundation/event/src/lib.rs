//! The events: the only contract between services. No service knows another; all of them know this crate.

mod article;
mod envelope;
mod reaction;
mod topic;

pub use article::{ArticleDeleted, ArticleState, BoardCount, Writer};
pub use envelope::{DecodeError, DecodeReason, Envelope, Event};
pub use reaction::{ArticleLikes, ArticleViews, CommentChange};
pub use topic::Topic;
