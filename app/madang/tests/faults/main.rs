//! The same binary on real servers of which one is taken away, emptied or paused while people go on: what is promised then.
//!
//! Needs what `tests/cluster` needs. Servers that a test ends are its own; the others are those of the environment.
//! `MADANG_TEST_LONG=1` asks for the full length of each outage, `MADANG_TEST_VERY_LONG=1` for ten minutes without a broker.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod broker;
mod broker_away;
mod cache;
mod cache_emptied;
mod cache_restored;
mod chaos;
mod client;
#[path = "../cluster/cluster.rs"]
#[allow(dead_code, reason = "shared with the suite of the cluster")]
mod cluster;
mod database_away;
mod database_full;
mod day_end;
mod disk;
mod failover;
mod history;
#[path = "../e2e/http.rs"]
#[allow(dead_code, reason = "shared with the suite of the embedded composition")]
mod http;
mod link;
mod load;
mod node_numbers;
mod one_article;
#[path = "../cluster/process.rs"]
#[allow(dead_code, reason = "shared with the suite of the cluster")]
mod process;
#[path = "../cluster/quiet.rs"]
mod quiet;
mod restored_elsewhere;
mod rolling;
#[path = "../cluster/routes.rs"]
mod routes;
#[path = "../cluster/servers.rs"]
#[allow(dead_code, reason = "shared with the suite of the cluster")]
mod servers;
mod shards_move;
#[path = "../cluster/shifted_clock.rs"]
mod shifted_clock;
#[path = "../cluster/site.rs"]
#[allow(dead_code, reason = "shared with the suite of the cluster")]
mod site;
mod truth;
mod turns;
#[path = "../cluster/waiting.rs"]
mod waiting;
