//! Reads a file no faster than it is allowed to, and keeps its digest and how far it is.

use std::fs::File;
use std::io::{self, Read};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;

use crate::commands::output::Output;

/// Read at a time: small, so that nobody else waits long for the disk.
const READ_MAX_BYTES: usize = 128 * 1_024;
const MB: u64 = 1_000_000;

/// What is read in a second, over all files of a backup.
pub(super) struct Pace<'a> {
    bytes_per_second: u64,
    began: Instant,
    done: u64,
    total: u64,
    shown: (u64, u64),
    output: &'a Output,
    stop: &'a CancellationToken,
}

impl<'a> Pace<'a> {
    /// At most so many megabytes a second.
    pub(super) fn new(rate_mb: u64, total: u64, output: &'a Output, stop: &'a CancellationToken) -> Self {
        let bytes_per_second = rate_mb.max(1).saturating_mul(MB);
        Self { bytes_per_second, began: Instant::now(), done: 0, total, shown: (0, 0), output, stop }
    }

    /// More is to be read than was known.
    pub(super) fn expect_more(&mut self, bytes: u64) {
        self.total += bytes;
    }

    #[expect(clippy::disallowed_methods, reason = "on a thread of its own, for which waiting is the point")]
    fn took(&mut self, bytes: u64) -> io::Result<()> {
        self.done += bytes;
        let shown = (self.done.div_ceil(MB), self.total.div_ceil(MB));
        if self.shown != shown {
            self.shown = shown;
            self.output.progress("copying (MB)", shown.0, shown.1);
        }
        let due = Duration::from_secs_f64(self.done as f64 / self.bytes_per_second as f64);
        if let Some(early) = due.checked_sub(self.began.elapsed()) {
            std::thread::sleep(early);
        }
        if self.stop.is_cancelled() { Err(io::Error::other("interrupted")) } else { Ok(()) }
    }
}

/// The first bytes of a file.
pub(super) struct PacedFile<'a, 'b> {
    file: io::Take<&'a mut File>,
    pace: &'a mut Pace<'b>,
    digest: Sha256,
}

impl<'a, 'b> PacedFile<'a, 'b> {
    /// So many bytes from where the file stands.
    pub(super) fn new(file: &'a mut File, bytes: u64, pace: &'a mut Pace<'b>) -> Self {
        Self { file: file.take(bytes), pace, digest: Sha256::new() }
    }

    /// The digest of what was read; an error when the file was shorter than it was.
    pub(super) fn finish(self) -> io::Result<Vec<u8>> {
        if self.file.limit() > 0 {
            return Err(io::Error::other("the file became shorter while it was read"));
        }
        Ok(self.digest.finalize().to_vec())
    }
}

impl Read for PacedFile<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(READ_MAX_BYTES);
        let read = self.file.read(&mut buffer[..most])?;
        self.digest.update(&buffer[..read]);
        self.pace.took(read as u64)?;
        Ok(read)
    }
}
