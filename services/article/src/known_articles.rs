//! Remembers which articles exist and on which board, so that a comment, a like or a view costs no query about its
//! article. What this process deleted is remembered apart and asked first: a look-up that was under way meanwhile cannot
//! bring it back.

use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use madang_kernel::{ArticleId, BoardId};

/// Articles remembered in one generation; at most two generations are kept, about 3 MB each.
const KNOWN_MAX: usize = 65_536;
/// Deleted articles remembered in one generation. A look-up takes milliseconds, so this outlasts any.
const DELETED_MAX: usize = 16_384;

/// The articles that this process has seen.
#[derive(Default)]
pub(crate) struct KnownArticles(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    boards: Generations<HashMap<ArticleId, BoardId>>,
    deleted: Generations<HashSet<ArticleId>>,
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
    pub(crate) fn find(&self, article: ArticleId) -> Known {
        let mut seen = self.seen();
        if seen.deleted.young.contains(&article) || seen.deleted.old.contains(&article) {
            return Known::Deleted;
        }
        if let Some(board) = seen.boards.young.get(&article) {
            return Known::On(*board);
        }
        let Some(board) = seen.boards.old.remove(&article) else { return Known::Nothing };
        // Asked for again: it stays for another generation.
        seen.boards.make_room(KNOWN_MAX, HashMap::len);
        seen.boards.young.insert(article, board);
        Known::On(board)
    }

    pub(crate) fn note_existing(&self, article: ArticleId, board: BoardId) {
        let mut seen = self.seen();
        seen.boards.make_room(KNOWN_MAX, HashMap::len);
        seen.boards.young.insert(article, board);
    }

    pub(crate) fn note_deleted(&self, article: ArticleId) {
        let mut seen = self.seen();
        seen.boards.young.remove(&article);
        seen.boards.old.remove(&article);
        seen.deleted.make_room(DELETED_MAX, HashSet::len);
        seen.deleted.young.insert(article);
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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

    #[test]
    fn a_late_look_up_does_not_bring_a_deleted_article_back() {
        let known = KnownArticles::default();
        assert_eq!(known.find(article(1)), Known::Nothing);
        known.note_existing(article(1), board());
        assert_eq!(known.find(article(1)), Known::On(board()));
        known.note_deleted(article(1));
        known.note_existing(article(1), board());
        assert_eq!(known.find(article(1)), Known::Deleted);
    }

    #[test]
    fn memory_is_bounded_and_what_is_asked_for_stays() {
        let known = KnownArticles::default();
        known.note_existing(article(1), board());
        for raw in 2..400_000 {
            known.note_existing(article(raw), board());
            if raw % 50_000 == 0 {
                assert_eq!(known.find(article(1)), Known::On(board()), "after {raw}");
            }
        }
        assert_eq!(known.find(article(2)), Known::Nothing, "nobody asked for it");
        let seen = known.seen();
        assert!(seen.boards.young.len() <= KNOWN_MAX && seen.boards.old.len() <= KNOWN_MAX);
    }
}
