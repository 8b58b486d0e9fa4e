//! Collapses and batches loads: however many ask for a key, one load of it runs at a time, and keys that wait together
//! are loaded together. The loop belongs to a supervisor, so a reader who goes away cancels nothing.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures_util::future::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};
use madang_kernel::StoreError;
use madang_messaging::Stop;
use tokio::sync::{mpsc, oneshot};

/// Keys loaded by one call.
const BATCH_MAX: usize = 256;
/// Loads that run at once.
const LOADS_MAX: usize = 4;
/// Keys on their way to the loop; past it, readers are told to come back.
const QUEUE_MAX: usize = 4_096;
/// Readers whom the loop holds at once, and keys that wait for their load; past it, it takes no more from the queue.
const HELD_MAX: usize = 16_384;

/// Where values come from.
#[async_trait]
pub trait Source<K, V>: Send + Sync {
    /// The values of keys, one each, in the order asked. Called for keys that were asked for a moment ago: one that has
    /// been loaded meanwhile need not be loaded again.
    async fn load(&self, keys: &[K]) -> Result<Vec<V>, StoreError>;
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

/// A key, and who waits for it; nobody waits for a refresh.
struct Asked<K, V> {
    key: K,
    waiter: Option<Waiter<V>>,
}

type Waiter<V> = oneshot::Sender<Result<V, Failed>>;

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
        let places = self.queue.try_reserve_many(keys.len()).map_err(|_| self.full())?;
        let ask = |(key, place): (&K, mpsc::Permit<'_, Asked<K, V>>)| {
            let (waiter, answer) = oneshot::channel();
            place.send(Asked { key: *key, waiter: Some(waiter) });
            answer
        };
        let asked: Vec<_> = keys.iter().zip(places).map(ask).collect();
        let mut values = Vec::with_capacity(keys.len());
        for answer in asked {
            let answer = answer.await.map_err(|_| StoreError::unavailable(self.what, "stopping"))?;
            values.push(answer.map_err(|failed| failed.told())?);
        }
        Ok(values)
    }

    /// Has keys loaded anew while nobody waits. One refresh of a key at a time; dropped when there is too much to do.
    pub fn refresh(&self, keys: &[K]) {
        for key in keys {
            if !lock(&self.refreshing).insert(*key) {
                continue;
            }
            if self.queue.try_send(Asked { key: *key, waiter: None }).is_err() {
                lock(&self.refreshing).remove(key);
            }
        }
    }

    fn full(&self) -> StoreError {
        StoreError::unavailable(self.what, "too many wait for a load")
    }
}

/// What the loop has in hand.
struct InHand<K, V> {
    /// Keys that no load has taken yet, in the order asked.
    next: VecDeque<K>,
    waiting: HashMap<K, Vec<Waiter<V>>>,
    loading: HashMap<K, Vec<Waiter<V>>>,
    held: usize,
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
        let mut hand = InHand { next: VecDeque::new(), waiting: HashMap::new(), loading: HashMap::new(), held: 0 };
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
            Err(error) => {
                let failed = Failed::of(error);
                keys.into_iter().map(|key| (key, Err(failed.clone()))).collect()
            }
        }
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
            for waiter in hand.loading.remove(&key).unwrap_or_default() {
                hand.held -= 1;
                // A reader who went away wants no answer.
                let _ = waiter.send(value.clone());
            }
        }
    }
}

impl<K: Copy + Eq + Hash, V> InHand<K, V> {
    fn place(&mut self, asked: Asked<K, V>) {
        let Asked { key, waiter } = asked;
        self.held += usize::from(waiter.is_some());
        if let Some(waiters) = self.loading.get_mut(&key) {
            waiters.extend(waiter);
            return;
        }
        let next = &mut self.next;
        let waiters = self.waiting.entry(key).or_insert_with(|| {
            next.push_back(key);
            Vec::new()
        });
        waiters.extend(waiter);
    }

    fn has_room(&self) -> bool {
        self.held < HELD_MAX && self.next.len() < HELD_MAX
    }

    fn take_batch(&mut self) -> Option<Vec<K>> {
        let keys: Vec<K> = self.next.drain(..self.next.len().min(BATCH_MAX)).collect();
        for key in &keys {
            let waiters = self.waiting.remove(key).unwrap_or_default();
            self.loading.insert(*key, waiters);
        }
        (!keys.is_empty()).then_some(keys)
    }
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
