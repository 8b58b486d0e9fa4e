//! The relay as a step function: claim, publish, delete, three steps one can read, and what each failure means.

use std::collections::{HashMap, HashSet, VecDeque};

use madang_kernel::{EventId, ShardId};

use super::RelayConfig;
use super::in_flight::{Owed, Ready, Recent, Row};
use super::step::{Effect, Input, Note};
use crate::backoff::Pause;
use crate::{Assignment, Chance, Message, Moment, Outage, OutboxRow, PublishOutcome};

/// Events whose fate in the log is unknown, remembered to count their duplicates.
const UNKNOWN_MAX: usize = 4_096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Serving,
    /// Until then what is in flight is published; afterwards only what is owed is written.
    Draining {
        until_ms: Option<u64>,
    },
    Stopped,
}

/// The relay's state.
#[derive(Debug)]
pub struct Machine {
    config: RelayConfig,
    chance: Chance,
    phase: Phase,
    assignment: Assignment,
    ready: Ready,
    publishing: Vec<Row>,
    owed: Owed,
    /// Every row that is ready, being published or owed to the outbox: none is taken in a second time.
    in_flight: HashSet<EventId>,
    /// Those of them that were claimed.
    claimed: HashSet<EventId>,
    parked: HashMap<String, u64>,
    unknown: Recent,
    log: Pause,
    outbox: Pause,
    /// Shards still to ask in this round, some at a time; those that came back full go to the end, one at a time.
    round: VecDeque<Vec<ShardId>>,
    round_at_ms: u64,
    claiming: Option<Claiming>,
}

#[derive(Debug)]
struct Claiming {
    shards: Vec<ShardId>,
    limit: usize,
    deadline_ms: u64,
}

impl Machine {
    /// A relay that polls nothing until it is assigned shards.
    pub fn new(config: RelayConfig, chance: Chance) -> Self {
        Self {
            config,
            chance,
            phase: Phase::Serving,
            assignment: Assignment::NONE,
            ready: Ready::default(),
            publishing: Vec::new(),
            owed: Owed::default(),
            in_flight: HashSet::new(),
            claimed: HashSet::new(),
            parked: HashMap::new(),
            unknown: Recent::up_to(UNKNOWN_MAX),
            log: Pause::default(),
            outbox: Pause::default(),
            round: VecDeque::new(),
            round_at_ms: 0,
            claiming: None,
        }
    }

    /// Takes one input and says what is to be done.
    pub fn step(&mut self, input: Input, now: Moment) -> Vec<Effect> {
        let now_ms = now.elapsed_ms;
        let mut effects = Vec::new();
        match input {
            Input::Tick => {}
            Input::HandedOver(messages) => self.take_over(messages, now_ms, &mut effects),
            Input::Assigned(assignment) => self.assign(assignment, now_ms),
            Input::Claimed(answer) => self.claimed(answer, now_ms, &mut effects),
            Input::Published(answer) => self.published(answer, now_ms, &mut effects),
            Input::Written(answer) => self.written(answer, now_ms, &mut effects),
            Input::Stop if self.phase == Phase::Serving => {
                self.phase = Phase::Draining { until_ms: Some(now_ms + self.config.drain_timeout_ms) };
            }
            Input::Stop => {}
        }
        self.go_on(now_ms, &mut effects);
        effects
    }

    /// When the next [`Input::Tick`] is due.
    pub fn next_wake_ms(&self) -> Option<u64> {
        let pauses = [self.log.until_ms(), self.outbox.until_ms()].into_iter().flatten().min();
        let own = match self.phase {
            Phase::Stopped => return None,
            Phase::Draining { until_ms } => until_ms,
            Phase::Serving => {
                // A pause puts polling off: waking for it meanwhile would spin.
                let polls = pauses.is_none() && self.claiming.is_none() && self.is_settled();
                (polls && self.round.is_empty() && !self.assignment.is_empty()).then_some(self.round_at_ms)
            }
        };
        let write = pauses.is_none().then(|| self.owed.due_ms()).flatten();
        pauses.into_iter().chain(own).chain(write).min()
    }

    /// Whether nothing is in flight and nothing under way.
    pub fn is_idle(&self) -> bool {
        self.ready.is_empty() && self.publishing.is_empty() && self.owed.is_empty() && self.claiming.is_none()
    }

    fn take_over(&mut self, messages: Vec<Message>, now_ms: u64, effects: &mut Vec<Effect>) {
        let deadline_ms = now_ms + self.config.batch_deadline_ms;
        let mut left = 0;
        for message in messages {
            let room = self.phase == Phase::Serving
                && !self.log.holds(now_ms)
                && self.ready.direct.len() < self.config.hand_over_max
                && self.parked.get(&message.key).is_none_or(|until| *until <= now_ms);
            if room && self.in_flight.insert(message.event_id) {
                self.ready.direct.push_back(Row { message, attempts: 0, deadline_ms });
            } else {
                left += 1;
            }
        }
        if left > 0 {
            effects.push(Effect::Note(Note::LeftToPolling(left)));
        }
    }

