//! What comes next for a shard on its way: a pure function of what the servers say. A command that ends anywhere, however it
//! ends, is followed by one that looks and goes on; nothing is remembered but what the databases have.

/// How far a move is, as the server says that the shard goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Both servers know of it.
    Begun,
    /// The new server has no rows of the shard.
    Cleared,
    /// Some rows are copied.
    Copying,
    /// All rows are copied; what changed meanwhile is on record.
    Copied,
    /// Everything was compared at one moment; what changed since is on record.
    Verified,
    /// The new server is the owner: only forward from here.
    Switched,
}

impl Phase {
    const ALL: [Self; 6] = [Self::Begun, Self::Cleared, Self::Copying, Self::Copied, Self::Verified, Self::Switched];

    /// As it is stored.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Begun => 1,
            Self::Cleared => 2,
            Self::Copying => 3,
            Self::Copied => 4,
            Self::Verified => 5,
            Self::Switched => 6,
        }
    }

    pub(crate) fn of_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.number() == number)
    }

    /// What an operator is told.
    pub fn name(self) -> &'static str {
        match self {
            Self::Begun => "begun",
            Self::Cleared | Self::Copying => "copying",
            Self::Copied => "catching up",
            Self::Verified => "compared",
            Self::Switched => "switched, old copy not removed yet",
        }
    }
}

/// What the servers say about a shard that is to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Facts {
    /// As the new server says; `None` where there is no move.
    pub(crate) phase: Option<Phase>,
    /// Whether the new server is the owner already, by its own copy of the map.
    pub(crate) is_there: bool,
    /// Whether every change of the shard is put on record by the old server.
    pub(crate) is_watched: bool,
    /// Whether the old server takes no writes for it.
    pub(crate) is_fenced: bool,
    /// Whether every server that responds knows the new owner.
    pub(crate) is_told: bool,
    /// Whether every server does.
    pub(crate) is_told_to_all: bool,
    /// Whether the new owner takes writes.
    pub(crate) is_open: bool,
    /// Whether the old copy has been kept for long enough.
    pub(crate) is_old: bool,
}

/// One step. Each can be interrupted anywhere and done again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Put the move on record, on both servers, and tell all of them.
    Begin,
    /// Remove what the new server has of the shard from before.
    Clear,
    /// Have every change put on record.
    Watch,
    /// Copy the next slice.
    Copy,
    /// Catch up, and compare everything at one moment.
    Verify,
    /// Catch up, then take no more writes at the old server.
    Fence,
    /// Apply and compare the last changes; then the new server is the owner.
    HandOver,
    /// Take writes at the old server again.
    Lift,
    /// Copy anew: changes have not been put on record all the time.
    Restart,
    /// Tell every server of the new owner.
    Tell,
    /// Have the new owner take writes, once every process knows of it.
    Open,
    /// No longer put changes on record.
    Unwatch,
    /// Keep the old copy for a while yet.
    Wait,
    /// Remove the old copy, and the record of the move.
    Release,
    /// A server must know first which does not respond.
    Untold,
    /// There is nothing to do.
    Done,
}

/// What comes next.
pub(crate) fn next(facts: &Facts) -> Step {
    use Phase::{Begun, Cleared, Copied, Copying, Switched, Verified};
    let Some(phase) = facts.phase else { return if facts.is_there { Step::Done } else { Step::Begin } };
    match phase {
        Begun | Cleared | Copying | Copied if facts.is_fenced => Step::Lift,
        Verified if facts.is_fenced && !facts.is_watched => Step::Lift,
        Begun => Step::Clear,
        Cleared if !facts.is_watched => Step::Watch,
        Copying | Copied | Verified if !facts.is_watched => Step::Restart,
        Cleared | Copying => Step::Copy,
        Copied => Step::Verify,
        Verified if !facts.is_fenced => Step::Fence,
        Verified => Step::HandOver,
        Switched if !facts.is_told => Step::Tell,
        Switched if !facts.is_open => Step::Open,
        Switched if facts.is_watched => Step::Unwatch,
        Switched if !facts.is_told_to_all => Step::Untold,
        Switched if !facts.is_old => Step::Wait,
        Switched => Step::Release,
    }
}

