//! The events: the only contract between services. No service knows another; all of them know this crate.

mod article;
mod deletions;
mod envelope;
mod peek;
mod reaction;
mod topic;

pub use article::{ArticleDeleted, ArticleHead, ArticlePlace, ArticleState, BoardCount, NewestArticles, Writer};
pub use deletions::{ArticleDeletions, ArticleParts};
pub use envelope::{DecodeError, DecodeReason, Envelope, Event, type_name};
pub use peek::Peeked;
pub use reaction::{ArticleLikes, ArticleLock, ArticleViews, CommentChange, LastComment};
pub use topic::Topic;