    fn assign(&mut self, assignment: Assignment, now_ms: u64) {
        self.assignment = assignment;
        self.round.clear();
        self.round_at_ms = now_ms;
    }

    fn claimed(&mut self, answer: Result<Vec<OutboxRow>, Outage>, now_ms: u64, effects: &mut Vec<Effect>) {
        let Some(claiming) = self.claiming.take() else { return };
        let rows = match answer {
            Ok(rows) => rows,
            Err(outage) => return self.outbox_away(outage, now_ms, effects),
        };
        self.outbox_back(effects);
        let (is_full, held) = (rows.len() >= claiming.limit, self.claimed.len());
        for row in rows {
            self.take_in(row, claiming.deadline_ms, effects);
        }
        // A claim that brought nothing new would bring the same again, at once and for ever.
        if is_full && self.claimed.len() > held {
            let served = claiming.shards.into_iter().filter(|shard| self.assignment.contains(*shard));
            self.round.extend(served.map(|shard| vec![shard]));
        }
    }

    fn take_in(&mut self, row: OutboxRow, deadline_ms: u64, effects: &mut Vec<Effect>) {
        let event_id = row.message.event_id;
        if !self.in_flight.insert(event_id) {
            // Claimed once more while it is in flight already: this claim is not an attempt of its own.
            self.owed.release(event_id);
            return;
        }
        self.claimed.insert(event_id);
        if row.attempts > self.config.untried_max {
            // It never came to an answer: each time, the relay that claimed it died.
            self.give_up(event_id, "no attempt came to an end".to_owned(), effects);
        } else {
            let attempts = row.attempts.max(1);
            self.ready.claimed.push_back(Row { message: row.message, attempts, deadline_ms });
        }
    }

    fn published(&mut self, answer: Result<Vec<PublishOutcome>, Outage>, now_ms: u64, effects: &mut Vec<Effect>) {
        let rows = std::mem::take(&mut self.publishing);
        let outcomes = match answer {
            Ok(outcomes) => outcomes,
            Err(outage) => {
                for row in &rows {
                    self.unknown.insert(row.message.event_id);
                }
                self.let_go(rows);
                return self.log_away(outage, now_ms, effects);
            }
        };
        if self.log.is_away() {
            self.log.end();
            effects.push(Effect::Note(Note::Resumed("log")));
        }
        let (mut published, mut duplicates, mut untold) = (0, 0, Vec::new());
        let mut outcomes = outcomes.into_iter();
        for row in rows {
            match outcomes.next() {
                Some(PublishOutcome::Published) => {
                    published += 1;
                    duplicates += usize::from(self.unknown.contains(row.message.event_id));
                    self.owed.delete(row.message.event_id, now_ms + self.config.delete_after_ms);
                }
                Some(PublishOutcome::Rejected(reason)) => self.refused(row, reason, now_ms, effects),
                None => untold.push(row),
            }
        }
        self.let_go(untold);
        for (count, note) in [(published, Note::Published(published)), (duplicates, Note::Duplicates(duplicates))] {
            if count > 0 {
                effects.push(Effect::Note(note));
            }
        }
    }

    fn refused(&mut self, row: Row, reason: String, now_ms: u64, effects: &mut Vec<Effect>) {
        let Row { message, attempts, .. } = row;
        if attempts >= self.config.attempts_max {
            return self.give_up(message.event_id, reason, effects);
        }
        let park_for_ms = self.config.park_backoff.delay_ms(attempts.max(1), &mut self.chance);
        if self.parked.len() >= self.config.parked_keys_max {
            self.parked.retain(|_, until| *until > now_ms);
        }
        if self.parked.len() < self.config.parked_keys_max {
            self.parked.insert(message.key.clone(), now_ms + park_for_ms);
        }
        self.owed.park(message.event_id, park_for_ms, reason.clone());
        effects.push(Effect::Note(Note::Parked { key: message.key, attempts, reason }));
    }

    fn give_up(&mut self, event_id: EventId, reason: String, effects: &mut Vec<Effect>) {
        self.owed.bury(event_id, reason.clone());
        effects.push(Effect::Note(Note::Buried { event_id, reason }));
    }

    fn written(&mut self, answer: Result<(), Outage>, now_ms: u64, effects: &mut Vec<Effect>) {
        match answer {
            Ok(()) => {
                for row in self.owed.settled() {
                    self.in_flight.remove(&row);
                    self.claimed.remove(&row);
                }
                self.outbox_back(effects);
            }
            Err(outage) => {
                self.owed.put_back();
                self.outbox_away(outage, now_ms, effects);
            }
        }
    }

    fn outbox_away(&mut self, outage: Outage, now_ms: u64, effects: &mut Vec<Effect>) {
        self.outbox.begin(now_ms, &self.config.outage_backoff, &mut self.chance);
        effects.push(Effect::Note(Note::Paused(outage)));
    }

