//! The HTTP contract on the cluster composition, as one process with every role: the tests of `e2e`, on real servers.
//!
//! Needs MADANG_TEST_MYSQL, MADANG_TEST_REDIS and MADANG_TEST_KAFKA, which `cargo xtask stack env` prints.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(dead_code, reason = "what starts and stops sites is shared with suites that need more of it")]

use composition::Composition;

/// What the tests run on, unless the environment says otherwise.
const COMPOSITION: Composition = Composition::Cluster;

#[path = "../e2e/api_activity.rs"]
mod api_activity;
#[path = "../e2e/api_articles.rs"]
mod api_articles;
#[path = "../e2e/api_boards.rs"]
mod api_boards;
#[path = "../e2e/api_comments.rs"]
mod api_comments;
#[path = "../e2e/api_gone.rs"]
mod api_gone;
#[path = "../e2e/api_idempotency.rs"]
mod api_idempotency;
#[path = "../e2e/api_likes.rs"]
mod api_likes;
#[path = "../e2e/api_members.rs"]
mod api_members;
#[path = "../e2e/api_moderation.rs"]
mod api_moderation;
#[path = "../e2e/api_permissions.rs"]
mod api_permissions;
#[path = "../e2e/api_pins_and_locks.rs"]
mod api_pins_and_locks;
#[path = "../e2e/api_protocol.rs"]
mod api_protocol;
#[path = "../e2e/api_recovery.rs"]
mod api_recovery;
#[path = "../e2e/api_restore.rs"]
mod api_restore;
#[path = "../e2e/api_tokens.rs"]
mod api_tokens;
#[path = "../e2e/api_views.rs"]
mod api_views;
#[path = "../e2e/cold_article.rs"]
mod cold_article;
#[path = "../e2e/command.rs"]
mod command;
#[path = "../e2e/composition.rs"]
mod composition;
#[path = "../e2e/database.rs"]
mod database;
#[path = "../e2e/embedded.rs"]
mod embedded;
#[path = "../e2e/fleet.rs"]
mod fleet;
#[path = "../e2e/hot_articles.rs"]
mod hot_articles;
#[path = "../e2e/http.rs"]
mod http;
#[path = "../e2e/large_pages.rs"]
mod large_pages;
#[path = "../e2e/lost_readers.rs"]
mod lost_readers;
#[path = "../e2e/own_writes.rs"]
mod own_writes;
#[path = "../e2e/people.rs"]
mod people;
#[path = "../e2e/server.rs"]
mod server;
#[path = "../e2e/site_day.rs"]
mod site_day;
#[path = "../e2e/truth.rs"]
mod truth;

#[path = "../cluster/cluster.rs"]
mod cluster;
#[path = "../cluster/nginx.rs"]
mod nginx;
#[path = "../cluster/process.rs"]
mod process;
#[path = "../cluster/routes.rs"]
mod routes;
#[path = "../cluster/servers.rs"]
mod servers;
#[path = "../cluster/waiting.rs"]
mod waiting;
