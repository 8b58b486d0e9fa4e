//! The simulated world: one queue of happenings in time, processes that send requests, parts that answer or do not.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use madang_kernel::Id;
use madang_messaging::{Message, consumer, coordinator, relay};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use crate::cache::Cache;
use crate::checker::{Violation, check, overdue};
use crate::content::{self, Nature};
use crate::faults::{ANSWER_TIMEOUT_MS, Fate, Faults, Part, Protections};
use crate::log::{LevelKey, Log};
use crate::membership::Register;
use crate::parts::unanswered;
use crate::process::{DEAD_AFTER_MS, Process};
use crate::requests::{Reply, Request, Unit};
use crate::store::Store;
use crate::trace::Trace;

/// A process silent for so long loses its partitions, in milliseconds.
const SESSION_TIMEOUT_MS: u64 = 4_000;
/// So long after the last fault whatever is healthy has been applied, in milliseconds.
const HEALTHY_WITHIN_MS: u64 = 40_000;
/// So long after the last fault everything is at rest, in milliseconds.
const REST_WITHIN_MS: u64 = 240_000;

/// Not in step with anything that a process does every second, or it might be caught in the act each time.
const LOOK_EVERY_MS: u64 = 677;
/// A run that takes so many is going round in circles.
const HAPPENINGS_MAX: u64 = 300_000;

/// How one run ended.
#[derive(Debug)]
pub struct Outcome {
    /// What was broken.
    pub violations: Vec<Violation>,
    /// Messages committed.
    pub committed: usize,
    /// Rows that a process claimed whose shards had another owner by then: it had slept past its lease.
    pub claimed_past_lease: u64,
    /// Steps taken.
    pub steps: u64,
    /// The same for the same seed.
    pub fingerprint: u64,
    /// What happened, if it was recorded.
    pub trace: Vec<String>,
}

/// Plays one seed.
pub fn run(seed: u64, protections: Protections) -> Outcome {
    World::new(seed, protections, Trace::default()).play()
}

/// Plays one seed and keeps what happened.
pub fn run_recorded(seed: u64, protections: Protections) -> Outcome {
    World::new(seed, protections, Trace::recording()).play()
}

pub(crate) enum Happening {
    Begin,
    Commit { process: usize, incarnation: u32, messages: Vec<(Message, Nature)> },
    Wake { process: usize, incarnation: u32, unit: Unit },
    Arrive { from: Sender, request: Request, fate: Fate },
    Answer { to: Sender, reply: Reply },
    PollEnds { from: Sender },
    Restart { process: usize },
    Pause { process: usize },
    Rest { process: usize },
    Sleepwalk { process: usize },
    Read { key: String },
    Expel { process: usize, incarnation: u32 },
    ClockStep { process: usize },
    LookForOverdue,
    LookForRest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sender {
    pub(crate) process: usize,
    pub(crate) incarnation: u32,
    pub(crate) unit: Unit,
}

pub(crate) struct Waiting {
    pub(crate) from: Sender,
    pub(crate) level: LevelKey,
    pub(crate) max: usize,
    pub(crate) until_ms: u64,
}

pub(crate) struct World {
    pub(crate) now_ms: u64,
    pub(crate) chance: SmallRng,
    pub(crate) protections: Protections,
    faults: Faults,
    pub(crate) store: Store,
    pub(crate) log: Log,
    pub(crate) cache: Cache,
    pub(crate) claimed_past_lease: u64,
    pub(crate) register: Register,
    pub(crate) processes: Vec<Process>,
    queue: BinaryHeap<Reverse<(u64, u64, usize)>>,
    /// What is to happen, in places that are used again: most of it is over soon, and memory that is warm is quick.
    happenings: Vec<Option<Happening>>,
    free: Vec<usize>,
    /// How many have been planned; what is planned first happens first at the same moment.
    planned: u64,
    pub(crate) waiting: Vec<Waiting>,
    next_id: i64,
    pub(crate) overdue: BTreeSet<(usize, i64)>,
    pub(crate) at_rest: bool,
    over: bool,
    trace: Trace,
}

impl World {
    fn new(seed: u64, protections: Protections, trace: Trace) -> Self {
        let mut chance = SmallRng::seed_from_u64(seed);
        let faults = Faults::drawn(&mut chance);
        let processes = (0..chance.random_range(2..4)).map(|number| Process::boot(number, 0, 0, &mut chance)).collect();
        let mut world = Self {
            now_ms: 0,
            chance,
            protections,
            faults,
            store: Store::default(),
            log: Log::default(),
            cache: Cache::default(),
            claimed_past_lease: 0,
            register: Register::default(),
            processes,
            queue: BinaryHeap::new(),
            happenings: Vec::new(),
            free: Vec::new(),
            planned: 0,
            waiting: Vec::new(),
            next_id: 1,
            overdue: BTreeSet::new(),
            at_rest: false,
            over: false,
            trace,
        };
        world.plan();
        world
    }

