//! Comments of articles, in two levels or as a tree: rules, use cases, the port to their store, and what a deleted article
//! means to them.

mod activity;
mod consumer;
mod cursor;
pub mod events;
mod lookup;
mod model;
mod path;
mod position;
mod removed;
pub mod replay;
mod rules;
mod service;
mod store;

pub use consumer::{CLEAN_UP_SLICE_ROWS, CommentParts, article_deletions};
pub use cursor::{CommentCursor, CursorParseError};
pub use model::{Active, Comment, CommentCount, Counted, RemovedComment};
pub use path::{CommentPath, LEVEL_CHARS, LevelFull, PathParseError};
pub use position::{DEPTH_LIMIT, DepthMax, Parent, Position, Refusal};
pub use rules::{CONTENT_MAX_CHARS, Content};
pub use service::{CommentDraft, CommentError, CommentService};
pub use store::{
    COUNTS_MAX, CommentStore, CreateComment, CreateOutcome, DeleteComment, DeleteOutcome, EditComment, EditOutcome,
    FIND_MANY_MAX, LockOutcome, PurgeComment, RestoreComment, RestoreOutcome, SetLock,
};
