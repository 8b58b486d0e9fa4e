//! The binary as its users meet it: started as a process, spoken to over HTTP, signals and the command line.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod api_articles;
mod api_boards;
mod api_comments;
mod api_likes;
mod api_members;
mod api_once;
mod api_protocol;
mod api_views;
mod command;
mod crash;
mod crash_mixed;
mod database;
mod deleted_article;
mod first_admin;
mod http;
mod operations;
mod redelivery;
mod server;
mod shutdown;
mod views_written_back;
