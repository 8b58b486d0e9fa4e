//! Whether a server responds. Whoever waits long for it has it probed on a connection of its own, so that slow work is told
//! apart from a server that stands still; while it does not respond, everybody is refused at once.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use madang_messaging::Stop;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep};

use crate::errors::SqlError;
use crate::metric;
use crate::server::Server;

/// How long anything is waited for before the server is probed.
const SUSPECT_MS: u64 = 1_000;
/// Between two probes while it is unreachable.
const PROBE_PAUSE_MS: u64 = 200;

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
    suspected: Notify,
    /// When it last had no room for a write.
    full: Mutex<Option<Instant>>,
}

impl Health {
    /// Nothing speaks against it yet.
    pub(crate) fn new() -> Self {
        Self { unreachable: watch::Sender::new(false), suspected: Notify::new(), full: Mutex::default() }
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

    /// Waits for `work`, and breaks it off when the server turns out to be unreachable meanwhile.
    pub async fn guard<T, E>(&self, work: impl Future<Output = Result<T, E>>) -> Result<T, E>
    where
        E: From<SqlError> + OfServer,
    {
        self.is_reachable()?;
        let mut unreachable = self.unreachable.subscribe();
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                outcome = &mut work => {
                    if let Some(SqlError::Full(reason)) = outcome.as_ref().err().and_then(OfServer::error) {
                        self.note_full(reason);
                    }
                    return outcome;
                }
                () = becomes_unreachable(&mut unreachable) => return Err(silent().into()),
                () = sleep(Duration::from_millis(SUSPECT_MS)) => self.suspected.notify_one(),
            }
        }
    }
}

async fn becomes_unreachable(unreachable: &mut watch::Receiver<bool>) {
    // The sender is kept by whoever waits here.
    let _ = unreachable.wait_for(|unreachable| *unreachable).await;
}

fn silent() -> SqlError {
    SqlError::Unavailable("it does not respond".to_owned())
}

/// Probes a server that somebody suspects, until it responds.
pub(crate) async fn watch_server(server: Arc<Server>, stop: Stop) {
    let health = server.health();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = health.suspected.notified() => {}
        }
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                responds = server.responds() => if responds { break },
            }
            if !health.unreachable.send_replace(true) {
                tracing::warn!(
                    server = server.name(),
                    "database server {} does not respond, calls to its shards are refused until it does",
                    server.name()
                );
            }
            sleep(Duration::from_millis(PROBE_PAUSE_MS)).await;
        }
        if health.unreachable.send_replace(false) {
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
        let health = Health::new();
        let work = async {
            health.suspected.notified().await;
            sleep(Duration::from_secs(5)).await;
            Ok::<_, SqlError>("late")
        };
        assert_eq!(health.guard(work).await.unwrap(), "late");
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_under_way_is_broken_off_and_what_follows_is_refused_until_the_server_is_back() {
        let health = Health::new();
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
    }
}