    fn plan(&mut self) {
        let end_ms = self.faults.end_ms;
        for _ in 0..self.chance.random_range(15..40) {
            let at_ms = self.chance.random_range(0..end_ms);
            self.push(at_ms, Happening::Begin);
        }
        for _ in 0..self.chance.random_range(0..4) {
            let process = self.chance.random_range(0..self.processes.len());
            let at_ms = self.chance.random_range(0..end_ms);
            let step = self.chance.random_bool(0.4);
            self.push(at_ms, if step { Happening::ClockStep { process } } else { Happening::Pause { process } });
        }
        for _ in 0..self.chance.random_range(0..3) {
            let process = self.chance.random_range(0..self.processes.len());
            let at_ms = self.chance.random_range(0..end_ms);
            self.push(at_ms, Happening::Rest { process });
        }
        if self.chance.random_bool(0.5) {
            let process = self.chance.random_range(0..self.processes.len());
            let at_ms = self.chance.random_range(0..end_ms / 2);
            self.push(at_ms, Happening::Sleepwalk { process });
        }
        for _ in 0..self.chance.random_range(10..30) {
            let at_ms = self.chance.random_range(0..end_ms);
            let key = content::key(&mut self.chance);
            self.push(at_ms, Happening::Read { key });
        }
        self.push(end_ms + HEALTHY_WITHIN_MS, Happening::LookForOverdue);
        self.push(end_ms + 6_000, Happening::LookForRest);
        for process in 0..self.processes.len() {
            self.start(process);
        }
    }

    fn play(mut self) -> Outcome {
        let limit_ms = self.faults.end_ms + REST_WITHIN_MS;
        while let Some(Reverse((at_ms, _, place))) = self.queue.pop() {
            if self.over || at_ms > limit_ms || self.planned > HAPPENINGS_MAX {
                break;
            }
            self.now_ms = at_ms;
            if let Some(happening) = self.happenings[place].take() {
                self.free.push(place);
                self.happen(happening);
            }
        }
        Outcome {
            violations: check(&self),
            committed: self.store.committed.len(),
            claimed_past_lease: self.claimed_past_lease,
            steps: self.trace.steps,
            fingerprint: self.trace.fingerprint(),
            trace: self.trace.into_lines(),
        }
    }

