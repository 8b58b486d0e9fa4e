//! Every store on one SQLite file: group commit by one writer, a pool of readers, and the embedded event log.

mod call;
mod checkpointer;
mod connection;
mod db;
mod errors;
mod lanes;
mod leases;
mod log;
mod metric;
mod options;
mod readers;
mod rows;
mod writer;

pub use db::{OpenError, Sqlite};
pub use lanes::Lane;
pub use leases::SqliteLeases;
pub use options::{DATABASE_FILE, SqliteOptions};
