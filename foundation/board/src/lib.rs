//! What the services of the board agree on beside their events: what things are called, who acts, who may do what, and
//! what services may ask one another at once. No I/O.

mod actor;
pub mod check;
mod id;
mod lookup;
mod moderation;
pub mod rules;
pub mod text;

pub use actor::{Actor, Role};
pub use id::{ActId, ArticleId, BoardId, CommentId, MemberId, ReportId, SessionId};
pub use lookup::{ArticleFacts, ArticleLookup, BoardLookup, CommentLookup, CommentMode};
pub use moderation::{Act, ActKind, REASON_MAX_CHARS, Reason, Report, Reported, Resolution};
