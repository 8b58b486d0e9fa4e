//! Collapses and batches loads: however many ask for a key, one load of it runs at a time, and keys that wait together
//! are loaded together. The loop belongs to a supervisor, so a reader who goes away cancels nothing.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::hash::Hash;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures_util::future::{FutureExt, join_all};
use futures_util::stream::{FuturesUnordered, StreamExt};
use madang_kernel::StoreError;
use madang_messaging::Stop;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};

/// Keys loaded by one call.
const BATCH_MAX: usize = 256;
/// Loads that run at once.
const LOADS_MAX: usize = 4;
/// Readers on their way to the loop, however many keys each brings; past it, they are told to come back.
const QUEUE_MAX: usize = 4_096;
/// Readers whom the loop holds at once, and keys that wait for their load; past it, it takes no more from the queue.
const HELD_MAX: usize = 16_384;

/// Where values come from.
#[async_trait]
pub trait Source<K, V>: Send + Sync {
    /// The values of keys, one each, in the order asked. Called for keys that were asked for a moment ago: one that has
    /// been loaded meanwhile need not be loaded again.
    async fn load(&self, keys: &[K]) -> Result<Vec<V>, StoreError>;

    /// Where the value of a key is kept: when a part is away, keys of one place fail together, and others need not.
    fn place(&self, _key: &K) -> u32 {
        0
    }
}

/// The readers' side.
pub struct Loader<K, V> {
    what: &'static str,
    queue: mpsc::Sender<Asked<K, V>>,
    refreshing: Arc<Mutex<HashSet<K>>>,
}

/// The side that loads.
pub struct LoadLoop<K, V> {
    what: &'static str,
    source: Arc<dyn Source<K, V>>,
    /// Held by the one run of the loop for as long as it runs; a restarted one goes on where the last one stopped.
    queue: tokio::sync::Mutex<mpsc::Receiver<Asked<K, V>>>,
    refreshing: Arc<Mutex<HashSet<K>>>,
}

/// Keys, and who waits for them; nobody waits for a refresh.
struct Asked<K, V> {
    keys: Vec<K>,
    reader: Option<Reader<V>>,
}

type Reader<V> = oneshot::Sender<Result<Vec<V>, Failed>>;

/// A failure that many readers share.
#[derive(Clone)]
struct Failed(Arc<StoreError>);

/// Both sides of a loader; `what` names it in errors.
pub fn loader<K, V>(what: &'static str, source: Arc<dyn Source<K, V>>) -> (Loader<K, V>, LoadLoop<K, V>) {
    let (sender, receiver) = mpsc::channel(QUEUE_MAX);
    let refreshing = Arc::new(Mutex::new(HashSet::new()));
    let readers = Loader { what, queue: sender, refreshing: Arc::clone(&refreshing) };
    (readers, LoadLoop { what, source, queue: tokio::sync::Mutex::new(receiver), refreshing })
}

impl<K: Copy + Eq + Hash, V> Loader<K, V> {
    /// The values of keys, in the order asked. Joins loads that are under way; fails with the first that failed.
    pub async fn load(&self, keys: &[K]) -> Result<Vec<V>, StoreError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let (reader, answer) = oneshot::channel();
        let asked = Asked { keys: keys.to_vec(), reader: Some(reader) };
        self.queue.try_send(asked).map_err(|_| StoreError::unavailable(self.what, "too many wait for a load"))?;
        let answer = answer.await.map_err(|_| StoreError::unavailable(self.what, "stopping"))?;
        answer.map_err(|failed| failed.told())
    }

    /// Has keys loaded anew while nobody waits. One refresh of a key at a time; dropped when there is too much to do.
    pub fn refresh(&self, keys: &[K]) {
        let mut refreshing = lock(&self.refreshing);
        let due: Vec<_> = keys.iter().copied().filter(|key| refreshing.insert(*key)).collect();
        if !due.is_empty()
            && let Err(full) = self.queue.try_send(Asked { keys: due, reader: None })
        {
            let (TrySendError::Full(dropped) | TrySendError::Closed(dropped)) = full;
            refreshing.retain(|key| !dropped.keys.contains(key));
        }
    }
}

/// What the loop has in hand.
struct InHand<K, V> {
    /// Keys that no load has taken yet, in the order asked.
    next: VecDeque<K>,
    waiting: HashMap<K, Vec<Place>>,
    loading: HashMap<K, Vec<Place>>,
    readers: HashMap<u64, Held<V>>,
    last_reader: u64,
}

/// A reader whose keys are not all there yet.
struct Held<V> {
    reader: Reader<V>,
    values: Vec<Option<V>>,
    left: usize,
}

/// Where a value goes: to which reader, and as which of theirs.
struct Place {
    reader: u64,
    at: usize,
}

