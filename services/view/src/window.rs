//! Who has viewed what in the last ten minutes, in memory of a fixed size.
//!
//! **What is kept.** For a (viewer, article) pair that was counted, one entry of 8 bytes: 36 bits of a hash of the pair and
//! the time in tenths of a second (28 bits, which come round after 310 days). Nothing of the viewer can be read from it,
//! nothing is written to disk, and a restart forgets everything.
//!
//! **What it costs.** The table has a fixed number of entries, [`ViewConfig::default`](crate::ViewConfig) 2^21 = 16 MiB,
//! allocated once. A pair has its place in one set of 8 entries; when all are taken the oldest gives way. So with a
//! million pairs in ten minutes about one in a hundred is forgotten early; with more than fit, the oldest are, and such a
//! viewer may be counted again sooner than after ten minutes. The opposite error, a new viewer taken for a known one,
//! happens about once in eight thousand million views.

use std::sync::{Mutex, PoisonError};

use madang_board::ArticleId;
use madang_kernel::{Id, Timestamp};

use crate::Viewer;

/// A viewer counts once per article in this time.
pub const WINDOW_MS: u64 = 600_000;
/// Memory of one entry.
pub const ENTRY_BYTES: usize = size_of::<u64>();

const TICK_MS: i64 = 100;
const TICK_BITS: u32 = 28;
const TICK_MASK: u64 = (1 << TICK_BITS) - 1;
const WINDOW_TICKS: u64 = WINDOW_MS / TICK_MS as u64;
/// Entries in which a pair may lie.
const WAYS: usize = 8;
/// Parts of the table with a lock each, so that views of different pairs seldom wait for one another.
const STRIPES: usize = 64;
/// Nothing was ever written here. No pair has the fingerprint 0.
const EMPTY: u64 = 0;

const _: () = assert!(WINDOW_TICKS * 4 < 1 << TICK_BITS, "a window must be told apart from time that came round");

/// The pairs counted in the last ten minutes; see the module for what is kept.
pub struct Window {
    stripes: Vec<Mutex<Box<[u64]>>>,
    sets: usize,
    seed: u64,
}

impl Window {
    /// A window of about `entries` entries, rounded up to whole sets; `seed` scatters them.
    pub fn new(entries: usize, seed: u64) -> Self {
        let sets_per_stripe = entries.div_ceil(WAYS * STRIPES).max(1);
        let stripe = || Mutex::new(vec![EMPTY; sets_per_stripe * WAYS].into_boxed_slice());
        Self { stripes: (0..STRIPES).map(|_| stripe()).collect(), sets: sets_per_stripe * STRIPES, seed }
    }

    /// Whether this view counts; if so the pair is remembered from `now` on. Two at once: one of them counts.
    pub fn admit(&self, viewer: Viewer, article: ArticleId, now: Timestamp) -> bool {
        let (place, fingerprint) = self.locate(viewer, article);
        let (stripe, set) = (place % STRIPES, place / STRIPES);
        let mut entries = self.stripes[stripe].lock().unwrap_or_else(PoisonError::into_inner);
        let set = &mut entries[set * WAYS..(set + 1) * WAYS];
        // Rounded so that an entry looks younger than it is: a viewer may wait a tick longer, never shorter.
        let seen_at = tick((now.as_millis().saturating_add(TICK_MS - 1)).div_euclid(TICK_MS));
        let now = tick(now.as_millis().div_euclid(TICK_MS));
        let entry = fingerprint << TICK_BITS | seen_at;
        if let Some(known) = set.iter_mut().find(|known| **known >> TICK_BITS == fingerprint) {
            let counts = age(*known, now) >= WINDOW_TICKS;
            if counts {
                *known = entry;
            }
            return counts;
        }
        if let Some(oldest) = set.iter_mut().max_by_key(|known| age(**known, now)) {
            *oldest = entry;
        }
        true
    }

    /// Memory of the table; never changes.
    pub fn memory_bytes(&self) -> usize {
        self.sets * WAYS * ENTRY_BYTES
    }

    fn locate(&self, viewer: Viewer, article: ArticleId) -> (usize, u64) {
        let [high, low] = viewer.halves();
        let hash = mix(mix(mix(self.seed ^ high) ^ low) ^ article.raw().cast_unsigned());
        let fingerprint = (mix(hash ^ self.seed) >> TICK_BITS).max(1);
        let set = usize::try_from(hash % self.sets as u64).unwrap_or(0);
        (set, fingerprint)
    }
}

