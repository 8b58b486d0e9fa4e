//! The loop that performs the coordinator's effects against the membership store.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use madang_kernel::Clock;
use tokio::sync::watch;

use crate::coordinator::{Assignment, CoordinatorConfig, Effect, Input, Machine};
use crate::moment::Stopwatch;
use crate::{InstanceId, Membership, Outage, Stop};

/// Keeps one instance of a service among the living and tells its shards.
#[derive(Clone)]
pub struct Coordinator {
    service: Arc<str>,
    me: InstanceId,
    config: CoordinatorConfig,
    membership: Arc<dyn Membership>,
    clock: Arc<dyn Clock>,
    assignment: watch::Sender<Assignment>,
}

impl Coordinator {
    /// A coordinator for `me`, an instance of `service`.
    pub fn new(
        service: &str,
        me: InstanceId,
        config: CoordinatorConfig,
        membership: Arc<dyn Membership>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let assignment = watch::Sender::new(Assignment::NONE);
        Self { service: service.into(), me, config, membership, clock, assignment }
    }

    /// The shards to serve; nothing before the first sign of life.
    pub fn assignment(&self) -> watch::Receiver<Assignment> {
        self.assignment.subscribe()
    }

    /// Beats and watches until `stop` fires, then leaves.
    pub async fn run(self, stop: Stop) -> Result<(), Infallible> {
        let watch = Stopwatch::start(self.clock.clone());
        let mut machine = Machine::new(self.config.clone(), self.me.clone());
        let mut answers: FuturesUnordered<BoxFuture<'_, Input>> = FuturesUnordered::new();
        let mut input = Input::Tick;
        let mut stopping = false;
        loop {
            for effect in machine.step(input, watch.now()) {
                match effect {
                    Effect::Beat => answers.push(Box::pin(self.beat())),
                    Effect::Read => answers.push(Box::pin(self.read())),
                    Effect::Leave => answers.push(Box::pin(self.leave())),
                    Effect::Assign(assignment) => {
                        let shards = assignment.shards().count();
                        tracing::info!(service = %self.service, instance = %self.me, shards, "relay of {}: this instance now has {shards} shards", self.service);
                        self.assignment.send_replace(assignment);
                    }
                    Effect::StoreAway(true) => {
                        metrics::counter!("messaging_pauses_total", "part" => "membership").increment(1);
                        tracing::warn!(service = %self.service, "membership of {} cannot be read, the shards stay as they are assigned", self.service);
                    }
                    Effect::StoreAway(false) => {
                        tracing::info!(service = %self.service, "membership of {} can be read again", self.service);
                    }
                    Effect::Stopped => return Ok(()),
                }
            }
            input = tokio::select! {
                Some(answer) = answers.next() => answer,
                () = stop.cancelled(), if !stopping => {
                    stopping = true;
                    Input::Stop
                }
                () = watch.until(machine.next_wake_ms()) => Input::Tick,
            };
        }
    }

    fn dead_after(&self) -> Duration {
        Duration::from_millis(self.config.dead_after_ms)
    }

    async fn beat(&self) -> Input {
        let asked = self.membership.beat(&self.service, &self.me, self.dead_after());
        Input::Living(self.in_time(self.config.heartbeat_ms, asked).await)
    }

    async fn read(&self) -> Input {
        let asked = self.membership.living(&self.service, self.dead_after());
        Input::Living(self.in_time(self.config.heartbeat_ms, asked).await)
    }

    async fn leave(&self) -> Input {
        let asked = self.membership.leave(&self.service, &self.me);
        Input::Left(self.in_time(self.config.leave_timeout_ms, asked).await)
    }

    async fn in_time<T>(&self, ms: u64, asked: impl Future<Output = Result<T, Outage>>) -> Result<T, Outage> {
        let late = || Outage::new("membership", format!("no answer within {ms} ms"));
        tokio::time::timeout(Duration::from_millis(ms), asked).await.unwrap_or_else(|_| Err(late()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Mutex;

    use async_trait::async_trait;
    use madang_kernel::SystemClock;

    use super::*;
    use crate::{OnError, Supervisor};

    #[derive(Default)]
    struct Register(Mutex<BTreeSet<InstanceId>>);

    #[async_trait]
    impl Membership for Register {
        async fn beat(&self, _: &str, instance: &InstanceId, _: Duration) -> Result<Vec<InstanceId>, Outage> {
            self.0.lock().unwrap().insert(instance.clone());
            self.living("", Duration::ZERO).await
        }
        async fn living(&self, _: &str, _: Duration) -> Result<Vec<InstanceId>, Outage> {
            Ok(self.0.lock().unwrap().iter().cloned().collect())
        }
        async fn leave(&self, _: &str, instance: &InstanceId) -> Result<(), Outage> {
            self.0.lock().unwrap().remove(instance);
            Ok(())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn shards_move_when_an_instance_comes_and_when_it_leaves() {
        let register: Arc<Register> = Arc::default();
        let start = |name: &'static str| {
            let me = InstanceId::new(name);
            let coordinator =
                Coordinator::new("s", me, CoordinatorConfig::default(), register.clone(), Arc::new(SystemClock));
            let (supervisor, assignment) = (Supervisor::new(name), coordinator.assignment());
            supervisor.spawn("coordinator", OnError::Restart, move |stop| coordinator.clone().run(stop));
            (supervisor, assignment)
        };
        let (first, mut of_first) = start("a");
        of_first.wait_for(|shards| *shards == Assignment::ALL).await.unwrap();
        let (second, mut of_second) = start("b");
        of_first.wait_for(|shards| *shards == Assignment::of(0..32)).await.unwrap();
        of_second.wait_for(|shards| *shards == Assignment::of(32..64)).await.unwrap();
        assert_eq!(first.shutdown(Duration::from_secs(5)).await.finished, ["coordinator"]);
        of_second.wait_for(|shards| *shards == Assignment::ALL).await.unwrap();
        second.shutdown(Duration::from_secs(5)).await;
    }
}