impl<K, V> LoadLoop<K, V>
where
    K: Copy + Eq + Hash + Send + Sync,
    V: Clone + Send,
{
    /// Loads until `stop` fires; whoever still waits then is told to come back.
    pub async fn run(&self, stop: &Stop) {
        let mut queue = self.queue.lock().await;
        lock(&self.refreshing).clear();
        let mut hand = InHand::empty();
        let mut loads = FuturesUnordered::new();
        loop {
            while loads.len() < LOADS_MAX
                && let Some(keys) = hand.take_batch()
            {
                loads.push(self.load(keys));
            }
            tokio::select! {
                () = stop.cancelled() => return,
                Some(loaded) = loads.next(), if !loads.is_empty() => self.answer(&mut hand, loaded),
                Some(asked) = queue.recv(), if hand.has_room() => {
                    hand.place(asked);
                    // Whoever came meanwhile shares the load.
                    while hand.has_room()
                        && let Ok(asked) = queue.try_recv()
                    {
                        hand.place(asked);
                    }
                }
            }
        }
    }

    async fn load(&self, keys: Vec<K>) -> Vec<(K, Result<V, Failed>)> {
        match self.attempt(&keys).await {
            Ok(values) => keys.into_iter().zip(values.into_iter().map(Ok)).collect(),
            // A defect of one must not fail the others.
            Err(StoreError::Broken { .. }) if keys.len() > 1 => {
                let mut loaded = Vec::with_capacity(keys.len());
                for key in keys {
                    let value = self.attempt(&[key]).await.map(|mut one| one.remove(0));
                    loaded.push((key, value.map_err(Failed::of)));
                }
                loaded
            }
            Err(error) => self.load_by_place(keys, error).await,
        }
    }

    /// Keys of several places that failed together, once more and each place by itself: what is away may be one of them.
    async fn load_by_place(&self, keys: Vec<K>, error: StoreError) -> Vec<(K, Result<V, Failed>)> {
        let mut places: BTreeMap<u32, Vec<K>> = BTreeMap::new();
        for key in keys {
            places.entry(self.source.place(&key)).or_default().push(key);
        }
        if places.len() <= 1 {
            return all_failed(places.into_values().flatten().collect(), &Failed::of(error));
        }
        let loads = places.into_values().map(|keys| async {
            match self.attempt(&keys).await {
                Ok(values) => keys.into_iter().zip(values.into_iter().map(Ok)).collect(),
                Err(error) => all_failed(keys, &Failed::of(error)),
            }
        });
        join_all(loads).await.into_iter().flatten().collect()
    }

    /// As many values as keys, or an error; a panic is a defect like any other.
    async fn attempt(&self, keys: &[K]) -> Result<Vec<V>, StoreError> {
        let caught = AssertUnwindSafe(self.source.load(keys)).catch_unwind().await;
        let values = caught.unwrap_or_else(|_| Err(StoreError::broken(self.what, "a load panicked")))?;
        match values.len() == keys.len() {
            true => Ok(values),
            false => Err(StoreError::broken(self.what, "a load answered for more or fewer than asked")),
        }
    }

    fn answer(&self, hand: &mut InHand<K, V>, loaded: Vec<(K, Result<V, Failed>)>) {
        let mut refreshing = lock(&self.refreshing);
        for (key, _) in &loaded {
            refreshing.remove(key);
        }
        drop(refreshing);
        for (key, value) in loaded {
            hand.answer(&key, &value);
        }
    }
}

impl<K: Copy + Eq + Hash, V> InHand<K, V> {
    fn empty() -> Self {
        let (waiting, loading) = (HashMap::new(), HashMap::new());
        Self { next: VecDeque::new(), waiting, loading, readers: HashMap::new(), last_reader: 0 }
    }

    fn place(&mut self, asked: Asked<K, V>) {
        let Asked { keys, reader } = asked;
        let waits = reader.is_some();
        self.last_reader += 1;
        if let Some(reader) = reader {
            let held = Held { reader, values: keys.iter().map(|_| None).collect(), left: keys.len() };
            self.readers.insert(self.last_reader, held);
        }
        for (at, key) in keys.into_iter().enumerate() {
            let place = waits.then_some(Place { reader: self.last_reader, at });
            if let Some(places) = self.loading.get_mut(&key) {
                places.extend(place);
                continue;
            }
            let next = &mut self.next;
            let places = self.waiting.entry(key).or_insert_with(|| {
                next.push_back(key);
                Vec::new()
            });
            places.extend(place);
        }
    }

    fn has_room(&self) -> bool {
        self.readers.len() < HELD_MAX && self.next.len() < HELD_MAX
    }

    fn take_batch(&mut self) -> Option<Vec<K>> {
        let keys: Vec<K> = self.next.drain(..self.next.len().min(BATCH_MAX)).collect();
        for key in &keys {
            let places = self.waiting.remove(key).unwrap_or_default();
            self.loading.insert(*key, places);
        }
        (!keys.is_empty()).then_some(keys)
    }

    /// Hands a value to everyone who waits for it, and answers those who have all of theirs. A failure answers at once.
    fn answer(&mut self, key: &K, value: &Result<V, Failed>)
    where
        V: Clone,
    {
        for Place { reader, at } in self.loading.remove(key).unwrap_or_default() {
            let Entry::Occupied(mut held) = self.readers.entry(reader) else { continue };
            // A reader who went away wants no answer.
            match value {
                Err(failed) => drop(held.remove().reader.send(Err(failed.clone()))),
                Ok(value) => {
                    held.get_mut().values[at] = Some(value.clone());
                    held.get_mut().left -= 1;
                    if held.get().left == 0 {
                        let Held { reader, values, .. } = held.remove();
                        drop(reader.send(Ok(values.into_iter().flatten().collect())));
                    }
                }
            }
        }
    }
}

fn all_failed<K, V>(keys: Vec<K>, failed: &Failed) -> Vec<(K, Result<V, Failed>)> {
    keys.into_iter().map(|key| (key, Err(failed.clone()))).collect()
}

impl Failed {
    fn of(error: StoreError) -> Self {
        Self(Arc::new(error))
    }

    /// The same failure for one of many readers.
    fn told(&self) -> StoreError {
        match &*self.0 {
            StoreError::Unavailable { what, reason, retry_after } => {
                StoreError::Unavailable { what, reason: reason.clone(), retry_after: *retry_after }
            }
            StoreError::Broken { what, source } => StoreError::broken(what, source.to_string()),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
