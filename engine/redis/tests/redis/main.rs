//! Everything that this engine promises, on real servers: `MADANG_TEST_REDIS` names one, `MADANG_TEST_REDIS_CLUSTER` the
//! nodes of a cluster.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

#[macro_use]
mod support;

mod broadcast;
mod buckets;
mod connection;
mod membership;
mod own_server;
mod pauses;
mod slots;
