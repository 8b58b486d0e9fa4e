//! What every crate of Madang speaks: ids, shards, time, pages and the shape of failure. No I/O.

mod actor;
mod clock;
mod error;
mod id;
mod id_generator;
mod lease;
mod lookup;
mod moderation;
mod once;
mod paging;
pub mod rules;
mod shard;
pub mod text;

pub use actor::{Actor, Role};
pub use clock::{Clock, ManualClock, SystemClock, Timestamp};
pub use error::{FieldError, Invalid, StoreError};
pub use id::{ActId, ArticleId, BoardId, CommentId, EventId, Id, IdParseError, MemberId, ReportId, SessionId};
pub use id::{ID_EPOCH_MS, NODE_BITS, NODES, SEQUENCE_BITS, SHARD_BITS, TIME_BITS};
pub use id_generator::{IdGenerator, LeaseEnded};
pub use lease::{NodeId, NodeLease, NodeLeases};
pub use lookup::{ArticleFacts, ArticleLookup, BoardLookup, CommentLookup, CommentMode};
pub use moderation::{Act, ActKind, REASON_MAX_CHARS, Reason, Report, Reported, Resolution};
pub use once::{Created, ONCE_KEPT_MS, Once};
pub use paging::{Page, PageNumber, PageSize, Scroll, known_count};
pub use shard::{SHARDS, ServerIndex, ShardId, ShardMap, ShardMapError};
