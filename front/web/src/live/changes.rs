//! What changed in an open article: the newest count of each kind, and which comments are new. Merges by
//! version, so that neither the order of arrival nor a second arrival matters.

use std::collections::{BTreeSet, VecDeque};

use madang_board::CommentId;
use serde::{Deserialize, Serialize};

use super::Change;

/// New comments, edited ones, and deleted ones, that are sent one by one; who missed more loads the page again.
const CREATED_MAX: usize = 64;
/// Versions of the comment count whose change arrived; older ones count as sent.
const ARRIVED_MAX: usize = 2 * CREATED_MAX;

/// A count at its version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Reading {
    /// The count.
    pub count: u64,
    /// Its version: the newer one wins.
    pub version: u64,
}

/// What the owners of an article say of it; views come by themselves, every few seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct State {
    /// The version of its text.
    pub text_version: u64,
    /// Likes.
    pub likes: Reading,
    /// Visible comments.
    pub comments: Reading,
}

/// Everything that changed since somebody opened the article. Version 0 is what is not known to have changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    /// The version of its text.
    pub text_version: u64,
    /// Likes.
    pub likes: Reading,
    /// Visible comments.
    pub comments: Reading,
    /// Views.
    pub views: Reading,
    /// Comments written lately, with the version of the count after each, in the order in which they arrived.
    pub created: VecDeque<(u64, CommentId)>,
    /// Comments edited lately, each once, with the version of its last edit.
    pub edited: VecDeque<(u64, CommentId)>,
    /// Comments deleted lately, as those that were written.
    pub deleted: VecDeque<(u64, CommentId)>,
    /// The version up to which comments are no longer sent one by one: who was sent less has missed some.
    pub created_before: u64,
    /// Whether the article was deleted.
    pub gone: bool,
    /// Versions of the comment count whose change arrived.
    arrived: BTreeSet<u64>,
    /// The comment count's version at the last reconciliation with its owner.
    reconciled: u64,
    /// The version up to which what was has not arrived is not expected any more.
    settled: u64,
}

impl Reading {
    fn merge(&mut self, other: Self) {
        if other.version > self.version {
            *self = other;
        }
    }
}

impl Changes {
    /// Takes a change in; false when it is not new.
    pub fn merge(&mut self, change: &Change) -> bool {
        match change {
            Change::Edited(version) => grow(&mut self.text_version, *version),
            Change::Gone => !std::mem::replace(&mut self.gone, true),
            Change::Restored(version) => {
                grow(&mut self.text_version, *version) && std::mem::replace(&mut self.gone, false)
            }
            Change::Commented(comment, reading) => {
                let is_new = self.arrive(*reading);
                if is_new {
                    self.created.push_back((reading.version, *comment));
                    grow(&mut self.created_before, forget_oldest(&mut self.created));
                }
                is_new
            }
            Change::CommentEdited(comment, reading) => {
                // One that was removed may be back; the newer of both is sent.
                self.deleted.retain(|(version, deleted)| deleted != comment || *version > reading.version);
                let is_new = self.arrive(*reading);
                if is_new && self.deleted.iter().all(|(_, deleted)| deleted != comment) {
                    let before =
                        self.edited.iter().find(|(_, edited)| edited == comment).map_or(0, |(version, _)| *version);
                    self.edited.retain(|(_, edited)| edited != comment);
                    self.edited.push_back((reading.version.max(before), *comment));
                    grow(&mut self.created_before, forget_oldest(&mut self.edited));
                }
                is_new
            }
            Change::Uncommented(comment, reading) => {
                self.edited.retain(|(version, edited)| edited != comment || *version > reading.version);
                self.created.retain(|(_, created)| created != comment);
                let is_new = self.arrive(*reading);
                if is_new && self.edited.iter().all(|(_, edited)| edited != comment) {
                    self.deleted.push_back((reading.version, *comment));
                    grow(&mut self.created_before, forget_oldest(&mut self.deleted));
                }
                is_new
            }
            // Names no comment, but takes its place among the versions: else those behind it would seem to be missing.
            Change::LockChanged(reading) => self.arrive(*reading),
            Change::Liked(reading) => changed(&mut self.likes, *reading),
            Change::Viewed(reading) => changed(&mut self.views, *reading),
        }
    }

