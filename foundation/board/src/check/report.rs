//! How far a check has come, and what it tells.

use std::collections::BTreeMap;
use std::fmt;

use super::CheckFinding;

/// Findings kept of one check; more of them would tell nothing new.
pub const FINDINGS_MAX: usize = 1_000;

/// How far a check has come, in whatever its store compares one after another: boards, shards, servers or days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckProgress {
    /// Compared so far.
    pub done: u64,
    /// To compare.
    pub total: u64,
}

/// What a check found.
#[derive(Debug, Clone, Default)]
pub struct CheckReport {
    /// What is wrong; empty on a sound site, and cut off at [`FINDINGS_MAX`].
    pub findings: Vec<CheckFinding>,
    /// Boards compared.
    pub boards: u64,
    /// Articles compared with their counters and blocks.
    pub articles: u64,
    /// Events compared with the articles they report, newest first.
    pub events: u64,
    /// Comments compared with their counters, marks of deleted ones included.
    pub comments: u64,
    /// Likes compared with their counters.
    pub likes: u64,
    /// View counts compared.
    pub view_counts: u64,
    /// Scores compared with their counts.
    pub hot_scores: u64,
    /// Counters compared with the scores of the present day.
    pub hot_sources: u64,
    /// Rows of deleted articles that wait to be cleaned up: none once the service has consumed every deletion.
    pub awaiting_clean_up: u64,
    /// What could not be compared now, and why.
    pub left_out: Vec<String>,
    /// Rows of the tables that must stay bounded.
    pub sizes: TableSizes,
}

impl CheckReport {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }

    /// Whether no more findings are kept, so that looking on is of no use.
    pub fn is_full(&self) -> bool {
        self.findings.len() >= FINDINGS_MAX
    }

    /// Rows compared.
    pub fn rows(&self) -> u64 {
        self.articles + self.comments + self.likes + self.view_counts + self.hot_scores
    }

    /// Keeps a finding, unless there are enough.
    pub fn found(&mut self, finding: impl Into<CheckFinding>) {
        if !self.is_full() {
            self.findings.push(finding.into());
        }
    }

    /// Adds what a check of another store of the same site found.
    pub fn add(&mut self, other: Self) {
        other.findings.into_iter().for_each(|finding| self.found(finding));
        self.boards += other.boards;
        self.articles += other.articles;
        self.events += other.events;
        self.comments += other.comments;
        self.likes += other.likes;
        self.view_counts += other.view_counts;
        self.hot_scores += other.hot_scores;
        self.hot_sources += other.hot_sources;
        self.awaiting_clean_up += other.awaiting_clean_up;
        self.left_out.extend(other.left_out);
        for (table, rows) in other.sizes.0 {
            self.sizes.add(table, rows);
        }
    }
}

/// Rows of the tables that must stay bounded, by what the tables hold; a store names those that it has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableSizes(BTreeMap<&'static str, u64>);

impl TableSizes {
    /// Entries of the event log.
    pub const EVENT_LOG: &str = "event log";
    /// Messages that wait for a relay.
    pub const OUTBOX: &str = "outbox";
    /// Processed events that consumer groups remember.
    pub const INBOX: &str = "inbox";
    /// Answers stored for idempotency keys.
    pub const IDEMPOTENCY: &str = "idempotency records";
    /// Messages given up.
    pub const DEAD_LETTERS: &str = "dead letters";
    /// Messages that a relay gave up, where those of consumers are kept elsewhere.
    pub const RELAY_DEAD_LETTERS: &str = "dead letters of relays";
    /// Ended sessions and changed roles.
    pub const REVOCATIONS: &str = "revocations";

    /// The rows of one kind; 0 where the store has no such table.
    pub fn of(&self, table: &str) -> u64 {
        self.0.get(table).copied().unwrap_or(0)
    }

    /// Adds rows of one kind.
    pub fn add(&mut self, table: &'static str, rows: u64) {
        *self.0.entry(table).or_default() += rows;
    }
}

impl<const N: usize> From<[(&'static str, u64); N]> for TableSizes {
    fn from(sizes: [(&'static str, u64); N]) -> Self {
        Self(BTreeMap::from(sizes))
    }
}

/// `dead letters 0, event log 12`: each kind with its rows.
impl fmt::Display for TableSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (table, rows)) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{table} {rows}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BoardId;
    use madang_kernel::Id as _;

    #[test]
    fn reports_of_several_stores_are_one_report() {
        let finding = CheckFinding::NoCounter { board_id: BoardId::from_raw(1) };
        let mut sum = CheckReport { boards: 1, sizes: [(TableSizes::OUTBOX, 2)].into(), ..CheckReport::default() };
        let sizes = [(TableSizes::OUTBOX, 3), (TableSizes::INBOX, 1)].into();
        sum.add(CheckReport { findings: vec![finding; FINDINGS_MAX + 1], boards: 2, sizes, ..CheckReport::default() });
        assert_eq!((sum.boards, sum.sizes.to_string()), (3, "inbox 1, outbox 5".to_owned()));
        assert!(sum.is_full() && !sum.is_sound() && sum.findings.len() == FINDINGS_MAX);
    }
}
