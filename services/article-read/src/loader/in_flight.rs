//! The in-flight loads of a loader: keys that wait, keys that are being loaded, and who waits for which. Kept under one lock by
//! readers and loop alike, so that a key is never in two loads.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use madang_kernel::StoreError;
use tokio::sync::oneshot;

use super::{BATCH_MAX, Failed, LOADS_MAX, Load, Loaded, WAITING_MAX};

/// Where the values of one reader go.
pub(super) type Reader<V> = oneshot::Sender<Result<Vec<V>, Failed>>;

pub(super) struct InFlight<K, V> {
    /// Keys that no load has taken yet, in the order asked.
    next: VecDeque<K>,
    waiting: HashMap<K, Vec<Slot>>,
    loading: HashMap<K, Vec<Slot>>,
    readers: HashMap<u64, Waiter<V>>,
    last_reader: u64,
    /// Loads under way.
    loads: usize,
    /// Those that readers began and the loop has to end.
    started: Vec<Load<K, V>>,
    /// Whether the loop has ended, and nothing begins any more.
    closed: bool,
}

/// A reader whose keys are not all there yet.
struct Waiter<V> {
    reader: Reader<V>,
    values: Vec<Option<V>>,
    left: usize,
}

/// Where a value goes: to which reader, and as which of theirs.
struct Slot {
    reader: u64,
    at: usize,
}

/// Why nothing was loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    Full,
    Closed,
}

impl Refused {
    pub(super) fn to_error(self, what: &'static str) -> StoreError {
        match self {
            Self::Full => StoreError::unavailable(what, "too many wait for a load"),
            Self::Closed => StoreError::unavailable(what, "stopping"),
        }
    }
}

impl<K, V> InFlight<K, V> {
    pub(super) fn empty() -> Self {
        Self {
            next: VecDeque::new(),
            waiting: HashMap::new(),
            loading: HashMap::new(),
            readers: HashMap::new(),
            last_reader: 0,
            loads: 0,
            started: Vec::new(),
            closed: false,
        }
    }

    /// Lets loads begin. Of those that an earlier run of the loop had, nobody will hear.
    pub(super) fn open(&mut self) {
        self.closed = false;
        self.loads = self.started.len();
    }

    /// Ends everything: once what was in flight is dropped, which is to happen when the lock is not held any more, readers
    /// get `Unavailable` by the end of their channel.
    #[must_use]
    pub(super) fn close(&mut self) -> Self {
        std::mem::replace(self, Self { closed: true, last_reader: self.last_reader, ..Self::empty() })
    }

    /// Whether keys wait that no load has taken.
    pub(super) fn has_next(&self) -> bool {
        !self.next.is_empty()
    }

    /// Leaves a load to the loop; false when there is none any more.
    pub(super) fn leave_to_loop(&mut self, load: Load<K, V>) -> bool {
        if !self.closed {
            self.started.push(load);
        }
        !self.closed
    }

    /// The loads that the loop has to end.
    pub(super) fn take_started(&mut self) -> Vec<Load<K, V>> {
        std::mem::take(&mut self.started)
    }

    fn room(&self) -> Result<(), Refused> {
        match self.readers.len() < WAITING_MAX && self.next.len() < WAITING_MAX {
            _ if self.closed => Err(Refused::Closed),
            true => Ok(()),
            false => Err(Refused::Full),
        }
    }
}

impl<K: Copy + Eq + Hash, V> InFlight<K, V> {
    /// Takes a reader in, beside others who wait for the same keys.
    pub(super) fn join(&mut self, keys: &[K], reader: Reader<V>) -> Result<(), Refused> {
        self.room()?;
        self.last_reader += 1;
        let waiter = Waiter { reader, values: keys.iter().map(|_| None).collect(), left: keys.len() };
        self.readers.insert(self.last_reader, waiter);
        for (at, key) in keys.iter().enumerate() {
            let slot = Slot { reader: self.last_reader, at };
            self.slots(*key).push(slot);
        }
        Ok(())
    }

    /// Has keys loaded for nobody, unless they are about to be; false when there is nothing new to do.
    pub(super) fn join_refresh(&mut self, keys: &[K]) -> bool {
        let before = self.next.len();
        for key in keys {
            if self.room().is_ok() {
                self.slots(*key);
            }
        }
        self.next.len() > before
    }

    /// Who waits for a key, which waits for its load from now on if it does not yet.
    fn slots(&mut self, key: K) -> &mut Vec<Slot> {
        if let Entry::Occupied(slots) = self.loading.entry(key) {
            return slots.into_mut();
        }
        let next = &mut self.next;
        self.waiting.entry(key).or_insert_with(|| {
            next.push_back(key);
            Vec::new()
        })
    }

    /// Keys for one more load, if one may run. Whoever takes them has to answer.
    pub(super) fn take_batch(&mut self) -> Option<Vec<K>> {
        if self.next.is_empty() || self.loads >= LOADS_MAX {
            return None;
        }
        let keys: Vec<K> = self.next.drain(..self.next.len().min(BATCH_MAX)).collect();
        for key in &keys {
            let slots = self.waiting.remove(key).unwrap_or_default();
            self.loading.insert(*key, slots);
        }
        self.loads += 1;
        Some(keys)
    }

    /// Hands what a load brought to everyone who waits for it, and answers those who have all of theirs. A failure answers
    /// at once.
    pub(super) fn answer(&mut self, loaded: Loaded<K, V>)
    where
        V: Clone,
    {
        self.loads = self.loads.saturating_sub(1);
        for (key, value) in loaded {
            let slots = self.loading.remove(&key).unwrap_or_default();
            slots.into_iter().for_each(|slot| self.hand_out(&slot, &value));
        }
    }

    fn hand_out(&mut self, Slot { reader, at }: &Slot, value: &Result<V, Failed>)
    where
        V: Clone,
    {
        let Entry::Occupied(mut waiter) = self.readers.entry(*reader) else { return };
        // A reader who went away wants no answer.
        match value {
            Err(failed) => drop(waiter.remove().reader.send(Err(failed.clone()))),
            Ok(value) => {
                waiter.get_mut().values[*at] = Some(value.clone());
                waiter.get_mut().left -= 1;
                if waiter.get().left == 0 {
                    let Waiter { reader, values, .. } = waiter.remove();
                    drop(reader.send(Ok(values.into_iter().flatten().collect())));
                }
            }
        }
    }
}
