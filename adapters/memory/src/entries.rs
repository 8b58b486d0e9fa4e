//! How articles are kept: rules of filling and merging for one part, under its lock.

use madang_article_read::{Change, Entry, Filled, Look, Ticket};
use madang_kernel::{ArticleId, Timestamp};

use crate::kept::{Known, Part, Weigh};

/// Articles that share a lock.
pub(crate) type EntryPart = Part<ArticleId, Entry, Entry>;

/// Header of a shared text, and what the allocator rounds up.
const SHARED_BYTES: usize = 64;

impl Weigh for Entry {
    fn weight_bytes(&self) -> usize {
        self.live().map_or(0, |text| SHARED_BYTES + text.weight_bytes())
    }
}

/// What a reader gets.
pub(crate) fn look(part: &EntryPart, article: ArticleId, now: Timestamp) -> Look {
    match part.look(article, now) {
        Known::Nothing => Look::Miss,
        Known::Absent => Look::Absent,
        Known::Value { value, is_stale } => Look::Found { entry: value.clone(), is_stale },
    }
}

/// Joins what the owners told with what was merged since the placeholder stands.
pub(crate) fn fill(
    part: &mut EntryPart,
    ticket: Ticket,
    article: ArticleId,
    told: Option<Entry>,
    now: Timestamp,
) -> Filled<Entry> {
    let Some(merged) = part.take_placeholder(article, ticket) else { return Filled::Again };
    match told {
        Some(mut entry) => {
            entry.merge(merged);
            if let Some(known) = part.peek(article).and_then(|item| item.value.clone()) {
                entry.merge(known);
            }
            part.keep(article, Some(entry.clone()), now);
            Filled::Kept(Some(entry))
        }
        // Created after the owner looked, or deleted before and reported late: only the owner can tell.
        None if merged.live().is_some() => Filled::Again,
        None => {
            part.keep(article, None, now);
            Filled::Kept(None)
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
        Some(true) => part.change(article, |entry| entry.merge(change.clone())),
        // It exists after all, or the event is late: unknown.
        Some(false) if change.live().is_some() => part.forget(article),
        Some(false) => {}
    }
}

/// As [`merge`], for an event that this process has committed just now: a new article is put in, because nothing about it
/// can have been missed.
pub(crate) fn merge_committed(part: &mut EntryPart, change: &Change, now: Timestamp) {
    merge(part, change.article_id, &change.entry);
    if change.is_creation && part.peek(change.article_id).is_none() {
        part.keep(change.article_id, Some(change.entry.clone()), now);
    }
}
