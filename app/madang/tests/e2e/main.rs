//! The binary as its users meet it: started as a process, spoken to over HTTP, signals and the command line.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod api_articles;
mod api_boards;
mod api_members;
mod api_once;
mod api_protocol;
mod command;
mod crash;
mod database;
mod first_admin;
mod http;
mod operations;
mod server;
mod shutdown;
