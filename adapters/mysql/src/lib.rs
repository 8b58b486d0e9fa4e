//! The stores of the board on MySQL, one database a service: what many callers want is decided in one transaction of the
//! engine's lanes. What is no board's (connections, lanes, outbox, inbox, leases) is `madang-engine-mysql`.

mod articles;
mod check;
mod comments;
mod hot;
mod import;
mod lane_call;
mod likes;
mod members;
mod moderation;
mod moved_tables;
mod service;
mod several_servers;
mod views;

pub use madang_engine_mysql::{
    AddServerError, AgesBy, ClockSkew, Database, DatabaseState, Inspection, MoveError, MovePace, MoveProgress, Moved,
    Mover, MysqlDeadLetters, MysqlLeases, MysqlOptions, MysqlOutbox, OpenError, PendingMigration, SchemaState,
    ServerCopies, ServerOptions, ShardCopy, SqlError, Step, TlsOptions, UnfinishedMove, add_server, inspect,
    shard_copies, unfinished_moves,
};

pub use articles::{Announce, MysqlArticles};
pub use check::MysqlCheck;
pub use comments::MysqlComments;
pub use hot::MysqlHot;
pub use import::{Begun, ImportCell, ImportError, ImportTable, MysqlImport, Progress};
pub use likes::MysqlLikes;
pub use members::MysqlMembers;
pub use moderation::{MysqlActs, MysqlModeration};
pub use service::Service;
pub use views::MysqlViews;

/// The databases of one service, whose events are the board's.
pub type Mysql = madang_engine_mysql::Mysql<madang_event::Envelope>;

/// What a column names; a name that nobody knows is a defect.
fn named<T>(what: &str, name: &str, named: impl FnOnce(&str) -> Option<T>) -> Result<T, madang_engine_mysql::SqlError> {
    named(name).ok_or_else(|| madang_engine_mysql::SqlError::defect(format!("unknown {what} \"{name}\"")))
}
