//! The loops that perform the effects of a group's lanes against the log and the handler.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::join_all;
use madang_kernel::Clock;

use super::{ConsumerConfig, Effect, Handler, Input, Lane, Machine, Note};
use crate::moment::Stopwatch;
use crate::supervisor::panic_text;
use crate::{Chance, Delivery, EventLog, Message, Outage, Position, Stop, Subscription};

/// Consumes for one group.
#[derive(Clone)]
pub struct Consumer {
    config: ConsumerConfig,
    log: Arc<dyn EventLog>,
    handler: Arc<dyn Handler>,
    clock: Arc<dyn Clock>,
}

impl Consumer {
    /// A consumer that hands what it reads to `handler`.
    pub fn new(
        config: ConsumerConfig,
        log: Arc<dyn EventLog>,
        handler: Arc<dyn Handler>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { config, log, handler, clock }
    }

    /// Consumes over every lane until `stop` fires, then finishes and stores what is in hand.
    pub async fn run(self, stop: Stop) -> Result<(), Infallible> {
        let lanes = self.config.lanes();
        join_all(lanes.iter().map(|lane| LaneLoop { consumer: &self, lane, subscription: None }.run(&stop))).await;
        Ok(())
    }

    async fn handle(&self, deliveries: &[Delivery]) -> Input {
        // A panic must not restart the loop: the same message would be waiting for it, for ever.
        match AssertUnwindSafe(self.handler.handle(deliveries)).catch_unwind().await {
            Ok(answers) => Input::Handled(answers),
            Err(panic) => Input::Panicked(panic_text(panic.as_ref()).to_owned()),
        }
    }

    async fn publish(&self, messages: &[Message]) -> Result<Vec<crate::PublishOutcome>, Outage> {
        in_time(self.config.answer_timeout_ms, self.log.publish(messages)).await
    }

    fn record(&self, note: &Note) {
        let group = self.config.group.to_string();
        let count =
            |name: &'static str, by: usize| metrics::counter!(name, "group" => group.clone()).increment(by as u64);
        match note {
            Note::Applied { count: n, lag_ms } => {
                count("messaging_consumer_applied_total", *n);
                metrics::gauge!("messaging_consumer_lag_ms", "group" => group.clone()).set(*lag_ms as f64);
            }
            Note::RetriedInPlace(n) => count("messaging_consumer_retried_in_place_total", *n),
            Note::Retried { topic, key, reason } => {
                count("messaging_consumer_retried_total", 1);
                tracing::warn!(group, topic, "{key} goes up the retry ladder: {reason}");
            }
            Note::DeadLettered { topic, key, reason } => {
                count("messaging_consumer_dead_lettered_total", 1);
                tracing::error!(group, topic, "{key} goes to the dead letters: {reason}");
            }
            Note::Stuck(reason) => tracing::error!(group, "the log refuses a dead letter, the lane waits: {reason}"),
            Note::Paused(outage) => {
                metrics::counter!("messaging_pauses_total", "part" => outage.part).increment(1);
                tracing::warn!(group, "consumer pauses: {outage}");
            }
            Note::Resumed => tracing::info!(group, "consumer goes on"),
            Note::FellBehind => tracing::warn!(group, "fell behind the log, rebuilding from the owners"),
            Note::Revoked(partitions) => tracing::info!(group, partitions, "partitions moved to another instance"),
        }
    }
}

struct LaneLoop<'a> {
    consumer: &'a Consumer,
    lane: &'a Lane,
    subscription: Option<Box<dyn Subscription>>,
}

impl LaneLoop<'_> {
    async fn run(mut self, stop: &Stop) {
        let config = &self.consumer.config;
        let watch = Stopwatch::start(self.consumer.clock.clone());
        let mut machine = Machine::new(config.clone(), self.lane.rung, Chance::seeded(rand::random()));
        let mut stopping = false;
        let mut input = Input::Tick;
        loop {
            let mut wanted = None;
            for effect in machine.step(input, watch.now()) {
                match effect {
                    Effect::Note(note) => self.consumer.record(&note),
                    Effect::Stopped => return,
                    other => wanted = Some(other),
                }
            }
            let Some(effect) = wanted else {
                input = tokio::select! {
                    () = stop.cancelled(), if !stopping => {
                        stopping = true;
                        Input::Stop
                    }
                    () = watch.until(machine.next_wake_ms()) => Input::Tick,
                };
                continue;
            };
            // Polling and joining are given up at once when it stops; work in hand is finished.
            let abandons = matches!(effect, Effect::Poll { .. } | Effect::Subscribe | Effect::Rebuild);
            let drain = Duration::from_millis(config.drain_timeout_ms);
            let performed = self.perform(effect);
            tokio::pin!(performed);
            input = tokio::select! {
                answer = &mut performed => answer,
                () = stop.cancelled(), if !stopping => {
                    stopping = true;
                    if machine.step(Input::Stop, watch.now()).iter().any(|effect| matches!(effect, Effect::Stopped)) {
                        return;
                    }
                    if abandons {
                        // Nothing polled and not handed out is lost; the answer is an empty one.
                        Input::Polled(Ok(crate::Polled::Deliveries(Vec::new())))
                    } else {
                        match tokio::time::timeout(drain, &mut performed).await {
                            Ok(answer) => answer,
                            Err(_) => Input::Tick,
                        }
                    }
                }
            };
        }
    }

    async fn perform(&mut self, effect: Effect) -> Input {
        match effect {
            Effect::Subscribe => Input::Subscribed(self.subscribe().await),
            Effect::Poll { max, max_wait_ms } => {
                let max_wait = Duration::from_millis(max_wait_ms);
                match &mut self.subscription {
                    Some(subscription) => Input::Polled(subscription.poll(max, max_wait).await),
                    None => Input::Polled(Err(Outage::new("log", "not subscribed"))),
                }
            }
            Effect::Handle(deliveries) => self.consumer.handle(&deliveries).await,
            Effect::Publish(messages) => Input::Published(self.consumer.publish(&messages).await),
            Effect::Commit(positions) => Input::Committed(self.commit(&positions).await),
            Effect::Rebuild => Input::Rebuilt(self.consumer.handler.rebuild().await),
            Effect::Note(_) | Effect::Stopped => Input::Tick,
        }
    }

    async fn subscribe(&mut self) -> Result<(), Outage> {
        let Consumer { config, log, .. } = self.consumer;
        let joined = in_time(config.answer_timeout_ms, log.subscribe(&config.group, &self.lane.topics)).await?;
        self.subscription = Some(joined);
        Ok(())
    }

    async fn commit(&mut self, positions: &[Position]) -> Result<(), Outage> {
        let timeout_ms = self.consumer.config.answer_timeout_ms;
        match &mut self.subscription {
            Some(subscription) => in_time(timeout_ms, subscription.commit(positions)).await,
            None => Err(Outage::new("log", "not subscribed")),
        }
    }
}

async fn in_time<T>(ms: u64, asked: impl Future<Output = Result<T, Outage>>) -> Result<T, Outage> {
    let late = || Outage::new("log", format!("no answer within {ms} ms"));
    tokio::time::timeout(Duration::from_millis(ms), asked).await.unwrap_or_else(|_| Err(late()))
}
