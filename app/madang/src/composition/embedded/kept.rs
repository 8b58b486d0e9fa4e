//! The database file and its log while somebody copies them: not at the price of a full disk.

use std::path::{Path, PathBuf};

use madang_sqlite::{DATABASE_FILE, WalKept};

use super::disk::left_bytes;
use crate::composition::site::KeptFiles;

/// With less than this on the disk, a log that a backup keeps from being emptied is a danger to the site.
const LEFT_MIN_BYTES: u64 = 256 * 1_024 * 1_024;
/// And from this size on it is the log's doing.
const LOG_MAX_BYTES: u64 = 128 * 1_024 * 1_024;

/// The files of an embedded site.
pub(super) struct KeptDatabase {
    kept: WalKept,
    directory: PathBuf,
}

impl KeptDatabase {
    pub(super) fn new(kept: WalKept, directory: &Path) -> Self {
        Self { kept, directory: directory.to_owned() }
    }
}

impl KeptFiles for KeptDatabase {
    fn problem(&self) -> Option<String> {
        if !self.kept.is_whole() {
            return Some("the database was closed".to_owned());
        }
        let log_bytes = self.directory.join(format!("{DATABASE_FILE}-wal")).metadata().map_or(0, |log| log.len());
        let left = left_bytes(&self.directory)?;
        (left < LEFT_MIN_BYTES && log_bytes > LOG_MAX_BYTES).then(|| {
            format!(
                "the disk that holds {} has only {} MB left, and the write-ahead log, which cannot be emptied during a \
                 backup, has grown to {} MB: free some space, or let the backup read faster (--rate)",
                self.directory.display(),
                left / 1_000_000,
                log_bytes / 1_000_000
            )
        })
    }
}
