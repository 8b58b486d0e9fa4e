//! A simulated process: the real machines, a clock that is wrong in its own way, and a translation of their effects.

use std::collections::BTreeMap;

use madang_kernel::{ID_EPOCH_MS, Timestamp};
use madang_messaging::consumer::ConsumerConfig;
use madang_messaging::{Backoff, Chance, CoordinatorConfig, GroupId, InstanceId, Moment, RelayConfig};
use madang_messaging::{consumer, coordinator, relay};
use rand::RngExt;
use rand::rngs::SmallRng;

use crate::content::{GROUPS, TOPIC};
use crate::log::LevelKey;
use crate::requests::{Reply, Request, Unit};

/// A process that the membership store has not heard of for so long is dead to the others, in milliseconds.
pub(crate) const DEAD_AFTER_MS: u64 = 9_000;

pub(crate) struct Process {
    pub(crate) incarnation: u32,
    pub(crate) up: bool,
    pub(crate) paused_until_ms: u64,
    /// Until then the membership store hears nothing of it, and it nothing of the others.
    pub(crate) cut_off_until_ms: u64,
    pub(crate) instance: InstanceId,
    /// How far its wall clock is off.
    pub(crate) skew_ms: i64,
    booted_ms: u64,
    /// Its monotonic clock runs at so many thousandths of the true speed.
    rate_permille: u64,
    coordinator: coordinator::Machine,
    relay: relay::Machine,
    levels: BTreeMap<LevelKey, consumer::Machine>,
    wakes: BTreeMap<Unit, u64>,
}

impl Process {
    pub(crate) fn boot(number: usize, incarnation: u32, now_ms: u64, chance: &mut SmallRng) -> Self {
        let instance = InstanceId::new(format!("p{number}-{incarnation}"));
        let mut levels = BTreeMap::new();
        for group in 0..GROUPS.len() {
            let config = consumer_config(group);
            for (place, level) in config.levels().into_iter().enumerate() {
                let machine = consumer::Machine::new(config.clone(), level.rung, Chance::seeded(chance.random()));
                levels.insert((group, place), machine);
            }
        }
        Self {
            incarnation,
            up: true,
            paused_until_ms: 0,
            cut_off_until_ms: 0,
            skew_ms: chance.random_range(-20_000..20_000),
            booted_ms: now_ms,
            rate_permille: chance.random_range(970..1_030),
            coordinator: coordinator::Machine::new(coordinator_config(), instance.clone()),
            relay: relay::Machine::new(relay_config(), Chance::seeded(chance.random())),
            instance,
            levels,
            wakes: BTreeMap::new(),
        }
    }

    /// Every machine it runs.
    pub(crate) fn units(&self) -> Vec<Unit> {
        let levels = self.levels.keys().map(|(group, level)| Unit::Level(*group, *level));
        [Unit::Coordinator, Unit::Relay].into_iter().chain(levels).collect()
    }

    /// Whether nothing is in flight anywhere.
    pub(crate) fn is_idle(&self) -> bool {
        self.up && self.relay.is_idle() && self.levels.values().all(consumer::Machine::is_idle)
    }

    /// Steps one machine and returns what is asked of the parts.
    pub(crate) fn deliver(&mut self, unit: Unit, reply: Reply, now_ms: u64) -> Vec<(Unit, Request)> {
        let now = self.moment(now_ms);
        let mut asked = Vec::new();
        match (unit, reply) {
            (Unit::Coordinator, Reply::Coordinator(input)) => {
                for effect in self.coordinator.step(input, now) {
                    match effect {
                        coordinator::Effect::Beat => asked.push((unit, Request::Beat)),
                        coordinator::Effect::Read => asked.push((unit, Request::Read)),
                        coordinator::Effect::Assign(assignment) => {
                            self.step_relay(relay::Input::Assigned(assignment), now, &mut asked);
                        }
                        _ => {}
                    }
                }
            }
            (Unit::Relay, Reply::Relay(input)) => self.step_relay(input, now, &mut asked),
            (Unit::Level(..), Reply::Applied { keys, answers }) => {
                asked.push((unit, Request::Invalidate { keys, answers }));
            }
            (Unit::Reader, Reply::Seen { key, cached: None }) => asked.push((unit, Request::Load { key })),
            (Unit::Reader, Reply::Loaded { key, version }) => asked.push((unit, Request::Fill { key, version })),
            (Unit::Level(group, level), Reply::Level(input)) => {
                let effects = self.levels.get_mut(&(group, level)).map(|machine| machine.step(input, now));
                asked.extend(effects.into_iter().flatten().filter_map(level_request).map(|request| (unit, request)));
            }
            _ => {}
        }
        asked
    }

