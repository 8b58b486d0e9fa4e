//! What a check is asked to do, how far it has come and what it tells.

use madang_hot_article::SiteDays;
use madang_messaging::GroupId;

use super::CheckFinding;

/// What to compare.
#[derive(Debug, Clone, Default)]
pub struct CheckOptions {
    /// Also have SQLite read every page of the file: slow on a large site.
    pub integrity: bool,
    /// Also compare what consumer groups keep with what it comes from; left out when nobody says who keeps it.
    pub derived: Option<CheckDerived>,
}

/// Which consumer groups keep derived data, and in which days the scores are counted. What is still in the backlog of a group is
/// no difference.
#[derive(Debug, Clone)]
pub struct CheckDerived {
    /// Cleans up comments of deleted articles.
    pub comment_group: GroupId,
    /// Cleans up their likes.
    pub like_group: GroupId,
    /// Cleans up their view counts.
    pub view_group: GroupId,
    /// Keeps the scores.
    pub hot_group: GroupId,
    /// The days of the site.
    pub days: SiteDays,
}

/// How far a check has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckProgress {
    /// Boards compared.
    pub boards_done: u64,
    /// Boards to compare.
    pub boards: u64,
    /// Articles read so far.
    pub articles: u64,
}

/// What a check found.
#[derive(Debug, Clone, Default)]
pub struct CheckReport {
    /// What is wrong; empty on a sound site, and cut off at 1,000.
    pub findings: Vec<CheckFinding>,
    /// Boards compared.
    pub boards: u64,
    /// Articles compared.
    pub articles: u64,
    /// Events compared with the articles they report, newest first.
    pub events: u64,
    /// Comments compared with their counters, marks of deleted ones included.
    pub comments: u64,
    /// Likes compared with their counters.
    pub likes: u64,
    /// View counts compared with their events.
    pub view_counts: u64,
    /// Scores compared with their counts.
    pub hot_scores: u64,
    /// Counters compared with the scores of the present day.
    pub hot_sources: u64,
    /// What could not be compared now, and why.
    pub left_out: Vec<String>,
    /// Rows of the tables that must stay bounded.
    pub sizes: Sizes,
}

impl CheckReport {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Rows of the tables that must stay bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sizes {
    /// Entries of the event log.
    pub log: u64,
    /// Idempotency records.
    pub idempotency: u64,
    /// Messages given up.
    pub dead_letters: u64,
    /// Ended sessions and changed roles.
    pub revocations: u64,
}
