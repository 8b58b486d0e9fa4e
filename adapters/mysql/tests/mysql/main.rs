//! Everything that the stores promise, on real servers: `MADANG_TEST_MYSQL` names two of them.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

#[macro_use]
#[path = "../../../../engine/mysql/tests/mysql/support.rs"]
mod support;

mod article_store;
mod check;
mod comment_store;
mod differences;
mod folded_comments;
mod hot_store;
mod import;
mod like_store;
mod many_articles;
mod member_store;
mod moderation_store;
mod moved_tables;
mod plans;
mod program {
    //! The program whose databases are tested.
    pub(crate) use madang_mysql::Mysql;
}
#[allow(dead_code, reason = "the engine's tests cut connections in more ways")]
#[path = "../../../../engine/mysql/tests/mysql/proxy.rs"]
mod proxy;
mod two_processes;
mod version_before;
mod view_store;
