//! The stores of the board on one SQLite file, its check, and its export. What is not about a board is
//! [`madang_engine_sqlite`].

mod articles;
mod check;
mod comments;
mod export;
mod hot;
mod joined_article;
mod likes;
mod members;
mod moderation;
mod schema;
mod search;
mod views;

use std::sync::Arc;

use madang_event::Envelope;
use madang_kernel::Clock;

pub use articles::{PageQuery, SqliteArticles};
pub use check::{CheckDerived, CheckOptions, check, sizes};
pub use comments::SqliteComments;
pub use export::{ExportRow, ExportState, ExportTable, Fate, TABLES, TableFate, export, export_state, schema_tables};
pub use hot::{SqliteHot, SqliteProgress};
pub use joined_article::SqliteJoinedArticles;
pub use likes::SqliteLikes;
pub use madang_engine_sqlite::{
    Backlog, DATABASE_FILE, GroupLag, GroupState, OpenError, Priority, RetentionOptions, SqliteOptions, Trimmed,
    WalKept,
};
pub use members::SqliteMembers;
pub use moderation::SqliteModeration;
pub use schema::{PendingStep, known_schema, newer_schema, pending_steps};
pub use search::SqliteSearch;
pub use views::SqliteViews;

/// The database of a board.
pub type Sqlite = madang_engine_sqlite::Sqlite<Envelope>;
/// A transaction in it.
pub type Tx = madang_engine_sqlite::Tx<Envelope>;
/// Its event log.
pub type SqliteLog = madang_engine_sqlite::SqliteLog<Envelope>;
/// Its dead letters.
pub type SqliteDeadLetters = madang_engine_sqlite::SqliteDeadLetters<Envelope>;
/// Its leases of node numbers.
pub type SqliteLeases = madang_engine_sqlite::SqliteLeases<Envelope>;

mod embedded {
    refinery::embed_migrations!("migrations");
}

/// Opens the database of a board, creating it or bringing it up to date.
pub fn open(options: SqliteOptions, clock: Arc<dyn Clock>) -> Result<Sqlite, OpenError> {
    Sqlite::open(options, &embedded::migrations::runner(), clock)
}

/// What a column names; a name that nobody knows is a defect.
fn named<T>(
    row: &rusqlite::Row<'_>,
    column: usize,
    what: &str,
    named: impl FnOnce(&str) -> Option<T>,
) -> rusqlite::Result<T> {
    let name = row.get_ref(column)?.as_str()?;
    let unknown = || format!("unknown {what} \"{name}\"").into();
    named(name).ok_or_else(|| rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, unknown()))
}
