//! Scores, and the counts they come from. Tallies merge in any order and any number of times to the same result.

/// What a like is worth.
pub const LIKE_WEIGHT: u64 = 3;
/// What a comment is worth.
pub const COMMENT_WEIGHT: u64 = 2;
/// What a view is worth.
pub const VIEW_WEIGHT: u64 = 1;

/// Counts stop here, which nobody reaches, so that a score always fits a signed 64-bit column.
pub const COUNT_MAX: u64 = 1 << 53;

const _: () = assert!((LIKE_WEIGHT + COMMENT_WEIGHT + VIEW_WEIGHT) * COUNT_MAX < i64::MAX as u64);

/// A count at its version. The greater version wins; versions of one counter never repeat with another count, and if one
/// did, the greater count would win, so that the order of arrival never matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Reading {
    version: u64,
    count: u64,
}

impl Reading {
    /// A count at its version. Version 0 is what is known before any event: nothing.
    pub fn new(count: u64, version: u64) -> Self {
        Self { version: version.min(i64::MAX as u64), count: count.min(COUNT_MAX) }
    }

    /// The count.
    pub fn count(self) -> u64 {
        self.count
    }

    /// Its version.
    pub fn version(self) -> u64 {
        self.version
    }
}

/// What is known of an article's day, each group with a version of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Members who like it.
    pub likes: Reading,
    /// Visible comments.
    pub comments: Reading,
    /// Views.
    pub views: Reading,
    /// 1 while a moderator has removed the article and may restore it, at the article's version: its counts are kept and
    /// score nothing.
    pub hidden: Reading,
}

impl Counts {
    /// Whether the article is removed, for now.
    pub fn is_hidden(&self) -> bool {
        self.hidden.count > 0
    }

    /// 3 for a like, 2 for a comment, 1 for a view; nothing while the article is removed.
    pub fn score(&self) -> u64 {
        if self.is_hidden() {
            return 0;
        }
        LIKE_WEIGHT * self.likes.count + COMMENT_WEIGHT * self.comments.count + VIEW_WEIGHT * self.views.count
    }
}

/// An article's part in its day: both what is stored and what an event adds to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tally {
    /// It counts.
    Live(Counts),
    /// It was deleted, for ever; its counts are of no interest any more.
    Gone,
}

impl Tally {
    /// Both together: the newer of each group, and gone when either is.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        match (self, other) {
            (Self::Live(mine), Self::Live(theirs)) => Self::Live(Counts {
                likes: mine.likes.max(theirs.likes),
                comments: mine.comments.max(theirs.comments),
                views: mine.views.max(theirs.views),
                hidden: mine.hidden.max(theirs.hidden),
            }),
            _ => Self::Gone,
        }
    }

    /// Whether the article is on no list: deleted, or removed for now.
    pub fn is_off(&self) -> bool {
        match self {
            Self::Live(counts) => counts.is_hidden(),
            Self::Gone => true,
        }
    }

    /// What of it concerns a day whose list is final: late counts change nothing any more, but what is deleted, removed or
    /// restored does.
    pub fn of_final_day(self) -> Option<Self> {
        match self {
            Self::Live(Counts { hidden, .. }) if hidden != Reading::default() => {
                Some(Self::Live(Counts { hidden, ..Counts::default() }))
            }
            Self::Live(_) => None,
            Self::Gone => Some(Self::Gone),
        }
    }

    /// The same counts, shown or not as the other has it.
    #[must_use]
    pub fn with_presence_of(self, other: Self) -> Self {
        match (self, other) {
            (Self::Live(counts), Self::Live(Counts { hidden, .. })) => Self::Live(Counts { hidden, ..counts }),
            _ => Self::Gone,
        }
    }

    /// The score; a deleted article has none.
    pub fn score(&self) -> u64 {
        match self {
            Self::Live(counts) => counts.score(),
            Self::Gone => 0,
        }
    }
}

impl Default for Tally {
    fn default() -> Self {
        Self::Live(Counts::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_like_is_worth_three_a_comment_two_a_view_one() {
        let (likes, comments, views) = (Reading::new(5, 1), Reading::new(7, 1), Reading::new(100, 1));
        let counts = Counts { likes, comments, views, hidden: Reading::default() };
        assert_eq!(counts.score(), 3 * 5 + 2 * 7 + 100);
        assert_eq!(Tally::Gone.score(), 0);
    }

    #[test]
    fn no_count_overflows_a_score() {
        let most = Reading::new(u64::MAX, u64::MAX);
        let score = Counts { likes: most, comments: most, views: most, hidden: Reading::default() }.score();
        assert!(i64::try_from(score).is_ok());
        assert!(i64::try_from(most.version()).is_ok());
    }

    #[test]
    fn a_score_falls_when_a_newer_count_does() {
        let older = Tally::Live(Counts { likes: Reading::new(9, 1), ..Counts::default() });
        let newer = Tally::Live(Counts { likes: Reading::new(2, 2), ..Counts::default() });
        assert_eq!((older.merge(newer).score(), newer.merge(older).score()), (6, 6));
    }

    #[test]
    fn what_is_removed_scores_nothing_until_it_is_restored_and_loses_no_count() {
        let liked = Tally::Live(Counts { likes: Reading::new(9, 3), ..Counts::default() });
        let hidden = |is_hidden: u64, version| {
            Tally::Live(Counts { hidden: Reading::new(is_hidden, version), ..Counts::default() })
        };
        let removed = liked.merge(hidden(1, 2));
        assert_eq!((removed.score(), removed.is_off()), (0, true));
        let restored = removed.merge(hidden(0, 3));
        assert_eq!((restored.score(), restored.merge(hidden(1, 2)).score()), (27, 27));
        assert_eq!(restored.merge(hidden(1, 4)).score(), 0);
        assert_eq!(restored.of_final_day(), Some(hidden(0, 3)));
        assert_eq!(liked.of_final_day(), None);
    }

    #[test]
    fn nothing_brings_a_deleted_article_back() {
        let liked = Tally::Live(Counts { likes: Reading::new(9, u64::MAX), ..Counts::default() });
        assert_eq!((Tally::Gone.merge(liked), liked.merge(Tally::Gone)), (Tally::Gone, Tally::Gone));
    }
}
