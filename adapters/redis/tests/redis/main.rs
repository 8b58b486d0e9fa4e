//! Everything that this adapter promises, on real servers: `MADANG_TEST_REDIS` names one, `MADANG_TEST_REDIS_CLUSTER` the
//! nodes of a cluster.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

#[macro_use]
#[path = "../../../../engine/redis/tests/redis/support.rs"]
mod support;
#[path = "../../../../engine/redis/tests/redis/own_server.rs"]
mod own_server;

mod live_views;
mod read_model;
mod read_model_shared;
mod rebuild_lease;
