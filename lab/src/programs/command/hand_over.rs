//! Tells relays of what was committed, at once and without waiting: what is not heard, a relay finds by polling.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use hyper::Method;
use madang_messaging::{AfterCommit, OnError, Stop, Supervisor};
use tokio::sync::{Mutex, mpsc};

use crate::domain::AccountBalanceChanged;
use crate::programs::crash::{CrashPoint, CrashPoints};
use crate::programs::http::HttpClient;
use crate::programs::secret::Secret;

/// Events that wait to be told; more are left to polling.
const WAITING_MAX: usize = 4_096;
/// Events told in one request.
const TOLD_MAX: usize = 256;
/// How long a relay may take to hear, in milliseconds.
const TELL_MAX_MS: u64 = 1_000;

/// Follows commits and tells relays.
pub(super) struct RelayNotice {
    waiting: mpsc::Sender<AccountBalanceChanged>,
    crash: CrashPoints,
}

impl RelayNotice {
    /// Starts the task that tells. Relays hear only who knows the secret.
    pub(super) fn start(relays: Vec<String>, secret: Option<Secret>, crash: CrashPoints, tasks: &Supervisor) -> Self {
        let (waiting, told) = mpsc::channel(WAITING_MAX);
        let client = HttpClient::new(Duration::from_millis(TELL_MAX_MS));
        let told = Arc::new(Mutex::new(told));
        let told_to = match secret {
            Some(secret) => Relays { client: client.knowing(&secret), urls: relays.into() },
            None => Relays { client, urls: Arc::default() },
        };
        tasks.spawn("tell relays", OnError::Restart, move |stop| tell(told_to.clone(), told.clone(), stop));
        Self { waiting, crash }
    }
}

#[async_trait]
impl AfterCommit<AccountBalanceChanged> for RelayNotice {
    fn committed(&self, events: &[AccountBalanceChanged]) {
        self.crash.pass(CrashPoint::AfterCommitBeforeSend);
        for event in events {
            // Full: the rows are in the outbox.
            let _ = self.waiting.try_send(event.clone());
        }
    }

    async fn before_answers(&self, _events: &[AccountBalanceChanged]) {
        self.crash.pass(CrashPoint::AfterCommitBeforeAnswer);
    }
}

/// Who is told, and how.
#[derive(Clone)]
struct Relays {
    client: HttpClient,
    urls: Arc<[String]>,
}

async fn tell(
    Relays { client, urls }: Relays,
    told: Arc<Mutex<mpsc::Receiver<AccountBalanceChanged>>>,
    stop: Stop,
) -> Result<(), Infallible> {
    let mut told = told.lock().await;
    let (mut events, mut turn) = (Vec::new(), 0);
    loop {
        events.clear();
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            count = told.recv_many(&mut events, TOLD_MAX) => if count == 0 { return Ok(()) },
        }
        if urls.is_empty() {
            continue;
        }
        turn = (turn + 1) % urls.len();
        let body = serde_json::to_vec(&events).unwrap_or_default();
        let polled = events.len();
        match client.send(Method::POST, &format!("{}/hand-over", urls[turn]), body).await {
            Ok(answer) if answer.status.is_success() => {}
            Ok(answer) => tracing::warn!(polled, "a relay refused a hand-over with {}", answer.status),
            Err(error) => tracing::debug!(polled, "a relay did not hear, polling will find them: {error}"),
        }
    }
}
