//! The events: the only contract between services. No service knows another; all of them know this crate.

mod article;
mod envelope;
mod topic;

pub use article::{ArticleDeleted, ArticleState, BoardCount, Writer};
pub use envelope::{DecodeError, DecodeReason, Envelope, Event};
pub use topic::Topic;
