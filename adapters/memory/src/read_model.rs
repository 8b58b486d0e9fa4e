//! The query model in the memory of one process: parts with a lock each, held for nanoseconds, within a budget of bytes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use madang_article_read::{
    Change, Entry, Filled, FilledList, ListLookup, Lookup, ModelSize, NewestArticles, ReadModel, Reservation,
    WholeList, Window,
};
use madang_board::{ArticleId, BoardId};
use madang_event::Envelope;
use madang_kernel::{Clock, Id, SHARDS, ShardId, StoreError};

use crate::boards::{self, BoardPart};
use crate::entries::{self, EntryPart, Loaded};
use crate::packed::{ArticleVersion, Packed};

/// What the model may take when nobody says otherwise.
pub const DEFAULT_BUDGET_BYTES: u64 = 256 * 1024 * 1024;
/// The share of the budget that lists of boards get: one in so many.
const LISTS_SHARE: u64 = 32;
/// About what an article weighs, and a list; only the cache's own book-keeping depends on it.
const TYPICAL_ENTRY_BYTES: u64 = 1_024;
const TYPICAL_LIST_BYTES: u64 = 8_192;

/// The query model in process. Every method is quick and waits for nobody but the holder of one part's lock.
pub struct MemoryReadModel {
    /// By a hash of the article.
    entries: Vec<Mutex<EntryPart>>,
    /// By the board's shard, which its articles' ids carry too.
    boards: Vec<Mutex<BoardPart>>,
    clock: Arc<dyn Clock>,
    reservations: AtomicU64,
    /// Grows after each change. A fill is none: what it brings was told here when it happened.
    generation: AtomicU64,
}

impl MemoryReadModel {
    /// An empty model that keeps within `budget_bytes`; the least used leaves first.
    pub fn new(budget_bytes: u64, clock: Arc<dyn Clock>) -> Self {
        let lists = budget_bytes / LISTS_SHARE;
        let (list_part, entry_part) = (lists / SHARDS as u64, (budget_bytes - lists) / SHARDS as u64);
        let entries = (0..SHARDS).map(|_| Mutex::new(EntryPart::new(entry_part, TYPICAL_ENTRY_BYTES)));
        let boards = (0..SHARDS).map(|_| Mutex::new(BoardPart::new(list_part, TYPICAL_LIST_BYTES)));
        Self {
            entries: entries.collect(),
            boards: boards.collect(),
            clock,
            reservations: AtomicU64::new(1),
            generation: AtomicU64::new(0),
        }
    }

    /// Merges events that this process has committed, in the order of their commits and before anybody is answered: that
    /// is how people read their own writes. New articles are put in; that is right only because nothing that follows on
    /// them can commit before this returns.
    pub fn merge_committed(&self, events: &[Envelope]) {
        let now = self.clock.now();
        for change in events.iter().cloned().filter_map(Change::of) {
            let created = change.is_creation.then(|| Packed::of(&change.entry));
            entries::merge_committed(&mut self.entry_part(change.article_id), &change, created, now);
            self.merge_board(&change);
        }
        self.changed();
    }

    /// Merges events into what is there.
    pub fn merge_now(&self, changes: &[Change]) {
        for change in changes {
            // The entry comes first: whoever sees an id in a list must not find it absent.
            entries::merge(&mut self.entry_part(change.article_id), change.article_id, &change.entry);
            self.merge_board(change);
        }
        self.changed();
    }

    /// Drops everything.
    pub fn clear_now(&self) {
        for part in &self.entries {
            let dropped = lock(part).clear();
            drop(dropped);
        }
        for part in &self.boards {
            let dropped = lock(part).clear();
            drop(dropped);
        }
        self.changed();
    }

    /// How much there is.
    pub fn size_now(&self) -> ModelSize {
        let mut size = ModelSize::default();
        for part in &self.entries {
            let (entries, placeholders, bytes) = lock(part).size();
            size.entries += entries;
            size.placeholders += placeholders;
            size.bytes += bytes;
        }
        for part in &self.boards {
            let (lists, placeholders, bytes) = lock(part).size();
            size.lists += lists;
            size.placeholders += placeholders;
            size.bytes += bytes;
        }
        size
    }

    fn merge_board(&self, change: &Change) {
        if let Some(change) = &change.board {
            boards::merge(&mut self.board_part(change.board_id.shard()), change);
        }
    }

    fn is_settled(&self, article: ArticleId, version: u64) -> bool {
        let cached = {
            let part = self.entry_part(article);
            if part.is_reserved(article) {
                return false;
            }
            part.peek(article).map(|item| item.value.as_ref().map(Packed::article_version))
        };
        match cached {
            // Nobody has the article: then only a list of its board could want to hear of it.
            None => self.board_part(article.shard()).is_empty(),
            Some(Some(ArticleVersion::Live { version: cached, board_id })) if cached >= version => {
                boards::is_settled(&self.board_part(board_id.shard()), board_id, article)
            }
            // What is deleted stays so until a newer version, and its deletion told the board's list more.
            Some(Some(ArticleVersion::Deleted { version: cached })) => cached >= version,
            Some(_) => false,
        }
    }

