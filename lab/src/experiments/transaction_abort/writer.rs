//! Who writes: transactions that commit or abort, records without one, and a process that dies in the middle of its own.

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use rdkafka::ClientConfig;
use rdkafka::producer::{BaseRecord, DefaultProducerContext, Producer as _, ThreadedProducer};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use super::record::{Fate, Record};
use crate::Lab;

/// How long a broker may take for any step of a transaction.
const STEP_MAX: Duration = Duration::from_secs(60);
/// How long a child may take until its transaction is open.
const OPEN_MAX: Duration = Duration::from_secs(60);
/// What a child says once its records are in the log.
const OPEN: &str = "open";

/// A producer, with a transactional id or without.
pub(super) struct Writer {
    producer: ThreadedProducer<DefaultProducerContext>,
    topic: String,
}

impl Writer {
    /// One that writes outside of transactions.
    pub(super) fn plain(brokers: &str, topic: &str) -> anyhow::Result<Self> {
        Self::new(&config(brokers), topic)
    }

    /// One that writes in transactions. Whoever had the id before is fenced off, and what it left open is aborted.
    pub(super) fn transactional(brokers: &str, topic: &str, id: &str, timeout: Duration) -> anyhow::Result<Self> {
        let mut config = config(brokers);
        config.set("transactional.id", id);
        config.set("transaction.timeout.ms", timeout.as_millis().to_string());
        // Below the time-out of the transaction, as librdkafka demands.
        config.set("message.timeout.ms", timeout.as_millis().to_string());
        let writer = Self::new(&config, topic)?;
        writer.producer.init_transactions(STEP_MAX)?;
        Ok(writer)
    }

    fn new(config: &ClientConfig, topic: &str) -> anyhow::Result<Self> {
        Ok(Self { producer: config.create()?, topic: topic.to_owned() })
    }

    /// Writes records, and waits until the broker has them.
    pub(super) fn write(&self, numbers: std::ops::Range<u64>, fate: Fate) -> anyhow::Result<()> {
        for number in numbers {
            let (key, payload) = (number.to_string(), Record { number, fate }.payload());
            let record = BaseRecord::to(&self.topic).key(&key).payload(&payload);
            self.producer.send(record).map_err(|(error, _)| error)?;
        }
        Ok(self.producer.flush(STEP_MAX)?)
    }

    pub(super) fn begin(&self) -> anyhow::Result<()> {
        Ok(self.producer.begin_transaction()?)
    }

    /// Ends the transaction.
    pub(super) fn end(&self, fate: Fate) -> anyhow::Result<()> {
        match fate {
            Fate::Committed => self.producer.commit_transaction(STEP_MAX)?,
            Fate::Aborted => self.producer.abort_transaction(STEP_MAX)?,
        }
        Ok(())
    }
}

fn config(brokers: &str) -> ClientConfig {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", brokers);
    config.set("linger.ms", "0");
    config
}

/// A process that opens a transaction, writes into it, and waits to be killed.
#[derive(clap::Args)]
pub struct OpenTransaction {
    #[arg(long)]
    brokers: String,
    #[arg(long)]
    topic: String,
    #[arg(long)]
    id: String,
    #[arg(long)]
    timeout_ms: u64,
    #[arg(long)]
    from: u64,
    #[arg(long)]
    until: u64,
}

impl OpenTransaction {
    /// Never returns.
    pub fn run(self) -> anyhow::Result<()> {
        let timeout = Duration::from_millis(self.timeout_ms);
        let writer = Writer::transactional(&self.brokers, &self.topic, &self.id, timeout)?;
        writer.begin()?;
        writer.write(self.from..self.until, Fate::Aborted)?;
        println!("{OPEN}");
        loop {
            std::thread::park();
        }
    }
}

/// Starts such a process, and returns once its records are in the log.
pub(super) async fn leave_open(
    lab: &Lab,
    brokers: &str,
    topic: &str,
    id: &str,
    timeout: Duration,
    numbers: std::ops::Range<u64>,
) -> anyhow::Result<Child> {
    let mut command = Command::new(&lab.programs);
    command.arg("open-transaction").args(["--brokers", brokers, "--topic", topic, "--id", id]);
    command.args(["--timeout-ms", &timeout.as_millis().to_string()]);
    command.args(["--from", &numbers.start.to_string(), "--until", &numbers.end.to_string()]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
    let mut lines = BufReader::new(child.stdout.take().context("a pipe")?).lines();
    let said = tokio::time::timeout(OPEN_MAX, lines.next_line()).await.context("the transaction was not opened")??;
    ensure!(said.as_deref() == Some(OPEN), "the process said {said:?} instead of opening its transaction");
    Ok(child)
}