    /// Takes in what the owners say; false when it is not new. Changes that are under way at this moment arrive by
    /// themselves, so comments count as missed only when the reconciliation before has found them too, or `at_once`.
    pub fn settle(&mut self, state: &State, at_once: bool) -> bool {
        let before = (self.text_version, self.likes, self.comments, self.settled);
        grow(&mut self.text_version, state.text_version);
        self.likes.merge(state.likes);
        self.comments.merge(state.comments);
        let missed_before = if at_once { state.comments.version } else { self.reconciled };
        grow(&mut self.settled, missed_before);
        grow(&mut self.reconciled, state.comments.version);
        before != (self.text_version, self.likes, self.comments, self.settled)
    }

    /// The version up to which somebody who was sent `sent` has every comment once sent these changes, and whether
    /// some of them are not named here.
    pub fn sent_after(&self, sent: u64) -> (u64, bool) {
        let through = |mut sent: u64| {
            while self.arrived.contains(&(sent + 1)) {
                sent += 1;
            }
            sent
        };
        let is_behind = sent < self.created_before;
        let reached = through(sent.max(self.created_before));
        if reached >= self.settled { (reached, is_behind) } else { (through(self.settled), true) }
    }

    fn arrive(&mut self, reading: Reading) -> bool {
        if !self.arrived.insert(reading.version) {
            return false;
        }
        self.comments.merge(reading);
        if self.arrived.len() > ARRIVED_MAX
            && let Some(oldest) = self.arrived.pop_first()
        {
            grow(&mut self.created_before, oldest);
        }
        true
    }
}

/// Drops the oldest change past the limit, and says which version that was; 0 when all have room.
fn forget_oldest(changes: &mut VecDeque<(u64, CommentId)>) -> u64 {
    if changes.len() <= CREATED_MAX {
        return 0;
    }
    changes.pop_front().map_or(0, |(version, _)| version)
}

fn grow(value: &mut u64, to: u64) -> bool {
    let is_newer = to > *value;
    *value = to.max(*value);
    is_newer
}

fn changed(reading: &mut Reading, to: Reading) -> bool {
    let before = *reading;
    reading.merge(to);
    before != *reading
}

#[cfg(test)]
mod tests {
    use madang_kernel::Id;

    use super::*;

    fn comment(version: u64) -> Change {
        Change::Commented(CommentId::from_raw(version as i64), Reading { count: version, version })
    }

    fn state(comments: u64) -> State {
        State { comments: Reading { count: comments, version: comments }, ..State::default() }
    }

    #[test]
    fn what_arrives_twice_is_sent_once() {
        let mut changes = Changes::default();
        assert!(changes.merge(&comment(1)) && !changes.merge(&comment(1)));
        assert_eq!(changes.created.len(), 1);
    }

    #[test]
    fn deletions_are_named_and_too_many_of_them_are_missed() {
        let mut changes = Changes::default();
        let deleted = |version: u64| Change::Uncommented(CommentId::from_raw(7), Reading { count: 0, version });
        changes.merge(&comment(1));
        assert!(changes.merge(&deleted(2)) && !changes.merge(&deleted(2)));
        assert_eq!((changes.deleted.len(), changes.sent_after(0)), (1, (2, false)));
        for version in 3..=80 {
            changes.merge(&deleted(version));
        }
        assert_eq!(
            (changes.deleted.len(), changes.sent_after(1).1, changes.sent_after(79).1),
            (CREATED_MAX, true, false)
        );
    }

