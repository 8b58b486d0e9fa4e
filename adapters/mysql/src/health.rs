//! Whether a server answers. Whoever waits long for it has it asked on a connection of its own, so that slow work is told
//! apart from a server that stands still; while it does not answer, everybody is refused at once.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use madang_messaging::Stop;
use tokio::sync::{Notify, watch};
use tokio::time::sleep;

use crate::errors::SqlError;
use crate::server::Server;

/// How long anything is waited for before the server is asked whether it is there.
const SUSPECT_MS: u64 = 1_000;
/// Between two questions while it is away.
const PROBE_PAUSE_MS: u64 = 200;

/// What is known of a server, shared by all who use it.
pub(crate) struct Health {
    away: watch::Sender<bool>,
    suspected: Notify,
}

impl Health {
    /// Nothing speaks against it yet.
    pub(crate) fn new() -> Self {
        Self { away: watch::Sender::new(false), suspected: Notify::new() }
    }

    /// Refuses at once while the server is away.
    pub(crate) fn is_well(&self) -> Result<(), SqlError> {
        if *self.away.borrow() { Err(silent()) } else { Ok(()) }
    }

    /// Waits for `work`, and breaks it off when the server turns out to be away meanwhile.
    pub(crate) async fn guard<T, E>(&self, work: impl Future<Output = Result<T, E>>) -> Result<T, E>
    where
        E: From<SqlError>,
    {
        self.is_well()?;
        let mut away = self.away.subscribe();
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                outcome = &mut work => return outcome,
                () = is_away(&mut away) => return Err(silent().into()),
                () = sleep(Duration::from_millis(SUSPECT_MS)) => self.suspected.notify_one(),
            }
        }
    }
}

async fn is_away(away: &mut watch::Receiver<bool>) {
    // The sender is kept by whoever waits here.
    let _ = away.wait_for(|away| *away).await;
}

fn silent() -> SqlError {
    SqlError::Away("it does not answer".to_owned())
}

/// Asks a server that somebody suspects, until it answers.
pub(crate) async fn look_after(server: Arc<Server>, stop: Stop) {
    let health = server.health();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = health.suspected.notified() => {}
        }
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                answers = server.answers() => if answers { break },
            }
            if !health.away.send_replace(true) {
                tracing::warn!(server = server.name(), "a database server does not answer: its shards are refused");
            }
            sleep(Duration::from_millis(PROBE_PAUSE_MS)).await;
        }
        if health.away.send_replace(false) {
            tracing::info!(server = server.name(), "the database server answers again");
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
            health.away.send_replace(true);
        };
        let (broken_off, ()) = tokio::join!(for_ever, found);
        assert!(broken_off.unwrap_err().is_away());
        let refused: Result<(), SqlError> = health.guard(async { panic!("was tried") }).await;
        assert!(refused.unwrap_err().is_away());
        health.away.send_replace(false);
        assert!(health.guard(async { Ok::<_, SqlError>(()) }).await.is_ok());
    }
}
