//! One level of a consumer group as a step function: poll, hand in, pass what fails up the ladder, store the offset.

use super::config::ConsumerConfig;
use super::handler::Handled;
use super::in_flight::{Exit, InFlight, Slot, State};
use super::ladder;
use super::step::{Effect, Input, Note};
use crate::backoff::Pause;
use crate::moment::millis;
use crate::{Chance, HandlerError, Message, Moment, Outage, Polled, Position, PublishOutcome, header};

/// The one thing under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Busy {
    No,
    Subscribing,
    Polling,
    Handling,
    Publishing,
    Committing,
    Rebuilding,
}

/// The level's state.
#[derive(Debug)]
pub struct Machine {
    config: ConsumerConfig,
    rung: Option<usize>,
    chance: Chance,
    busy: Busy,
    in_flight: InFlight,
    subscribed: bool,
    must_rebuild: bool,
    /// After a panic over a batch, one by one, to find the one that caused it.
    singly: bool,
    pause: Pause,
    /// The log refuses what is to leave; which record that is, once it was noted.
    stuck: Pause,
    stuck_at: Option<Position>,
    /// Records that an operator gave up, the latest last.
    skips: Vec<Position>,
    /// More is on its way: until then it gathers in the log.
    gathering_until_ms: Option<u64>,
    /// Since when nobody knows whether the log has more.
    unknown_since_ms: Option<u64>,
    /// Since when something is done and not stored.
    unstored_since_ms: Option<u64>,
    /// What is done is stored at once: its partition went to somebody else, who starts at what is stored.
    store_at_once: bool,
    resting: bool,
    draining_until_ms: Option<u64>,
    stopped: bool,
}

impl Machine {
    /// A level; `rung` says which rung of the ladder it reads, `None` the topics themselves.
    pub fn new(config: ConsumerConfig, rung: Option<usize>, chance: Chance) -> Self {
        Self {
            config,
            rung,
            chance,
            busy: Busy::No,
            in_flight: InFlight::default(),
            subscribed: false,
            must_rebuild: false,
            singly: false,
            pause: Pause::default(),
            stuck: Pause::default(),
            stuck_at: None,
            skips: Vec::new(),
            gathering_until_ms: None,
            unknown_since_ms: Some(0),
            unstored_since_ms: None,
            store_at_once: false,
            resting: false,
            draining_until_ms: None,
            stopped: false,
        }
    }

    /// Takes one input and says what is to be done.
    pub fn step(&mut self, input: Input, now: Moment) -> Vec<Effect> {
        let mut effects = Vec::new();
        if !matches!(input, Input::Tick | Input::Skip(_) | Input::Rest | Input::GoOn | Input::Stop) {
            self.busy = Busy::No;
        }
        match input {
            Input::Tick => {}
            Input::Subscribed(answer) => self.subscribed = self.answered(answer, now, &mut effects).is_some(),
            Input::Polled(answer) => {
                // Who rests gave the poll up, and knows nothing by its answer.
                let is_unknown = answer.is_err() || self.resting;
                self.unknown_since_ms = is_unknown.then(|| self.unknown_since_ms.unwrap_or(now.elapsed_ms));
                if let Some(polled) = self.answered(answer, now, &mut effects) {
                    self.polled(polled, now, &mut effects);
                }
            }
            Input::Handled(answers) => self.handled(answers, now, &mut effects),
            Input::Panicked(reason) => self.panicked(&reason, now, &mut effects),
            Input::Published(answer) => {
                if let Some(outcomes) = self.answered(answer, now, &mut effects) {
                    self.published(outcomes, now, &mut effects);
                }
            }
            Input::Committed(answer) => {
                if self.answered(answer, now, &mut effects).is_some() {
                    self.in_flight.stored();
                }
            }
            Input::Rebuilt(answer) => self.must_rebuild = self.answered(answer, now, &mut effects).is_none(),
            Input::Skip(positions) => self.skips = positions,
            Input::Rest => {
                self.resting = true;
                self.unknown_since_ms.get_or_insert(now.elapsed_ms);
            }
            Input::GoOn => self.resting = false,
            Input::Stop => {
                self.in_flight.abandon_waiting();
                let until_ms = now.elapsed_ms + self.config.drain_timeout_ms;
                self.draining_until_ms.get_or_insert(until_ms);
            }
        }
        self.skip(&mut effects);
        self.pass_done(now);
        self.go_on(now, &mut effects);
        effects
    }

