//! What the disk of a data directory takes: asked before a site says that it takes writes, and when it cannot be opened.
//! The write-ahead log reuses its file, so that a small write may still succeed where the next article does not.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use madang_sqlite::Sqlite;

/// Less than this is a full disk: a few requests as large as they may be would fill it.
const LEFT_MIN_BYTES: u64 = 1_024 * 1_024;
/// How long what a probe found is told again: whoever asks often must not keep the disk busy.
const FRESH: Duration = Duration::from_secs(1);

/// Knows whether the disk takes writes.
pub(super) struct Disk {
    directory: PathBuf,
    database: Sqlite,
    found: Mutex<Option<(Instant, Result<String, String>)>>,
}

impl Disk {
    /// The disk of a directory with a database in it.
    pub(super) fn of(directory: &Path, database: &Sqlite) -> Self {
        Self { directory: directory.to_owned(), database: database.clone(), found: Mutex::new(None) }
    }

    /// The directory.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Whether writes are taken, found out by one.
    pub(super) async fn takes_writes(&self) -> Result<String, String> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, found)) = found.as_ref().filter(|(at, _)| at.elapsed() < FRESH) {
            return found.clone();
        }
        let was_refused = found.is_some_and(|(_, found)| found.is_err());
        let wrote = self.database.write_frame().await;
        let found = match (wrote, left_of_full(&self.directory)) {
            (_, Some(left_kib)) => Err(format!("the disk is full ({left_kib} KiB left)")),
            // What the database says belongs into the log: whoever asks here may be anybody.
            (Err(error), None) => {
                if !was_refused {
                    tracing::warn!("the database cannot be written to: {error}");
                }
                Err("cannot be written to; the log says why".to_owned())
            }
            (Ok(()), None) => Ok("takes writes".to_owned()),
        };
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), found.clone()));
        found
    }
}

/// Says so, if it is because of a full disk that a site cannot be opened.
pub(super) fn explained(directory: &Path, error: impl Into<anyhow::Error>) -> anyhow::Error {
    let error: anyhow::Error = error.into();
    match left_of_full(directory) {
        Some(left_kib) => anyhow!(
            "the disk that holds {} is full ({left_kib} KiB left): free some space and start again ({error:#})",
            directory.display()
        ),
        None => error,
    }
}

/// What is left of a disk that is full, in KiB. Shows what is left of any.
fn left_of_full(directory: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(directory).ok()?;
    let left = disk.f_bavail.saturating_mul(disk.f_frsize);
    metrics::gauge!("madang_disk_available_bytes").set(left as f64);
    metrics::gauge!("madang_disk_size_bytes").set(disk.f_blocks.saturating_mul(disk.f_frsize) as f64);
    (left < LEFT_MIN_BYTES).then_some(left / 1_024)
}

/// What is left of a disk, if the system tells.
pub(super) fn left_bytes(directory: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(directory).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}
