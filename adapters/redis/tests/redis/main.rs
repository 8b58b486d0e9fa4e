//! Everything that this adapter promises, on real servers: `MADANG_TEST_REDIS` names one, `MADANG_TEST_REDIS_CLUSTER` the
//! nodes of a cluster.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

#[macro_use]
mod support;

mod broadcast;
mod buckets;
mod connection;
mod live_views;
mod membership;
mod own_server;
mod read_model;
mod read_model_shared;
mod rests;
