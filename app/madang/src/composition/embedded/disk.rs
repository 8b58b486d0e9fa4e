//! What the disk of a data directory takes: asked before a site says that it takes writes, and when it cannot be opened.
//! The write-ahead log reuses its file, so that a small write may still succeed where the next article does not.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use madang_sqlite::{Sqlite, SqliteLeases};

/// Less than this is a full disk: a few requests as large as they may be would fill it.
const LEFT_MIN_BYTES: u64 = 1_024 * 1_024;
/// How long what a probe found is told again: whoever asks often must not keep the disk busy.
const FRESH: Duration = Duration::from_secs(1);

/// Knows whether the disk takes writes.
pub(super) struct Disk {
    directory: PathBuf,
    leases: SqliteLeases,
    found: Mutex<Option<(Instant, Result<String, String>)>>,
}

impl Disk {
    /// The disk of a directory with a database in it.
    pub(super) fn of(directory: &Path, database: &Sqlite) -> Self {
        let leases = SqliteLeases::new(database.clone());
        Self { directory: directory.to_owned(), leases, found: Mutex::new(None) }
    }

    /// Whether writes are taken, found out by one.
    pub(super) async fn takes_writes(&self) -> Result<String, String> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, found)) = found.filter(|(at, _)| at.elapsed() < FRESH) {
            return found;
        }
        let wrote = self.leases.touch().await.map_err(|error| error.to_string());
        let found = match (wrote, full(&self.directory)) {
            (_, Some(full)) => Err(full),
            (Err(error), None) => Err(format!("takes no writes: {error}")),
            (Ok(()), None) => Ok("takes writes".to_owned()),
        };
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), found.clone()));
        found
    }
}

/// Says so, if it is because of a full disk that a site cannot be opened.
pub(super) fn explained(directory: &Path, error: impl Into<anyhow::Error>) -> anyhow::Error {
    let error: anyhow::Error = error.into();
    match full(directory) {
        Some(full) => anyhow!("{full}: make room and start again ({error:#})"),
        None => error,
    }
}

/// In words, if the disk is full.
fn full(directory: &Path) -> Option<String> {
    let disk = rustix::fs::statvfs(directory).ok()?;
    let left = disk.f_bavail.saturating_mul(disk.f_frsize);
    let text = || format!("the disk of {} is full, {} KiB are left", directory.display(), left / 1_024);
    (left < LEFT_MIN_BYTES).then(text)
}
