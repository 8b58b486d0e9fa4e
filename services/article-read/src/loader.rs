//! Collapses and batches loads: however many ask for a key, one load of it runs at a time, and keys that wait together
//! are loaded together. Whoever asks gives the load its first push, so that what can be had at once costs no hand-over to
//! another task; what has to wait for something belongs to a loop of a supervisor, so a reader who goes away cancels
//! nothing.

mod hand;

use std::collections::BTreeMap;
use std::hash::Hash;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use async_trait::async_trait;
use futures_util::future::{BoxFuture, FutureExt, join_all};
use futures_util::stream::{FuturesUnordered, StreamExt};
use madang_kernel::StoreError;
use madang_messaging::Stop;
use tokio::sync::{Notify, oneshot};

use self::hand::{InHand, Refused};

/// Keys loaded by one call.
const BATCH_MAX: usize = 256;
/// Loads that run at once.
const LOADS_MAX: usize = 4;
/// Readers who wait at once, and keys that wait for their load; past it, readers are told to come back.
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
pub struct Loader<K, V>(Arc<Shared<K, V>>);

/// The side that loads what is not there at once.
pub struct LoadLoop<K, V>(Arc<Shared<K, V>>);

struct Shared<K, V> {
    what: &'static str,
    source: Arc<dyn Source<K, V>>,
    hand: Mutex<InHand<K, V>>,
    /// Tells the loop that there is something for it in the hand.
    wake: Notify,
}

/// What a load brought.
type Loaded<K, V> = Vec<(K, Result<V, Failed>)>;
/// A load under way, whoever drives it.
type Load<K, V> = BoxFuture<'static, Loaded<K, V>>;

/// A failure that many readers share.
#[derive(Clone)]
struct Failed(Arc<StoreError>);

/// Both sides of a loader; `what` names it in errors.
pub fn loader<K, V>(what: &'static str, source: Arc<dyn Source<K, V>>) -> (Loader<K, V>, LoadLoop<K, V>) {
    let shared = Arc::new(Shared { what, source, hand: Mutex::new(InHand::empty()), wake: Notify::new() });
    (Loader(Arc::clone(&shared)), LoadLoop(shared))
}

impl<K, V> Loader<K, V>
where
    K: Copy + Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + 'static,
{
    /// The values of keys, in the order asked. Joins loads that are under way; fails with the first that failed.
    pub async fn load(&self, keys: &[K]) -> Result<Vec<V>, StoreError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let (reader, answer) = oneshot::channel();
        let batch = {
            let mut hand = self.0.hand();
            hand.place(keys, reader).map_err(|refused| refused.told(self.0.what))?;
            hand.take_batch()
        };
        if let Some(batch) = batch {
            self.0.push(batch).await;
        }
        let answer = answer.await.map_err(|_| Refused::Closed.told(self.0.what))?;
        answer.map_err(|failed| failed.told())
    }

    /// Has keys loaded anew while nobody waits. One load of a key at a time; dropped when there is too much to do.
    pub fn refresh(&self, keys: &[K]) {
        if self.0.hand().place_refresh(keys) {
            self.0.wake.notify_one();
        }
    }
}

impl<K, V> LoadLoop<K, V>
where
    K: Copy + Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + 'static,
{
    /// Loads until `stop` fires; whoever still waits then is told to come back.
    pub async fn run(&self, stop: &Stop) {
        let shared = &self.0;
        shared.hand().open();
        let _closing = Closing(shared);
        let mut loads = FuturesUnordered::new();
        loop {
            {
                let mut hand = shared.hand();
                loads.extend(hand.take_started());
                while let Some(batch) = hand.take_batch() {
                    loads.push(Arc::clone(shared).load(batch).boxed());
                }
            }
            tokio::select! {
                () = stop.cancelled() => return,
                Some(loaded) = loads.next(), if !loads.is_empty() => shared.hand().answer(loaded),
                () = shared.wake.notified() => {}
            }
        }
    }
}

impl<K, V> Drop for LoadLoop<K, V> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// However the loop ends, nobody waits for it any longer.
struct Closing<'a, K, V>(&'a Shared<K, V>);

impl<K, V> Drop for Closing<'_, K, V> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl<K, V> Shared<K, V> {
    fn hand(&self) -> MutexGuard<'_, InHand<K, V>> {
        // No code of a source runs under the lock.
        self.hand.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        let ended = self.hand().close();
        drop(ended);
    }
}

impl<K, V> Shared<K, V>
where
    K: Copy + Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + 'static,
{
    /// Begins a load. If it is done by that, it is answered here; otherwise the loop goes on with it. Nothing is awaited
    /// in between, so this cannot be cancelled half way.
    async fn push(self: &Arc<Self>, batch: Vec<K>) {
        let mut load = Arc::clone(self).load(batch).boxed();
        let pushed = futures_util::poll!(&mut load);
        let mut hand = self.hand();
        let for_the_loop = match pushed {
            Poll::Ready(loaded) => {
                hand.answer(loaded);
                hand.has_next()
            }
            Poll::Pending => hand.hand_over(load),
        };
        drop(hand);
        if for_the_loop {
            self.wake.notify_one();
        }
    }

    async fn load(self: Arc<Self>, keys: Vec<K>) -> Loaded<K, V> {
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
    async fn load_by_place(&self, keys: Vec<K>, error: StoreError) -> Loaded<K, V> {
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
}

fn all_failed<K, V>(keys: Vec<K>, failed: &Failed) -> Loaded<K, V> {
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

#[cfg(test)]
mod tests;