    /// When the next [`Input::Tick`] is due.
    pub fn next_wake_ms(&self) -> Option<u64> {
        if self.stopped {
            return None;
        }
        let own_ms = [self.in_flight.next_due_ms(), self.store_due_ms(), self.gathering_until_ms];
        let next_ms = || own_ms.into_iter().flatten().min();
        let held_ms = || self.pause.until_ms().into_iter().chain(self.stuck.until_ms()).max();
        let due = (self.busy == Busy::No).then(|| held_ms().or_else(next_ms)).flatten();
        due.into_iter().chain(self.draining_until_ms).min()
    }

    /// How far the level is behind: the age of the oldest message that it has in flight, or for how long nobody could tell
    /// whether there are more, because the log was away or the group was told to rest.
    pub fn lag_ms(&self, now: Moment) -> u64 {
        let oldest_ms = self.in_flight.oldest().map_or(0, |oldest| millis(now.wall.since(oldest)));
        let unknown_ms = self.unknown_since_ms.map_or(0, |since_ms| now.elapsed_ms.saturating_sub(since_ms));
        oldest_ms.max(unknown_ms)
    }

    /// Whether nothing is in flight, and nothing done is left to be stored.
    pub fn is_idle(&self) -> bool {
        self.in_flight.is_empty() && !self.in_flight.has_unstored()
    }

    fn answered<T>(&mut self, answer: Result<T, Outage>, now: Moment, effects: &mut Vec<Effect>) -> Option<T> {
        match answer {
            Ok(value) => {
                if self.pause.is_away() {
                    self.pause.end();
                    effects.push(Effect::Note(Note::Resumed));
                }
                Some(value)
            }
            Err(outage) => {
                self.pause_for(outage, now, effects);
                None
            }
        }
    }

    fn pause_for(&mut self, outage: Outage, now: Moment, effects: &mut Vec<Effect>) {
        self.pause.begin(now.elapsed_ms, &self.config.outage_backoff, &mut self.chance);
        effects.push(Effect::Note(Note::Paused(outage)));
    }

    fn polled(&mut self, polled: Polled, now: Moment, effects: &mut Vec<Effect>) {
        match polled {
            Polled::Deliveries(_) if self.draining_until_ms.is_some() => {}
            Polled::Deliveries(deliveries) => {
                let delay_ms = self.rung.and_then(|place| self.config.ladder.0.get(place)).map(|rung| rung.delay_ms);
                for delivery in deliveries {
                    let wait_ms = delay_ms.map_or(0, |delay_ms| ladder::wait_ms(&delivery.message, delay_ms, now));
                    self.in_flight.push(delivery, now.elapsed_ms + wait_ms);
                }
            }
            Polled::Revoked(partitions) => {
                effects.push(Effect::Note(Note::Revoked(partitions.len())));
                self.in_flight.drop_from_first_waiting(&partitions);
                self.store_at_once = true;
            }
            Polled::FellBehind => {
                effects.push(Effect::Note(Note::FellBehind));
                self.must_rebuild = true;
            }
        }
    }

    fn handled(&mut self, answers: Vec<Result<Handled, HandlerError>>, now: Moment, effects: &mut Vec<Effect>) {
        let mut answers = answers.into_iter().peekable();
        let silent = answers.peek().is_none();
        let (mut applied, mut age_ms, mut retried, mut outage) = (0, 0, 0, None);
        for slot in self.in_flight.handling() {
            match answers.next() {
                Some(Ok(how)) => {
                    applied += 1;
                    age_ms = millis(now.wall.since(slot.delivery.message.occurred_at));
                    slot.state = State::Done { stored: how == Handled::DoneWithOffset };
                }
                Some(Err(error)) => {
                    let backoff = self.config.in_place_backoff.delay_ms(slot.attempts + 1, &mut self.chance);
                    if let HandlerError::Outage(away) = &error {
                        outage = Some(away.clone());
                    } else {
                        retried += 1;
                    }
                    slot.failed(error, self.config.attempts_in_place, now.elapsed_ms + backoff);
                }
                // Not an answer at all: counted, or a handler that never answers would be asked for ever.
                None if silent => {
                    let error = HandlerError::Failed("the handler gave no answer".to_owned());
                    slot.failed(error, self.config.attempts_in_place, now.elapsed_ms);
                }
                None => slot.state = State::Waiting { not_before_ms: 0 },
            }
        }
        if applied > 0 {
            effects.push(Effect::Note(Note::Applied { count: applied, age_ms }));
        }
        if retried > 0 {
            effects.push(Effect::Note(Note::RetriedInPlace(retried)));
        }
        match outage {
            Some(outage) => self.pause_for(outage, now, effects),
            None if self.pause.is_away() => {
                self.pause.end();
                effects.push(Effect::Note(Note::Resumed));
            }
            None => {}
        }
        self.abandon_waiting_if_draining();
    }

