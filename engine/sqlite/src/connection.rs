//! How connections are set up: the pragmas that durability, speed and memory rest on.

use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::{SqliteOptions, deadline};

/// Nobody holds a lock for long: the data directory has one owner, and checkpoints are brief.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// More than there are statements, so that none is ever prepared twice.
const STATEMENTS_KEPT: usize = 256;

/// The one connection that writes.
pub(crate) fn open_writer(options: &SqliteOptions) -> rusqlite::Result<Connection> {
    let connection = Connection::open(&options.path)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    // In WAL mode only FULL syncs the log at each commit; NORMAL loses acknowledged commits when the power goes.
    connection.pragma_update(None, "synchronous", "full")?;
    // Checkpoints are the checkpointer's work.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    // A log that grew under a long read gives its space back when it starts anew.
    connection.pragma_update(None, "journal_size_limit", wal_limit(options))?;
    // What is deleted is overwritten, also on pages that become free: they may stay in the file for years.
    connection.pragma_update(None, "secure_delete", true)?;
    connection.pragma_update(None, "foreign_keys", false)?;
    tune(&connection, options.writer_cache_kib)?;
    Ok(connection)
}

/// A connection that can only read.
pub(crate) fn open_reader(options: &SqliteOptions) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(&options.path, flags)?;
    tune(&connection, options.reader_cache_kib)?;
    Ok(connection)
}

/// A connection that can only read, and ends what takes longer than it may.
pub(crate) fn open_slow_reader(options: &SqliteOptions) -> rusqlite::Result<Connection> {
    let mut connection = open_reader(options)?;
    deadline::watch(&mut connection)?;
    Ok(connection)
}

/// A connection that can only read, and waits for no lock: whoever uses it has no time for that.
pub(crate) fn open_inline_reader(options: &SqliteOptions) -> rusqlite::Result<Connection> {
    let connection = open_reader(options)?;
    connection.busy_timeout(Duration::ZERO)?;
    Ok(connection)
}

/// A connection for checkpoints beside the writer. It gives way at once rather than waiting for a lock.
pub(crate) fn open_checkpointer(options: &SqliteOptions) -> rusqlite::Result<Connection> {
    let connection = Connection::open(&options.path)?;
    connection.busy_timeout(Duration::ZERO)?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "journal_size_limit", wal_limit(options))?;
    Ok(connection)
}

fn tune(connection: &Connection, cache_kib: u32) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // Negative: kibibytes instead of pages.
    connection.pragma_update(None, "cache_size", -i64::from(cache_kib))?;
    connection.pragma_update(None, "temp_store", "memory")?;
    // Mapped pages would count once per connection in resident memory, and turn a failing disk into SIGBUS.
    connection.pragma_update(None, "mmap_size", 0)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    // Without this guarantee SQLite, built with STAT4, plans a cached statement anew whenever a value it compares a range
    // with has changed: nearly half of the writer's time while articles are created.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

fn wal_limit(options: &SqliteOptions) -> i64 {
    i64::try_from(options.wal_hard_bytes).unwrap_or(i64::MAX)
}
