//! What can be made again, on Redis: one server or Redis Cluster. Membership of instances, the query model, live views, the
//! ranking of hot articles, token buckets, rests of consumer groups, words between processes.
//!
//! *Invariants:* a script touches keys of one hash tag only, so all of it runs on a cluster; every call has a time-out, and
//! while Redis is away calls fail at once; nothing here is the only copy of what people wrote. Every key expires, but the
//! 64 epoch numbers of the query model: set `maxmemory-policy volatile-lru`, which leaves those alone.

mod broadcast;
mod buckets;
mod call;
mod connection;
mod errors;
mod hot;
mod live_views;
mod membership;
mod options;
mod read_model;
mod reply;
mod rests;
mod slots;

pub use broadcast::{Hearing, RedisBroadcast};
pub use buckets::{Bucket, RedisBuckets, Taken};
pub use connection::Redis;
pub use hot::RankedHot;
pub use live_views::RedisLiveViews;
pub use membership::RedisMembership;
pub use options::{Mode, OptionsError, RedisOptions};
pub use read_model::{COMMITTED_WAIT_MS, RedisReadModel};
pub use rests::RedisRests;
