//! Likes of articles: rules, use cases, the port to their store, and what the end of an article means to them.

mod consumer;
pub mod events;
mod model;
mod replay;
mod service;
mod store;

pub use consumer::{CLEAN_UP_SLICE_ROWS, LikeParts, article_deletions};
pub use model::{LikeCount, LikeState, Liker};
pub use replay::{Replay, Replayed};
pub use service::{COUNTS_MAX, LikeError, LikeService};
pub use store::{CleanedUp, Like, LikeAnswer, LikeOutcome, LikeStore, Unlike};
