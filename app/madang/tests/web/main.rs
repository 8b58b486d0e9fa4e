//! The site in a real browser: a headless Chromium, driven through WebDriver, on the real binary. Left out with a notice
//! where there is no `chromedriver`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod accessibility;
mod browser;
#[allow(dead_code, reason = "shared with the end-to-end tests, which use all of it")]
#[path = "../e2e/command.rs"]
mod command;
mod driver;
#[allow(dead_code, reason = "shared with the end-to-end tests, which use all of it")]
#[path = "../e2e/http.rs"]
mod http;
mod journey;
mod live;
mod pictures;
#[allow(dead_code, reason = "shared with the end-to-end tests, which use all of it")]
#[path = "../e2e/server.rs"]
mod server;
mod site;
mod without_script;
