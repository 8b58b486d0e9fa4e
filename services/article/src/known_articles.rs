//! Remembers which articles exist and on which board, so that a comment, a like or a view costs no query about its
//! article. What this process deleted is remembered apart and asked first: a look-up that was under way meanwhile cannot
//! bring it back. Where other processes delete articles too, what was seen is believed for a moment only.

use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use madang_board::{ArticleId, BoardId};
use madang_kernel::Timestamp;

/// Articles remembered in one generation; at most two generations are kept, about 3 MB each.
const KNOWN_MAX: usize = 65_536;
/// Deleted articles remembered in one generation. A look-up takes milliseconds, so this outlasts any.
const DELETED_MAX: usize = 16_384;

/// The articles that this process has seen.
#[derive(Default)]
pub(crate) struct KnownArticles {
    seen: Mutex<Seen>,
    /// How long a sighting is believed; `None` where nobody else deletes.
    believed_for: Option<Duration>,
}

#[derive(Default)]
struct Seen {
    existing: Generations<HashMap<ArticleId, Sighting>>,
    deleted: Generations<HashSet<ArticleId>>,
}

#[derive(Debug, Clone, Copy)]
struct Sighting {
    board: BoardId,
    at: Timestamp,
    /// Somebody is looking it up anew.
    renewed: bool,
}

/// What is known of an article without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// It was there when it was last looked up or written, on this board.
    On(BoardId),
    /// It was deleted by this process.
    Deleted,
    /// Ask the store.
    Nothing,
}

impl KnownArticles {
    /// Sightings are believed for `span` from now on.
    pub(crate) fn believe_for(&mut self, span: Duration) {
        self.believed_for = Some(span);
    }

    pub(crate) fn find(&self, article: ArticleId, now: Timestamp) -> Known {
        let mut seen = self.seen();
        if seen.deleted.young.contains(&article) || seen.deleted.old.contains(&article) {
            return Known::Deleted;
        }
        if let Some(sighting) = seen.existing.young.get_mut(&article) {
            return self.believed(sighting, now);
        }
        let Some(mut sighting) = seen.existing.old.remove(&article) else { return Known::Nothing };
        let known = self.believed(&mut sighting, now);
        // Asked for again: it stays for another generation.
        seen.existing.make_room(KNOWN_MAX, HashMap::len);
        seen.existing.young.insert(article, sighting);
        known
    }

    /// Notes what a look-up that began at `at` found.
    pub(crate) fn note_existing(&self, article: ArticleId, board: BoardId, at: Timestamp) {
        let mut seen = self.seen();
        seen.existing.make_room(KNOWN_MAX, HashMap::len);
        seen.existing.young.insert(article, Sighting { board, at, renewed: false });
    }

    /// Past half of its time one caller is told to ask the store, while the others go on with what is known: so a crowd on
    /// one article costs one query.
    fn believed(&self, sighting: &mut Sighting, now: Timestamp) -> Known {
        let Some(span) = self.believed_for else { return Known::On(sighting.board) };
        let age = now.since(sighting.at);
        // A clock that stepped back must not make a sighting last.
        if sighting.at > now || age >= span {
            return Known::Nothing;
        }
        if age < span / 2 || mem::replace(&mut sighting.renewed, true) {
            return Known::On(sighting.board);
        }
        Known::Nothing
    }

    /// Notes that the store has no such article any more: whoever deleted it, nobody need believe the sighting longer.
    pub(crate) fn note_absent(&self, article: ArticleId) {
        let mut seen = self.seen();
        seen.existing.young.remove(&article);
        seen.existing.old.remove(&article);
    }

    pub(crate) fn note_deleted(&self, article: ArticleId) {
        let mut seen = self.seen();
        seen.existing.young.remove(&article);
        seen.existing.old.remove(&article);
        seen.deleted.make_room(DELETED_MAX, HashSet::len);
        seen.deleted.young.insert(article);
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Two halves of a bounded memory: when the young one is full it becomes the old one, which is forgotten.
#[derive(Default)]
struct Generations<C> {
    young: C,
    old: C,
}

impl<C: Default> Generations<C> {
    fn make_room(&mut self, max: usize, len: fn(&C) -> usize) {
        if len(&self.young) >= max {
            self.old = mem::take(&mut self.young);
        }
    }
}

#[cfg(test)]
mod tests {
    use madang_kernel::Id;

    use super::*;

    fn board() -> BoardId {
        BoardId::from_raw(9)
    }

    fn article(raw: i64) -> ArticleId {
        ArticleId::from_raw(raw)
    }

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    #[test]
    fn a_late_look_up_does_not_bring_a_deleted_article_back() {
        let known = KnownArticles::default();
        assert_eq!(known.find(article(1), at(0)), Known::Nothing);
        known.note_existing(article(1), board(), at(0));
        assert_eq!(known.find(article(1), at(0)), Known::On(board()));
        known.note_deleted(article(1));
        known.note_existing(article(1), board(), at(0));
        assert_eq!(known.find(article(1), at(0)), Known::Deleted);
    }

    #[test]
    fn memory_is_bounded_and_what_is_asked_for_stays() {
        let known = KnownArticles::default();
        known.note_existing(article(1), board(), at(0));
        for raw in 2..400_000 {
            known.note_existing(article(raw), board(), at(0));
            if raw % 50_000 == 0 {
                assert_eq!(known.find(article(1), at(0)), Known::On(board()), "after {raw}");
            }
        }
        assert_eq!(known.find(article(2), at(0)), Known::Nothing, "nobody asked for it");
        let seen = known.seen();
        assert!(seen.existing.young.len() <= KNOWN_MAX && seen.existing.old.len() <= KNOWN_MAX);
    }

    #[test]
    fn beside_others_a_sighting_is_believed_for_a_moment_only() {
        let mut known = KnownArticles::default();
        known.note_existing(article(1), board(), at(1_000));
        assert_eq!(known.find(article(1), at(i64::MAX)), Known::On(board()), "nobody else deletes");
        known.believe_for(Duration::from_millis(500));
        assert_eq!(known.find(article(1), at(1_249)), Known::On(board()));
        assert_eq!(known.find(article(1), at(1_250)), Known::Nothing, "one looks it up anew");
        assert_eq!(known.find(article(1), at(1_250)), Known::On(board()), "the others do not wait for that");
        assert_eq!(known.find(article(1), at(1_499)), Known::On(board()));
        assert_eq!(known.find(article(1), at(1_500)), Known::Nothing);
        assert_eq!(known.find(article(1), at(999)), Known::Nothing, "the clock stepped back");
        known.note_existing(article(1), board(), at(1_500));
        assert_eq!(known.find(article(1), at(1_749)), Known::On(board()));
        known.note_deleted(article(1));
        assert_eq!(known.find(article(1), at(1_999)), Known::Deleted);
    }
}