    fn panicked(&mut self, reason: &str, now: Moment, effects: &mut Vec<Effect>) {
        if self.in_flight.handling().count() > 1 {
            // Nobody knows which one it was. None is counted; each is tried alone.
            self.singly = true;
            self.in_flight.handling().for_each(|slot| slot.state = State::Waiting { not_before_ms: 0 });
            self.abandon_waiting_if_draining();
        } else {
            self.handled(vec![Err(HandlerError::Failed(format!("the handler panicked: {reason}")))], now, effects);
        }
    }

    fn published(&mut self, outcomes: Vec<PublishOutcome>, now: Moment, effects: &mut Vec<Effect>) {
        let mut stuck = None;
        let last_rung = self.rung.map_or(0, |place| place + 1) >= self.config.ladder.0.len();
        for (slot, outcome) in self.in_flight.leaving().zip(outcomes) {
            let State::Leaving { reason, exit } = &slot.state else { continue };
            let climbs = *exit == Exit::Rung && !last_rung;
            match outcome {
                PublishOutcome::Published => {
                    let (key, reason) = (slot.delivery.message.key.clone(), reason.clone());
                    let topic = slot.delivery.position.topic.clone();
                    effects.push(Effect::Note(if climbs {
                        Note::Retried { topic, key, reason }
                    } else {
                        Note::DeadLettered { topic, key, reason }
                    }));
                    slot.state = State::Done { stored: false };
                }
                // The rung does not take it; the dead letters get the raw bytes.
                PublishOutcome::Rejected(refusal) if climbs => {
                    let reason = format!("{reason}; and the next rung refused it: {refusal}");
                    slot.state = State::Leaving { reason, exit: Exit::Letter };
                }
                // Nor do the dead letters; the beginning of it they do take.
                PublishOutcome::Rejected(refusal) if *exit != Exit::Excerpt => {
                    let reason = format!("{reason}; and the dead letters refused it whole: {refusal}");
                    slot.state = State::Leaving { reason, exit: Exit::Excerpt };
                }
                PublishOutcome::Rejected(refusal) => {
                    stuck.get_or_insert((slot.delivery.position.clone(), refusal));
                }
            }
        }
        match stuck {
            Some((record, reason)) => {
                self.stuck.begin(now.elapsed_ms, &self.config.outage_backoff, &mut self.chance);
                if self.stuck_at.as_ref() != Some(&record) {
                    self.stuck_at = Some(record.clone());
                    effects.push(Effect::Note(Note::Stuck { record, reason }));
                }
            }
            None => self.unstuck(effects),
        }
    }

    fn unstuck(&mut self, effects: &mut Vec<Effect>) {
        self.stuck.end();
        if self.stuck_at.take().is_some() {
            effects.push(Effect::Note(Note::Unstuck));
        }
    }

    /// Passes over what an operator gave up. Not while it is being published: the answers are for those that left.
    fn skip(&mut self, effects: &mut Vec<Effect>) {
        if self.skips.is_empty() || self.busy == Busy::Publishing {
            return;
        }
        for delivery in self.in_flight.skip(&self.skips) {
            let (record, key) = (delivery.position, delivery.message.key);
            if self.stuck_at.as_ref() == Some(&record) {
                self.unstuck(effects);
            }
            effects.push(Effect::Note(Note::Skipped { record, key }));
        }
    }

    fn abandon_waiting_if_draining(&mut self) {
        if self.draining_until_ms.is_some() {
            self.in_flight.abandon_waiting();
        }
    }

    /// Lets go of what is done, and starts the clock by which it is stored.
    fn pass_done(&mut self, now: Moment) {
        self.in_flight.pass_done();
        if self.in_flight.has_unstored() {
            self.unstored_since_ms.get_or_insert(now.elapsed_ms);
        } else {
            self.unstored_since_ms = None;
            // What is still with the handler may yet be done, and is stored at once as well.
            self.store_at_once &= !self.in_flight.is_empty();
        }
    }

    /// When what is done is to be stored.
    fn store_due_ms(&self) -> Option<u64> {
        let at_once = self.store_at_once || self.resting || self.draining_until_ms.is_some();
        let wait_ms = if at_once { 0 } else { self.config.commit_interval_ms };
        self.unstored_since_ms.map(|since_ms| since_ms.saturating_add(wait_ms))
    }

