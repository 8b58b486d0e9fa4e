//! How articles are cached: rules of filling and merging for one part, under its lock. What costs more than a few hundred
//! nanoseconds, packing and unpacking, happens before or after it wherever that can be.

use madang_article_read::{Change, Entry, Filled, Lookup, Reservation};
use madang_board::ArticleId;
use madang_kernel::Timestamp;

use crate::packed::Packed;
use crate::part::{Cached, Part};

/// Articles that share a lock.
pub(crate) type EntryPart = Part<ArticleId, Packed, Entry>;

/// What a reader gets, still packed.
pub(crate) enum Found {
    Miss,
    Absent,
    Packed { packed: Packed, is_stale: bool },
}

impl Found {
    /// Unpacks it, without the lock.
    pub(crate) fn unpack(self, article: ArticleId) -> Lookup {
        match self {
            Self::Miss => Lookup::Miss,
            Self::Absent => Lookup::Absent,
            Self::Packed { packed, is_stale } => {
                packed.entry(article).map_or(Lookup::Miss, |entry| Lookup::Found { entry, is_stale })
            }
        }
    }
}

/// What is cached of an article.
pub(crate) fn find(part: &EntryPart, article: ArticleId, now: Timestamp) -> Found {
    match part.get(article, now) {
        Cached::Miss => Found::Miss,
        Cached::Absent => Found::Absent,
        Cached::Value { value, is_stale } => Found::Packed { packed: value.clone(), is_stale },
    }
}

/// What was loaded from the owners, packed beforehand.
pub(crate) struct Loaded {
    entry: Entry,
    packed: Packed,
}

impl Loaded {
    pub(crate) fn of(entry: Entry) -> Self {
        let packed = Packed::of(&entry);
        Self { entry, packed }
    }
}

/// Joins what was loaded from the owners with what was merged since the placeholder stands.
pub(crate) fn fill(
    part: &mut EntryPart,
    reservation: Reservation,
    article: ArticleId,
    loaded: Option<Loaded>,
    now: Timestamp,
) -> Filled<Entry> {
    let Some(merged) = part.take_placeholder(article, reservation) else { return Filled::Retry };
    match loaded {
        Some(Loaded { mut entry, mut packed }) => {
            let cached = part.peek(article).and_then(|item| item.value.as_ref()?.entry(article));
            for other in [Some(merged), cached].into_iter().flatten().filter(|other| *other != Entry::default()) {
                packed.merge(article, &other);
                entry.merge(other);
            }
            part.insert(article, Some(packed), now);
            Filled::Stored(Some(entry))
        }
        // Created after the owner looked, or deleted before and reported late: only the owner can tell.
        None if merged.live().is_some() => Filled::Retry,
        None => {
            part.insert(article, None, now);
            Filled::Stored(None)
        }
    }
}

/// Merges an event into what is there, and into the placeholder.
pub(crate) fn merge(part: &mut EntryPart, article: ArticleId, change: &Entry) {
    if let Some(merged) = part.placeholder(article) {
        merged.merge(change.clone());
    }
    match part.peek(article).map(|item| item.value.is_some()) {
        None => {}
        Some(true) => part.change(article, |packed| packed.merge(article, change)),
        // It exists after all, or the event is late: unknown.
        Some(false) if change.live().is_some() => part.remove(article),
        Some(false) => {}
    }
}

/// As [`merge`], for an event that this process has committed just now: a new article, packed beforehand, is put in,
/// because nothing about it can have been missed.
pub(crate) fn merge_committed(part: &mut EntryPart, change: &Change, created: Option<Packed>, now: Timestamp) {
    merge(part, change.article_id, &change.entry);
    if created.is_some() && part.peek(change.article_id).is_none() {
        part.insert(change.article_id, created, now);
    }
}