    #[test]
    fn a_comment_is_named_once_however_often_it_is_edited_and_not_once_it_is_gone() {
        let mut changes = Changes::default();
        let [one, other] = [7, 8].map(CommentId::from_raw);
        let edited = |comment, version| Change::CommentEdited(comment, Reading { count: 2, version });
        for version in [2, 4, 3] {
            assert!(changes.merge(&edited(one, version)) && !changes.merge(&edited(one, version)));
        }
        changes.merge(&edited(other, 5));
        assert_eq!(changes.edited, [(4, one), (5, other)], "with the version of its last edit, whatever arrives last");
        assert_eq!((changes.sent_after(1), changes.comments.count), ((5, false), 2));
        changes.merge(&Change::Uncommented(one, Reading { count: 1, version: 6 }));
        assert_eq!(changes.edited, [(5, other)]);
        for (version, raw) in (7..=80).zip(100..) {
            changes.merge(&edited(CommentId::from_raw(raw), version));
        }
        assert_eq!(
            (changes.edited.len(), changes.sent_after(6).1, changes.sent_after(79).1),
            (CREATED_MAX, true, false)
        );
    }

    #[test]
    fn of_a_removal_and_a_restore_the_newer_is_sent_whatever_arrives_first() {
        let one = CommentId::from_raw(7);
        let removed = Change::Uncommented(one, Reading { count: 0, version: 2 });
        let restored = Change::CommentEdited(one, Reading { count: 1, version: 3 });
        for order in [[&removed, &restored], [&restored, &removed]] {
            let mut changes = Changes::default();
            assert!(order.into_iter().all(|change| changes.merge(change)));
            assert_eq!((changes.edited.len(), changes.deleted.len(), changes.comments.count), (1, 0, 1));
            assert!(changes.merge(&Change::Uncommented(one, Reading { count: 0, version: 4 })));
            assert_eq!((changes.edited.len(), changes.deleted.len()), (0, 1));
        }
        let mut changes = Changes { text_version: 1, ..Changes::default() };
        assert!(changes.merge(&Change::Gone) && changes.merge(&Change::Restored(3)) && !changes.gone);
        assert!(!changes.merge(&Change::Restored(3)), "heard twice");
    }

    #[test]
    fn a_lock_leaves_no_gap_among_the_comments() {
        let mut changes = Changes::default();
        changes.merge(&comment(1));
        assert!(changes.merge(&Change::LockChanged(Reading { count: 1, version: 2 })));
        changes.merge(&comment(3));
        assert_eq!((changes.sent_after(0), changes.created.len()), ((3, false), 2));
    }

    #[test]
    fn a_comment_that_arrives_late_is_still_sent() {
        let mut changes = Changes::default();
        changes.merge(&comment(7));
        assert_eq!(changes.sent_after(5), (5, false), "6 may be under way");
        assert!(changes.merge(&comment(6)));
        assert_eq!((changes.sent_after(5), changes.comments.count), ((7, false), 7));
    }

    #[test]
    fn what_never_arrives_is_missed_at_the_second_reconciliation() {
        let mut changes = Changes::default();
        changes.merge(&comment(7));
        assert!(!changes.settle(&state(7), false));
        assert_eq!(changes.sent_after(5), (5, false));
        assert!(changes.settle(&state(7), false));
        assert_eq!(changes.sent_after(5), (7, true));
        assert_eq!(changes.sent_after(7), (7, false), "nobody who knows it all has missed any");
    }

    #[test]
    fn after_an_outage_the_first_reconciliation_counts() {
        let mut changes = Changes::default();
        assert!(changes.settle(&state(3), true));
        assert_eq!((changes.sent_after(1), changes.sent_after(3)), ((3, true), (3, false)));
        assert_eq!(changes.comments.count, 3);
    }

    #[test]
    fn who_was_sent_less_than_is_still_named_has_missed_some() {
        let mut changes = Changes::default();
        for version in 1..=80 {
            changes.merge(&comment(version));
        }
        assert_eq!(
            (changes.sent_after(0), changes.sent_after(16), changes.sent_after(15)),
            ((80, true), (80, false), (80, true))
        );
    }
}
