//! How the simulated parts carry out what processes ask of them.

use madang_messaging::{Delivery, Handled, HandlerError, Message, Outage, Polled, consumer, coordinator, relay};
use rand::RngExt;

use crate::content::{Nature, PROJECTING, TOPIC};
use crate::faults::Fate;
use crate::log::LevelKey;
use crate::process::{DEAD_AFTER_MS, consumer_config, relay_config};
use crate::requests::{Reply, Request, Unit};
use crate::store::Refusal;
use crate::world::{Happening, Sender, Waiting, World};

impl World {
    /// Does what is asked; `None` when the answer comes later.
    pub(crate) fn perform(&mut self, from: Sender, level: LevelKey, request: &Request, fate: Fate) -> Option<Reply> {
        let now_ms = self.now_ms;
        Some(match request {
            Request::Beat | Request::Read => {
                if matches!(request, Request::Beat) {
                    self.register.beat(&self.processes[from.process].instance, now_ms);
                }
                Reply::Coordinator(coordinator::Input::Living(Ok(self.register.living(DEAD_AFTER_MS, now_ms))))
            }
            Request::Claim { shards, limit } => {
                let by_state = self.protections.state_select;
                let rows = self.store.claim(shards, relay_config().min_age_ms, *limit, by_state, now_ms);
                if !self.register.has(&self.processes[from.process].instance, DEAD_AFTER_MS, now_ms) {
                    self.claimed_past_lease += rows.len() as u64;
                }
                Reply::Relay(relay::Input::Claimed(Ok(rows)))
            }
            Request::Write(write) => {
                self.store.write(write, now_ms);
                Reply::Relay(relay::Input::Written(Ok(())))
            }
            Request::Publish(messages) => self.publish(from, messages),
            Request::Join => {
                let topics = &consumer_config(level.0).levels()[level.1].topics;
                self.log.join(level, topics, from.process);
                Reply::Level(consumer::Input::Subscribed(Ok(())))
            }
            Request::Poll { max, max_wait_ms } => {
                match self.log.poll(level, from.process, *max, !self.protections.offset_after_work) {
                    Some(polled) => Reply::Level(consumer::Input::Polled(Ok(polled))),
                    None => {
                        let until_ms = now_ms + max_wait_ms;
                        self.waiting.push(Waiting { from, level, max: *max, until_ms });
                        self.push(until_ms, Happening::PollEnds { from });
                        return None;
                    }
                }
            }
            Request::Handle(deliveries) => {
                let reach =
                    if fate == Fate::CrashAfter { self.chance.random_range(0..=deliveries.len()) } else { usize::MAX };
                self.handle(level, &deliveries[..reach.min(deliveries.len())])
            }
            Request::Invalidate { keys, answers } => {
                keys.iter().for_each(|(key, version)| self.cache.invalidate(key, *version));
                Reply::Level(consumer::Input::Handled(answers.clone()))
            }
            Request::Look { key } => Reply::Seen { key: key.clone(), cached: self.cache.look(key) },
            Request::Load { key } => {
                let version = self.store.projection.get(key).copied().unwrap_or(0);
                // Some are slow with what they read.
                let slow = self.chance.random_bool(0.4);
                let takes_ms =
                    if slow { self.chance.random_range(100..4_000) } else { self.chance.random_range(1..20) };
                let reply = Reply::Loaded { key: key.clone(), version };
                self.push(now_ms + takes_ms, Happening::Answer { to: from, reply });
                return None;
            }
            Request::Fill { key, version } => {
                self.cache.fill(key, *version, self.protections.versioned_fill);
                Reply::Nothing
            }
            Request::Commit(positions) => {
                self.log.commit(level, from.process, positions);
                Reply::Level(consumer::Input::Committed(Ok(())))
            }
        })
    }

    fn publish(&mut self, from: Sender, messages: &[Message]) -> Reply {
        let mut outcomes = Vec::new();
        for message in messages {
            let known = self.store.committed.get(&message.event_id).map_or(Nature::Fine, |committed| committed.nature);
            let nature = if message.topic == TOPIC { known } else { Nature::Fine };
            outcomes.push(self.log.publish(message, nature));
        }
        self.wake_readers();
        match from.unit {
            Unit::Relay => Reply::Relay(relay::Input::Published(Ok(outcomes))),
            Unit::Level(..) => Reply::Level(consumer::Input::Published(Ok(outcomes))),
            Unit::Writer | Unit::Coordinator | Unit::Reader => Reply::Nothing,
        }
    }

