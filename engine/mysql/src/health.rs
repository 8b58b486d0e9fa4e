//! Whether a server responds, and which of its members takes writes. Whoever waits long for it, or is told that it is read-only,
//! has its members probed on connections of their own, so that slow work is told apart from a server that stands still; while
//! none can be used, everybody is refused at once.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use madang_messaging::Stop;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep};

use crate::errors::SqlError;
use crate::metric;
use crate::server::{Look, Server};

/// How long anything is waited for before the server is probed.
const SUSPECT_MS: u64 = 1_000;
/// Between two probes while it is unreachable.
const PROBE_PAUSE_MS: u64 = 200;
/// The same while one responds and none takes writes, which may be so for long on purpose.
const READ_ONLY_PAUSE_MS: u64 = 500;

/// How long a server counts as full after it had no room for a write: whoever needs to write tries more often.
const FULL_FOR: Duration = Duration::from_secs(30);

/// What the server said, in an error that may be of another kind.
#[doc(hidden)]
pub trait OfServer {
    /// The server's error.
    fn error(&self) -> Option<&SqlError>;
}

impl OfServer for SqlError {
    fn error(&self) -> Option<&SqlError> {
        Some(self)
    }
}

/// Whether a server is reachable, shared by all who use it.
#[doc(hidden)]
pub struct Health {
    unreachable: watch::Sender<bool>,
    /// How often another member took its place.
    moved: watch::Sender<u64>,
    suspected: Notify,
    /// Whether another member can take its place.
    has_others: bool,
    /// Whether somebody was told that it is read-only since the members were last probed.
    refused_writes: AtomicBool,
    /// When it last had no room for a write.
    full: Mutex<Option<Instant>>,
}

impl Health {
    /// Nothing speaks against it yet.
    pub(crate) fn new(has_others: bool) -> Self {
        let (unreachable, moved, suspected) = (watch::Sender::new(false), watch::Sender::new(0), Notify::new());
        Self {
            unreachable,
            moved,
            suspected,
            has_others,
            refused_writes: AtomicBool::new(false),
            full: Mutex::default(),
        }
    }

    /// Refuses at once while the server is unreachable.
    fn is_reachable(&self) -> Result<(), SqlError> {
        if *self.unreachable.borrow() { Err(silent()) } else { Ok(()) }
    }

    /// Whether the server had no room for a write a moment ago. Nobody can tell without writing whether it has room again, so
    /// this passes with time.
    pub(crate) fn is_full(&self) -> bool {
        self.full_at().is_some_and(|at| at.elapsed() < FULL_FOR)
    }

    /// Another member took its place: whatever is under way with the one before is broken off, since that one may never answer.
    pub(crate) fn note_moved(&self) {
        self.moved.send_modify(|moved| *moved += 1);
    }

    /// Somebody was told that it is read-only: another member may take writes.
    pub(crate) fn note_read_only(&self) {
        self.refused_writes.store(true, Ordering::Relaxed);
        self.suspected.notify_one();
    }

    fn note_full(&self, reason: &str) {
        metrics::counter!(metric::WRITES_WITHOUT_ROOM).increment(1);
        if !self.is_full() {
            tracing::error!("a database server has no room left, writes to it are refused until it has: {reason}");
        }
        *self.full_at() = Some(Instant::now());
    }

    fn full_at(&self) -> MutexGuard<'_, Option<Instant>> {
        self.full.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for `work`, and breaks it off when the server turns out to be unreachable meanwhile, or another member takes its place.
    pub async fn guard<T, E>(&self, work: impl Future<Output = Result<T, E>>) -> Result<T, E>
    where
        E: From<SqlError> + OfServer,
    {
        self.is_reachable()?;
        let (mut unreachable, mut moved) = (self.unreachable.subscribe(), self.moved.subscribe());
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                outcome = &mut work => {
                    match outcome.as_ref().err().and_then(OfServer::error) {
                        Some(SqlError::Full(reason)) => self.note_full(reason),
                        Some(SqlError::ReadOnly(_)) => self.note_read_only(),
                        // Its connection was lost or none could be made: another member may have taken its place. The only one
                        // is tried by whoever comes next.
                        Some(SqlError::Unavailable(_)) if self.has_others => self.suspected.notify_one(),
                        _ => {}
                    }
                    return outcome;
                }
                () = becomes_unreachable(&mut unreachable) => return Err(silent().into()),
                () = moves(&mut moved) => return Err(replaced().into()),
                () = sleep(Duration::from_millis(SUSPECT_MS)) => self.suspected.notify_one(),
            }
        }
    }
}

