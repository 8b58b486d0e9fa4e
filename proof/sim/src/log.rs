//! The simulated log: topics with partitions, groups that share them among their members, positions that only grow.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use madang_kernel::EventId;
use madang_messaging::{Delivery, Message, Polled, Position, PublishOutcome};

use crate::content::Nature;

const PARTITIONS: u32 = 2;

type Place = (String, u32);

/// One subscription of a group (a level), shared by the processes that joined it.
#[derive(Default)]
struct Readers {
    topics: Vec<String>,
    /// Per member, where it reads on in each partition it owns.
    members: BTreeMap<usize, BTreeMap<Place, usize>>,
    revoked: BTreeMap<usize, Vec<Place>>,
    committed: BTreeMap<Place, usize>,
}

/// Names a level of a group: the group's number and the level's.
pub(crate) type LevelKey = (usize, usize);

#[derive(Default)]
pub(crate) struct Log {
    topics: BTreeMap<String, Vec<Vec<Message>>>,
    readers: BTreeMap<LevelKey, Readers>,
    refusals: BTreeMap<EventId, u32>,
}

impl Log {
    pub(crate) fn publish(&mut self, message: &Message, nature: Nature) -> PublishOutcome {
        let refused = match nature {
            Nature::RefusedForEver => true,
            Nature::RefusedFor(times) => {
                let refusals = self.refusals.entry(message.event_id).or_default();
                *refusals += 1;
                *refusals <= times
            }
            _ => false,
        };
        if refused {
            return PublishOutcome::Rejected("refused".to_owned());
        }
        let hash = message.key.bytes().fold(0u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(u32::from(byte)));
        let partitions = partitions_of(&mut self.topics, &message.topic);
        partitions[(hash % PARTITIONS) as usize].push(message.clone());
        PublishOutcome::Published
    }

    pub(crate) fn join(&mut self, level: LevelKey, topics: &[String], process: usize) {
        let readers = self.readers.entry(level).or_default();
        readers.topics = topics.to_vec();
        readers.members.insert(process, BTreeMap::new());
        readers.revoked.remove(&process);
        readers.rebalance();
    }

    /// The process is gone, or was silent for too long.
    pub(crate) fn expel(&mut self, process: usize) {
        for readers in self.readers.values_mut() {
            if let Some(owned) = readers.members.remove(&process) {
                readers.revoked.entry(process).or_default().extend(owned.into_keys());
                readers.rebalance();
            }
        }
    }

    /// What there is for the member now; `None` when nothing. A member that was expelled learns it and joins again.
    pub(crate) fn poll(&mut self, level: LevelKey, process: usize, max: usize, commit_at_once: bool) -> Option<Polled> {
        let readers = self.readers.get_mut(&level)?;
        if let Entry::Vacant(newcomer) = readers.members.entry(process) {
            newcomer.insert(BTreeMap::new());
            readers.rebalance();
        }
        if let Some(revoked) = readers.revoked.remove(&process)
            && !revoked.is_empty()
        {
            return Some(Polled::Revoked(revoked));
        }
        let mut deliveries = Vec::new();
        for (place, next) in readers.members.get_mut(&process)? {
            let Some(messages) = self.topics.get(&place.0).map(|partitions| &partitions[place.1 as usize]) else {
                continue;
            };
            while *next < messages.len() && deliveries.len() < max {
                let position = Position { topic: place.0.clone(), partition: place.1, offset: *next as i64 };
                deliveries.push(Delivery { position, message: messages[*next].clone() });
                *next += 1;
            }
            if commit_at_once {
                readers.committed.insert(place.clone(), *next);
            }
        }
        (!deliveries.is_empty()).then_some(Polled::Deliveries(deliveries))
    }

    /// Stores positions; those of partitions that the member no longer owns are ignored.
    pub(crate) fn commit(&mut self, level: LevelKey, process: usize, positions: &[Position]) {
        let Some(readers) = self.readers.get_mut(&level) else { return };
        for position in positions {
            let place = (position.topic.clone(), position.partition);
            if readers.members.get(&process).is_some_and(|owned| owned.contains_key(&place)) {
                let committed = readers.committed.entry(place).or_default();
                *committed = (*committed).max(position.offset as usize + 1);
            }
        }
    }

    /// Stores one position in the transaction of an effect, whoever owns the partition meanwhile.
    pub(crate) fn store_offset(&mut self, level: LevelKey, position: &Position) {
        if let Some(readers) = self.readers.get_mut(&level) {
            let committed = readers.committed.entry((position.topic.clone(), position.partition)).or_default();
            *committed = (*committed).max(position.offset as usize + 1);
        }
    }

    /// Every message of a topic.
    pub(crate) fn messages(&self, topic: &str) -> impl Iterator<Item = &Message> {
        self.topics.get(topic).into_iter().flatten().flatten()
    }

    /// Whether every level has stored all there is.
    pub(crate) fn is_read(&self) -> bool {
        self.readers.values().all(|readers| {
            readers.topics.iter().filter_map(|topic| self.topics.get_key_value(topic)).all(|(topic, partitions)| {
                (0..PARTITIONS).zip(partitions).all(|(partition, messages)| {
                    readers.committed.get(&(topic.clone(), partition)).copied().unwrap_or(0) >= messages.len()
                })
            })
        })
    }
}

impl Readers {
    /// Shares the partitions out anew. Whoever keeps one reads on; whoever gains one starts at what is stored.
    fn rebalance(&mut self) {
        let members: Vec<usize> = self.members.keys().copied().collect();
        let mut places = self.topics.iter().flat_map(|topic| (0..PARTITIONS).map(|number| (topic.clone(), number)));
        let mut shares: BTreeMap<usize, BTreeMap<Place, usize>> =
            members.iter().map(|m| (*m, BTreeMap::new())).collect();
        for (turn, place) in places.by_ref().enumerate() {
            let Some(member) = members.get(turn % members.len().max(1)) else { return };
            let kept = self.members[member].get(&place).copied();
            let next = kept.unwrap_or_else(|| self.committed.get(&place).copied().unwrap_or(0));
            if let Some(share) = shares.get_mut(member) {
                share.insert(place, next);
            }
        }
        for (member, owned) in &self.members {
            let lost = owned.keys().filter(|place| !shares[member].contains_key(*place)).cloned();
            self.revoked.entry(*member).or_default().extend(lost);
        }
        self.members = shares;
    }
}

fn partitions_of<'a>(topics: &'a mut BTreeMap<String, Vec<Vec<Message>>>, topic: &str) -> &'a mut Vec<Vec<Message>> {
    topics.entry(topic.to_owned()).or_insert_with(|| vec![Vec::new(); PARTITIONS as usize])
}
