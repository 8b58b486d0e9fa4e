//! What every crate of Madang speaks: ids, shards, time, pages and the shape of failure. No I/O.

mod clock;
mod error;
mod id;
mod id_generator;
mod idempotency;
mod idempotency_records;
mod lease;
mod paging;
mod request_scope;
mod shard;
mod shard_owners;
mod staged_rows;

pub use clock::{Clock, ManualClock, SteadyClock, SystemClock, Timestamp, millis};
pub use error::{FieldError, Invalid, StoreError};
pub use id::{EventId, Id, IdParseError, parse_id};
pub use id::{ID_EPOCH_MS, NODE_BITS, NODES, SEQUENCE_BITS, SHARD_BITS, TIME_BITS};
pub use id_generator::{IdGenerator, LeaseEnded};
pub use idempotency::{Created, IDEMPOTENCY_KEPT_MS, Idempotency};
pub use idempotency_records::{IdempotencyKey, IdempotencyRecord, IdempotencyRecords, NewIdempotencyRecord};
pub use lease::{NodeId, NodeLease, NodeLeases};
pub use paging::{Page, PageNumber, PageSize, Scroll, known_count};
pub use request_scope::{REQUEST_ID_HEADER, RequestId, RequestScope, current_caller, current_request, note_caller};
pub use shard::{SHARDS, SHARDS_U8, ServerIndex, ShardId, ShardMap, ShardMapError};
pub use shard_owners::{ShardOwner, ShardOwners};
pub use staged_rows::{RowChanges, StagedRows};
