//! The stores on MySQL and what speaks its protocol: one database a service over one to 64 servers, calls folded into few
//! transactions by lanes, and the outbox that a relay empties.

mod articles;
mod check;
mod comments;
mod db;
mod dead_letters;
mod errors;
mod hooks;
mod hot;
mod inbox;
mod lane;
mod leases;
mod likes;
mod members;
mod membership;
mod metric;
mod moderation;
mod once;
mod open;
mod options;
mod outbox;
mod ping;
mod retry;
mod rows;
mod server;
mod statement;
mod tls;
mod transaction;
mod views;

pub use articles::{Announce, MysqlArticles};
pub use check::{CheckFinding, CheckProgress, CheckReport, Sizes};
pub use comments::MysqlComments;
pub use db::Mysql;
pub use dead_letters::MysqlDeadLetters;
pub use hooks::AfterCommit;
pub use hot::MysqlHot;
pub use inbox::{EffectError, EffectTx, MysqlEffect, MysqlInbox};
pub use leases::MysqlLeases;
pub use likes::{Counting, MysqlLikes};
pub use members::MysqlMembers;
pub use membership::MysqlMembership;
pub use moderation::{MysqlActs, MysqlModeration};
pub use open::OpenError;
pub use options::{AgesBy, MysqlOptions, ServerOptions, Service, TlsOptions};
pub use outbox::MysqlOutbox;
pub use views::MysqlViews;