    /// The moment at which the machine wants to be woken next, when it changed since it was asked last.
    pub(crate) fn new_wake(&mut self, unit: Unit) -> Option<u64> {
        let elapsed_ms = match unit {
            Unit::Coordinator => self.coordinator.next_wake_ms(),
            Unit::Relay => self.relay.next_wake_ms(),
            Unit::Level(group, level) => self.levels.get(&(group, level)).and_then(consumer::Machine::next_wake_ms),
            Unit::Writer | Unit::Reader => return None,
        };
        match elapsed_ms {
            Some(elapsed_ms) => {
                let at_ms = self.booted_ms + (elapsed_ms * 1_000).div_ceil(self.rate_permille);
                (self.wakes.insert(unit, at_ms) != Some(at_ms)).then_some(at_ms)
            }
            None => {
                self.wakes.remove(&unit);
                None
            }
        }
    }

    /// Whether a wake-up is still wanted.
    pub(crate) fn takes_wake(&mut self, unit: Unit, at_ms: u64) -> bool {
        let wanted = self.wakes.get(&unit) == Some(&at_ms);
        if wanted {
            self.wakes.remove(&unit);
        }
        wanted
    }

    fn moment(&self, now_ms: u64) -> Moment {
        let elapsed_ms = (now_ms - self.booted_ms) * self.rate_permille / 1_000;
        Moment::new(elapsed_ms, Timestamp::from_millis(ID_EPOCH_MS + now_ms as i64 + self.skew_ms))
    }

    fn step_relay(&mut self, input: relay::Input, now: Moment, asked: &mut Vec<(Unit, Request)>) {
        for effect in self.relay.step(input, now) {
            let request = match effect {
                relay::Effect::Claim { shards, limit } => {
                    Request::Claim { shards: shards.iter().map(|shard| shard.number()).collect(), limit }
                }
                relay::Effect::Publish(messages) => Request::Publish(messages),
                relay::Effect::Write(write) => Request::Write(write),
                relay::Effect::Note(_) | relay::Effect::Stopped => continue,
            };
            asked.push((Unit::Relay, request));
        }
    }
}

fn coordinator_config() -> CoordinatorConfig {
    CoordinatorConfig { dead_after_ms: DEAD_AFTER_MS, ..CoordinatorConfig::default() }
}

pub(crate) fn consumer_config(group: usize) -> ConsumerConfig {
    ConsumerConfig {
        poll_wait_ms: 2_000,
        // Long, so that processes die with much that is done and not stored.
        commit_interval_ms: 700,
        outage_backoff: Backoff { base_ms: 100, cap_ms: 2_000 },
        ..ConsumerConfig::new(GroupId::new(GROUPS[group]), vec![TOPIC.to_owned()])
    }
}

pub(crate) fn relay_config() -> RelayConfig {
    RelayConfig {
        claim_shards_max: 64,
        park_backoff: Backoff { base_ms: 500, cap_ms: 4_000 },
        outage_backoff: Backoff { base_ms: 100, cap_ms: 2_000 },
        ..RelayConfig::default()
    }
}

fn level_request(effect: consumer::Effect) -> Option<Request> {
    Some(match effect {
        consumer::Effect::Subscribe => Request::Join,
        consumer::Effect::Poll { max, max_wait_ms } => Request::Poll { max, max_wait_ms },
        consumer::Effect::Handle(deliveries) => Request::Handle(deliveries),
        consumer::Effect::Publish(messages) => Request::Publish(messages),
        consumer::Effect::Commit(positions) => Request::Commit(positions),
        consumer::Effect::Rebuild | consumer::Effect::Note(_) | consumer::Effect::Stopped => return None,
    })
}