/// How long ago an entry was written; an empty one is older than any. A time ahead of `now` (rounding, or a clock that
/// stepped back a little) counts as this moment, one further ahead than a window as long ago.
fn age(entry: u64, now: u64) -> u64 {
    if entry == EMPTY {
        return u64::MAX;
    }
    let age = now.wrapping_sub(entry) & TICK_MASK;
    let ahead = entry.wrapping_sub(now) & TICK_MASK;
    if ahead <= WINDOW_TICKS { 0 } else { age }
}

fn tick(ticks: i64) -> u64 {
    ticks.cast_unsigned() & TICK_MASK
}

/// The finaliser of splitmix64: every input bit reaches every output bit.
pub(crate) fn mix(mut bits: u64) -> u64 {
    bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use madang_board::MemberId;
    use proptest::prelude::*;

    use super::*;

    const START_MS: i64 = 1_800_000_000_000;

    fn admit(window: &Window, viewer: i64, article: i64, ms: i64) -> bool {
        let viewer = Viewer::member(MemberId::from_raw(viewer));
        window.admit(viewer, ArticleId::from_raw(article), Timestamp::from_millis(START_MS + ms))
    }

    #[test]
    fn a_viewer_counts_once_in_ten_minutes() {
        let window = Window::new(1 << 10, 1);
        assert!(admit(&window, 1, 1, 0));
        assert!(!admit(&window, 1, 1, 0));
        assert!(!admit(&window, 1, 1, 599_999));
        assert!(admit(&window, 1, 1, 600_000), "repeated views do not prolong the window");
        assert!(!admit(&window, 1, 1, 600_001));
    }

    #[test]
    fn viewers_and_articles_are_told_apart() {
        let window = Window::new(1 << 10, 1);
        assert!(admit(&window, 1, 1, 0));
        assert!(admit(&window, 1, 2, 0));
        assert!(admit(&window, 2, 1, 0));
    }

    #[test]
    fn a_clock_that_steps_back_counts_nobody_twice_and_blocks_nobody_for_long() {
        let window = Window::new(1 << 10, 1);
        assert!(admit(&window, 1, 1, 0));
        assert!(!admit(&window, 1, 1, -300_000));
        assert!(admit(&window, 2, 1, 90_000_000));
        assert!(admit(&window, 2, 1, 0), "a day back is no window");
    }

    #[test]
    fn the_oldest_of_a_set_gives_way() {
        let window = Window::new(1, 1);
        let sets = window.sets as i64;
        for viewer in 1..=sets * 64 {
            assert!(admit(&window, viewer, 1, viewer * 10));
        }
        let newest = sets * 64;
        assert!((0..8).all(|back| !admit(&window, newest - back, 1, newest * 10)), "the newest stay");
        assert!(admit(&window, 1, 1, newest * 10), "the oldest went");
    }

    #[test]
    fn at_half_load_nearly_nobody_is_forgotten_early() {
        let window = Window::new(1 << 15, 1);
        let pairs = 1 << 14;
        assert!((0..pairs).all(|viewer| admit(&window, viewer, 1, 0)));
        let twice = (0..pairs).filter(|viewer| admit(&window, *viewer, 1, 1_000)).count();
        assert!(twice < pairs as usize / 50, "{twice} of {pairs} were forgotten");
    }

    proptest! {
        #[test]
        fn agrees_with_a_plain_map_while_nothing_gives_way(
            views in prop::collection::vec((1i64..12, 1i64..4, 0i64..400_000), 1..200),
        ) {
            let window = Window::new(1 << 14, 3);
            let mut counted: HashMap<(i64, i64), i64> = HashMap::new();
            let mut now = 0;
            for (viewer, article, step) in views {
                now += step;
                let age = counted.get(&(viewer, article)).map(|at| now - at);
                let admitted = admit(&window, viewer, article, now);
                match age {
                    None => prop_assert!(admitted),
                    Some(age) if age < WINDOW_MS as i64 => prop_assert!(!admitted, "twice within {age} ms"),
                    // The tick at either end may be rounded up.
                    Some(age) if age >= WINDOW_MS as i64 + 2 * TICK_MS => prop_assert!(admitted),
                    Some(_) => {}
                }
                if admitted {
                    counted.insert((viewer, article), now);
                }
            }
        }
    }
}
