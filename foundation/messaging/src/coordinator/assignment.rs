//! Which shards an instance serves: a pure function of who lives, so that nobody has to agree on anything else.

use std::ops::Range;

use madang_kernel::{SHARDS, SHARDS_U8, ShardId};

use crate::InstanceId;

/// A contiguous range of shards, possibly empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Assignment {
    from: u8,
    to: u8,
}

impl Assignment {
    /// No shard.
    pub const NONE: Self = Self { from: 0, to: 0 };
    /// Every shard.
    pub const ALL: Self = Self { from: 0, to: SHARDS_U8 };

    /// The shards of a range, as far as they exist.
    pub fn of(range: Range<u8>) -> Self {
        let to = range.end.min(SHARDS_U8);
        Self { from: range.start.min(to), to }
    }

    /// Whether the shard is served.
    pub fn contains(&self, shard: ShardId) -> bool {
        (self.from..self.to).contains(&shard.number())
    }

    /// The shards served, in order.
    pub fn shards(&self) -> impl Iterator<Item = ShardId> + use<> {
        (self.from..self.to).filter_map(ShardId::new)
    }

    /// Whether nothing is served.
    pub fn is_empty(&self) -> bool {
        self.from == self.to
    }
}

/// The share of `me`: the living in order get ranges of equal size, give or take one; one that is not among them gets
/// nothing.
pub fn shards_for(living: &[InstanceId], me: &InstanceId) -> Assignment {
    let mut living: Vec<&InstanceId> = living.iter().collect();
    living.sort_unstable();
    living.dedup();
    let Ok(place) = living.binary_search(&me) else { return Assignment::NONE };
    let edge = |place: usize| u8::try_from(place * SHARDS / living.len()).unwrap_or(SHARDS_U8);
    Assignment::of(edge(place)..edge(place + 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_shard_has_exactly_one_server(names in proptest::collection::vec("[a-z]{1,4}", 1..100)) {
            let living: Vec<InstanceId> = names.iter().map(InstanceId::new).collect();
            let mut distinct = living.clone();
            distinct.sort();
            distinct.dedup();
            let shares: Vec<Assignment> = distinct.iter().map(|me| shards_for(&living, me)).collect();
            for shard in ShardId::all() {
                prop_assert_eq!(shares.iter().filter(|share| share.contains(shard)).count(), 1);
            }
            let sizes: Vec<usize> = shares.iter().map(|share| share.shards().count()).collect();
            prop_assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
        }
    }

    #[test]
    fn one_that_is_not_alive_serves_nothing() {
        let living = [InstanceId::new("a"), InstanceId::new("b")];
        assert!(shards_for(&living, &InstanceId::new("c")).is_empty());
        assert!(shards_for(&[], &InstanceId::new("a")).is_empty());
    }

    #[test]
    fn the_order_in_which_the_living_are_listed_does_not_matter() {
        let (a, b, c) = (InstanceId::new("a"), InstanceId::new("b"), InstanceId::new("c"));
        assert_eq!(shards_for(&[c.clone(), a.clone(), b.clone()], &b), shards_for(&[a, b.clone(), c], &b));
        assert_eq!(shards_for(std::slice::from_ref(&b), &b), Assignment::ALL);
    }
}