async fn becomes_unreachable(unreachable: &mut watch::Receiver<bool>) {
    // The sender is kept by whoever waits here.
    let _ = unreachable.wait_for(|unreachable| *unreachable).await;
}

async fn moves(moved: &mut watch::Receiver<u64>) {
    // As above.
    let _ = moved.changed().await;
}

fn replaced() -> SqlError {
    SqlError::Unavailable("another member took its place".to_owned())
}

fn silent() -> SqlError {
    SqlError::Unavailable("it does not respond".to_owned())
}

/// Probes a server that somebody suspects, until one of its members takes writes.
pub(crate) async fn watch_server(server: Arc<Server>, stop: Stop) {
    let health = server.health();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = health.suspected.notified() => {}
        }
        let mut is_read_only = false;
        loop {
            let anew = health.refused_writes.swap(false, Ordering::Relaxed);
            let look = tokio::select! {
                () = stop.cancelled() => return,
                look = server.look(anew) => look,
            };
            let pause_ms = match look {
                Look::Stays => break,
                Look::Changed(address) => {
                    metrics::counter!(metric::FAILOVERS).increment(1);
                    tracing::warn!(
                        server = server.name(),
                        "database server: {address} takes the writes now, and is used"
                    );
                    break;
                }
                Look::ReadOnly(told) => {
                    if !std::mem::replace(&mut is_read_only, true) {
                        tracing::warn!(
                            server = server.name(),
                            "database server {} takes no writes, and no other address of it does: they are refused, reads go on: {told}",
                            server.name()
                        );
                    }
                    health.unreachable.send_replace(false);
                    READ_ONLY_PAUSE_MS
                }
                Look::Nobody(told) => {
                    is_read_only = false;
                    if !health.unreachable.send_replace(true) {
                        tracing::warn!(
                            server = server.name(),
                            "database server {} does not respond, calls to its shards are refused until it does: {told}",
                            server.name()
                        );
                    }
                    PROBE_PAUSE_MS
                }
            };
            tokio::select! {
                () = stop.cancelled() => return,
                () = sleep(Duration::from_millis(pause_ms)) => {}
            }
        }
        if health.unreachable.send_replace(false) || is_read_only {
            tracing::info!(
                server = server.name(),
                "database server {} responds again, its shards are served",
                server.name()
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_waits_long_raises_suspicion_and_goes_on_waiting() {
        let health = Health::new(false);
        let work = async {
            health.suspected.notified().await;
            sleep(Duration::from_secs(5)).await;
            Ok::<_, SqlError>("late")
        };
        assert_eq!(health.guard(work).await.unwrap(), "late");
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_under_way_is_broken_off_and_what_follows_is_refused_until_the_server_is_back() {
        let health = Health::new(false);
        let for_ever = health.guard(std::future::pending::<Result<(), SqlError>>());
        let found = async {
            health.suspected.notified().await;
            health.unreachable.send_replace(true);
        };
        let (broken_off, ()) = tokio::join!(for_ever, found);
        assert!(broken_off.unwrap_err().is_unavailable());
        let refused: Result<(), SqlError> = health.guard(async { panic!("was tried") }).await;
        assert!(refused.unwrap_err().is_unavailable());
        health.unreachable.send_replace(false);
        assert!(health.guard(async { Ok::<_, SqlError>(()) }).await.is_ok());
        let for_ever = health.guard(std::future::pending::<Result<(), SqlError>>());
        let (broken_off, ()) = tokio::join!(for_ever, async { health.note_moved() });
        assert!(broken_off.unwrap_err().is_unavailable(), "another member took its place");
    }
}
