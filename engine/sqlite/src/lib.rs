//! SQLite for any program: group commit by one writer, a pool of readers, and an event log in the same file.
//!
//! A program opens [`Sqlite`] with its own migrations and its own type of event. A write runs in a [`Tx`], to which it
//! reports events as values; each is encoded once, commits with the change it reports, and is handed to whoever follows
//! commits before the caller is answered. Consumer groups read the same events from [`SqliteLog`].

mod call;
mod checkpointer;
mod commits;
mod connection;
mod database;
mod dead_letters;
mod deadline;
mod errors;
mod fold;
pub mod idempotency;
mod inline_reads;
mod leases;
mod log;
mod metric;
mod options;
mod pacing;
mod readers;
mod rows;
mod statements;
mod tx;
mod wal_keeper;
mod write_queue;
mod writer;

pub use database::{OpenError, Sqlite, stored_schema};
pub use dead_letters::SqliteDeadLetters;
pub use errors::{PART, sql_error};
pub use fold::Fold;
pub use leases::SqliteLeases;
pub use log::{Backlog, GroupLag, GroupState, MESSAGE_MAX_BYTES, RetentionOptions, SqliteLog, Trimmed, groups};
pub use options::{DATABASE_FILE, SqliteOptions};
pub use rows::limit;
pub use statements::Statements;
pub use tx::Tx;
pub use wal_keeper::WalKept;
pub use write_queue::Priority;
