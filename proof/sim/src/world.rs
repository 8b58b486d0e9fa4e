//! The simulated world: one queue of happenings in time, processes that send requests, parts that answer or do not.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use madang_messaging::{HandlerError, Message, Outage, Polled, consumer, coordinator, relay};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use crate::checker::{Violation, check, overdue};
use crate::content::{self, Nature, TOPIC};
use crate::faults::{ANSWER_TIMEOUT_MS, Fate, Faults, Protections};
use crate::log::{LaneKey, Log};
use crate::membership::Register;
use crate::process::{Process, consumer_config, relay_config};
use crate::requests::{Request, Told, Unit};
use crate::store::{Refusal, Store};
use crate::trace::Trace;

const DEAD_AFTER_MS: u64 = 9_000;
/// A process silent for so long loses its partitions, in milliseconds.
const SESSION_TIMEOUT_MS: u64 = 4_000;
/// So long after the last fault whatever is healthy has been applied, in milliseconds.
const HEALTHY_WITHIN_MS: u64 = 40_000;
/// So long after the last fault everything is at rest, in milliseconds.
const REST_WITHIN_MS: u64 = 240_000;

/// Not in step with anything that a process does every second, or it might be caught in the act each time.
const LOOK_EVERY_MS: u64 = 677;
/// A run that takes so many is going round in circles.
const HAPPENINGS_MAX: usize = 300_000;

/// How one run ended.
#[derive(Debug)]
pub struct Outcome {
    /// What was broken.
    pub violations: Vec<Violation>,
    /// Messages committed.
    pub committed: usize,
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

enum Happening {
    Begin,
    Commit { process: usize, incarnation: u32, messages: Vec<(Message, Nature)> },
    Wake { process: usize, incarnation: u32, unit: Unit },
    Arrive { from: Sender, request: Request, fate: Fate },
    Answer { to: Sender, told: Told },
    PollEnds { from: Sender },
    Restart { process: usize },
    Pause { process: usize },
    Expel { process: usize, incarnation: u32 },
    ClockStep { process: usize },
    LookForOverdue,
    LookForRest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sender {
    process: usize,
    incarnation: u32,
    unit: Unit,
}

struct Waiting {
    from: Sender,
    lane: LaneKey,
    max: usize,
    until_ms: u64,
}

pub(crate) struct World {
    now_ms: u64,
    chance: SmallRng,
    protections: Protections,
    faults: Faults,
    pub(crate) store: Store,
    pub(crate) log: Log,
    register: Register,
    processes: Vec<Process>,
    queue: BinaryHeap<Reverse<(u64, u64, usize)>>,
    happenings: Vec<Option<Happening>>,
    waiting: Vec<Waiting>,
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
            register: Register::default(),
            processes,
            queue: BinaryHeap::new(),
            happenings: Vec::new(),
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
        self.push(end_ms + HEALTHY_WITHIN_MS, Happening::LookForOverdue);
        self.push(end_ms + 6_000, Happening::LookForRest);
        for process in 0..self.processes.len() {
            self.start(process);
        }
    }

    fn play(mut self) -> Outcome {
        let limit_ms = self.faults.end_ms + REST_WITHIN_MS;
        while let Some(Reverse((at_ms, _, place))) = self.queue.pop() {
            if self.over || at_ms > limit_ms || self.happenings.len() > HAPPENINGS_MAX {
                break;
            }
            self.now_ms = at_ms;
            if let Some(happening) = self.happenings[place].take() {
                self.happen(happening);
            }
        }
        Outcome {
            violations: check(&self),
            committed: self.store.committed.len(),
            steps: self.trace.steps,
            fingerprint: self.trace.fingerprint(),
            trace: self.trace.into_lines(),
        }
    }

