//! What a member owns, what it must give back, and what waits to be told: shared by `poll`, the pump and its callbacks.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use madang_messaging::{Delivery, Position};
use rdkafka::consumer::base_consumer::PartitionQueue;
use rdkafka::topic_partition_list::TopicPartitionList;
use tokio::sync::Notify;

use super::member::Member;
use crate::names::Names;

/// A topic, by the broker's name, and a partition of it.
pub(super) type Partition = (String, i32);

/// Shared by everybody who serves one subscription.
pub(super) struct Shared {
    pub(super) names: Names,
    pub(super) wake: Notify,
    closing: AtomicBool,
    state: Mutex<State>,
}

/// The state itself. The lock is held for moments only, never while a broker is asked.
#[derive(Default)]
pub(super) struct State {
    /// Partitions that are read.
    pub(super) owned: Vec<Owned>,
    /// Where the next round through them begins.
    pub(super) turn: usize,
    /// Partitions that were granted and are not read yet.
    pub(super) granted: Vec<Partition>,
    /// Partitions whose offset the log no longer holds.
    pub(super) resets: Vec<Partition>,
    /// Partitions of topics that were made again, which are to be read from their beginning.
    pub(super) anew: Vec<Partition>,
    /// Whether the consumer must hear that it fell behind.
    pub(super) fell_behind: bool,
    /// What the consumer must hear of the brokers.
    pub(super) outage: Option<String>,
    /// Whether a commit is under way.
    pub(super) storing: bool,
    strays: VecDeque<(Partition, Delivery)>,
    revocations: Vec<Revocation>,
    stored: HashMap<Partition, i64>,
}

/// A partition that is read.
pub(super) struct Owned {
    pub(super) partition: Partition,
    /// Our name of the topic.
    pub(super) ours: String,
    pub(super) queue: PartitionQueue<Member>,
}

struct Revocation {
    partitions: Vec<Partition>,
    /// Somebody else has them already: nothing may be stored, and nobody waits for us to let go.
    lost: bool,
    told: bool,
}

impl Shared {
    pub(super) fn new(names: Names) -> Self {
        Self { names, wake: Notify::new(), closing: AtomicBool::new(false), state: Mutex::default() }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// Nobody polls any more: the pump leaves the group.
    pub(super) fn close(&self) {
        // Queues hold the consumer, and are dropped outside the lock.
        let owned = std::mem::take(&mut self.lock().owned);
        drop(owned);
        self.closing.store(true, Ordering::Release);
    }

    pub(super) fn ours(&self, topic: &str) -> String {
        self.names.ours(topic).unwrap_or(topic).to_owned()
    }

    pub(super) fn partition(&self, position: &Position) -> Partition {
        (self.names.topic(&position.topic), i32::try_from(position.partition).unwrap_or(i32::MAX))
    }
}

impl State {
    /// Partitions were taken away; the queues of those that were read are returned, to be dropped outside the lock.
    pub(super) fn revoke(&mut self, partitions: Vec<Partition>, lost: bool) -> Vec<Owned> {
        self.granted.retain(|granted| !partitions.contains(granted));
        self.resets.retain(|reset| !partitions.contains(reset));
        self.anew.retain(|anew| !partitions.contains(anew));
        self.strays.retain(|(stray, _)| !partitions.contains(stray));
        let gone = |owned: &mut Owned| partitions.contains(&owned.partition);
        let revoked = self.owned.extract_if(.., gone).collect();
        self.revocations.push(Revocation { partitions, lost, told: false });
        revoked
    }

    /// Topics were made again: what is in hand of them is of no use, and nothing of it may be stored. The queues are returned,
    /// to be dropped outside the lock.
    pub(super) fn begin_anew(&mut self, topics: &[String]) -> Vec<Owned> {
        let of_them = self.owned.iter().map(|owned| &owned.partition).filter(|(topic, _)| topics.contains(topic));
        let partitions: Vec<Partition> = of_them.cloned().collect();
        if partitions.is_empty() {
            return Vec::new();
        }
        let queues = self.revoke(partitions.clone(), true);
        self.anew.extend(partitions);
        queues
    }

