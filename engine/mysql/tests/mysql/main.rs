//! Everything that this engine promises to any program, on real servers: `MADANG_TEST_MYSQL` names two of them.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

#[macro_use]
mod support;

mod inbox;
mod node_leases;
mod outbox;
mod program;
mod tls;
