//! An engine for programs on the MySQL protocol that knows no domain: one database over one to 64 servers, calls folded into
//! few transactions by lanes, an outbox that a relay empties, an inbox, leases of node numbers, idempotency records and dead
//! letters.
//!
//! A program describes each database ([`Database`]), opens it ([`Mysql::open`]), and decides its calls in a [`Fold`] that
//! [`Lanes`] run. What a batch changed goes into the outbox as messages in its own transaction, and after COMMIT as values to
//! whoever follows commits ([`Mysql::after_commit`]). Reads are in [`Databases`]; [`snapshot!`] and [`transact!`] run
//! transactions outside the lanes.

mod acknowledged;
mod database;
mod databases;
mod db;
mod dead_letters;
mod errors;
mod followers;
mod growth;
mod health;
pub mod idempotency;
mod inbox;
mod inspect;
mod lane;
mod leases;
mod macros;
mod map_read;
mod members;
mod metric;
mod moving;
mod open;
mod options;
mod outbox;
mod ping;
mod pool_use;
mod retry;
mod rows;
mod server;
mod sizes;
mod skew;
mod statement;
mod tls;
mod topology;
mod transaction;

pub use database::Database;
pub use databases::Databases;
pub use db::Mysql;
pub use dead_letters::MysqlDeadLetters;
pub use errors::{PART, SqlError};
pub use growth::{AddServerError, ServerCopies, ShardCopy, add_server, shard_copies};
#[doc(hidden)]
pub use health::Health;
pub use inbox::{EffectError, EffectTx, MysqlEffect, MysqlInbox};
pub use inspect::{DatabaseState, Inspection, PendingMigration, SchemaState, inspect};
pub use lane::{Decided, Decision, Fold, Lanes};
pub use leases::MysqlLeases;
pub use moving::{MoveError, MovePace, MoveProgress, Moved, Mover, Phase, Step, UnfinishedMove, unfinished_moves};
pub use open::OpenError;
pub use options::{AgesBy, MysqlOptions, ServerOptions, TlsOptions};
pub use outbox::MysqlOutbox;
pub use pool_use::PoolUse;
#[doc(hidden)]
pub use retry::Retry;
pub use server::Server;
pub use sizes::Sizes;
pub use skew::ClockSkew;
pub use statement::{Many, STATEMENT_ROWS_MAX, Values};
pub use topology::Placement;
pub use transaction::{Cells, Tx, bytes};
