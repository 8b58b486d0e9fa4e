//! The site in a real browser: a headless Chromium, driven through WebDriver, on the real binary.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(dead_code, reason = "what starts and stops sites is shared with suites that need more of it")]

use composition::Composition;

/// What the tests run on, unless the environment says otherwise.
const COMPOSITION: Composition = Composition::Embedded;

mod accessibility;
mod browser;
mod driver;
mod journey;
mod lighthouse;
mod live;
mod moderating;
mod npm;
mod pictures;
mod site;
mod validity;
mod without_script;
mod writing;

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
#[path = "../e2e/http.rs"]
mod http;
#[path = "../e2e/people.rs"]
mod people;
#[path = "../e2e/server.rs"]
mod server;
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
#[path = "../cluster/stream.rs"]
mod stream;
#[path = "../cluster/waiting.rs"]
mod waiting;
