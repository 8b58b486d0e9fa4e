//! What one part of the model holds: values until a moment, weighed in bytes, beside the placeholders of rebuilds under
//! way, which are never evicted.

use std::collections::HashMap;
use std::hash::Hash;

use madang_article_read::{ABSENT_TTL_MS, ENTRY_TTL_MS, Freshness, Reservation, freshness};
use madang_kernel::Timestamp;
use quick_cache::Weighter;
use quick_cache::unsync::Cache;

/// A placeholder older than this belongs to a rebuild that never ended, and is swept away.
const PLACEHOLDER_TTL_MS: i64 = 60_000;
/// Placeholders in one part from which on sweeping is worth it.
const SWEEP_FROM: usize = 64;
/// What the cache itself needs for an item, beside the item: key, links and marks, its place in the table, traces of what
/// left lately.
const SLOT_BYTES: usize = 64;

/// A value whose memory is weighed.
pub(crate) trait Weigh {
    /// Memory behind the value, beside its own size.
    fn weight_bytes(&self) -> usize;
}

/// A value, or its absence, until a moment.
#[derive(Clone)]
pub(crate) struct Item<V> {
    pub(crate) value: Option<V>,
    until: Timestamp,
}

/// What a placeholder remembers, and since when it stands.
struct Placeholder<P> {
    reservation: Reservation,
    since: Timestamp,
    merged: P,
}

/// Weighs items.
#[derive(Clone)]
pub(crate) struct ByBytes;

impl<K, V: Weigh> Weighter<K, Item<V>> for ByBytes {
    fn weight(&self, _: &K, item: &Item<V>) -> u64 {
        let behind = item.value.as_ref().map_or(0, Weigh::weight_bytes);
        // Slots are kept in one run that doubles when it is full, so up to half of them wait for an item.
        (SLOT_BYTES + 2 * size_of::<Item<V>>() + behind) as u64
    }
}

/// One part of the model.
pub(crate) struct Part<K, V: Weigh, P> {
    budget_bytes: u64,
    typical_bytes: u64,
    items: Items<K, V>,
    placeholders: HashMap<K, Placeholder<P>>,
}

type Items<K, V> = Cache<K, Item<V>, ByBytes>;

/// What is cached of a key.
pub(crate) enum Cached<'a, V> {
    Miss,
    Absent,
    Value { value: &'a V, is_stale: bool },
}

impl<K: Copy + Eq + Hash, V: Weigh + Clone, P: Default> Part<K, V, P> {
    /// A part that holds up to `budget_bytes` of values of about `typical_bytes`.
    pub(crate) fn new(budget_bytes: u64, typical_bytes: u64) -> Self {
        let items = items(budget_bytes, typical_bytes);
        Self { budget_bytes, typical_bytes, items, placeholders: HashMap::new() }
    }

    /// What is cached, for a reader: makes it less likely to be evicted.
    pub(crate) fn get(&self, key: K, now: Timestamp) -> Cached<'_, V> {
        let Some(Item { value, until }) = self.items.get(&key) else { return Cached::Miss };
        match value {
            None => match freshness(*until, ABSENT_TTL_MS, now) {
                Freshness::Fresh => Cached::Absent,
                Freshness::Stale | Freshness::Expired => Cached::Miss,
            },
            Some(value) => match freshness(*until, ENTRY_TTL_MS, now) {
                Freshness::Fresh => Cached::Value { value, is_stale: false },
                Freshness::Stale => Cached::Value { value, is_stale: true },
                Freshness::Expired => Cached::Miss,
            },
        }
    }

    /// The item, whatever its time; not counted as a use.
    pub(crate) fn peek(&self, key: K) -> Option<&Item<V>> {
        self.items.peek(&key)
    }

    /// Every value with its key, whatever its time; not counted as a use.
    pub(crate) fn values(&self) -> impl Iterator<Item = (K, &V)> {
        self.items.iter().filter_map(|(key, item)| Some((*key, item.value.as_ref()?)))
    }

    /// Caches a value for its whole TTL.
    pub(crate) fn insert(&mut self, key: K, value: Option<V>, now: Timestamp) {
        let ttl_ms = if value.is_some() { ENTRY_TTL_MS } else { ABSENT_TTL_MS };
        let until = Timestamp::from_millis(now.as_millis().saturating_add(ttl_ms));
        self.items.insert(key, Item { value, until });
    }

    /// Changes a value that is there. Its time stays as it is, and the budget holds when it grows.
    pub(crate) fn change(&mut self, key: K, change: impl FnOnce(&mut V)) {
        if let Some(mut item) = self.items.peek_mut(&key)
            && let Some(value) = &mut item.value
        {
            change(value);
        }
        if self.items.weight() > self.budget_bytes
            && let Some(item) = self.items.peek(&key).cloned()
        {
            // Only an insertion evicts others. One that fits no more by itself is removed by this.
            let _ = self.items.replace(key, item, true);
        }
    }

    /// Drops what is cached of a key.
    pub(crate) fn remove(&mut self, key: K) {
        self.items.remove(&key);
    }

    /// Places a placeholder in the stead of an earlier one.
    pub(crate) fn reserve(&mut self, key: K, reservation: Reservation, now: Timestamp) {
        if self.placeholders.len() >= SWEEP_FROM {
            let age_ms = |since: Timestamp| now.as_millis().saturating_sub(since.as_millis());
            self.placeholders.retain(|_, placeholder| age_ms(placeholder.since) < PLACEHOLDER_TTL_MS);
        }
        self.placeholders.insert(key, Placeholder { reservation, since: now, merged: P::default() });
    }

    /// Takes the placeholder of this reservation away, with what was merged into it.
    pub(crate) fn take_placeholder(&mut self, key: K, reservation: Reservation) -> Option<P> {
        if self.placeholders.get(&key)?.reservation != reservation {
            return None;
        }
        self.placeholders.remove(&key).map(|placeholder| placeholder.merged)
    }

    /// What is merged into the placeholder of a key, if one stands.
    pub(crate) fn placeholder(&mut self, key: K) -> Option<&mut P> {
        self.placeholders.get_mut(&key).map(|placeholder| &mut placeholder.merged)
    }

    /// Whether a load of this key is in flight.
    pub(crate) fn is_reserved(&self, key: K) -> bool {
        self.placeholders.contains_key(&key)
    }

    /// Whether there is nothing at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty() && self.placeholders.is_empty()
    }

    /// Drops everything: hands it out, so that it is freed when the lock is not held any more.
    pub(crate) fn clear(&mut self) -> Self {
        std::mem::replace(self, Self::new(self.budget_bytes, self.typical_bytes))
    }

    /// Items, placeholders and weight.
    pub(crate) fn size(&self) -> (u64, u64, u64) {
        (self.items.len() as u64, self.placeholders.len() as u64, self.items.weight())
    }
}

fn items<K: Eq + Hash, V: Weigh>(budget_bytes: u64, typical_bytes: u64) -> Items<K, V> {
    let typical = usize::try_from(budget_bytes / typical_bytes.max(1)).unwrap_or(usize::MAX);
    Cache::with_weighter(typical.max(1), budget_bytes, ByBytes)
}
