//! The coordinator as a step function: when to beat, when to look, and what the answers mean for the assignment.

use crate::coordinator::{Assignment, CoordinatorConfig, shards_for};
use crate::{InstanceId, Moment, Outage};

/// What happens to the coordinator.
#[derive(Debug)]
pub enum Input {
    /// Time has passed.
    Tick,
    /// Who lives, in answer to [`Effect::Beat`] or [`Effect::Read`].
    Living(Result<Vec<InstanceId>, Outage>),
    /// The answer to [`Effect::Leave`].
    Left(Result<(), Outage>),
    /// Leave and finish.
    Stop,
}

/// What the coordinator wants done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Say that this instance lives, and ask who else does.
    Beat,
    /// Ask who lives.
    Read,
    /// These are the shards to serve from now on.
    Assign(Assignment),
    /// Say that this instance is gone.
    Leave,
    /// The store went away (true) or came back (false).
    StoreAway(bool),
    /// Nothing more will come.
    Stopped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Serving,
    Leaving,
    Stopped,
}

/// The coordinator's state. At most one question is under way at a time.
#[derive(Debug)]
pub struct Machine {
    config: CoordinatorConfig,
    me: InstanceId,
    phase: Phase,
    asking: bool,
    assignment: Assignment,
    store_away: bool,
    beat_at_ms: u64,
    read_at_ms: u64,
}

impl Machine {
    /// A coordinator that serves nothing until it has been seen alive.
    pub fn new(config: CoordinatorConfig, me: InstanceId) -> Self {
        Self {
            config,
            me,
            phase: Phase::Serving,
            asking: false,
            assignment: Assignment::NONE,
            store_away: false,
            beat_at_ms: 0,
            read_at_ms: 0,
        }
    }

    /// The shards served now.
    pub fn assignment(&self) -> Assignment {
        self.assignment
    }

    /// When the next [`Input::Tick`] is due.
    pub fn next_wake_ms(&self) -> Option<u64> {
        (self.phase == Phase::Serving && !self.asking).then(|| self.beat_at_ms.min(self.read_at_ms))
    }

    /// Takes one input and says what is to be done.
    pub fn step(&mut self, input: Input, now: Moment) -> Vec<Effect> {
        let mut effects = Vec::new();
        match input {
            Input::Tick => {}
            Input::Living(answer) => {
                self.asking = false;
                self.learn(answer, now, &mut effects);
            }
            Input::Left(_) => self.finish(&mut effects),
            Input::Stop => self.leave(&mut effects),
        }
        self.ask(now, &mut effects);
        effects
    }

    fn learn(&mut self, answer: Result<Vec<InstanceId>, Outage>, now: Moment, effects: &mut Vec<Effect>) {
        let away = answer.is_err();
        if away != self.store_away {
            self.store_away = away;
            effects.push(Effect::StoreAway(away));
        }
        // Unreachable: nobody else can learn anything either, so the last assignment stays in force.
        let Ok(living) = answer else { return };
        if self.phase != Phase::Serving {
            return;
        }
        if !living.contains(&self.me) {
            // The others have shared out these shards already. Come back at once, as a newcomer.
            self.beat_at_ms = now.elapsed_ms;
        }
        self.assign(shards_for(&living, &self.me), effects);
    }

    fn assign(&mut self, assignment: Assignment, effects: &mut Vec<Effect>) {
        if assignment != self.assignment {
            self.assignment = assignment;
            effects.push(Effect::Assign(assignment));
        }
    }

    fn ask(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        if self.phase != Phase::Serving || self.asking {
            return;
        }
        if now.elapsed_ms >= self.beat_at_ms {
            self.asking = true;
            self.beat_at_ms = now.elapsed_ms + self.config.heartbeat_ms;
            self.read_at_ms = now.elapsed_ms + self.config.reread_ms;
            effects.push(Effect::Beat);
        } else if now.elapsed_ms >= self.read_at_ms {
            self.asking = true;
            self.read_at_ms = now.elapsed_ms + self.config.reread_ms;
            effects.push(Effect::Read);
        }
    }

    fn leave(&mut self, effects: &mut Vec<Effect>) {
        if self.phase == Phase::Serving {
            self.phase = Phase::Leaving;
            self.assign(Assignment::NONE, effects);
            effects.push(Effect::Leave);
        }
    }

    fn finish(&mut self, effects: &mut Vec<Effect>) {
        if self.phase == Phase::Leaving {
            self.phase = Phase::Stopped;
            effects.push(Effect::Stopped);
        }
    }
}

#[cfg(test)]
mod tests {
    use madang_kernel::Timestamp;

    use super::*;

    fn at(ms: u64) -> Moment {
        Moment::new(ms, Timestamp::from_millis(0))
    }

    fn living(names: &[&str]) -> Input {
        Input::Living(Ok(names.iter().copied().map(InstanceId::new).collect()))
    }

    fn machine() -> Machine {
        Machine::new(CoordinatorConfig::default(), InstanceId::new("a"))
    }

    #[test]
    fn it_beats_every_three_seconds_and_looks_every_half() {
        let mut machine = machine();
        let mut asked = Vec::new();
        for ms in (0..=6_000).step_by(100) {
            for effect in machine.step(Input::Tick, at(ms)) {
                asked.push((ms, effect));
                machine.step(living(&["a"]), at(ms));
            }
        }
        let beats: Vec<u64> = asked.iter().filter(|(_, e)| *e == Effect::Beat).map(|(ms, _)| *ms).collect();
        assert_eq!(beats, [0, 3_000, 6_000]);
        assert_eq!(asked.len(), 13);
    }

    #[test]
    fn a_store_that_is_away_leaves_the_last_assignment_in_force() {
        let mut machine = machine();
        machine.step(Input::Tick, at(0));
        assert_eq!(machine.step(living(&["a"]), at(1)), [Effect::Assign(Assignment::ALL)]);
        machine.step(Input::Tick, at(500));
        let away = machine.step(Input::Living(Err(Outage::new("redis", "refused"))), at(501));
        assert_eq!(away, [Effect::StoreAway(true)]);
        assert_eq!(machine.assignment(), Assignment::ALL);
        machine.step(Input::Tick, at(3_600_000));
        assert_eq!(machine.step(living(&["a"]), at(3_600_001))[0], Effect::StoreAway(false));
    }

    #[test]
    fn one_that_was_declared_dead_serves_nothing_until_it_is_back() {
        let mut machine = machine();
        machine.step(Input::Tick, at(0));
        machine.step(living(&["a"]), at(1));
        machine.step(Input::Tick, at(500));
        let effects = machine.step(living(&["b"]), at(501));
        assert_eq!(effects, [Effect::Assign(Assignment::NONE), Effect::Beat], "it comes back at once");
        assert_eq!(machine.step(living(&["a", "b"]), at(502)), [Effect::Assign(Assignment::of(0..32))]);
    }

    #[test]
    fn leaving_gives_the_shards_up_first() {
        let mut machine = machine();
        machine.step(Input::Tick, at(0));
        machine.step(living(&["a"]), at(1));
        assert_eq!(machine.step(Input::Stop, at(2)), [Effect::Assign(Assignment::NONE), Effect::Leave]);
        assert_eq!(machine.step(living(&["a"]), at(3)), [], "a late answer changes nothing");
        assert_eq!(machine.step(Input::Left(Ok(())), at(4)), [Effect::Stopped]);
        assert_eq!(machine.step(Input::Tick, at(10_000)), []);
    }
}
