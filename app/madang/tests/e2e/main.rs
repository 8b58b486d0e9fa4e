//! The binary as its users meet it: started as a process, spoken to over HTTP, signals and the command line.
//!
//! What the contract says of HTTP is tested on the composition that MADANG_TEST_COMPOSITION names, `embedded` unless told
//! otherwise; the targets `on_cluster` and `on_seven` run the same files on the other two. What only the embedded
//! composition has, such as a data directory, is tested on that alone.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use composition::Composition;

/// What the tests run on, unless the environment says otherwise.
const COMPOSITION: Composition = Composition::Embedded;

mod answered_then;
mod api_activity;
mod api_articles;
mod api_boards;
mod api_comments;
mod api_gone;
mod api_idempotency;
mod api_likes;
mod api_members;
mod api_moderation;
mod api_permissions;
mod api_pins_and_locks;
mod api_protocol;
mod api_recovery;
mod api_restore;
mod api_tokens;
mod api_views;
mod backup;
mod backup_place;
mod backup_refused;
mod check_derived;
mod cold_article;
mod cold_reads;
mod command;
mod command_line;
mod composition;
mod crash;
mod crash_mixed;
mod crash_read_side;
mod database;
mod deleted_article;
mod deleted_text;
mod doctor;
mod documented_metrics;
mod embedded;
mod first_admin;
mod first_release;
mod fleet;
mod full_disk;
mod health_page;
mod hot_articles;
mod http;
mod large_pages;
mod log_lines;
mod logged;
mod lost_readers;
mod operations;
mod operations_listener;
mod overload;
mod own_writes;
mod page_attack;
mod people;
mod rebuilt;
mod redelivery;
mod request_log;
mod resting_groups;
mod search;
mod secrets;
mod security_headers;
mod server;
mod shutdown;
mod site_day;
mod slow_clients;
mod slow_feed;
mod tls;
mod told_metrics;
mod truth;
mod unreadable_address;
mod views_written_back;

#[path = "../cluster/cluster.rs"]
#[allow(dead_code, reason = "shared with the suites of the cluster")]
mod cluster;
#[path = "../cluster/nginx.rs"]
mod nginx;
#[path = "../cluster/process.rs"]
#[allow(dead_code, reason = "shared with the suites of the cluster")]
mod process;
#[path = "../cluster/routes.rs"]
mod routes;
#[path = "../cluster/servers.rs"]
#[allow(dead_code, reason = "shared with the suites of the cluster")]
mod servers;
#[path = "../cluster/waiting.rs"]
mod waiting;