    /// The next revocation that the consumer has not heard of.
    pub(super) fn tell_revocation(&mut self) -> Option<Vec<Partition>> {
        let untold = self.revocations.iter_mut().find(|revocation| !revocation.told)?;
        untold.told = true;
        Some(untold.partitions.clone())
    }

    /// Forgets what the consumer has heard of, and returns what is to be let go now.
    pub(super) fn told(&mut self) -> Vec<Vec<Partition>> {
        let told = self.revocations.extract_if(.., |revocation| revocation.told);
        told.filter(|revocation| !revocation.lost).map(|revocation| revocation.partitions).collect()
    }

    /// Everything that is still to be let go, heard of or not.
    pub(super) fn all_revoked(&mut self) -> Vec<Vec<Partition>> {
        let all = self.revocations.drain(..);
        all.filter(|revocation| !revocation.lost).map(|revocation| revocation.partitions).collect()
    }

    /// Whether partitions are still to be given back.
    pub(super) fn is_giving_back(&self) -> bool {
        !self.revocations.is_empty()
    }

    /// A partition is read from now on; what was stored before may have been overtaken by another owner.
    pub(super) fn own(&mut self, owned: Owned) {
        self.stored.remove(&owned.partition);
        self.owned.push(owned);
    }

    /// Whether storing this offset is ours to do and takes nothing back.
    pub(super) fn is_news(&self, partition: &Partition, offset: i64) -> bool {
        // What was lost may be ours again already, but the work in hand is from before.
        let lost = self.revocations.iter().any(|gone| gone.lost && gone.partitions.contains(partition));
        let leaving = self.revocations.iter().any(|gone| !gone.lost && gone.partitions.contains(partition));
        let ours = leaving || self.owned.iter().any(|owned| owned.partition == *partition);
        ours && !lost && self.stored.get(partition).is_none_or(|stored| offset > *stored)
    }

    /// The broker has these offsets.
    pub(super) fn stored(&mut self, offsets: Vec<(Partition, i64)>) {
        for (partition, offset) in offsets {
            let stored = self.stored.entry(partition).or_insert(offset);
            *stored = offset.max(*stored);
        }
    }

    /// Keeps a message that came outside its queue; it goes before what is in the queue.
    pub(super) fn keep_stray(&mut self, partition: Partition, delivery: Delivery) {
        self.strays.push_back((partition, delivery));
    }

    pub(super) fn take_strays(&mut self, max: usize) -> Vec<Delivery> {
        let count = self.strays.len().min(max);
        self.strays.drain(..count).map(|(_, delivery)| delivery).collect()
    }
}

/// The partitions of a list.
pub(super) fn partitions(list: &TopicPartitionList) -> Vec<Partition> {
    list.elements().iter().map(|element| (element.topic().to_owned(), element.partition())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partition(number: i32) -> Partition {
        ("t".to_owned(), number)
    }

    #[test]
    fn a_partition_is_let_go_only_after_the_consumer_heard_of_it_and_came_back() {
        let mut state = State::default();
        state.revoke(vec![partition(1)], false);
        assert!(state.told().is_empty() && state.is_giving_back());
        assert_eq!(state.tell_revocation(), Some(vec![partition(1)]));
        assert_eq!(state.tell_revocation(), None);
        assert_eq!(state.told(), [vec![partition(1)]]);
        assert!(!state.is_giving_back());
    }

    #[test]
    fn what_is_leaving_may_still_be_stored_and_what_is_lost_may_not() {
        let mut state = State::default();
        assert!(!state.is_news(&partition(1), 5), "never ours");
        state.revoke(vec![partition(1)], false);
        assert!(state.is_news(&partition(1), 5));
        state.stored(vec![(partition(1), 5)]);
        assert!(
            !state.is_news(&partition(1), 5) && !state.is_news(&partition(1), 4) && state.is_news(&partition(1), 6)
        );
        state.revoke(vec![partition(2)], true);
        assert!(!state.is_news(&partition(2), 5));
        state.tell_revocation();
        state.tell_revocation();
        assert_eq!(state.told(), [vec![partition(1)]], "nobody waits for what was lost");
    }
}