impl Step {
    /// Whether the shard is served by its new owner, and only the old copy is left to deal with.
    pub(crate) fn is_after_opening(self) -> bool {
        matches!(self, Self::Unwatch | Self::Wait | Self::Release | Self::Untold | Self::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Facts = Facts {
        phase: None,
        is_there: false,
        is_watched: false,
        is_fenced: false,
        is_told: false,
        is_told_to_all: false,
        is_open: false,
        is_old: false,
    };

    /// What a step that went well changes.
    fn done(step: Step, facts: Facts) -> Facts {
        let to = |phase| Facts { phase: Some(phase), ..facts };
        match step {
            Step::Begin | Step::Restart => to(Phase::Begun),
            Step::Clear => to(Phase::Cleared),
            Step::Watch => Facts { is_watched: true, ..facts },
            Step::Copy if facts.phase == Some(Phase::Cleared) => to(Phase::Copying),
            Step::Copy => to(Phase::Copied),
            Step::Verify => to(Phase::Verified),
            Step::Fence => Facts { is_fenced: true, ..facts },
            Step::Lift => Facts { is_fenced: false, ..facts },
            Step::HandOver => Facts { is_there: true, ..to(Phase::Switched) },
            Step::Tell => Facts { is_told: true, is_told_to_all: true, ..facts },
            Step::Open => Facts { is_open: true, ..facts },
            Step::Unwatch => Facts { is_watched: false, ..facts },
            Step::Wait => Facts { is_old: true, ..facts },
            Step::Release => Facts { phase: None, ..facts },
            Step::Untold | Step::Done => facts,
        }
    }

    fn path(mut facts: Facts) -> Vec<Step> {
        let mut steps = Vec::new();
        loop {
            let step = next(&facts);
            steps.push(step);
            if matches!(step, Step::Done | Step::Untold) || steps.len() > 30 {
                return steps;
            }
            facts = done(step, facts);
        }
    }

    /// All that could be found, whoever left it.
    fn all_facts() -> impl Iterator<Item = Facts> {
        let phases = std::iter::once(None).chain(Phase::ALL.map(Some));
        phases.flat_map(|phase| {
            (0..128_u8).map(move |bits| {
                let bit = |number: u8| bits & (1 << number) != 0;
                Facts {
                    phase,
                    is_there: bit(0),
                    is_watched: bit(1),
                    is_fenced: bit(2),
                    is_told: bit(3),
                    is_told_to_all: bit(3) && bit(4),
                    is_open: bit(5),
                    is_old: bit(6),
                }
            })
        })
    }

    #[test]
    fn a_move_goes_its_way() {
        use Step::*;
        assert_eq!(
            path(NOTHING),
            [Begin, Clear, Watch, Copy, Copy, Verify, Fence, HandOver, Tell, Open, Unwatch, Wait, Release, Done]
        );
    }

    #[test]
    fn from_whatever_is_found_every_move_ends() {
        for facts in all_facts() {
            let steps = path(facts);
            assert!(matches!(steps.last(), Some(Step::Done | Step::Untold)), "{facts:?}: {steps:?}");
        }
    }

    #[test]
    fn nothing_is_handed_over_that_was_not_compared_watched_and_fenced() {
        for facts in all_facts().filter(|facts| next(facts) == Step::HandOver) {
            assert!(facts.phase == Some(Phase::Verified) && facts.is_watched && facts.is_fenced, "{facts:?}");
        }
    }

    #[test]
    fn past_the_commit_point_nothing_goes_back() {
        let back = [Step::Begin, Step::Clear, Step::Lift, Step::Restart, Step::Copy, Step::Fence, Step::HandOver];
        for facts in all_facts().filter(|facts| facts.phase == Some(Phase::Switched)) {
            assert!(!back.contains(&next(&facts)), "{facts:?}");
        }
    }

    #[test]
    fn a_copy_is_removed_only_once_all_know_it_is_old_and_its_successor_is_open() {
        for facts in all_facts().filter(|facts| next(facts) == Step::Release) {
            assert!(facts.is_told_to_all && facts.is_open && facts.is_old && !facts.is_watched, "{facts:?}");
        }
    }

    #[test]
    fn writers_wait_only_for_the_last_changes() {
        for facts in all_facts().filter(|facts| facts.is_fenced && facts.phase.is_some_and(|at| at < Phase::Switched)) {
            assert!([Step::HandOver, Step::Lift].contains(&next(&facts)), "{facts:?}");
        }
    }
}