    fn go_on(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        self.pause.pass(now.elapsed_ms);
        self.stuck.pass(now.elapsed_ms);
        if self.stopped {
            return;
        }
        if self.draining_until_ms.is_some_and(|until_ms| now.elapsed_ms >= until_ms) {
            // Not stored means delivered again; nothing is lost by giving up here.
            self.in_flight.clear();
            self.stop(effects);
            return;
        }
        if self.busy != Busy::No || self.pause.holds(now.elapsed_ms) || self.stuck.holds(now.elapsed_ms) {
            return;
        }
        match self.next(now) {
            Some((busy, effect)) => {
                self.busy = busy;
                effects.push(effect);
            }
            None if self.draining_until_ms.is_some() => self.stop(effects),
            None => {}
        }
    }

    /// What comes next. What leaves for the ladder goes first: an offset is never stored past it.
    fn next(&mut self, now: Moment) -> Option<(Busy, Effect)> {
        let draining = self.draining_until_ms.is_some();
        if !self.subscribed {
            return (!draining).then_some((Busy::Subscribing, Effect::Subscribe));
        }
        let leaving = self.leaving_messages(now);
        if !leaving.is_empty() {
            return Some((Busy::Publishing, Effect::Publish(leaving)));
        }
        if self.must_rebuild && !draining {
            return Some((Busy::Rebuilding, Effect::Rebuild));
        }
        let due = self.in_flight.take_due(now.elapsed_ms, if self.singly { 1 } else { self.config.batch_max });
        if !due.is_empty() {
            let gathers = self.config.gather_ms > 0 && due.len() < self.config.batch_max;
            self.gathering_until_ms = gathers.then(|| now.elapsed_ms + self.config.gather_ms);
            return Some((Busy::Handling, Effect::Handle(due)));
        }
        if self.store_due_ms().is_some_and(|due_ms| now.elapsed_ms >= due_ms) {
            return Some((Busy::Committing, Effect::Commit(self.in_flight.committable())));
        }
        self.singly &= !self.in_flight.is_empty();
        if self.gathering_until_ms.is_some_and(|until_ms| now.elapsed_ms < until_ms) {
            return None;
        }
        self.gathering_until_ms = None;
        let room = self.config.batch_max.saturating_sub(self.in_flight.len());
        (!draining && !self.resting && room > 0)
            .then(|| (Busy::Polling, Effect::Poll { max: room, max_wait_ms: self.poll_wait_ms(now) }))
    }

    /// A poll ends in time for the next delivery that waits, and for what is to be stored.
    fn poll_wait_ms(&self, now: Moment) -> u64 {
        let due_ms = self.in_flight.next_due_ms().into_iter().chain(self.store_due_ms()).min();
        let until_due_ms = due_ms.map(|due_ms| due_ms.saturating_sub(now.elapsed_ms));
        until_due_ms.map_or(self.config.poll_wait_ms, |wait_ms| wait_ms.min(self.config.poll_wait_ms))
    }

    fn leaving_messages(&mut self, now: Moment) -> Vec<Message> {
        let group = self.config.group.clone();
        let next = self.config.ladder.0.get(self.rung.map_or(0, |place| place + 1)).cloned();
        let topics = &self.config.topics;
        let climb = |slot: &mut Slot| {
            let State::Leaving { reason, exit } = &slot.state else { return None };
            let (mut message, record) = (slot.delivery.message.clone(), &slot.delivery.position);
            // Where it was read says where it belongs; a header is whatever its writer wrote.
            let is_first =
                |topic: &&String| **topic == record.topic || ladder::is_rung_of(&record.topic, topic, &group);
            if let Some(first) = topics.iter().find(is_first) {
                message.set_header(header::ORIGINAL_TOPIC, first.as_str());
            }
            let attempts = ladder::attempts_before(&message).saturating_add(slot.attempts);
            Some(match (exit, &next) {
                (Exit::Rung, Some(rung)) => ladder::onto_rung(&message, &group, rung, attempts, reason, now),
                (Exit::Excerpt, _) => ladder::excerpt(&message, &group, attempts, reason, record),
                _ => ladder::into_dead_letters(&message, &group, attempts, reason),
            })
        };
        self.in_flight.leaving().filter_map(climb).collect()
    }

    fn stop(&mut self, effects: &mut Vec<Effect>) {
        self.stopped = true;
        effects.push(Effect::Stopped);
    }
}
