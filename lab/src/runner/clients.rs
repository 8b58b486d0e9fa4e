//! Clients that send commands and keep what they were told. An unanswered command is sent again under the same name until
//! there is an answer, as a client must that wants it to happen once.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use hyper::{Method, StatusCode};
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::domain::Entry;
use crate::programs::http::HttpClient;

/// How long a client waits for one answer, where an experiment does not say otherwise.
pub const PATIENCE: Duration = Duration::from_millis(1_500);
/// How long a client tries until it gives up a command: far longer than anything is away.
const GIVE_UP_AFTER: Duration = Duration::from_secs(120);
/// Between two attempts.
const TRY_AGAIN: Duration = Duration::from_millis(20);

/// What the clients were told.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// Every acknowledged entry, in the order of the acknowledgements.
    pub acknowledged: Vec<Entry>,
    /// Commands that the ledger refused.
    pub refused: u64,
    /// Attempts that got no answer, or one that says to try again.
    pub retried: u64,
    /// How long each acknowledged command took with all its attempts, in milliseconds.
    pub took_ms: Vec<f64>,
}

/// What clients do.
#[derive(Debug, Clone)]
pub struct Clients {
    /// Where commands are sent: accounts are shared out among them, and another is tried when one is away.
    pub targets: Vec<String>,
    /// How many clients there are.
    pub count: u64,
    /// Accounts 1 to this are used.
    pub accounts: u16,
    /// Between two commands of one client.
    pub pause: Duration,
    /// How long a client waits for one answer before it tries again.
    pub patience: Duration,
    /// One in so many commands is a withdrawal; 0 for none.
    pub withdrawal_every: u64,
    /// Where chance begins; also the start of the names of transactions.
    pub seed: u64,
}

/// Clients at work.
pub struct AtWork {
    tasks: JoinSet<anyhow::Result<()>>,
    stop: Arc<AtomicBool>,
    told: Arc<AtomicU64>,
    history: Arc<Mutex<History>>,
}

impl Clients {
    /// Opens the accounts.
    pub async fn open_accounts(&self) -> anyhow::Result<()> {
        let client = HttpClient::new(self.patience);
        for account in 1..=self.accounts {
            let deadline = Instant::now() + GIVE_UP_AFTER;
            let path = format!("/accounts/{account}");
            while !client
                .send(Method::PUT, &self.target(account, 0, &path), "")
                .await
                .is_ok_and(|a| a.status.is_success())
            {
                anyhow::ensure!(Instant::now() < deadline, "account {account} could not be opened");
                sleep(TRY_AGAIN).await;
            }
        }
        Ok(())
    }

    /// Begins to send, until it is told to stop.
    #[must_use]
    pub fn start(&self) -> AtWork {
        let (stop, told) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let history = Arc::new(Mutex::new(History::default()));
        let mut tasks = JoinSet::new();
        for number in 0..self.count {
            let (clients, stop, told, history) = (self.clone(), stop.clone(), told.clone(), history.clone());
            tasks.spawn(async move { clients.work(number, &stop, &told, &history).await });
        }
        AtWork { tasks, stop, told, history }
    }

    /// Sends so many commands and returns what was told.
    pub async fn send(&self, commands: u64) -> anyhow::Result<History> {
        let mut at_work = self.start();
        while at_work.told() < commands {
            at_work.check()?;
            sleep(Duration::from_millis(5)).await;
        }
        at_work.stop().await
    }

    async fn work(
        &self,
        number: u64,
        stop: &AtomicBool,
        told: &AtomicU64,
        history: &Mutex<History>,
    ) -> anyhow::Result<()> {
        let client = HttpClient::new(self.patience);
        let mut chance = SmallRng::seed_from_u64(self.seed.wrapping_add(number));
        let mut sent = 0_u64;
        while !stop.load(Ordering::Relaxed) {
            sent += 1;
            let account = chance.random_range(1..=self.accounts);
            let amount = chance.random_range(1..=100_i64);
            let withdraws = self.withdrawal_every > 0 && sent.is_multiple_of(self.withdrawal_every);
            let kind = if withdraws { "withdrawals" } else { "deposits" };
            let path = format!("/accounts/{account}/{kind}");
            let body = format!(r#"{{"tx_id":"{:x}-{number}-{sent}","amount":{amount}}}"#, self.seed);
            self.command(&client, account, &path, &body, history).await?;
            told.fetch_add(1, Ordering::Relaxed);
            sleep(self.pause).await;
        }
        Ok(())
    }

    async fn command(
        &self,
        client: &HttpClient,
        account: u16,
        path: &str,
        body: &str,
        history: &Mutex<History>,
    ) -> anyhow::Result<()> {
        let began = Instant::now();
        let lock = || history.lock().unwrap_or_else(PoisonError::into_inner);
        for attempt in 0.. {
            let answer = client.send(Method::POST, &self.target(account, attempt, path), body.to_owned()).await;
            match answer {
                Ok(answer) if answer.status.is_success() => {
                    let entry: Entry = serde_json::from_slice(&answer.body).context("an answer that is no entry")?;
                    let mut history = lock();
                    history.acknowledged.push(entry);
                    history.took_ms.push(began.elapsed().as_secs_f64() * 1_000.0);
                    return Ok(());
                }
                Ok(answer) if answer.status == StatusCode::UNPROCESSABLE_ENTITY => {
                    lock().refused += 1;
                    return Ok(());
                }
                Ok(answer) if answer.status.is_client_error() => {
                    anyhow::bail!("{path} {body}: {} {}", answer.status, String::from_utf8_lossy(&answer.body));
                }
                _ => lock().retried += 1,
            }
            anyhow::ensure!(began.elapsed() < GIVE_UP_AFTER, "{path} {body} got no answer");
            sleep(TRY_AGAIN).await;
        }
        Ok(())
    }

    /// Where a command of an account goes: to the same program each time, so that its events keep their order, and to
    /// another after a failure.
    fn target(&self, account: u16, attempt: usize, path: &str) -> String {
        format!("{}{path}", self.targets[(usize::from(account) + attempt) % self.targets.len()])
    }
}

impl AtWork {
    /// Commands that were answered so far.
    #[must_use]
    pub fn told(&self) -> u64 {
        self.told.load(Ordering::Relaxed)
    }

    /// Fails if a client has: one ends by itself only then.
    fn check(&mut self) -> anyhow::Result<()> {
        while let Some(ended) = self.tasks.try_join_next() {
            ended.context("a client panicked")??;
        }
        Ok(())
    }

    /// Lets every client finish its command, and returns what they were told.
    pub async fn stop(mut self) -> anyhow::Result<History> {
        self.stop.store(true, Ordering::Relaxed);
        while let Some(ended) = self.tasks.join_next().await {
            ended.context("a client panicked")??;
        }
        Ok(std::mem::take(&mut *self.history.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    /// A program that understands nothing.
    #[expect(clippy::disallowed_methods, reason = "it answers while the test asks, and ends with the test's runtime")]
    async fn refusing() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = [0; 4_096];
                let _ = stream.read(&mut request).await;
                let answer = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        url
    }

    #[tokio::test]
    async fn sending_ends_when_the_clients_have_failed() {
        let clients = Clients {
            targets: vec![refusing().await],
            count: 2,
            accounts: 1,
            pause: Duration::ZERO,
            patience: PATIENCE,
            withdrawal_every: 0,
            seed: 1,
        };
        let sent = tokio::time::timeout(Duration::from_secs(20), clients.send(1_000)).await;
        let error = sent.expect("it waits for clients that are gone").unwrap_err().to_string();
        assert!(error.contains("400"), "{error}");
    }
}
