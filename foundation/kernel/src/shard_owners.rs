//! Who holds each shard, with an epoch that grows by one whenever a shard changes hands: what several servers tell is merged,
//! and the latest holds.

use crate::shard::{SHARDS, ServerIndex, ShardId, ShardMap};

/// The server that holds a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShardOwner {
    /// Its number.
    pub server: ServerIndex,
    /// How often the shard has changed hands, from 1.
    pub epoch: u64,
    /// Whether the owner takes writes for it, as it said last.
    pub writable: bool,
}

/// The owner of every shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardOwners([ShardOwner; SHARDS]);

impl ShardOwners {
    /// The owners that nobody has confirmed: whatever a server tells comes before them.
    pub fn assumed(map: &ShardMap) -> Self {
        Self::at_epoch(map, 0)
    }

    /// The owners of a map that is new.
    pub fn first(map: &ShardMap) -> Self {
        Self::at_epoch(map, 1)
    }

    fn at_epoch(map: &ShardMap, epoch: u64) -> Self {
        let mut owners = [ShardOwner { server: ServerIndex(0), epoch, writable: true }; SHARDS];
        for (owner, shard) in owners.iter_mut().zip(ShardId::all()) {
            owner.server = map.server(shard);
        }
        Self(owners)
    }

    /// The owner of a shard.
    pub fn of(&self, shard: ShardId) -> ShardOwner {
        self.0[usize::from(shard.number())]
    }

    /// Takes in what a server told: a later epoch replaces what is known, and of its own shards a server knows best whether
    /// they take writes.
    pub fn learn(&mut self, told_by: ServerIndex, shard: ShardId, told: ShardOwner) {
        let known = &mut self.0[usize::from(shard.number())];
        let is_own = told_by == told.server;
        if told.epoch > known.epoch {
            // Somebody else's word says where the shard is, not how it is there.
            *known = ShardOwner { writable: told.writable || !is_own, ..told };
        } else if told.epoch == known.epoch && is_own && known.server == told.server {
            known.writable = told.writable;
        }
    }

    /// The version of the whole: 1 for a first map, one more for each shard that changed hands since; 0 while assumed.
    pub fn version(&self) -> u64 {
        let changes: u64 = self.0.iter().map(|owner| owner.epoch.saturating_sub(1)).sum();
        changes + u64::from(self.0.iter().any(|owner| owner.epoch > 0))
    }

    /// The shards of a server, in order.
    pub fn shards_of(&self, server: ServerIndex) -> impl Iterator<Item = ShardId> {
        ShardId::all().filter(move |shard| self.of(*shard).server == server)
    }

    /// The shards whose owner takes no writes for them, in order.
    pub fn fenced(&self) -> impl Iterator<Item = ShardId> {
        ShardId::all().filter(|shard| !self.of(*shard).writable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ServerIndex = ServerIndex(0);
    const B: ServerIndex = ServerIndex(1);

    fn shard(number: u8) -> ShardId {
        ShardId::new(number).unwrap()
    }

    fn told(server: ServerIndex, epoch: u64, writable: bool) -> ShardOwner {
        ShardOwner { server, epoch, writable }
    }

    fn first() -> ShardOwners {
        ShardOwners::first(&ShardMap::from_ranges(&["0-31", "32-63"]).unwrap())
    }

    #[test]
    fn the_latest_epoch_holds_in_whatever_order_it_is_told() {
        let mut early = first();
        early.learn(B, shard(7), told(B, 2, true));
        early.learn(A, shard(7), told(A, 1, true));
        let mut late = first();
        late.learn(A, shard(7), told(A, 1, true));
        late.learn(A, shard(7), told(B, 2, false));
        late.learn(B, shard(7), told(B, 2, true));
        assert_eq!(early, late);
        assert_eq!((early.of(shard(7)).server, early.version()), (B, 2));
    }

    #[test]
    fn only_its_owner_says_whether_a_shard_takes_writes() {
        let mut owners = first();
        owners.learn(B, shard(3), told(A, 1, false));
        assert_eq!(owners.fenced().count(), 0);
        owners.learn(A, shard(3), told(A, 1, false));
        assert_eq!(owners.fenced().collect::<Vec<_>>(), [shard(3)]);
        owners.learn(A, shard(3), told(A, 1, true));
        assert_eq!(owners.fenced().count(), 0);
    }

    #[test]
    fn what_is_assumed_gives_way_to_what_anybody_tells() {
        let mut owners = ShardOwners::assumed(&ShardMap::single());
        assert_eq!(owners.version(), 0);
        for shard in ShardId::all() {
            owners.learn(A, shard, told(B, 1, true));
        }
        assert_eq!((owners.shards_of(B).count(), owners.version()), (64, 1));
    }
}