    fn push(&mut self, at_ms: u64, happening: Happening) {
        let place = self.happenings.len();
        self.queue.push(Reverse((at_ms, place as u64, place)));
        self.happenings.push(Some(happening));
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Begin => self.begin(),
            Happening::Commit { process, incarnation, messages } => self.commit(process, incarnation, messages),
            Happening::Wake { process, incarnation, unit } => self.wake(process, incarnation, unit),
            Happening::Arrive { from, request, fate } => self.arrive(from, &request, fate),
            Happening::Answer { to, told } => self.answer(to, told),
            Happening::PollEnds { from } => self.poll_ends(from),
            Happening::Restart { process } => {
                let incarnation = self.processes[process].incarnation;
                self.processes[process] = Process::boot(process, incarnation, self.now_ms, &mut self.chance);
                self.trace.note(self.now_ms, process, "restarts", i64::from(incarnation));
                self.start(process);
            }
            Happening::Pause { process } => self.pause(process),
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
        self.at_rest = rest;
        self.over = rest;
        self.push(self.now_ms + LOOK_EVERY_MS, Happening::LookForRest);
    }

    fn start(&mut self, process: usize) {
        for unit in self.processes[process].units() {
            self.tell(process, unit, tick(unit));
        }
    }

    fn begin(&mut self) {
        let awake: Vec<usize> = (0..self.processes.len())
            .filter(|number| self.processes[*number].up && self.processes[*number].paused_until_ms <= self.now_ms)
            .collect();
        if awake.is_empty() {
            return;
        }
        let process = awake[self.chance.random_range(0..awake.len())];
        let shard = self.chance.random_range(0..64);
        let mut messages = Vec::new();
        for _ in 0..self.chance.random_range(1..4) {
            let message = content::message(self.next_id, shard, self.now_ms, &mut self.chance);
            self.next_id += 1;
            messages.push((message, Nature::drawn(&mut self.chance)));
        }
        // Ids are drawn here, the commit comes later: that is how a late commit slips below an id cursor.
        let slow = self.chance.random_bool(0.15);
        let takes_ms = if slow { self.chance.random_range(100..4_000) } else { self.chance.random_range(1..20) };
        let incarnation = self.processes[process].incarnation;
        self.push(self.now_ms + takes_ms, Happening::Commit { process, incarnation, messages });
    }

    fn commit(&mut self, process: usize, incarnation: u32, messages: Vec<(Message, Nature)>) {
        let fate = self.faults.fate(true, self.now_ms, &mut self.chance);
        let gone = !self.processes[process].up || self.processes[process].incarnation != incarnation;
        let away = self.faults.away(crate::faults::Part::Store, self.now_ms);
        if gone || away || fate == Fate::Lost || self.chance.random_bool(0.05) {
            return;
        }
        if fate == Fate::CrashBefore {
            return self.crash(process);
        }
        self.trace.note(self.now_ms, process, "commits", messages[0].0.event_id.to_string().len() as i64);
        self.store.commit(&messages, self.protections.outbox, self.now_ms);
        if fate == Fate::CrashAfter {
            return self.crash(process);
        }
        let messages: Vec<Message> = messages.into_iter().map(|(message, _)| message).collect();
        if !self.protections.outbox {
            self.send(process, Unit::Writer, Request::Publish(messages));
        } else if fate != Fate::AnswerLost {
            let to = Sender { process, incarnation, unit: Unit::Relay };
            self.push(self.now_ms, Happening::Answer { to, told: Told::Relay(relay::Input::HandedOver(messages)) });
        }
    }

    fn wake(&mut self, process: usize, incarnation: u32, unit: Unit) {
        let owner = &mut self.processes[process];
        if !owner.up || owner.incarnation != incarnation {
            return;
        }
        if owner.paused_until_ms > self.now_ms {
            let resumes_ms = owner.paused_until_ms;
            self.push(resumes_ms, Happening::Answer { to: Sender { process, incarnation, unit }, told: tick(unit) });
        } else if owner.takes_wake(unit, self.now_ms) {
            self.tell(process, unit, tick(unit));
        }
    }

    fn answer(&mut self, to: Sender, told: Told) {
        let owner = &self.processes[to.process];
        if !owner.up || owner.incarnation != to.incarnation {
            return;
        }
        if owner.paused_until_ms > self.now_ms {
            let resumes_ms = owner.paused_until_ms;
            self.push(resumes_ms, Happening::Answer { to, told });
        } else {
            self.tell(to.process, to.unit, told);
        }
    }

