//! The loops that perform the effects of a group's levels against the log and the handler.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::join_all;
use madang_kernel::Clock;

use super::pause::Lever;
use super::stuck::SkipList;
use super::{ConsumerConfig, ConsumerPause, ConsumerStuck, Effect, Handler, Input, Level, Machine, Note};
use crate::moment::Stopwatch;
use crate::supervisor::panic_text;
use crate::{Chance, Delivery, EventLog, Message, Outage, Polled, Stop, Subscription};

/// How often a level that only waits shows its lag.
const LAG_EVERY: Duration = Duration::from_secs(5);

const APPLIED: &str = "messaging_consumer_applied_total";
const RETRIED_IN_PLACE: &str = "messaging_consumer_retried_in_place_total";
const RETRIED: &str = "messaging_consumer_retried_total";
const DEAD_LETTERED: &str = "messaging_consumer_dead_lettered_total";
const SKIPPED: &str = "messaging_consumer_skipped_total";
const COUNTERS: [&str; 5] = [APPLIED, RETRIED_IN_PLACE, RETRIED, DEAD_LETTERED, SKIPPED];
const APPLIED_AGE: &str = "messaging_consumer_applied_age_seconds";
const LAG: &str = "messaging_consumer_lag_seconds";

/// Consumes for one group.
#[derive(Clone)]
pub struct Consumer {
    config: ConsumerConfig,
    log: Arc<dyn EventLog>,
    handler: Arc<dyn Handler>,
    clock: Arc<dyn Clock>,
    pause: ConsumerPause,
    stuck: ConsumerStuck,
}

impl Consumer {
    /// A consumer that hands what it reads to `handler`.
    pub fn new(
        config: ConsumerConfig,
        log: Arc<dyn EventLog>,
        handler: Arc<dyn Handler>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { config, log, handler, clock, pause: ConsumerPause::default(), stuck: ConsumerStuck::default() }
    }

    /// The switch that pauses this consumer and lets it go on.
    pub fn pause_handle(&self) -> ConsumerPause {
        self.pause.clone()
    }

    /// What this consumer cannot get past, and the way to have it pass over that.
    pub fn stuck_handle(&self) -> ConsumerStuck {
        self.stuck.clone()
    }

    /// Consumes at every level until `stop` fires, then finishes and stores what is in flight.
    pub async fn run(self, stop: Stop) -> Result<(), Infallible> {
        let levels = self.config.levels();
        self.show_at_start();
        join_all(levels.iter().map(|level| LevelLoop::new(&self, level, &stop).run())).await;
        Ok(())
    }

    /// Counters begin at 0, not with their first count: who watches their growth would miss that one.
    fn show_at_start(&self) {
        let group = self.config.group.as_str();
        for name in COUNTERS {
            metrics::counter!(name, "group" => group.to_owned()).increment(0);
        }
        metrics::gauge!(APPLIED_AGE, "group" => group.to_owned()).set(0.0);
        self.stuck.show(group);
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

    fn record(&self, note: &Note, level: &Level) {
        let group = self.config.group.to_string();
        let count =
            |name: &'static str, by: usize| metrics::counter!(name, "group" => group.clone()).increment(by as u64);
        match note {
            Note::Applied { count: n, age_ms } => {
                count(APPLIED, *n);
                metrics::gauge!(APPLIED_AGE, "group" => group.clone()).set(seconds(*age_ms));
            }
            Note::RetriedInPlace(n) => count(RETRIED_IN_PLACE, *n),
            Note::Retried { topic, key, reason } => {
                count(RETRIED, 1);
                tracing::warn!(
                    group,
                    topic,
                    "consumer {group}: message {key} of {topic} failed and will be retried later: {reason}"
                );
            }
            Note::DeadLettered { topic, key, reason } => {
                count(DEAD_LETTERED, 1);
                tracing::error!(
                    group,
                    topic,
                    "consumer {group}: message {key} of {topic} was given up and is now a dead letter: {reason}"
                );
            }
            Note::Stuck { record, reason } => {
                self.stuck.set(&group, level.rung, Some((record, reason)));
                tracing::error!(
                    group,
                    "consumer {group}: stuck at {record}, because the log does not take it as a dead letter; skip it with `madang groups skip {group} {record}`: {reason}"
                );
            }
            Note::Unstuck => {
                self.stuck.set(&group, level.rung, None);
                tracing::info!(group, "consumer {group}: no longer stuck");
            }
            Note::Skipped { record, key } => {
                count(SKIPPED, 1);
                tracing::warn!(
                    audit = true,
                    group,
                    "consumer {group}: skipped message {key} at {record}, as an operator asked"
                );
            }
            Note::Paused(outage) => {
                metrics::counter!("messaging_pauses_total", "part" => outage.part).increment(1);
                tracing::warn!(group, "consumer {group}: paused until a part is back: {outage}");
            }
            Note::Resumed => tracing::info!(group, "consumer {group}: running again"),
            Note::FellBehind => tracing::warn!(
                group,
                "consumer {group}: too far behind, entries it had not read were removed from the log; rebuilding from the source"
            ),
            Note::Revoked(partitions) => {
                tracing::info!(
                    group,
                    partitions,
                    "consumer {group}: {partitions} partitions moved to another instance"
                );
            }
        }
    }
}

struct LevelLoop<'a> {
    consumer: &'a Consumer,
    level: &'a Level,
    stop: &'a Stop,
    stopping: bool,
    watch: Stopwatch,
    machine: Machine,
    lag: metrics::Gauge,
    subscription: Option<Box<dyn Subscription>>,
}

