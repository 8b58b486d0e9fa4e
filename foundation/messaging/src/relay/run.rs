//! The loop that performs the relay's effects against outbox and log, and the handle by which writers hand over.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use madang_kernel::Clock;
use tokio::sync::{Mutex, mpsc, watch};

use super::{Effect, Input, Machine, Note, RelayConfig, Write};
use crate::moment::Stopwatch;
use crate::{Assignment, Chance, Claim, EventLog, Message, Outage, Outbox, Stop};

/// Given to the writers: hands committed batches to the relay without ever waiting.
#[derive(Debug, Clone)]
pub struct HandOver(mpsc::Sender<Vec<Message>>);

impl HandOver {
    /// Hands over what has just been committed, in commit order. False when the relay cannot keep up: the rows are in
    /// the outbox, and polling finds them.
    pub fn hand_over(&self, committed: Vec<Message>) -> bool {
        let count = committed.len() as u64;
        let taken = self.0.try_send(committed).is_ok();
        if !taken {
            metrics::counter!("messaging_relay_left_to_polling_total").increment(count);
        }
        taken
    }
}

/// Carries messages of one store from its outbox to the log.
#[derive(Clone)]
pub struct Relay {
    config: RelayConfig,
    outbox: Arc<dyn Outbox>,
    log: Arc<dyn EventLog>,
    clock: Arc<dyn Clock>,
    assignment: watch::Receiver<Assignment>,
    handed_over: Arc<Mutex<mpsc::Receiver<Vec<Message>>>>,
}

impl Relay {
    /// A relay and the handle for its writers.
    pub fn new(
        config: RelayConfig,
        outbox: Arc<dyn Outbox>,
        log: Arc<dyn EventLog>,
        assignment: watch::Receiver<Assignment>,
        clock: Arc<dyn Clock>,
    ) -> (Self, HandOver) {
        let (sender, receiver) = mpsc::channel(config.hand_over_batches_max);
        let handed_over = Arc::new(Mutex::new(receiver));
        (Self { config, outbox, log, clock, assignment, handed_over }, HandOver(sender))
    }

    /// Relays until `stop` fires, then publishes what is in flight and releases the rest.
    pub async fn run(self, stop: Stop) -> Result<(), Infallible> {
        let watch = Stopwatch::start(self.clock.clone());
        let mut machine = Machine::new(self.config.clone(), Chance::seeded(rand::random()));
        let mut assignment = self.assignment.clone();
        // Held while running: a restarted relay takes the channel over from the one that failed.
        let mut handed_over = self.handed_over.lock().await;
        let mut answers: FuturesUnordered<BoxFuture<'_, Input>> = FuturesUnordered::new();
        let mut input = Input::Assigned(*assignment.borrow_and_update());
        let mut stopping = false;
        loop {
            if self.perform(machine.step(input, watch.now()), &answers) {
                return Ok(());
            }
            input = tokio::select! {
                Some(answer) = answers.next() => answer,
                () = stop.cancelled(), if !stopping => {
                    stopping = true;
                    // What is in the channel counts as in flight; writers have stopped by now.
                    while let Ok(batch) = handed_over.try_recv() {
                        self.perform(machine.step(Input::HandedOver(batch), watch.now()), &answers);
                    }
                    Input::Stop
                }
                Some(batch) = handed_over.recv(), if !stopping => Input::HandedOver(batch),
                Ok(()) = assignment.changed() => Input::Assigned(*assignment.borrow_and_update()),
                () = watch.until(machine.next_wake_ms()) => Input::Tick,
            };
        }
    }

    /// Starts what the machine wants done; true when it has stopped.
    fn perform<'a>(&'a self, effects: Vec<Effect>, answers: &FuturesUnordered<BoxFuture<'a, Input>>) -> bool {
        for effect in effects {
            match effect {
                Effect::Claim { shards, limit } => answers.push(Box::pin(self.claim(shards, limit))),
                Effect::Publish(messages) => answers.push(Box::pin(self.publish(messages))),
                Effect::Write(write) => answers.push(Box::pin(self.write(write))),
                Effect::Note(note) => record(&note),
                Effect::Stopped => return true,
            }
        }
        false
    }

    async fn claim(&self, shards: Vec<madang_kernel::ShardId>, limit: usize) -> Input {
        let claim = Claim { shards, min_age: Duration::from_millis(self.config.min_age_ms), limit };
        Input::Claimed(self.in_time("outbox", self.outbox.claim(claim)).await)
    }

    async fn publish(&self, messages: Vec<Message>) -> Input {
        Input::Published(self.in_time("log", self.log.publish(&messages)).await)
    }

    async fn write(&self, write: Write) -> Input {
        let written = async {
            match &write {
                Write::Delete(rows) => self.outbox.delete(rows).await,
                Write::Release(rows) => self.outbox.release(rows).await,
                Write::Park(rows) => self.outbox.park(rows).await,
                Write::Bury(row, reason) => self.outbox.bury(*row, reason).await,
            }
        };
        Input::Written(self.in_time("outbox", written).await)
    }

    async fn in_time<T>(
        &self,
        part: &'static str,
        asked: impl Future<Output = Result<T, Outage>>,
    ) -> Result<T, Outage> {
        let ms = self.config.answer_timeout_ms;
        let late = || Outage::new(part, format!("no answer within {ms} ms"));
        tokio::time::timeout(Duration::from_millis(ms), asked).await.unwrap_or_else(|_| Err(late()))
    }
}

fn record(note: &Note) {
    let count = |name: &'static str, by: usize| metrics::counter!(name).increment(by as u64);
    match note {
        Note::Published(n) => count("messaging_relay_published_total", *n),
        Note::Duplicates(n) => count("messaging_relay_duplicates_total", *n),
        Note::LeftToPolling(n) => count("messaging_relay_left_to_polling_total", *n),
        Note::Dropped(n) => {
            count("messaging_relay_dropped_total", *n);
            tracing::info!(
                rows = n,
                "relay: dropped a batch of {n} events that was too late or whose shards moved; it will be read again"
            );
        }
        Note::Parked { key, attempts, reason } => {
            count("messaging_relay_parked_total", 1);
            tracing::warn!(attempts, "relay: cannot publish {key}, parked after {attempts} attempts: {reason}");
        }
        Note::Buried { event_id, reason } => {
            count("messaging_relay_buried_total", 1);
            tracing::error!(%event_id, "relay: gave up on event {event_id}, which is now a dead letter: {reason}");
        }
        Note::Paused(outage) => {
            metrics::counter!("messaging_pauses_total", "part" => outage.part).increment(1);
            tracing::warn!("relay: paused until a part is back: {outage}");
        }
        Note::Resumed(part) => tracing::info!(part, "relay: running again, {part} is back"),
    }
}