    fn tell(&mut self, process: usize, unit: Unit, told: Told) {
        let asked = self.processes[process].tell(unit, told, self.now_ms);
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
                let told = unanswered(unit, &request);
                self.push(self.now_ms + ANSWER_TIMEOUT_MS, Happening::Answer { to: from, told });
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
        let lane = if let Unit::Lane(group, lane) = from.unit { (group, lane) } else { (0, 0) };
        // What only concerns the asker is void when it is gone, and what it did not hear did not happen.
        if matches!(request, Request::Poll { .. } | Request::Join) && !alive {
            return;
        }
        let unheard = fate == Fate::AnswerLost && matches!(request, Request::Poll { .. });
        let told = if self.faults.away(request.part(), self.now_ms) || unheard {
            Some(unanswered(from.unit, request))
        } else {
            self.perform(from, lane, request, fate)
        };
        match (fate, told) {
            (Fate::CrashAfter, _) if alive => self.crash(from.process),
            (Fate::AnswerLost, Some(_)) => {
                let told = unanswered(from.unit, request);
                self.push(self.now_ms + ANSWER_TIMEOUT_MS, Happening::Answer { to: from, told });
            }
            (_, Some(told)) => {
                let delay_ms = self.faults.delay_ms(self.now_ms, &mut self.chance);
                self.push(self.now_ms + delay_ms, Happening::Answer { to: from, told });
            }
            (_, None) => {}
        }
    }

    /// Does what is asked; `None` when the answer comes later.
    fn perform(&mut self, from: Sender, lane: LaneKey, request: &Request, fate: Fate) -> Option<Told> {
        let now_ms = self.now_ms;
        Some(match request {
            Request::Beat | Request::Read => {
                if matches!(request, Request::Beat) {
                    self.register.beat(&self.processes[from.process].instance, now_ms);
                }
                Told::Coordinator(coordinator::Input::Living(Ok(self.register.living(DEAD_AFTER_MS, now_ms))))
            }
            Request::Claim { shards, limit } => {
                let by_state = self.protections.state_select;
                let rows = self.store.claim(shards, relay_config().min_age_ms, *limit, by_state, now_ms);
                Told::Relay(relay::Input::Claimed(Ok(rows)))
            }
            Request::Write(write) => {
                self.store.write(write, now_ms);
                Told::Relay(relay::Input::Written(Ok(())))
            }
            Request::Publish(messages) => self.publish(from.unit, messages),
            Request::Join => {
                let topics = &consumer_config(lane.0).lanes()[lane.1].topics;
                self.log.join(lane, topics, from.process);
                Told::Lane(consumer::Input::Subscribed(Ok(())))
            }
            Request::Poll { max, max_wait_ms } => {
                match self.log.poll(lane, from.process, *max, !self.protections.offset_after_work) {
                    Some(polled) => Told::Lane(consumer::Input::Polled(Ok(polled))),
                    None => {
                        let until_ms = now_ms + max_wait_ms;
                        self.waiting.push(Waiting { from, lane, max: *max, until_ms });
                        self.push(until_ms, Happening::PollEnds { from });
                        return None;
                    }
                }
            }
            Request::Handle(deliveries) => {
                let reach =
                    if fate == Fate::CrashAfter { self.chance.random_range(0..=deliveries.len()) } else { usize::MAX };
                Told::Lane(consumer::Input::Handled(self.handle(lane, &deliveries[..reach.min(deliveries.len())])))
            }
            Request::Commit(positions) => {
                self.log.commit(lane, from.process, positions);
                Told::Lane(consumer::Input::Committed(Ok(())))
            }
        })
    }

    fn publish(&mut self, unit: Unit, messages: &[Message]) -> Told {
        let mut outcomes = Vec::new();
        for message in messages {
            let known = self.store.committed.get(&message.event_id).map_or(Nature::Fine, |(_, nature)| *nature);
            let nature = if message.topic == TOPIC { known } else { Nature::Fine };
            outcomes.push(self.log.publish(message, nature));
        }
        self.wake_readers();
        match unit {
            Unit::Relay => Told::Relay(relay::Input::Published(Ok(outcomes))),
            Unit::Lane(..) => Told::Lane(consumer::Input::Published(Ok(outcomes))),
            Unit::Writer | Unit::Coordinator => Told::Nothing,
        }
    }

