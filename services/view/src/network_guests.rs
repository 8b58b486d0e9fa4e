//! How many guests of one network were counted on an article within a window, in memory of a fixed size. A guest is whoever
//! claims another browser, so what one address can claim is bounded.
//!
//! The table has [`ENTRIES`] entries of 16 bytes, 2 MiB. An entry has its place in one set of 8; when all are taken, one that
//! is over gives way, and otherwise the one with the fewest guests: a network near its bound is the last to be forgotten.

use madang_board::ArticleId;
use madang_kernel::{Id, Timestamp};

use crate::WINDOW_MS;
use crate::viewer::Network;
use crate::window::mix;

const ENTRIES: usize = 1 << 17;
const WAYS: usize = 8;
const WINDOW_S: u64 = WINDOW_MS / 1_000;

/// The guests that were counted, by network and article.
pub(crate) struct NetworkGuests {
    entries: Box<[Entry]>,
    seed: u64,
}

#[derive(Clone, Copy, Default)]
struct Entry {
    /// A hash of network and article; 0 for nobody's.
    key: u64,
    began_s: u32,
    guests: u32,
}

impl Entry {
    fn is_over(&self, now_s: u32) -> bool {
        // A moment ahead is a clock that stepped back.
        u64::from(now_s.abs_diff(self.began_s)) >= WINDOW_S
    }
}

impl NetworkGuests {
    /// None yet; `seed` scatters them.
    pub(crate) fn new(seed: u64) -> Self {
        Self { entries: vec![Entry::default(); ENTRIES].into_boxed_slice(), seed }
    }

    /// Guests of this network that were counted on the article within the present window.
    pub(crate) fn counted(&self, network: Network, article: ArticleId, now: Timestamp) -> u32 {
        let (key, set, now_s) = (self.key(network, article), self.set(network, article), seconds(now));
        let found = self.entries[set..set + WAYS].iter().find(|entry| entry.key == key && !entry.is_over(now_s));
        found.map_or(0, |entry| entry.guests)
    }

    /// One more was counted.
    pub(crate) fn add(&mut self, network: Network, article: ArticleId, now: Timestamp) {
        let (key, set, now_s) = (self.key(network, article), self.set(network, article), seconds(now));
        let set = &mut self.entries[set..set + WAYS];
        if let Some(entry) = set.iter_mut().find(|entry| entry.key == key && !entry.is_over(now_s)) {
            entry.guests = entry.guests.saturating_add(1);
            return;
        }
        let leaves = |entry: &&mut Entry| (entry.key != key, !entry.is_over(now_s), entry.guests);
        if let Some(entry) = set.iter_mut().min_by_key(leaves) {
            *entry = Entry { key, began_s: now_s, guests: 1 };
        }
    }

    fn hash(&self, network: Network, article: ArticleId) -> u64 {
        mix(mix(self.seed ^ network.0) ^ article.raw().cast_unsigned())
    }

    fn key(&self, network: Network, article: ArticleId) -> u64 {
        mix(self.hash(network, article) ^ self.seed).max(1)
    }

    fn set(&self, network: Network, article: ArticleId) -> usize {
        let sets = ENTRIES / WAYS;
        usize::try_from(self.hash(network, article) % sets as u64).unwrap_or(0) * WAYS
    }
}

fn seconds(now: Timestamp) -> u32 {
    u32::try_from(now.as_millis().div_euclid(1_000)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: i64) -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000 + s * 1_000)
    }

    #[test]
    fn guests_are_counted_by_network_article_and_window() {
        let mut guests = NetworkGuests::new(1);
        let (one, other) = (Network(1), Network(2));
        let (article, another) = (ArticleId::from_raw(1), ArticleId::from_raw(2));
        for _ in 0..3 {
            guests.add(one, article, at(0));
        }
        guests.add(one, another, at(0));
        assert_eq!(guests.counted(one, article, at(599)), 3);
        assert_eq!((guests.counted(one, another, at(1)), guests.counted(other, article, at(1))), (1, 0));
        assert_eq!(guests.counted(one, article, at(600)), 0, "the window is over");
        guests.add(one, article, at(600));
        assert_eq!(guests.counted(one, article, at(601)), 1);
        assert_eq!(guests.counted(one, article, at(599)), 1, "a clock that stepped back a little");
    }

    #[test]
    fn a_network_near_its_bound_is_the_last_to_be_forgotten() {
        let mut guests = NetworkGuests::new(1);
        let (near, article) = (Network(1), ArticleId::from_raw(1));
        for _ in 0..49 {
            guests.add(near, article, at(0));
        }
        for other in 2..2 * ENTRIES as u64 {
            guests.add(Network(other), article, at(1));
        }
        assert_eq!(guests.counted(near, article, at(2)), 49);
    }
}
