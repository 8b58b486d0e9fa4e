//! Redis for any program: one server or Redis Cluster, membership of instances, token buckets, paused consumer groups,
//! broadcasts between processes, and the means to put stores of one's own on it ([`Command`], [`Script`], [`reply`]).
//!
//! *Invariants:* a script touches keys of one hash tag only, so all of it runs on a cluster; every command has a time-out,
//! and while Redis is away commands fail at once; every key that this crate writes expires.

mod broadcast;
mod buckets;
mod command;
mod connection;
mod errors;
mod inspect;
mod membership;
mod options;
mod pauses;
pub mod reply;
mod slots;

pub use broadcast::{RedisBroadcast, Subscriber};
pub use buckets::{Bucket, RedisBuckets, Taken};
pub use command::{Command, Script, Tag};
pub use connection::Redis;
pub use errors::{Failure, PART};
pub use inspect::{NodeInspection, inspect};
pub use membership::RedisMembership;
pub use options::{Mode, OptionsError, RedisOptions};
pub use pauses::RedisPauses;
pub use redis::Value;
