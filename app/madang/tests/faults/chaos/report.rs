//! What a run came to: faults by kind, and how long people could not write.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use super::fault::Fault;

/// A fault that happened.
pub(crate) struct Struck {
    pub(crate) fault: Fault,
    /// Writes that were acknowledged from its beginning until it was over.
    pub(crate) acknowledged: usize,
    /// The longest time without an acknowledged write to what it met: the shards of a database server, or any.
    pub(crate) without_writes: Duration,
}

/// A whole run.
pub(crate) struct Report {
    pub(crate) seed: u64,
    pub(crate) lasted: Duration,
    pub(crate) struck: Vec<Struck>,
    pub(crate) acknowledged: usize,
    pub(crate) refused: u64,
    pub(crate) lost: usize,
}

impl Report {
    /// As a page: a sentence, and a table.
    pub(crate) fn in_words(&self) -> String {
        let Self { seed, lasted, struck, acknowledged, refused, lost } = self;
        let mut text = format!(
            "Seed {seed}, {:.1} minutes, {} faults: {acknowledged} writes acknowledged, {refused} calls refused, {lost} lost.\n\n\
             | fault | times | acknowledged meanwhile | without writes, median | longest |\n|---|---|---|---|---|\n",
            lasted.as_secs_f64() / 60.0,
            struck.len()
        );
        let mut kinds: BTreeMap<Fault, Vec<&Struck>> = BTreeMap::new();
        for one in struck {
            kinds.entry(one.fault).or_default().push(one);
        }
        for (fault, of_kind) in kinds {
            let mut without: Vec<Duration> = of_kind.iter().map(|one| one.without_writes).collect();
            without.sort_unstable();
            let acknowledged: usize = of_kind.iter().map(|one| one.acknowledged).sum();
            let (median, longest) =
                (without[without.len() / 2].as_secs_f64(), without[without.len() - 1].as_secs_f64());
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "| {} | {} | {acknowledged} | {median:.1} s | {longest:.1} s |",
                fault.in_words(),
                of_kind.len()
            );
        }
        text
    }
}
