//! A cache of which articles exist and on which board, so that a comment, a like or a view costs no query about its article.
//! What this process deleted is remembered apart and asked first: a look-up that was under way meanwhile cannot bring it
//! back. Where other processes delete and restore articles too, an entry becomes stale after a TTL, and a deletion is
//! remembered for as long: a look-up that began before it is stale by then.

use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use madang_board::{ArticleId, BoardId};
use madang_kernel::Timestamp;
use quick_cache::unsync::Cache;

/// Articles that are cached, about 50 bytes each; the least used leave first.
const ARTICLES_MAX: usize = 131_072;
/// Deleted articles that are remembered. A look-up takes milliseconds, so this outlasts any.
const DELETED_MAX: usize = 32_768;

/// The articles that this process has seen.
pub(crate) struct ArticleCache {
    entries: Mutex<Entries>,
    /// How long an entry is fresh; `None` where nobody else deletes.
    ttl: Option<Duration>,
}

struct Entries {
    existing: Cache<ArticleId, Entry>,
    /// When.
    deleted: Cache<ArticleId, Timestamp>,
}

struct Entry {
    board: BoardId,
    loaded_at: Timestamp,
    /// Somebody is looking it up anew.
    is_refreshing: bool,
}

/// What is cached about an article.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CachedArticle {
    /// It was there when it was last looked up, on this board.
    On(BoardId),
    /// It was deleted by this process.
    Deleted,
    /// Nothing fresh: ask the store.
    Miss,
}

impl Default for ArticleCache {
    fn default() -> Self {
        let entries = Entries { existing: Cache::new(ARTICLES_MAX), deleted: Cache::new(DELETED_MAX) };
        Self { entries: Mutex::new(entries), ttl: None }
    }
}

impl ArticleCache {
    /// Entries are fresh for `ttl` from now on.
    pub(crate) fn set_ttl(&mut self, ttl: Duration) {
        self.ttl = Some(ttl);
    }

    pub(crate) fn find(&self, article: ArticleId, now: Timestamp) -> CachedArticle {
        let mut entries = self.entries();
        if let Some(deleted_at) = entries.deleted.get(&article).copied() {
            let is_over = |ttl: Duration| deleted_at > now || now.since(deleted_at) >= ttl;
            if !self.ttl.is_some_and(is_over) {
                return CachedArticle::Deleted;
            }
        }
        let Some(mut entry) = entries.existing.get_mut(&article) else { return CachedArticle::Miss };
        entry.find(self.ttl, now)
    }

    /// Notes what a look-up that began at `loaded_at` found.
    pub(crate) fn note_existing(&self, article: ArticleId, board: BoardId, loaded_at: Timestamp) {
        self.entries().existing.insert(article, Entry { board, loaded_at, is_refreshing: false });
    }

    /// Notes that the store has no such article any more, whoever deleted it.
    pub(crate) fn note_absent(&self, article: ArticleId) {
        self.entries().existing.remove(&article);
    }

    /// Notes that an article is back which this process may have deleted: from now on the store is asked.
    pub(crate) fn note_restored(&self, article: ArticleId) {
        let mut entries = self.entries();
        entries.existing.remove(&article);
        entries.deleted.remove(&article);
    }

    pub(crate) fn note_deleted(&self, article: ArticleId, now: Timestamp) {
        let mut entries = self.entries();
        entries.existing.remove(&article);
        entries.deleted.insert(article, now);
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    /// Past half of the TTL one caller is told to ask the store, while the others go on with what is cached: so however many
    /// ask for one article, they cost one query.
    fn find(&mut self, ttl: Option<Duration>, now: Timestamp) -> CachedArticle {
        let Some(ttl) = ttl else { return CachedArticle::On(self.board) };
        let age = now.since(self.loaded_at);
        // A clock that stepped back must not make an entry last.
        if self.loaded_at > now || age >= ttl {
            return CachedArticle::Miss;
        }
        if age < ttl / 2 || mem::replace(&mut self.is_refreshing, true) {
            return CachedArticle::On(self.board);
        }
        CachedArticle::Miss
    }
}

#[cfg(test)]
mod tests {
    use madang_kernel::Id;

    use super::CachedArticle::{Deleted, Miss, On};
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
        let cache = ArticleCache::default();
        assert_eq!(cache.find(article(1), at(0)), Miss);
        cache.note_existing(article(1), board(), at(0));
        assert_eq!(cache.find(article(1), at(0)), On(board()));
        cache.note_deleted(article(1), at(0));
        cache.note_existing(article(1), board(), at(0));
        assert_eq!(cache.find(article(1), at(0)), Deleted);
    }

    #[test]
    fn what_is_restored_is_looked_up_anew_here_and_where_another_process_restores_it() {
        let mut cache = ArticleCache::default();
        cache.note_deleted(article(1), at(0));
        assert_eq!(cache.find(article(1), at(i64::MAX)), Deleted, "nobody else restores");
        cache.note_restored(article(1));
        assert_eq!(cache.find(article(1), at(0)), Miss);
        cache.set_ttl(Duration::from_millis(500));
        cache.note_deleted(article(2), at(1_000));
        assert_eq!(cache.find(article(2), at(1_499)), Deleted);
        assert_eq!(cache.find(article(2), at(1_500)), Miss);
    }

    #[test]
    fn a_deletion_outlasts_hundreds_of_others() {
        let cache = ArticleCache::default();
        for raw in 1..100_000 {
            cache.note_deleted(article(raw), at(0));
            assert_eq!(cache.find(article((raw - 500).max(1)), at(0)), Deleted, "after {raw}");
        }
        assert!(cache.entries().deleted.len() <= DELETED_MAX);
    }

    #[test]
    fn memory_is_bounded_and_what_is_asked_for_stays() {
        let cache = ArticleCache::default();
        cache.note_existing(article(1), board(), at(0));
        for raw in 2..400_000 {
            cache.note_existing(article(raw), board(), at(0));
            if raw % 50_000 == 0 {
                assert_eq!(cache.find(article(1), at(0)), On(board()), "after {raw}");
            }
        }
        assert!(cache.entries().existing.len() <= ARTICLES_MAX);
    }

    #[test]
    fn beside_others_an_entry_is_fresh_for_a_moment_only() {
        let mut cache = ArticleCache::default();
        cache.note_existing(article(1), board(), at(1_000));
        assert_eq!(cache.find(article(1), at(i64::MAX)), On(board()), "nobody else deletes");
        cache.set_ttl(Duration::from_millis(500));
        assert_eq!(cache.find(article(1), at(1_249)), On(board()));
        assert_eq!(cache.find(article(1), at(1_250)), Miss, "one looks it up anew");
        assert_eq!(cache.find(article(1), at(1_250)), On(board()), "the others do not wait for that");
        assert_eq!(cache.find(article(1), at(1_499)), On(board()));
        assert_eq!(cache.find(article(1), at(1_500)), Miss);
        assert_eq!(cache.find(article(1), at(999)), Miss, "the clock stepped back");
        cache.note_existing(article(1), board(), at(1_500));
        assert_eq!(cache.find(article(1), at(1_749)), On(board()));
        cache.note_deleted(article(1), at(1_749));
        assert_eq!(cache.find(article(1), at(1_999)), Deleted);
    }
}