    pub(crate) fn push(&mut self, at_ms: u64, happening: Happening) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.happenings.push(None);
            self.happenings.len() - 1
        });
        self.happenings[place] = Some(happening);
        self.planned += 1;
        self.queue.push(Reverse((at_ms, self.planned, place)));
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Begin => self.begin(),
            Happening::Commit { process, incarnation, messages } => self.commit(process, incarnation, messages),
            Happening::Wake { process, incarnation, unit } => self.wake(process, incarnation, unit),
            Happening::Arrive { from, request, fate } => self.arrive(from, &request, fate),
            Happening::Answer { to, reply } => self.answer(to, reply),
            Happening::PollEnds { from } => self.poll_ends(from),
            Happening::Restart { process } => {
                let incarnation = self.processes[process].incarnation;
                self.processes[process] = Process::boot(process, incarnation, self.now_ms, &mut self.chance);
                self.trace.note(self.now_ms, process, "restarts", i64::from(incarnation));
                self.start(process);
            }
            Happening::Pause { process } => self.pause(process),
            Happening::Rest { process } => self.rest(process),
            Happening::Sleepwalk { process } => self.sleepwalk(process),
            Happening::Read { key } => {
                if let Some(process) = self.awake() {
                    self.send(process, Unit::Reader, Request::Look { key });
                }
            }
            Happening::Expel { process, incarnation } => {
                let owner = &self.processes[process];
                if !owner.up || owner.paused_until_ms > self.now_ms && owner.incarnation == incarnation {
                    self.log.expel(process);
                }
            }
            Happening::ClockStep { process } => {
                self.processes[process].skew_ms = self.chance.random_range(-3_600_000..3_600_000);
                self.trace.note(self.now_ms, process, "has its clock set", self.processes[process].skew_ms);
            }
            Happening::LookForOverdue => self.overdue = overdue(self),
            Happening::LookForRest => self.look_for_rest(),
        }
    }

    fn look_for_rest(&mut self) {
        let rest = self.store.is_drained() && self.log.is_read() && self.processes.iter().all(Process::is_idle);
        let rest = rest && !self.somebody_reads();
        self.at_rest = rest;
        self.over = rest;
        self.push(self.now_ms + LOOK_EVERY_MS, Happening::LookForRest);
    }

    fn start(&mut self, process: usize) {
        for unit in self.processes[process].units() {
            self.deliver(process, unit, tick(unit));
        }
    }

    /// Whether a reader is still on its way: what it brings may change the cache.
    fn somebody_reads(&self) -> bool {
        self.happenings.iter().flatten().any(|happening| match happening {
            Happening::Arrive { from, .. } => from.unit == Unit::Reader,
            Happening::Answer { to, .. } => to.unit == Unit::Reader,
            _ => false,
        })
    }

    /// One of the processes that are up and not asleep.
    fn awake(&mut self) -> Option<usize> {
        let awake: Vec<usize> = (0..self.processes.len())
            .filter(|number| self.processes[*number].up && self.processes[*number].paused_until_ms <= self.now_ms)
            .collect();
        (!awake.is_empty()).then(|| awake[self.chance.random_range(0..awake.len())])
    }

    fn begin(&mut self) {
        let Some(process) = self.awake() else { return };
        let shard = self.chance.random_range(0..64);
        let mut messages = Vec::new();
        for _ in 0..self.chance.random_range(1..4) {
            let message = content::message(self.next_id, shard, self.now_ms, &mut self.chance);
            self.next_id += 1;
            messages.push((message, Nature::drawn(&mut self.chance)));
        }
        // Who changes something looks at it, often before the change has come through.
        let (key, soon_ms) = (messages[0].0.key.clone(), self.chance.random_range(0..60));
        self.push(self.now_ms + soon_ms, Happening::Read { key });
        // Ids are drawn here, the commit comes later: that is how a late commit slips below an id cursor.
        let slow = self.chance.random_bool(0.15);
        let takes_ms = if slow { self.chance.random_range(100..4_000) } else { self.chance.random_range(1..20) };
        let incarnation = self.processes[process].incarnation;
        self.push(self.now_ms + takes_ms, Happening::Commit { process, incarnation, messages });
    }

    fn commit(&mut self, process: usize, incarnation: u32, messages: Vec<(Message, Nature)>) {
        let fate = self.faults.fate(true, self.now_ms, &mut self.chance);
        let gone = !self.processes[process].up || self.processes[process].incarnation != incarnation;
        let away = self.faults.away(Part::Store, self.now_ms);
        if gone || away || fate == Fate::Lost || self.chance.random_bool(0.05) {
            return;
        }
        if fate == Fate::CrashBefore {
            return self.crash(process);
        }
        self.trace.note(self.now_ms, process, "commits", messages[0].0.event_id.raw());
        self.store.commit(&messages, self.protections.outbox, self.now_ms);
        if fate == Fate::CrashAfter {
            return self.crash(process);
        }
        let messages: Vec<Message> = messages.into_iter().map(|(message, _)| message).collect();
        if !self.protections.outbox {
            self.send(process, Unit::Writer, Request::Publish(messages));
        } else if fate != Fate::AnswerLost {
            let to = Sender { process, incarnation, unit: Unit::Relay };
            self.push(self.now_ms, Happening::Answer { to, reply: Reply::Relay(relay::Input::HandedOver(messages)) });
        }
    }

    fn wake(&mut self, process: usize, incarnation: u32, unit: Unit) {
        let owner = &mut self.processes[process];
        if !owner.up || owner.incarnation != incarnation {
            return;
        }
        if owner.paused_until_ms > self.now_ms {
            let resumes_ms = owner.paused_until_ms;
            self.push(resumes_ms, Happening::Answer { to: Sender { process, incarnation, unit }, reply: tick(unit) });
        } else if owner.takes_wake(unit, self.now_ms) {
            self.deliver(process, unit, tick(unit));
        }
    }

    fn answer(&mut self, to: Sender, reply: Reply) {
        let owner = &self.processes[to.process];
        if !owner.up || owner.incarnation != to.incarnation {
            return;
        }
        if owner.paused_until_ms > self.now_ms {
            let resumes_ms = owner.paused_until_ms;
            self.push(resumes_ms, Happening::Answer { to, reply });
        } else {
            self.deliver(to.process, to.unit, reply);
        }
    }

    fn deliver(&mut self, process: usize, unit: Unit, reply: Reply) {
        let asked = self.processes[process].deliver(unit, reply, self.now_ms);
        for unit in [unit, Unit::Relay] {
            if let Some(at_ms) = self.processes[process].new_wake(unit) {
                let incarnation = self.processes[process].incarnation;
                self.push(at_ms.max(self.now_ms), Happening::Wake { process, incarnation, unit });
            }
        }
        for (unit, request) in asked {
            if self.processes[process].up {
                self.send(process, unit, request);
            }
        }
    }

    fn send(&mut self, process: usize, unit: Unit, request: Request) {
        let fate = self.faults.fate(request.is_weighty(), self.now_ms, &mut self.chance);
        self.trace.note(self.now_ms, process, request.name(), fate as i64);
        let from = Sender { process, incarnation: self.processes[process].incarnation, unit };
        let delay_ms = self.faults.delay_ms(self.now_ms, &mut self.chance);
        match fate {
            Fate::CrashBefore => self.crash(process),
            Fate::Lost => {
                let reply = unanswered(unit, &request);
                self.push(self.now_ms + ANSWER_TIMEOUT_MS, Happening::Answer { to: from, reply });
            }
            _ => {
                if fate == Fate::Doubled
                    && let Request::Publish(_) = request
                {
                    let later_ms = self.now_ms + self.chance.random_range(1..2_000);
                    let echo = Sender { unit: Unit::Writer, ..from };
                    self.push(later_ms, Happening::Arrive { from: echo, request: request.clone(), fate: Fate::Fine });
                }
                self.push(self.now_ms + delay_ms, Happening::Arrive { from, request, fate });
            }
        }
    }

    fn arrive(&mut self, from: Sender, request: &Request, fate: Fate) {
        let alive = self.processes[from.process].up && self.processes[from.process].incarnation == from.incarnation;
        let level = if let Unit::Level(group, level) = from.unit { (group, level) } else { (0, 0) };
        // What only concerns the asker is void when it is gone, and what it did not hear did not happen.
        if matches!(request, Request::Poll { .. } | Request::Join) && !alive {
            return;
        }
        let lost_poll = fate == Fate::AnswerLost && matches!(request, Request::Poll { .. });
        let cut_off = request.part() == Part::Membership && self.processes[from.process].cut_off_until_ms > self.now_ms;
        let reply = if self.faults.away(request.part(), self.now_ms) || cut_off || lost_poll {
            Some(unanswered(from.unit, request))
        } else {
            self.perform(from, level, request, fate)
        };
        match (fate, reply) {
            (Fate::CrashAfter, _) if alive => self.crash(from.process),
            (Fate::AnswerLost, Some(_)) => {
                let reply = unanswered(from.unit, request);
                self.push(self.now_ms + ANSWER_TIMEOUT_MS, Happening::Answer { to: from, reply });
            }
            (_, Some(reply)) => {
                let delay_ms = self.faults.delay_ms(self.now_ms, &mut self.chance);
                self.push(self.now_ms + delay_ms, Happening::Answer { to: from, reply });
            }
            (_, None) => {}
        }
    }

    fn crash(&mut self, process: usize) {
        let owner = &mut self.processes[process];
        if !owner.up {
            return;
        }
        owner.up = false;
        owner.incarnation += 1;
        let incarnation = owner.incarnation;
        self.trace.note(self.now_ms, process, "crashes", i64::from(incarnation));
        let down_ms = self.chance.random_range(200..8_000);
        self.push(self.now_ms + SESSION_TIMEOUT_MS, Happening::Expel { process, incarnation });
        self.push(self.now_ms + down_ms, Happening::Restart { process });
    }

    fn pause(&mut self, process: usize) {
        let length_ms = self.chance.random_range(1_000..15_000);
        self.sleep(process, length_ms);
    }

    /// It sleeps past its lease, and when it wakes up it cannot reach the membership store: it goes on with its shards
    /// beside their new owner until it can.
    fn sleepwalk(&mut self, process: usize) {
        let length_ms = self.chance.random_range(DEAD_AFTER_MS + 500..DEAD_AFTER_MS + 4_000);
        let alone_ms = self.chance.random_range(1_000..12_000);
        self.processes[process].cut_off_until_ms = (self.now_ms + length_ms + alone_ms).min(self.faults.end_ms);
        self.sleep(process, length_ms);
    }

    fn sleep(&mut self, process: usize, length_ms: u64) {
        let owner = &mut self.processes[process];
        owner.paused_until_ms = self.now_ms + length_ms;
        let incarnation = owner.incarnation;
        self.trace.note(self.now_ms, process, "sleeps", length_ms as i64);
        self.push(self.now_ms + SESSION_TIMEOUT_MS, Happening::Expel { process, incarnation });
    }

    /// Its operator has the consumers of a process rest for a while; a restart forgets it. One that sleeps hears nothing,
    /// so that a group that was paused is always resumed after it.
    fn rest(&mut self, process: usize) {
        let length_ms = self.chance.random_range(500..8_000);
        let owner = &self.processes[process];
        if !owner.up || owner.paused_until_ms > self.now_ms {
            return;
        }
        let (incarnation, units) = (owner.incarnation, owner.units());
        self.trace.note(self.now_ms, process, "has its consumers rest", length_ms as i64);
        for unit in units.into_iter().filter(|unit| matches!(unit, Unit::Level(..))) {
            self.deliver(process, unit, Reply::Level(consumer::Input::Rest));
            let to = Sender { process, incarnation, unit };
            let reply = Reply::Level(consumer::Input::GoOn);
            self.push(self.now_ms + length_ms, Happening::Answer { to, reply });
        }
    }
}

fn tick(unit: Unit) -> Reply {
    match unit {
        Unit::Coordinator => Reply::Coordinator(coordinator::Input::Tick),
        Unit::Relay => Reply::Relay(relay::Input::Tick),
        Unit::Level(..) => Reply::Level(consumer::Input::Tick),
        Unit::Writer | Unit::Reader => Reply::Nothing,
    }
}
