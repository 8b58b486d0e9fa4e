//! What a check is asked to do.

use madang_hot_article::SiteDays;
use madang_messaging::GroupId;

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
