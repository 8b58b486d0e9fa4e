//! How far a check has come, and what it tells.

use super::CheckFinding;

/// How far a check has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckProgress {
    /// Parts compared: boards, shards, servers or days, as the service's data lie.
    pub parts_done: u64,
    /// Parts to compare.
    pub parts: u64,
    /// Rows compared so far.
    pub rows: u64,
}

/// What a check of one service found.
#[derive(Debug, Clone, Default)]
pub struct CheckReport {
    /// What is wrong; empty on a sound site, and cut off at 1,000.
    pub findings: Vec<CheckFinding>,
    /// Boards compared.
    pub boards: u64,
    /// Articles compared with their counters and blocks.
    pub articles: u64,
    /// Comments compared with their counters, marks of deleted ones included.
    pub comments: u64,
    /// Likes compared with their counters.
    pub likes: u64,
    /// View counts compared.
    pub view_counts: u64,
    /// Scores compared with their counts.
    pub hot_scores: u64,
    /// Rows of articles that are gone and wait to be cleaned up: none once the service has heard of every deletion.
    pub awaiting_clean_up: u64,
    /// Rows of the tables that must stay bounded.
    pub sizes: Sizes,
}

impl CheckReport {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }

    /// Rows compared.
    pub fn rows(&self) -> u64 {
        self.articles + self.comments + self.likes + self.view_counts + self.hot_scores
    }
}

/// Rows of the tables that must stay bounded, on all servers of a service together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sizes {
    /// Messages that wait for a relay.
    pub outbox: u64,
    /// Events that consumer groups remember.
    pub inbox: u64,
    /// Answers to idempotency keys.
    pub idempotency: u64,
    /// Messages given up.
    pub dead_letters: u64,
    /// Ended sessions and changed roles.
    pub revocations: u64,
}
