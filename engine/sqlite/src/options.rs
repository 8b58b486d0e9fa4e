//! What an operator may set about the database, with defaults that suit a small machine.

use std::path::PathBuf;

/// The name of the database in the data directory.
pub const DATABASE_FILE: &str = "madang.db";

/// How the database is opened and how much may wait for it.
#[derive(Debug, Clone)]
pub struct SqliteOptions {
    /// The database file; created when it is missing.
    pub path: PathBuf,
    /// Threads that read.
    pub readers: usize,
    /// Foreground calls that may wait for the writer; one more is refused at once.
    pub foreground_queue: usize,
    /// Background calls that may wait for the writer.
    pub background_queue: usize,
    /// Calls that may wait for a reader.
    pub read_queue: usize,
    /// Threads for reads that may take long, beside the others.
    pub slow_readers: usize,
    /// Calls that may wait for one of those.
    pub slow_read_queue: usize,
    /// Calls in one physical transaction at most.
    pub batch_max: usize,
    /// From this size on the write-ahead log is copied back, beside the writer.
    pub wal_soft_bytes: u64,
    /// From this size on the writer itself starts the write-ahead log anew between two batches.
    pub wal_hard_bytes: u64,
    /// The newest log entries kept in memory for consumer groups that keep up.
    pub tail_entries: usize,
    /// The most memory that these entries take.
    pub tail_bytes: usize,
    /// Page cache of the writer.
    pub writer_cache_kib: u32,
    /// Page cache of each reader.
    pub reader_cache_kib: u32,
}

impl SqliteOptions {
    /// The defaults, with the database in `directory`.
    pub fn in_directory(directory: impl Into<PathBuf>) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            path: directory.into().join(DATABASE_FILE),
            readers: cores.clamp(2, 4),
            foreground_queue: 4_096,
            background_queue: 1_024,
            read_queue: 8_192,
            slow_readers: 2,
            slow_read_queue: 64,
            batch_max: 256,
            wal_soft_bytes: 8 << 20,
            wal_hard_bytes: 64 << 20,
            tail_entries: 4_096,
            tail_bytes: 16 << 20,
            writer_cache_kib: 16 << 10,
            reader_cache_kib: 8 << 10,
        }
    }
}
