//! What goes wrong, when and how often; and which protections stand.

use rand::RngExt;
use rand::rngs::SmallRng;

/// The protections, each of which can be taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protections {
    /// The message commits with the change. Off: it is published directly after the commit.
    pub outbox: bool,
    /// The effect happens once per group and event. Off: each delivery is applied.
    pub inbox: bool,
    /// Offsets are stored after the work. Off: as soon as deliveries are handed out.
    pub offset_after_work: bool,
    /// Unsent rows are found by their state. Off: by "id greater than the last".
    pub state_select: bool,
    /// The projection keeps the newest version of a key. Off: what arrives last.
    pub merge_by_version: bool,
    /// The cache refuses what is older than its last invalidation. Off: whoever fills it last wins.
    pub versioned_fill: bool,
}

impl Protections {
    /// Nothing removed.
    pub const ALL: Self = Self {
        outbox: true,
        inbox: true,
        offset_after_work: true,
        state_select: true,
        merge_by_version: true,
        versioned_fill: true,
    };

    /// All but one.
    #[must_use]
    pub fn without(protection: Protection) -> Self {
        let mut left = Self::ALL;
        *match protection {
            Protection::Outbox => &mut left.outbox,
            Protection::Inbox => &mut left.inbox,
            Protection::OffsetAfterWork => &mut left.offset_after_work,
            Protection::StateSelect => &mut left.state_select,
            Protection::MergeByVersion => &mut left.merge_by_version,
            Protection::VersionedFill => &mut left.versioned_fill,
        } = false;
        left
    }
}

/// One protection, to be named on the command line and in tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// See [`Protections::outbox`].
    Outbox,
    /// See [`Protections::inbox`].
    Inbox,
    /// See [`Protections::offset_after_work`].
    OffsetAfterWork,
    /// See [`Protections::state_select`].
    StateSelect,
    /// See [`Protections::merge_by_version`].
    MergeByVersion,
    /// See [`Protections::versioned_fill`].
    VersionedFill,
}

impl Protection {
    /// Every one.
    pub const ALL: [Self; 6] = [
        Self::Outbox,
        Self::Inbox,
        Self::OffsetAfterWork,
        Self::StateSelect,
        Self::MergeByVersion,
        Self::VersionedFill,
    ];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Outbox => "outbox",
            Self::Inbox => "inbox",
            Self::OffsetAfterWork => "offset-after-work",
            Self::StateSelect => "state-select",
            Self::MergeByVersion => "merge-by-version",
            Self::VersionedFill => "versioned-fill",
        }
    }

    /// What happens in its place.
    #[must_use]
    pub fn instead(self) -> &'static str {
        match self {
            Self::Outbox => "published directly after the commit",
            Self::Inbox => "every delivery is applied",
            Self::OffsetAfterWork => "the offset is stored before the work",
            Self::StateSelect => "unsent rows are found by an id cursor",
            Self::MergeByVersion => "the projection takes what arrives last",
            Self::VersionedFill => "a slow reader fills whatever it read",
        }
    }
}

/// Parts that can be away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Store,
    Log,
    Membership,
    Cache,
}

impl Part {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Log => "log",
            Self::Membership => "membership",
            Self::Cache => "cache",
        }
    }
}

/// What becomes of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It arrives and its answer too.
    Fine,
    /// It never arrives.
    Lost,
    /// It arrives, its answer does not.
    AnswerLost,
    /// The process dies before it is sent.
    CrashBefore,
    /// The process dies when it has arrived.
    CrashAfter,
    /// It arrives twice.
    Doubled,
}

/// Crashes in one run at most; below the attempts a row has, since a crash may cost it one.
const CRASHES_MAX: u32 = 5;
/// How long somebody waits for an answer that does not come, in milliseconds.
pub(crate) const ANSWER_TIMEOUT_MS: u64 = 3_000;

/// The plan of one run.
pub(crate) struct Faults {
    /// From here on nothing goes wrong any more.
    pub(crate) end_ms: u64,
    outages: Vec<(Part, u64, u64)>,
    crashes: u32,
}

impl Faults {
    pub(crate) fn drawn(chance: &mut SmallRng) -> Self {
        let end_ms = chance.random_range(15_000..30_000);
        let outages = (0..chance.random_range(0..4))
            .map(|_| {
                let part =
                    [Part::Store, Part::Log, Part::Log, Part::Membership, Part::Cache][chance.random_range(0..5)];
                let from = chance.random_range(0..end_ms);
                (part, from, (from + chance.random_range(200..15_000)).min(end_ms))
            })
            .collect();
        Self { end_ms, outages, crashes: 0 }
    }

    /// Whether `part` is away.
    pub(crate) fn away(&self, part: Part, now_ms: u64) -> bool {
        self.outages.iter().any(|(away, from, to)| *away == part && (*from..*to).contains(&now_ms))
    }

    /// The fate of a request; `weighty` ones change something, and are hit more often.
    pub(crate) fn fate(&mut self, weighty: bool, now_ms: u64, chance: &mut SmallRng) -> Fate {
        if now_ms >= self.end_ms {
            return Fate::Fine;
        }
        let roll = chance.random_range(0..1_000);
        let fate = match (weighty, roll) {
            (true, 0..25) => Fate::CrashBefore,
            (true, 25..50) => Fate::CrashAfter,
            (true, 50..90) => Fate::Lost,
            (true, 90..150) => Fate::AnswerLost,
            (true, 150..200) => Fate::Doubled,
            (false, 0..2) => Fate::CrashBefore,
            (false, 2..4) => Fate::CrashAfter,
            (false, 4..14) => Fate::Lost,
            (false, 14..24) => Fate::AnswerLost,
            _ => Fate::Fine,
        };
        match fate {
            Fate::CrashBefore | Fate::CrashAfter if self.crashes >= CRASHES_MAX => Fate::Fine,
            Fate::CrashBefore | Fate::CrashAfter => {
                self.crashes += 1;
                fate
            }
            other => other,
        }
    }

    /// How long a request or an answer is under way, in milliseconds: mostly short, sometimes not.
    pub(crate) fn delay_ms(&self, now_ms: u64, chance: &mut SmallRng) -> u64 {
        if now_ms < self.end_ms && chance.random_range(0..50) == 0 {
            chance.random_range(100..2_500)
        } else {
            chance.random_range(1..8)
        }
    }
}
