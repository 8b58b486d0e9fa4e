//! Everything that this engine promises to any program, on real servers: `MADANG_TEST_MYSQL` names two of them.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

#[macro_use]
mod support;

mod after_commit;
mod failover;
mod inbox;
mod lanes;
mod moving;
mod node_leases;
mod open;
mod outbox;
mod program;
mod proxy;
mod shard_map;
mod silent_server;
mod tls;
