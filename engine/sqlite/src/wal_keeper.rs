//! Keeps the write-ahead log whole while somebody copies the files of the database, and lets checkpoints and writes go on.
//!
//! A copy of the file that is read while checkpoints write into it mixes old pages with new ones. It is mended by the log,
//! as after a crash, if the log holds every page that changed since the copy began: so the log must not start anew before
//! the copy has both. A reader of the log prevents that. It would also hold checkpoints back, and what they have to copy
//! would pile up; so the reader steps forward with them, by one that begins before the last one ends.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use madang_kernel::StoreError;
use madang_messaging::ToMessage;
use rusqlite::Connection;
use tokio::sync::oneshot;
use tracing::warn;

use crate::checkpointer::{SIZE_ONLY, WalGauge, checkpoint};
use crate::errors::PART;
use crate::{Priority, Sqlite, SqliteOptions, Statements as _, connection};

const MARK: &str = include_str!("../sql/wal/mark.sql");
const UNMARK: &str = include_str!("../sql/wal/unmark.sql");
/// Attempts to find a frame in the log that no checkpoint has copied; the first succeeds unless a checkpoint was under way.
const ATTEMPTS: usize = 5;

/// While this lives, the write-ahead log keeps everything that was written since it was given out: whoever copies the
/// database file and after it the log has, together, a database of the moment at which the log was copied. The log grows
/// meanwhile.
#[must_use = "the log is kept until this is dropped"]
pub struct WalKept {
    gauge: Arc<WalGauge>,
}

impl WalKept {
    fn ask(gauge: &Arc<WalGauge>) -> Self {
        gauge.keepers.count.fetch_add(1, Ordering::AcqRel);
        Self { gauge: Arc::clone(gauge) }
    }

    /// Whether nothing of the log was lost since; false once the database was closed. Ask after copying.
    pub fn is_whole(&self) -> bool {
        self.gauge.keepers.pinned.load(Ordering::Acquire)
    }
}

impl Drop for WalKept {
    fn drop(&mut self) {
        self.gauge.keepers.count.fetch_sub(1, Ordering::AcqRel);
    }
}

impl<E: ToMessage> Sqlite<E> {
    /// Keeps the write-ahead log whole until the answer is dropped. Everything that was acknowledged before is in the files.
    pub async fn keep_wal(&self) -> Result<WalKept, StoreError> {
        let kept = WalKept::ask(self.wal());
        for _ in 0..ATTEMPTS {
            // A log that is copied back whole is ignored by readers, and started anew under them.
            self.write_frame().await?;
            let (sender, pinned) = oneshot::channel();
            self.wal().keepers.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
            match pinned.await {
                Ok(true) => return Ok(kept),
                Ok(false) => {}
                Err(_) => break,
            }
        }
        Err(StoreError::unavailable(PART, "the write-ahead log cannot be kept"))
    }

    /// Commits a write that leaves everything as it was and yet changes a page, to learn whether the disk takes one: a
    /// transaction that writes a row as it is reaches no disk, and succeeds on one that is full.
    pub async fn write_frame(&self) -> Result<(), StoreError> {
        self.write(Priority::Foreground, |tx| tx.run(MARK, []).and_then(|_| tx.run(UNMARK, [])).map(drop)).await
    }
}

/// Who keeps the log.
#[derive(Default)]
pub(crate) struct Keepers {
    count: AtomicUsize,
    pinned: AtomicBool,
    waiting: Mutex<Vec<oneshot::Sender<bool>>>,
}

impl Keepers {
    /// Whether somebody keeps the log, or is about to.
    pub(crate) fn any(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0
    }

    fn take_waiting(&self) -> Vec<oneshot::Sender<bool>> {
        std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The reader that prevents the log from starting anew; the checkpointer has it.
pub(crate) struct Pin<'a> {
    options: &'a SqliteOptions,
    keepers: &'a Keepers,
    reader: Option<Connection>,
}

impl<'a> Pin<'a> {
    pub(crate) fn new(options: &'a SqliteOptions, keepers: &'a Keepers) -> Self {
        Self { options, keepers, reader: None }
    }

    pub(crate) fn is_held(&self) -> bool {
        self.reader.is_some()
    }

    /// Does what keepers wait for: takes the pin, or gives it back when nobody wants it any more.
    pub(crate) fn follow(&mut self, checkpoints: &Connection) {
        if !self.keepers.any() {
            self.release();
            return;
        }
        for waiting in self.keepers.take_waiting() {
            let held = self.is_held() || self.advance(checkpoints);
            self.keepers.pinned.store(held, Ordering::Release);
            let _ = waiting.send(held);
        }
    }

    /// Steps forward to the end of the log, so that a checkpoint may copy what is before; false when nothing could be
    /// done, which leaves a pin that was held where it is.
    pub(crate) fn advance(&mut self, checkpoints: &Connection) -> bool {
        let began = checkpoint(checkpoints, SIZE_ONLY).and_then(|wal| {
            // Nobody but the caller copies while there are keepers, so what is not copied now is not when the reader begins.
            if wal.copied_bytes >= wal.used_bytes { Ok(None) } else { begin(self.options).map(Some) }
        });
        match began {
            // The one before ends here, after this one has begun.
            Ok(Some(reader)) => self.reader = Some(reader),
            Ok(None) => return false,
            Err(error) => {
                warn!("cannot step forward in the write-ahead log, which is not copied back meanwhile: {error}");
                return false;
            }
        }
        true
    }

    fn release(&mut self) {
        self.keepers.pinned.store(false, Ordering::Release);
        self.reader = None;
    }
}

impl Drop for Pin<'_> {
    fn drop(&mut self) {
        // Said before the reader is gone: the log may be cut the moment after.
        self.release();
        // Whoever still waits is told by the end of the channel.
        self.keepers.take_waiting();
    }
}

fn begin(options: &SqliteOptions) -> rusqlite::Result<Connection> {
    let reader = connection::open_reader(options)?;
    reader.execute_batch("BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1")?;
    Ok(reader)
}