    fn wake_readers(&mut self) {
        for waiting in std::mem::take(&mut self.waiting) {
            let owner = &self.processes[waiting.from.process];
            if !owner.up || owner.incarnation != waiting.from.incarnation {
                continue;
            }
            let at_once = !self.protections.offset_after_work;
            match self.log.poll(waiting.level, waiting.from.process, waiting.max, at_once) {
                Some(polled) => {
                    let reply = Reply::Level(consumer::Input::Polled(Ok(polled)));
                    self.push(self.now_ms + 1, Happening::Answer { to: waiting.from, reply });
                }
                None => self.waiting.push(waiting),
            }
        }
    }

    pub(crate) fn poll_ends(&mut self, from: Sender) {
        let now_ms = self.now_ms;
        if let Some(place) = self.waiting.iter().position(|one| one.from == from && one.until_ms <= now_ms) {
            self.waiting.swap_remove(place);
            let reply = Reply::Level(consumer::Input::Polled(Ok(Polled::Deliveries(Vec::new()))));
            self.push(now_ms, Happening::Answer { to: from, reply });
        }
    }

    /// The handlers: group 0 makes the projection, leaves the offset to the consumer and then has to tell the cache, also
    /// of what it had applied before, because it may have died in between; group 1 stores the offset with the effect.
    fn handle(&mut self, level: LevelKey, deliveries: &[Delivery]) -> Reply {
        let stores_offsets = level.0 != PROJECTING;
        let (mut answers, mut keys) = (Vec::new(), Vec::new());
        for delivery in deliveries {
            let applied = self.store.apply(level.0, &delivery.message, self.protections);
            if applied.is_ok() && level.0 == PROJECTING {
                let key = &delivery.message.key;
                keys.extend(self.store.projection.get(key).map(|version| (key.clone(), *version)));
            }
            answers.push(match applied {
                Ok(()) if stores_offsets => {
                    self.log.store_offset(level, &delivery.position);
                    Ok(Handled::DoneWithOffset)
                }
                Ok(()) => Ok(Handled::Done),
                Err(Refusal::Failed) => Err(HandlerError::Failed("fails".to_owned())),
                Err(Refusal::Undecodable) => Err(HandlerError::Undecodable("not an event".to_owned())),
            });
            if stores_offsets && answers.last().is_some_and(Result::is_err) {
                break;
            }
        }
        if keys.is_empty() {
            return Reply::Level(consumer::Input::Handled(answers));
        }
        Reply::Applied { keys, answers }
    }
}

/// What a machine hears when a request of its stays without an answer.
pub(crate) fn unanswered(unit: Unit, request: &Request) -> Reply {
    let away = || Outage::new(request.part().name(), "simulated");
    match (unit, request) {
        (Unit::Coordinator, _) => Reply::Coordinator(coordinator::Input::Living(Err(away()))),
        (Unit::Relay, Request::Claim { .. }) => Reply::Relay(relay::Input::Claimed(Err(away()))),
        (Unit::Relay, Request::Publish(_)) => Reply::Relay(relay::Input::Published(Err(away()))),
        (Unit::Relay, _) => Reply::Relay(relay::Input::Written(Err(away()))),
        (Unit::Level(..), Request::Join) => Reply::Level(consumer::Input::Subscribed(Err(away()))),
        (Unit::Level(..), Request::Poll { .. }) => Reply::Level(consumer::Input::Polled(Err(away()))),
        (Unit::Level(..), Request::Handle(_) | Request::Invalidate { .. }) => {
            Reply::Level(consumer::Input::Handled(vec![Err(away().into())]))
        }
        (Unit::Level(..), Request::Publish(_)) => Reply::Level(consumer::Input::Published(Err(away()))),
        (Unit::Level(..), _) => Reply::Level(consumer::Input::Committed(Err(away()))),
        (Unit::Writer | Unit::Reader, _) => Reply::Nothing,
    }
}
