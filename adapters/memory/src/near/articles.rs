//! Articles in the near cache: one part of them, under its lock.

use madang_article_read::{Entry, Floor, Lookup};
use madang_board::ArticleId;
use madang_kernel::Timestamp;
use quick_cache::Weighter;
use quick_cache::unsync::Cache;

use super::recent::Recent;
use super::{Age, Begun, From, Ttl};

/// About what an article weighs; only the cache's own book-keeping depends on it.
const TYPICAL_BYTES: u64 = 4_096;
/// What the cache needs for an item beside its text: key, counts, links, its place in the table, and as much again for slots
/// that wait for an item.
const SLOT_BYTES: usize = 384;

/// Articles that share a lock.
pub(super) struct NearArticles {
    items: Cache<ArticleId, Item, ByBytes>,
    recent: Recent<ArticleId, Heard>,
    budget_bytes: u64,
}

/// What was heard of an article lately.
#[derive(Default)]
struct Heard {
    floor: Floor,
    /// The number of the last change that told of a text.
    text_number: u64,
}

/// What was found in the model, or made of it since.
#[derive(Clone)]
struct Item {
    /// `None` for an article that is absent.
    entry: Option<Entry>,
    is_stale: bool,
    /// When the load began that brought it.
    at: Timestamp,
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<ArticleId, Item> for ByBytes {
    fn weight(&self, _: &ArticleId, item: &Item) -> u64 {
        let text = item.entry.as_ref().and_then(Entry::live).map_or(0, |text| text.weight_bytes());
        (SLOT_BYTES + text) as u64
    }
}

impl NearArticles {
    pub(super) fn new(budget_bytes: u64, now: Timestamp) -> Self {
        Self { items: items(budget_bytes), recent: Recent::new(now), budget_bytes }
    }

    /// What is cached, and whether it is time to look again.
    pub(super) fn find(&self, article: ArticleId, ttl: Ttl, now: Timestamp) -> Option<(Lookup, Age)> {
        let item = self.items.get(&article)?;
        let age = ttl.age(item.at, now);
        (age != Age::Expired).then(|| (item.lookup(), age))
    }

    /// Joins what was loaded with all that is known to be newer, caches it, and tells what it is now: a miss when that is too
    /// old to be shown. Whether a reader sees something else than before is told beside it.
    pub(super) fn keep(&mut self, article: ArticleId, loaded: Lookup, from: From, begun: Begun) -> (Lookup, bool) {
        let floor = self.floor(article, from, begun.number);
        let (mut entry, is_stale) = match loaded {
            Lookup::Miss => return (Lookup::Miss, false),
            // Created after the model was asked, or the model does not know yet: only the owner can tell.
            Lookup::Absent if floor.tells_of_a_text() => return (Lookup::Miss, false),
            Lookup::Absent => (None, false),
            Lookup::Found { entry, is_stale } => (Some(entry), is_stale),
        };
        let cached = self.items.peek(&article);
        let mut at = begun.at;
        if let (Some(entry), Some(Item { entry: Some(known), at: known_at, .. })) = (&mut entry, cached) {
            entry.merge(known.clone());
            at = at.max(*known_at);
        }
        if let Some(entry) = &mut entry
            && !floor.raise(entry)
        {
            // The model is behind: what it has is too old, and the owner is asked.
            return (Lookup::Miss, false);
        }
        let is_other = cached.is_some_and(|item| versions(item.entry.as_ref()) != versions(entry.as_ref()));
        let item = Item { entry, is_stale, at };
        let lookup = item.lookup();
        if self.recent.reaches(begun.number) {
            self.items.insert(article, item);
        }
        (lookup, is_other)
    }

    /// As the model is past the cache: what it says, unless that is known to be too old.
    pub(super) fn checked(&self, article: ArticleId, found: Lookup) -> Lookup {
        let floor = self.floor(article, From::Model, 0);
        match found {
            Lookup::Absent if floor.tells_of_a_text() => Lookup::Miss,
            Lookup::Found { mut entry, is_stale } => match floor.raise(&mut entry) {
                true => Lookup::Found { entry, is_stale },
                false => Lookup::Miss,
            },
            other => other,
        }
    }

    /// Corrects what is cached; tells whether a reader sees something else than before.
    pub(super) fn invalidate(&mut self, article: ArticleId, floor: &Floor, number: u64, now: Timestamp) -> bool {
        let heard = self.recent.remember(article, number, now);
        heard.floor.merge(floor);
        if floor.tells_of_a_text() {
            heard.text_number = number;
        }
        let Some(item) = self.items.peek(&article) else { return false };
        let Some(entry) = &item.entry else {
            let exists = floor.tells_of_a_text();
            if exists {
                self.items.remove(&article);
            }
            return exists;
        };
        let mut raised = entry.clone();
        if !floor.raise(&mut raised) {
            self.items.remove(&article);
            return true;
        }
        if versions(Some(entry)) == versions(Some(&raised)) {
            return false;
        }
        if let Some(mut item) = self.items.peek_mut(&article) {
            item.entry = Some(raised);
        }
        true
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

    /// Articles and their weight.
    pub(super) fn size(&self) -> (u64, u64) {
        (self.items.len() as u64, self.items.weight())
    }

    /// How new an answer must be at least. The model may lag behind what was heard; the owners cannot, unless it was heard
    /// after they were asked.
    fn floor(&self, article: ArticleId, from: From, asked_at: u64) -> Floor {
        let mut floor = Floor::default();
        for Heard { floor: heard, text_number } in self.recent.of(article) {
            let is_binding = from == From::Model || *text_number > asked_at;
            floor.merge(&Floor { text: heard.text.filter(|_| is_binding), ..heard.clone() });
        }
        floor
    }
}

impl Item {
    fn lookup(&self) -> Lookup {
        match &self.entry {
            None => Lookup::Absent,
            Some(entry) => Lookup::Found { entry: entry.clone(), is_stale: self.is_stale },
        }
    }
}

/// What a reader would notice of an entry: whether there is a text and of which version, and the versions of both counts.
fn versions(entry: Option<&Entry>) -> Option<(Option<u64>, Option<u64>, Option<u64>)> {
    entry.map(|entry| {
        let text = entry.live().map(|text| text.head.version);
        (text, entry.comments.as_ref().map(|count| count.version), entry.likes.map(|count| count.version))
    })
}

fn items(budget_bytes: u64) -> Cache<ArticleId, Item, ByBytes> {
    let typical = usize::try_from(budget_bytes / TYPICAL_BYTES).unwrap_or(usize::MAX);
    Cache::with_weighter(typical.max(1), budget_bytes, ByBytes)
}
