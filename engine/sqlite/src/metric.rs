//! Names of the figures this engine reports.

/// Calls in a committed batch.
pub(crate) const BATCH_CALLS: &str = "madang_sqlite_batch_calls";
/// Time from the beginning of a batch to its end, COMMIT included.
pub(crate) const BATCH_SECONDS: &str = "madang_sqlite_batch_seconds";
/// Time that a checkpoint took.
pub(crate) const CHECKPOINT_SECONDS: &str = "madang_sqlite_checkpoint_seconds";
/// Time that COMMIT took.
pub(crate) const COMMIT_SECONDS: &str = "madang_sqlite_commit_seconds";
/// Calls waiting for the writer, by priority.
pub(crate) const WRITE_QUEUE: &str = "madang_sqlite_write_queue";
/// Calls waiting for a reader.
pub(crate) const READ_QUEUE: &str = "madang_sqlite_read_queue";
/// Reads on the thread of the caller.
pub(crate) const READ_INLINE: &str = "madang_sqlite_read_at_once_total";
/// Calls refused because a queue was full.
pub(crate) const REFUSED: &str = "madang_sqlite_refused_total";
/// Size of the part of the write-ahead log that is in use.
pub(crate) const WAL_BYTES: &str = "madang_sqlite_wal_bytes";
