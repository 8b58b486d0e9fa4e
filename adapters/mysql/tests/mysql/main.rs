//! Everything that this adapter promises, on real servers: `MADANG_TEST_MYSQL` names two of them.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

#[macro_use]
mod support;

mod after_commit;
mod article_store;
mod check;
mod comment_store;
mod folded_comments;
mod hot_store;
mod inbox;
mod lanes;
mod like_store;
mod many_articles;
mod member_store;
mod membership;
mod moderation_store;
mod node_leases;
mod open;
mod outbox;
mod plans;
mod proxy;
mod tls;
mod two_processes;
mod view_store;