    fn wake_readers(&mut self) {
        for waiting in std::mem::take(&mut self.waiting) {
            let owner = &self.processes[waiting.from.process];
            if !owner.up || owner.incarnation != waiting.from.incarnation {
                continue;
            }
            let at_once = !self.protections.offset_after_work;
            match self.log.poll(waiting.lane, waiting.from.process, waiting.max, at_once) {
                Some(polled) => {
                    let told = Told::Lane(consumer::Input::Polled(Ok(polled)));
                    self.push(self.now_ms + 1, Happening::Answer { to: waiting.from, told });
                }
                None => self.waiting.push(waiting),
            }
        }
    }

    fn poll_ends(&mut self, from: Sender) {
        let now_ms = self.now_ms;
        if let Some(place) = self.waiting.iter().position(|one| one.from == from && one.until_ms <= now_ms) {
            self.waiting.swap_remove(place);
            let told = Told::Lane(consumer::Input::Polled(Ok(Polled::Deliveries(Vec::new()))));
            self.push(now_ms, Happening::Answer { to: from, told });
        }
    }

    /// The handlers: group 0 leaves the offset to the consumer, group 1 stores it with the effect.
    fn handle(
        &mut self,
        lane: LaneKey,
        deliveries: &[madang_messaging::Delivery],
    ) -> Vec<Result<madang_messaging::Handled, HandlerError>> {
        let stores_offsets = lane.0 == 1;
        let mut answers = Vec::new();
        for delivery in deliveries {
            let applied = self.store.apply(lane.0, &delivery.message, self.protections.inbox);
            answers.push(match applied {
                Ok(()) if stores_offsets => {
                    self.log.store_offset(lane, &delivery.position);
                    Ok(madang_messaging::Handled::DoneWithOffset)
                }
                Ok(()) => Ok(madang_messaging::Handled::Done),
                Err(Refusal::Failed) => Err(HandlerError::Failed("fails".to_owned())),
                Err(Refusal::Undecodable) => Err(HandlerError::Undecodable("not an event".to_owned())),
            });
            if stores_offsets && answers.last().is_some_and(Result::is_err) {
                break;
            }
        }
        answers
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
        let owner = &mut self.processes[process];
        owner.paused_until_ms = self.now_ms + length_ms;
        let incarnation = owner.incarnation;
        self.trace.note(self.now_ms, process, "sleeps", length_ms as i64);
        self.push(self.now_ms + SESSION_TIMEOUT_MS, Happening::Expel { process, incarnation });
    }
}

fn tick(unit: Unit) -> Told {
    match unit {
        Unit::Coordinator => Told::Coordinator(coordinator::Input::Tick),
        Unit::Relay => Told::Relay(relay::Input::Tick),
        Unit::Lane(..) => Told::Lane(consumer::Input::Tick),
        Unit::Writer => Told::Nothing,
    }
}

/// What a machine hears when a request of its stays without an answer.
fn unanswered(unit: Unit, request: &Request) -> Told {
    let away = || Outage::new(request.part().name(), "simulated");
    match (unit, request) {
        (Unit::Coordinator, _) => Told::Coordinator(coordinator::Input::Living(Err(away()))),
        (Unit::Relay, Request::Claim { .. }) => Told::Relay(relay::Input::Claimed(Err(away()))),
        (Unit::Relay, Request::Publish(_)) => Told::Relay(relay::Input::Published(Err(away()))),
        (Unit::Relay, _) => Told::Relay(relay::Input::Written(Err(away()))),
        (Unit::Lane(..), Request::Join) => Told::Lane(consumer::Input::Subscribed(Err(away()))),
        (Unit::Lane(..), Request::Poll { .. }) => Told::Lane(consumer::Input::Polled(Err(away()))),
        (Unit::Lane(..), Request::Handle(_)) => Told::Lane(consumer::Input::Handled(vec![Err(away().into())])),
        (Unit::Lane(..), Request::Publish(_)) => Told::Lane(consumer::Input::Published(Err(away()))),
        (Unit::Lane(..), _) => Told::Lane(consumer::Input::Committed(Err(away()))),
        (Unit::Writer, _) => Told::Nothing,
    }
}
