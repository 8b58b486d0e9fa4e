//! Every store on one SQLite file: group commit by one writer, a pool of readers, and the embedded event log.

mod articles;
mod at_once;
mod call;
mod check;
mod checkpointer;
mod comments;
mod connection;
mod crowd;
mod db;
mod dead_letters;
mod errors;
mod export;
mod fold;
mod hot;
mod idempotency;
mod inbox;
mod lanes;
mod leases;
mod likes;
mod log;
mod members;
mod membership;
mod metric;
mod moderation;
mod options;
mod outbox;
mod readers;
mod rows;
mod together;
mod views;
mod writer;

pub use articles::{PageQuery, SqliteArticles};
pub use check::{
    CheckDerived, CheckFinding, CheckOptions, CheckProgress, CheckReport, HotFinding, Part, Sizes, ViewFinding,
};
pub use comments::SqliteComments;
pub use db::{OpenError, Sqlite};
pub use dead_letters::SqliteDeadLetters;
pub use export::{ExportRow, ExportState, ExportTable, Fate, TABLES, TableFate};
pub use hot::{SqliteHot, SqliteProgress};
pub use inbox::{SqliteEffect, SqliteInbox};
pub use lanes::Lane;
pub use leases::SqliteLeases;
pub use likes::{Counting, SqliteLikes};
pub use log::{Behind, CommitListener, GroupLag, GroupState, MESSAGE_MAX_BYTES, RetentionOptions, SqliteLog, Trimmed};
pub use members::SqliteMembers;
pub use membership::SqliteMembership;
pub use moderation::SqliteModeration;
pub use options::{DATABASE_FILE, SqliteOptions};
pub use outbox::{SqliteOutbox, insert_outbox};
pub use together::SqliteTogether;
pub use views::SqliteViews;
