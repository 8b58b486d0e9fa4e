//! Every store on one SQLite file: group commit by one writer, a pool of readers, and the embedded event log.

mod articles;
mod call;
mod check;
mod checkpointer;
mod connection;
mod db;
mod errors;
mod lanes;
mod leases;
mod log;
mod members;
mod metric;
mod options;
mod readers;
mod rows;
mod writer;

pub use articles::{PageQuery, SqliteArticles};
pub use check::{CheckFinding, CheckOptions, CheckProgress, CheckReport, Sizes};
pub use db::{OpenError, Sqlite};
pub use lanes::Lane;
pub use leases::SqliteLeases;
pub use members::SqliteMembers;
pub use options::{DATABASE_FILE, SqliteOptions};