    /// To be called after a change: whoever reads the old number beside the new state only looks once too often.
    fn changed(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    fn reservation(&self) -> Reservation {
        Reservation(self.reservations.fetch_add(1, Ordering::Relaxed))
    }

    fn entry_part(&self, article: ArticleId) -> MutexGuard<'_, EntryPart> {
        lock(&self.entries[usize::from(ShardId::of_parts(article).number())])
    }

    fn board_part(&self, shard: ShardId) -> MutexGuard<'_, BoardPart> {
        lock(&self.boards[usize::from(shard.number())])
    }
}

/// A panic under the lock leaves a part that is right as far as it goes: it is a cache.
fn lock<T>(part: &Mutex<T>) -> MutexGuard<'_, T> {
    part.lock().unwrap_or_else(PoisonError::into_inner)
}

#[async_trait]
impl ReadModel for MemoryReadModel {
    async fn find(&self, articles: &[ArticleId]) -> Result<Vec<Lookup>, StoreError> {
        let now = self.clock.now();
        let find = |article: &ArticleId| {
            let found = entries::find(&self.entry_part(*article), *article, now);
            found.unpack(*article)
        };
        Ok(articles.iter().map(find).collect())
    }

    async fn reserve(&self, articles: &[ArticleId]) -> Result<Reservation, StoreError> {
        let (reservation, now) = (self.reservation(), self.clock.now());
        for article in articles {
            self.entry_part(*article).reserve(*article, reservation, now);
        }
        Ok(reservation)
    }

    async fn fill(
        &self,
        reservation: Reservation,
        loaded: Vec<(ArticleId, Option<Entry>)>,
    ) -> Result<Vec<Filled<Entry>>, StoreError> {
        let now = self.clock.now();
        let fill = |(article, loaded): (ArticleId, Option<Entry>)| {
            let loaded = loaded.map(Loaded::of);
            entries::fill(&mut self.entry_part(article), reservation, article, loaded, now)
        };
        Ok(loaded.into_iter().map(fill).collect())
    }

    async fn abandon(&self, reservation: Reservation, articles: &[ArticleId]) -> Result<(), StoreError> {
        for article in articles {
            self.entry_part(*article).take_placeholder(*article, reservation);
        }
        Ok(())
    }

    async fn merge(&self, changes: Vec<Change>) -> Result<(), StoreError> {
        self.merge_now(&changes);
        Ok(())
    }

    async fn settled(&self, articles: &[(ArticleId, u64)]) -> Result<Vec<bool>, StoreError> {
        Ok(articles.iter().map(|(article, version)| self.is_settled(*article, *version)).collect())
    }

    async fn list(&self, board: BoardId, window: Window) -> Result<ListLookup, StoreError> {
        let now = self.clock.now();
        Ok(boards::find(&self.board_part(board.shard()), board, window, now))
    }

    async fn whole_list(&self, board: BoardId) -> Result<WholeList, StoreError> {
        let now = self.clock.now();
        Ok(boards::whole(&self.board_part(board.shard()), board, now))
    }

    async fn held_list(&self, board: BoardId, limit: usize) -> Result<Option<NewestArticles>, StoreError> {
        Ok(boards::held(&self.board_part(board.shard()), board, limit))
    }

    async fn reserve_list(&self, board: BoardId) -> Result<Reservation, StoreError> {
        let reservation = self.reservation();
        self.board_part(board.shard()).reserve(board, reservation, self.clock.now());
        Ok(reservation)
    }

    async fn fill_list(
        &self,
        reservation: Reservation,
        board: BoardId,
        loaded: Option<NewestArticles>,
    ) -> Result<FilledList, StoreError> {
        let now = self.clock.now();
        Ok(boards::fill(&mut self.board_part(board.shard()), reservation, board, loaded, now))
    }

    async fn abandon_list(&self, reservation: Reservation, board: BoardId) -> Result<(), StoreError> {
        self.board_part(board.shard()).take_placeholder(board, reservation);
        Ok(())
    }

    async fn drop_candidates(&self, board: BoardId, gone: &[ArticleId]) -> Result<(), StoreError> {
        boards::drop_candidates(&mut self.board_part(board.shard()), board, gone);
        self.changed();
        Ok(())
    }

    async fn entries(&self, shard: ShardId) -> Result<Vec<(ArticleId, Entry)>, StoreError> {
        let packed: Vec<_> = {
            let part = lock(&self.entries[usize::from(shard.number())]);
            part.values().map(|(article, packed)| (article, packed.clone())).collect()
        };
        Ok(packed.into_iter().filter_map(|(article, packed)| Some((article, packed.entry(article)?))).collect())
    }

    fn generation(&self) -> Option<u64> {
        Some(self.generation.load(Ordering::Acquire))
    }

    async fn clear(&self) -> Result<(), StoreError> {
        self.clear_now();
        Ok(())
    }

    async fn size(&self) -> Result<ModelSize, StoreError> {
        Ok(self.size_now())
    }
}
