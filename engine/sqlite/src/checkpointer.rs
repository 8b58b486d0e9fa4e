//! Copies the write-ahead log back into the database beside the writer, and keeps it from growing without bound.
//!
//! Three steps, each for what the one before cannot do: a passive checkpoint on this thread copies what is committed
//! while the writer goes on; past the hard limit the writer itself starts the log anew between two batches, with little
//! left to copy; when nobody writes the log is cut to nothing.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tracing::warn;

use crate::wal_keeper::{Keepers, Pin};
use crate::{SqliteOptions, metric};

/// How often the size is checked.
const CHECK_MS: u64 = 50;
/// Checks without a commit after which the log is cut to nothing.
const IDLE_CHECKS: u32 = 20;
/// How long a restart by the writer waits for readers that still use the log.
const RESTART_WAIT_MS: u64 = 20;
/// Size of a page; SQLite's default, which every frame of the log carries.
const PAGE_BYTES: u64 = 4_096;
/// The mode of a checkpoint that copies nothing.
pub(crate) const SIZE_ONLY: &str = "NOOP";

/// What the writer and the checkpointer tell one another.
#[derive(Default)]
pub(crate) struct WalGauge {
    pub(crate) keepers: Keepers,
    commits: AtomicU64,
    restart: AtomicBool,
    stopped: Mutex<bool>,
    stop: Condvar,
}

impl WalGauge {
    /// The writer has committed a batch.
    pub(crate) fn committed(&self) {
        self.commits.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether the checkpointer asks the writer to start the log anew.
    pub(crate) fn is_past_hard_limit(&self) -> bool {
        self.restart.load(Ordering::Relaxed) && !self.keepers.any()
    }

    /// Starts the log anew, by the writer between two batches. A reader that holds on to the log is waited for briefly;
    /// the checkpointer asks again when that was not enough.
    pub(crate) fn restart(&self, writer: &Connection) {
        self.restart.store(false, Ordering::Relaxed);
        let restarted = writer.busy_timeout(Duration::from_millis(RESTART_WAIT_MS));
        if let Err(error) = restarted.and_then(|()| checkpoint(writer, "RESTART")) {
            warn!("cannot restart the write-ahead log, it grows until the next attempt: {error}");
        }
        if let Err(error) = writer.busy_timeout(crate::connection::BUSY_TIMEOUT) {
            warn!("cannot restore the busy timeout of the writer: {error}");
        }
    }

    /// Ends the checkpointer.
    pub(crate) fn stop(&self) {
        *self.stopped.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.stop.notify_all();
    }

    /// Waits for the next check; false when it is time to end.
    fn wait(&self) -> bool {
        let stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        let pause = Duration::from_millis(CHECK_MS);
        let (stopped, _) =
            self.stop.wait_timeout_while(stopped, pause, |stopped| !*stopped).unwrap_or_else(PoisonError::into_inner);
        !*stopped
    }
}

/// The checkpointer thread.
pub(crate) fn run(connection: &Connection, gauge: &WalGauge, options: &SqliteOptions) {
    let mut pin = Pin::new(options, &gauge.keepers);
    let mut seen = 0;
    let mut idle_checks: u32 = 0;
    while gauge.wait() {
        pin.follow(connection);
        if gauge.keepers.any() {
            // Before the pin is held nothing may be copied back, and as long as it is the log cannot be cut.
            if pin.is_held() {
                log_failure(keep_copied(connection, &mut pin, options.wal_soft_bytes));
            }
            continue;
        }
        let commits = gauge.commits.load(Ordering::Relaxed);
        let idle = commits == seen;
        idle_checks = if idle { idle_checks.saturating_add(1) } else { 0 };
        seen = commits;
        let outcome = match (idle, idle_checks) {
            (true, IDLE_CHECKS) => truncate(connection).map(|cut| {
                // A reader was in the way: try again after as long a pause.
                idle_checks = if cut { idle_checks } else { 0 };
            }),
            (true, _) => Ok(()),
            (false, _) => keep_small(connection, gauge, options),
        };
        log_failure(outcome);
    }
}

fn log_failure(outcome: rusqlite::Result<()>) {
    if let Err(error) = outcome {
        warn!("a checkpoint failed, the write-ahead log grows until the next one: {error}");
    }
}

/// Copies back what is committed while the log is kept: it grows, but what is left to copy when it is let go of is little.
fn keep_copied(connection: &Connection, pin: &mut Pin<'_>, soft_bytes: u64) -> rusqlite::Result<()> {
    let wal = checkpoint(connection, SIZE_ONLY)?;
    metrics::gauge!(metric::WAL_BYTES).set(wal.used_bytes as f64);
    if wal.used_bytes.saturating_sub(wal.copied_bytes) >= soft_bytes && pin.advance(connection) {
        checkpoint(connection, "PASSIVE")?;
    }
    Ok(())
}

fn keep_small(connection: &Connection, gauge: &WalGauge, options: &SqliteOptions) -> rusqlite::Result<()> {
    let mut wal = checkpoint(connection, SIZE_ONLY)?;
    if wal.used_bytes.saturating_sub(wal.copied_bytes) >= options.wal_soft_bytes {
        wal = checkpoint(connection, "PASSIVE")?;
    }
    metrics::gauge!(metric::WAL_BYTES).set(wal.used_bytes as f64);
    if wal.used_bytes >= options.wal_hard_bytes {
        gauge.restart.store(true, Ordering::Relaxed);
    }
    Ok(())
}

/// Copies everything back and cuts the log to nothing; false when somebody uses it.
pub(crate) fn truncate(connection: &Connection) -> rusqlite::Result<bool> {
    let wal = checkpoint(connection, "TRUNCATE")?;
    metrics::gauge!(metric::WAL_BYTES).set(wal.used_bytes as f64);
    Ok(wal.used_bytes == 0)
}

/// How large the log is, and how much of it is copied back.
pub(crate) struct Wal {
    pub(crate) used_bytes: u64,
    pub(crate) copied_bytes: u64,
}

pub(crate) fn checkpoint(connection: &Connection, mode: &str) -> rusqlite::Result<Wal> {
    let began = Instant::now();
    let found = read_after(connection, mode);
    // The one that copies nothing only asks for the size.
    if mode != SIZE_ONLY {
        metrics::histogram!(metric::CHECKPOINT_SECONDS).record(began.elapsed());
    }
    found
}

fn read_after(connection: &Connection, mode: &str) -> rusqlite::Result<Wal> {
    connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| {
        // -1 where there is no log yet.
        let bytes = |column| row.get::<_, i64>(column).map(|frames| u64::try_from(frames).unwrap_or(0) * PAGE_BYTES);
        Ok(Wal { used_bytes: bytes(1)?, copied_bytes: bytes(2)? })
    })
}