impl<'a> LevelLoop<'a> {
    fn new(consumer: &'a Consumer, level: &'a Level, stop: &'a Stop) -> Self {
        let watch = Stopwatch::start(consumer.clock.clone());
        let machine = Machine::new(consumer.config.clone(), level.rung, Chance::seeded(rand::random()));
        let lag = metrics::gauge!(LAG, "group" => consumer.config.group.to_string());
        Self { consumer, level, stop, stopping: false, watch, machine, lag, subscription: None }
    }

    async fn run(mut self) {
        let (mut lever, mut skips) = (self.consumer.pause.lever(), self.consumer.stuck.skips());
        let mut input = Input::Tick;
        loop {
            let mut wanted = None;
            // While something is under way, being told to rest asks for nothing; so at most one effect is wanted.
            for input in lever.turned().into_iter().chain(skips.changed()).chain([input]) {
                for effect in self.machine.step(input, self.watch.now()) {
                    match effect {
                        Effect::Note(note) => self.consumer.record(&note, self.level),
                        Effect::Stopped => return,
                        other => wanted = Some(other),
                    }
                }
            }
            self.show_lag();
            input = match wanted {
                Some(effect) => match self.carry_out(effect, &mut lever).await {
                    Some(answer) => answer,
                    None => return,
                },
                None => self.wait(&mut lever, &mut skips).await,
            };
        }
    }

    /// A retry topic is no measure: what is on it waits on purpose.
    fn show_lag(&self) {
        if self.level.rung.is_none() {
            self.lag.set(seconds(self.machine.lag_ms(self.watch.now())));
        }
    }

    async fn wait(&mut self, lever: &mut Lever, skips: &mut SkipList) -> Input {
        tokio::select! {
            () = self.stop.cancelled(), if !self.stopping => {
                self.stopping = true;
                Input::Stop
            }
            () = lever.touched() => Input::Tick,
            () = skips.touched() => Input::Tick,
            () = self.watch.until(self.machine.next_wake_ms()) => Input::Tick,
            // So that a level that waits shows for how long.
            () = tokio::time::sleep(LAG_EVERY) => Input::Tick,
        }
    }

    /// Performs an effect; `None` when the end came meanwhile and nothing is left to do.
    async fn carry_out(&mut self, effect: Effect, lever: &mut Lever) -> Option<Input> {
        let polls = matches!(effect, Effect::Poll { .. });
        // Polling and joining are given up at once when it stops; work in flight is finished.
        let abandons = polls || matches!(effect, Effect::Subscribe | Effect::Rebuild);
        // Nothing polled and not handed out is lost; the answer to what is given up is an empty one.
        let nothing = || Input::Polled(Ok(Polled::Deliveries(Vec::new())));
        let Self { consumer, level, stop, stopping, watch, machine, subscription, lag } = self;
        let drain = Duration::from_millis(consumer.config.drain_timeout_ms);
        let performed = perform(consumer, level, subscription, effect);
        tokio::pin!(performed);
        loop {
            tokio::select! {
                answer = &mut performed => return Some(answer),
                () = lever.touched(), if polls => return Some(nothing()),
                () = stop.cancelled(), if !*stopping => {
                    *stopping = true;
                    let effects = machine.step(Input::Stop, watch.now());
                    if effects.iter().any(|effect| matches!(effect, Effect::Stopped)) {
                        return None;
                    }
                    if abandons {
                        return Some(nothing());
                    }
                    return Some(tokio::time::timeout(drain, &mut performed).await.unwrap_or(Input::Tick));
                }
                // A handler that hangs is a lag that grows.
                () = tokio::time::sleep(LAG_EVERY), if level.rung.is_none() => lag.set(seconds(machine.lag_ms(watch.now()))),
            }
        }
    }
}

fn seconds(ms: u64) -> f64 {
    Duration::from_millis(ms).as_secs_f64()
}

async fn perform(
    consumer: &Consumer,
    level: &Level,
    subscription: &mut Option<Box<dyn Subscription>>,
    effect: Effect,
) -> Input {
    let timeout_ms = consumer.config.answer_timeout_ms;
    let absent = || Outage::new("log", "not subscribed");
    match (effect, subscription) {
        (Effect::Subscribe, subscription) => {
            let joined = in_time(timeout_ms, consumer.log.subscribe(&consumer.config.group, &level.topics)).await;
            Input::Subscribed(joined.map(|joined| *subscription = Some(joined)))
        }
        (Effect::Poll { max, max_wait_ms }, Some(subscription)) => {
            Input::Polled(subscription.poll(max, Duration::from_millis(max_wait_ms)).await)
        }
        (Effect::Poll { .. }, None) => Input::Polled(Err(absent())),
        (Effect::Handle(deliveries), _) => consumer.handle(&deliveries).await,
        (Effect::Publish(messages), _) => Input::Published(consumer.publish(&messages).await),
        (Effect::Commit(positions), Some(subscription)) => {
            Input::Committed(in_time(timeout_ms, subscription.commit(&positions)).await)
        }
        (Effect::Commit(_), None) => Input::Committed(Err(absent())),
        (Effect::Rebuild, _) => Input::Rebuilt(consumer.handler.rebuild().await),
        (Effect::Note(_) | Effect::Stopped, _) => Input::Tick,
    }
}

async fn in_time<T>(ms: u64, asked: impl Future<Output = Result<T, Outage>>) -> Result<T, Outage> {
    let late = || Outage::new("log", format!("no answer within {ms} ms"));
    tokio::time::timeout(Duration::from_millis(ms), asked).await.unwrap_or_else(|_| Err(late()))
}
