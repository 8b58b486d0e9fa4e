//! The memory of the near cache: parts with a lock each, held for a moment and never across an await.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use madang_article_read::{Invalidation, ModelSize};
use madang_board::{ArticleId, BoardId};
use madang_kernel::{Clock, Id, SHARDS, ShardId};

use super::articles::NearArticles;
use super::lists::NearLists;
use super::{Begun, CONNECTED, DISCONNECTED, Origin, Ttl};

/// The share of the budget that lists of boards get: one in so many.
const LISTS_SHARE: u64 = 16;

/// What this process has of the model in its memory.
pub(super) struct NearCache {
    articles: Vec<Mutex<NearArticles>>,
    lists: Vec<Mutex<NearLists>>,
    clock: Arc<dyn Clock>,
    /// Counts changes as they are heard of, so that a load can tell which of them it may have missed.
    number: AtomicU64,
    /// Counts changes that readers can see, after each.
    generation: AtomicU64,
    is_connected: AtomicBool,
}

impl NearCache {
    pub(super) fn new(budget_bytes: u64, clock: Arc<dyn Clock>) -> Self {
        let now = clock.now();
        let of_lists = budget_bytes / LISTS_SHARE;
        let (list_part, article_part) = (of_lists / SHARDS as u64, (budget_bytes - of_lists) / SHARDS as u64);
        Self {
            articles: (0..SHARDS).map(|_| Mutex::new(NearArticles::new(article_part, now))).collect(),
            lists: (0..SHARDS).map(|_| Mutex::new(NearLists::new(list_part, now))).collect(),
            clock,
            number: AtomicU64::new(0),
            generation: AtomicU64::new(0),
            is_connected: AtomicBool::new(false),
        }
    }

    /// A load begins now: to be called before the model or an owner is asked.
    pub(super) fn begin(&self) -> Begun {
        Begun { number: self.number.load(Ordering::Acquire), at: self.clock.now() }
    }

    pub(super) fn now(&self) -> madang_kernel::Timestamp {
        self.clock.now()
    }

    /// How long what is cached may be believed, as things are.
    pub(super) fn ttl(&self) -> Ttl {
        if self.is_connected.load(Ordering::Acquire) { CONNECTED } else { DISCONNECTED }
    }

    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// To be called after a change that readers can see.
    pub(super) fn changed(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    pub(super) fn articles(&self, article: ArticleId) -> MutexGuard<'_, NearArticles> {
        lock(&self.articles[usize::from(ShardId::of_parts(article).number())])
    }

    pub(super) fn lists(&self, board: BoardId) -> MutexGuard<'_, NearLists> {
        lock(&self.lists[usize::from(board.shard().number())])
    }

    /// Corrects what is cached by what was heard.
    pub(super) fn invalidate(&self, heard: &[Invalidation], origin: Origin) {
        let now = self.clock.now();
        let mut is_seen = false;
        for Invalidation { article_id, floor, board, .. } in heard {
            // The article comes first: whoever sees an id in a list must not find it absent.
            is_seen |= self.articles(*article_id).invalidate(*article_id, floor, self.next_number(), now);
            if let Some(change) = board {
                is_seen |= self.lists(change.board_id).invalidate(change, self.next_number(), now);
            }
        }
        // What was rendered of something that is cached no longer is still handed out for a moment: not to who wrote it.
        if is_seen || (origin == Origin::Own && !heard.is_empty()) {
            self.changed();
        }
    }

    /// Candidates of a list turned out to be gone.
    pub(super) fn drop_candidates(&self, board: BoardId, gone: &[ArticleId]) {
        let now = self.clock.now();
        self.lists(board).drop_candidates(board, gone, self.next_number(), now);
        self.changed();
    }

    /// From now on every change is heard of, and what came before may have been missed.
    pub(super) fn connected(&self) {
        self.articles.iter().for_each(|part| lock(part).drop_cached());
        self.lists.iter().for_each(|part| lock(part).drop_cached());
        self.is_connected.store(true, Ordering::Release);
        self.changed();
    }

    /// From now on no change is heard of.
    pub(super) fn disconnected(&self) {
        self.is_connected.store(false, Ordering::Release);
        self.changed();
    }

    /// Forgets everything.
    pub(super) fn clear(&self) {
        let now = self.clock.now();
        let number = self.next_number();
        self.articles.iter().for_each(|part| lock(part).clear(number, now));
        self.lists.iter().for_each(|part| lock(part).clear(number, now));
        self.changed();
    }

    pub(super) fn size(&self) -> ModelSize {
        let mut size = ModelSize::default();
        for part in &self.articles {
            let (articles, bytes) = lock(part).size();
            size.entries += articles;
            size.bytes += bytes;
        }
        for part in &self.lists {
            let (lists, bytes) = lock(part).size();
            size.lists += lists;
            size.bytes += bytes;
        }
        size
    }

    fn next_number(&self) -> u64 {
        self.number.fetch_add(1, Ordering::AcqRel) + 1
    }
}

/// A panic under the lock leaves a part that is right as far as it goes: it is a cache.
fn lock<T>(part: &Mutex<T>) -> MutexGuard<'_, T> {
    part.lock().unwrap_or_else(PoisonError::into_inner)
}
