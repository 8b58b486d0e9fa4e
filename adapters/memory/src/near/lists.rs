//! Lists of boards in the near cache: one part of them, under its lock.

use std::sync::Arc;

use madang_article_read::{BoardChange, BoardList, ListChanges, NewestArticles, WholeList};
use madang_board::{ArticleId, BoardId};
use madang_kernel::Timestamp;
use quick_cache::Weighter;
use quick_cache::unsync::Cache;

use super::recent::Recent;
use super::{Age, Begun, From, Ttl};

/// About what a list weighs; only the cache's own book-keeping depends on it.
const TYPICAL_BYTES: u64 = 8_192;
/// What the cache needs for a list beside its ids.
const SLOT_BYTES: usize = 256;

/// Boards that share a lock.
pub(super) struct NearLists {
    items: Cache<BoardId, Item, ByBytes>,
    recent: Recent<BoardId, Heard>,
    budget_bytes: u64,
}

/// What was heard of a board lately.
#[derive(Default)]
struct Heard {
    changes: ListChanges,
    /// The number of the last change.
    number: u64,
}

/// What is known of a list.
#[derive(Debug, Clone)]
pub(super) enum NearList {
    /// Nothing.
    Miss,
    /// That there was no such board a moment ago.
    Absent,
    /// The list, and whether it is worth a refresh.
    Found(Arc<BoardList>, bool),
}

#[derive(Clone)]
struct Item {
    /// `None` for a board that is absent.
    list: Option<Arc<BoardList>>,
    is_stale: bool,
    /// When the load began that brought it.
    at: Timestamp,
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<BoardId, Item> for ByBytes {
    fn weight(&self, _: &BoardId, item: &Item) -> u64 {
        (SLOT_BYTES + item.list.as_ref().map_or(0, |list| list.weight_bytes())) as u64
    }
}

impl NearLists {
    pub(super) fn new(budget_bytes: u64, now: Timestamp) -> Self {
        Self { items: items(budget_bytes), recent: Recent::new(now), budget_bytes }
    }

    /// What is cached, and whether it is time to look again.
    pub(super) fn find(&self, board: BoardId, ttl: Ttl, now: Timestamp) -> Option<(NearList, Age)> {
        let item = self.items.get(&board)?;
        let age = ttl.age(item.at, now);
        (age != Age::Expired).then(|| (item.found(), age))
    }

    /// Joins what was loaded with what was heard of lately, caches it, and tells what it is now; whether a reader sees
    /// something else than before is told beside it.
    pub(super) fn keep(&mut self, board: BoardId, loaded: WholeList, from: From, begun: Begun) -> (NearList, bool) {
        let tells_of_the_board =
            |heard: &Heard| heard.changes.tell_of_the_board() && (from == From::Model || heard.number > begun.number);
        let (newest, is_stale) = match loaded {
            WholeList::Miss => return (NearList::Miss, false),
            WholeList::Absent if self.recent.of(board).any(tells_of_the_board) => return (NearList::Miss, false),
            WholeList::Absent => return (self.insert(board, None, false, begun), false),
            WholeList::Found { newest, is_stale } => (newest, is_stale),
        };
        let Some(list) = self.joined(board, newest) else { return (NearList::Miss, false) };
        let cached = self.items.peek(&board).and_then(|item| item.list.clone());
        let is_other = cached.as_ref().is_some_and(|cached| **cached != list);
        match cached {
            // The model is behind: what is cached was told more.
            Some(cached) if cached.count().version > list.count().version => {
                (self.insert(board, Some(cached), is_stale, begun), false)
            }
            _ => (self.insert(board, Some(Arc::new(list)), is_stale, begun), is_other),
        }
    }

    /// A list as it was loaded, with all that was heard of lately; `None` when that is too much to have been remembered.
    fn joined(&self, board: BoardId, newest: NewestArticles) -> Option<BoardList> {
        let mut list = BoardList::of(newest);
        self.recent.of(board).all(|heard| list.merge_all(&heard.changes)).then_some(list)
    }

    fn insert(&mut self, board: BoardId, list: Option<Arc<BoardList>>, is_stale: bool, begun: Begun) -> NearList {
        let item = Item { list, is_stale, at: begun.at };
        let found = item.found();
        if self.recent.reaches(begun.number) {
            self.items.insert(board, item);
        }
        found
    }

    /// Corrects what is cached; tells whether a reader sees something else than before.
    pub(super) fn invalidate(&mut self, change: &BoardChange, number: u64, now: Timestamp) -> bool {
        let heard = self.recent.remember(change.board_id, number, now);
        heard.changes.merge(change);
        heard.number = number;
        let Some(mut item) = self.items.get_mut(&change.board_id) else { return false };
        match &mut item.list {
            // A reader may hold the list for a moment; then it is copied.
            Some(list) => Arc::make_mut(list).merge(change),
            None => {
                drop(item);
                self.items.remove(&change.board_id);
            }
        }
        true
    }

    /// Removes candidates that turned out to be gone.
    pub(super) fn drop_candidates(&mut self, board: BoardId, gone: &[ArticleId], number: u64, now: Timestamp) {
        let heard = self.recent.remember(board, number, now);
        gone.iter().for_each(|article| heard.changes.remove(*article));
        if let Some(mut item) = self.items.get_mut(&board)
            && let Some(list) = &mut item.list
        {
            let list = Arc::make_mut(list);
            gone.iter().for_each(|article| list.remove(*article));
        }
    }

    /// Drops what is cached; what was heard of lately stays true.
    pub(super) fn drop_cached(&mut self) {
        self.items = items(self.budget_bytes);
    }

    /// Forgets everything, and takes no load that began before.
    pub(super) fn clear(&mut self, number: u64, now: Timestamp) {
        self.drop_cached();
        self.recent.clear(number, now);
    }

    /// Lists and their weight.
    pub(super) fn size(&self) -> (u64, u64) {
        (self.items.len() as u64, self.items.weight())
    }
}

impl Item {
    fn found(&self) -> NearList {
        match &self.list {
            None => NearList::Absent,
            Some(list) => NearList::Found(Arc::clone(list), self.is_stale || list.is_thin()),
        }
    }
}

fn items(budget_bytes: u64) -> Cache<BoardId, Item, ByBytes> {
    let typical = usize::try_from(budget_bytes / TYPICAL_BYTES).unwrap_or(usize::MAX);
    Cache::with_weighter(typical.max(1), budget_bytes, ByBytes)
}