    fn outbox_back(&mut self, effects: &mut Vec<Effect>) {
        if self.outbox.is_away() {
            self.outbox.end();
            effects.push(Effect::Note(Note::Resumed("outbox")));
        }
    }

    fn log_away(&mut self, outage: Outage, now_ms: u64, effects: &mut Vec<Effect>) {
        self.log.begin(now_ms, &self.config.outage_backoff, &mut self.chance);
        effects.push(Effect::Note(Note::Paused(outage)));
        // An outage may last for hours, longer than any claim or memory: the outbox keeps the rows.
        let rows: Vec<Row> = self.ready.direct.drain(..).chain(self.ready.claimed.drain(..)).collect();
        self.let_go(rows);
    }

    /// Rows that were not tried: claims are taken back, the rest is simply found by polling.
    fn let_go(&mut self, rows: Vec<Row>) {
        for row in rows {
            if row.is_claimed() {
                self.owed.release(row.message.event_id);
            } else {
                self.in_flight.remove(&row.message.event_id);
            }
        }
    }

    fn go_on(&mut self, now_ms: u64, effects: &mut Vec<Effect>) {
        self.log.pass(now_ms);
        self.outbox.pass(now_ms);
        if let Phase::Draining { until_ms: Some(until_ms) } = self.phase
            && now_ms >= until_ms
        {
            self.phase = Phase::Draining { until_ms: None };
            let rows: Vec<Row> = self.ready.direct.drain(..).chain(self.ready.claimed.drain(..)).collect();
            self.let_go(rows);
        }
        self.publish(now_ms, effects);
        if !self.outbox.holds(now_ms) && self.is_write_due(now_ms) {
            effects.extend(self.owed.begin(self.config.batch_max).map(Effect::Write));
        }
        self.claim(now_ms, effects);
        self.finish(effects);
    }

    /// Deletes wait for company, unless somebody waits for them: the next claim does for what was claimed.
    fn is_write_due(&self, now_ms: u64) -> bool {
        let is_waited_for = !self.claimed.is_empty() || self.phase != Phase::Serving;
        is_waited_for || self.owed.len() >= self.config.batch_max || self.owed.due_ms().is_some_and(|due| now_ms >= due)
    }

    fn publish(&mut self, now_ms: u64, effects: &mut Vec<Effect>) {
        let owing_too_much = self.owed.len() >= self.config.batch_max * 4;
        while self.publishing.is_empty() && !self.ready.is_empty() && !self.log.holds(now_ms) && !owing_too_much {
            let rows = self.ready.next_batch(self.config.batch_max);
            let assignment = self.assignment;
            let in_time =
                |row: &Row| now_ms < row.deadline_ms && (!row.is_claimed() || assignment.contains(row.message.shard));
            let (publishing, dropped): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(in_time);
            if !dropped.is_empty() {
                effects.push(Effect::Note(Note::Dropped(dropped.len())));
                self.let_go(dropped);
            }
            if !publishing.is_empty() {
                effects.push(Effect::Publish(publishing.iter().map(|row| row.message.clone()).collect()));
                self.publishing = publishing;
            }
        }
    }

    fn claim(&mut self, now_ms: u64, effects: &mut Vec<Effect>) {
        let busy = self.claiming.is_some() || !self.is_settled();
        if self.phase != Phase::Serving || busy || self.log.holds(now_ms) || self.outbox.holds(now_ms) {
            return;
        }
        if self.round.is_empty() && now_ms >= self.round_at_ms {
            let shards: Vec<ShardId> = self.assignment.shards().collect();
            self.round.extend(shards.chunks(self.config.claim_shards_max.max(1)).map(<[ShardId]>::to_vec));
            self.round_at_ms = now_ms + self.config.poll_every_ms;
        }
        let Some(shards) = self.round.pop_front() else { return };
        // While the log is away one row is enough to find out whether it is back.
        let limit = if self.log.is_away() { 1 } else { self.config.batch_max };
        let deadline_ms = now_ms + self.config.batch_deadline_ms;
        self.claiming = Some(Claiming { shards: shards.clone(), limit, deadline_ms });
        effects.push(Effect::Claim { shards, limit });
    }

    /// A claim does not hide rows from the next one, so whatever is claimed is settled first. So is a claim that is taken
    /// back: rows claimed again meanwhile would be counted each time, and released together only once.
    fn is_settled(&self) -> bool {
        self.claimed.is_empty() && !self.owed.has_releases()
    }

    fn finish(&mut self, effects: &mut Vec<Effect>) {
        let Phase::Draining { until_ms } = self.phase else { return };
        // Past the time-out an outbox that is away is not waited for: what is owed to it is found by polling.
        let hopeless = until_ms.is_none() && self.outbox.is_away();
        if self.is_idle() || hopeless {
            self.phase = Phase::Stopped;
            effects.push(Effect::Stopped);
        }
    }
}
