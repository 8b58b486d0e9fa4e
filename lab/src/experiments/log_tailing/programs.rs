//! The readers as processes of their own, which publish to Kafka and are killed at any moment.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::task::JoinSet;

use super::kafka::{Publisher, TopicSettings};
use super::naive::Writer;
use super::outbox::Event;
use super::{naive, protected, tail};
use crate::programs::crash::CrashPoints;
use crate::scratch::connect;

/// Between two polls that found nothing.
pub(super) const POLL: Duration = Duration::from_millis(100);

/// How the outbox is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Reading {
    Cursor,
    State,
    Tail,
}

/// Reads the outbox, and publishes.
#[derive(clap::Args)]
pub struct LogReader {
    #[arg(long)]
    reading: Reading,
    #[arg(long)]
    url: String,
    #[arg(long)]
    database: String,
    /// Where it keeps how far it is.
    #[arg(long)]
    state: PathBuf,
    #[arg(long, default_value_t = 0)]
    min_age_ms: u64,
    #[command(flatten)]
    topic: TopicSettings,
}

impl LogReader {
    /// Reads until it is killed.
    pub async fn run(self) -> anyhow::Result<()> {
        let conn = connect(&format!("{}/{}", self.url, self.database)).await?;
        let publisher = Publisher::new(&self.topic)?;
        match self.reading {
            Reading::Cursor => naive::cursor(conn, &publisher, &self.state).await,
            Reading::State => protected::state(conn, &publisher, Duration::from_millis(self.min_age_ms)).await,
            Reading::Tail => tail::follow(conn, &publisher, &self.database, &self.state).await,
        }
    }
}

/// Writes, and publishes what it has committed.
#[derive(clap::Args)]
pub struct LogWriter {
    #[arg(long)]
    url: String,
    /// As whom it notes what it has published.
    #[arg(long)]
    marking_url: String,
    #[arg(long)]
    writers: u64,
    #[arg(long)]
    pause_ms: u64,
    #[arg(long)]
    seed: u64,
    #[command(flatten)]
    topic: TopicSettings,
}

impl LogWriter {
    /// Writes until it is killed.
    pub async fn run(self) -> anyhow::Result<()> {
        let mut tasks = JoinSet::new();
        let crash = CrashPoints::from_environment()?;
        for number in 0..self.writers {
            let (conn, marking) = (connect(&self.url).await?, connect(&self.marking_url).await?);
            let (seed, pause) = (self.seed ^ (number << 32), Duration::from_millis(self.pause_ms));
            let (publisher, crash) = (Publisher::new(&self.topic)?, crash.clone());
            let writer = Writer { conn, marking, seed, pause };
            tasks.spawn(async move { naive::immediate(writer, &publisher, &crash).await });
        }
        while let Some(task) = tasks.join_next().await {
            task??;
        }
        Ok(())
    }
}

/// Rows as events.
pub(super) fn rows_of(rows: Vec<(u64, u32, u64)>) -> Vec<Event> {
    rows.into_iter().map(|(id, account, version)| Event { id, account, version }).collect()
}

/// What a reader saved, if it ever did.
pub(super) fn saved(state: &Path) -> anyhow::Result<Option<String>> {
    match std::fs::read_to_string(state) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Saves as a whole: killed anywhere, it leaves the old text or the new one.
pub(super) fn save(state: &Path, text: &str) -> anyhow::Result<()> {
    let beside = state.with_extension("new");
    std::fs::write(&beside, text)?;
    Ok(std::fs::rename(beside, state)?)
}
