//! Files under `deploy/` that programs of the machine read, read by the real ones: fail2ban finds the address of every failed
//! sign-in in the log of the real binary, and systemd judges the unit.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(dead_code, reason = "what starts servers is shared with suites that need more of it")]

mod bans;
mod unit;

#[path = "../e2e/command.rs"]
mod command;
#[path = "../e2e/http.rs"]
mod http;
#[path = "../e2e/logged.rs"]
mod logged;
#[path = "../cluster/waiting.rs"]
mod waiting;
