//! The same binary on real servers: started with a configuration file, as one process or as many, spoken to over HTTP.
//!
//! Needs MADANG_TEST_MYSQL, MADANG_TEST_REDIS, MADANG_TEST_REDIS_CLUSTER and MADANG_TEST_KAFKA, which
//! `cargo xtask stack env` prints.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod accounts;
#[path = "../e2e/answered_then.rs"]
mod answered_then;
#[path = "../faults/cache.rs"]
mod cache;
mod clocks;
mod cluster;
mod commands;
mod deleted_topic;
mod doctor;
mod documented_metrics;
mod first_article;
mod first_release;
mod growing;
mod home;
#[path = "../e2e/http.rs"]
#[allow(dead_code, reason = "shared with the suite of the embedded composition")]
mod http;
mod instances;
mod letters;
mod live;
mod moving;
mod near;
#[allow(dead_code, reason = "shared with the suites of the HTTP contract")]
mod nginx;
mod one_process;
mod oversized;
mod planted;
#[allow(dead_code, reason = "shared with the suites of the HTTP contract")]
mod process;
mod proxy;
mod quiet;
mod rebuilt;
mod records;
mod rehearsal;
mod resting;
mod revoked;
mod routes;
mod servers;
mod shifted_clock;
mod site;
mod skipped;
mod split;
mod starting;
mod strangers;
mod stream;
mod three_from_two;
#[path = "../e2e/told_metrics.rs"]
mod told_metrics;
mod two_processes;
mod unsaid;
mod waiting;
