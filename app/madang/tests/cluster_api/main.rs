//! The tests of the HTTP interface, word for word those of the embedded composition, against the cluster in one process.
//!
//! What differs is only how a server is started ([`server`]) and how a command is run ([`command`]). Tests that look into
//! the SQLite file itself stay with the embedded composition.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(dead_code, reason = "harness and tests are shared with other suites, and each uses a part")]

#[path = "../e2e/api_articles.rs"]
mod api_articles;
#[path = "../e2e/api_boards.rs"]
mod api_boards;
#[path = "../e2e/api_members.rs"]
mod api_members;
#[path = "../e2e/api_once.rs"]
mod api_once;
#[path = "../e2e/api_protocol.rs"]
mod api_protocol;
#[path = "../e2e/api_views.rs"]
mod api_views;
#[path = "../cluster/cluster.rs"]
mod cluster;
mod command;
#[path = "../e2e/http.rs"]
mod http;
#[path = "../cluster/ports.rs"]
mod ports;
#[path = "../cluster/process.rs"]
mod process;
#[path = "../cluster/routes.rs"]
mod routes;
mod server;
#[path = "../cluster/servers.rs"]
mod servers;
#[path = "../cluster/waiting.rs"]
mod waiting;
