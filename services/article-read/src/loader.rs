//! Single-flight loads in batches: however many callers want a key, one load of it is in flight, and keys that wait
//! together are loaded together. The caller polls the load once itself, so that what is in memory costs no switch to another
//! task; a load that has to wait belongs to a loop under a supervisor, so a caller who goes away cancels nothing.

mod in_flight;

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

use self::in_flight::{InFlight, Refused};

/// Keys loaded by one call.
const BATCH_MAX: usize = 256;
/// Loads that run at once.
const LOADS_MAX: usize = 4;
/// Readers who wait at once, and keys that wait for their load; past it, readers get `Unavailable`.
const WAITING_MAX: usize = 16_384;

/// Where values come from.
#[async_trait]
pub trait Source<K, V>: Send + Sync {
    /// The values of keys, one each, in the order asked. Called for keys that were asked for a moment ago: one that has
    /// been loaded meanwhile need not be loaded again.
    async fn load(&self, keys: &[K]) -> Result<Vec<V>, StoreError>;

    /// Where the value of a key is stored: when a part is down, keys of one domain fail together, and others need not.
    fn failure_domain(&self, _key: &K) -> u32 {
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
    in_flight: Mutex<InFlight<K, V>>,
    /// Tells the loop that there is something for it to do.
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
    let shared = Arc::new(Shared { what, source, in_flight: Mutex::new(InFlight::empty()), wake: Notify::new() });
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
            let mut in_flight = self.0.in_flight();
            in_flight.join(keys, reader).map_err(|refused| refused.to_error(self.0.what))?;
            in_flight.take_batch()
        };
        if let Some(batch) = batch {
            self.0.start(batch).await;
        }
        let answer = answer.await.map_err(|_| Refused::Closed.to_error(self.0.what))?;
        answer.map_err(|failed| failed.to_error())
    }

    /// Has keys loaded anew while nobody waits. One load of a key at a time; dropped when there is too much to do.
    pub fn refresh(&self, keys: &[K]) {
        if self.0.in_flight().join_refresh(keys) {
            self.0.wake.notify_one();
        }
    }
}

impl<K, V> LoadLoop<K, V>
where
    K: Copy + Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + 'static,
{
    /// Loads until `stop` fires; whoever still waits then gets `Unavailable`.
    pub async fn run(&self, stop: &Stop) {
        let shared = &self.0;
        shared.in_flight().open();
        let _closing = Closing(shared);
        let mut loads = FuturesUnordered::new();
        loop {
            {
                let mut in_flight = shared.in_flight();
                loads.extend(in_flight.take_started());
                while let Some(batch) = in_flight.take_batch() {
                    loads.push(Arc::clone(shared).load(batch).boxed());
                }
            }
            tokio::select! {
                () = stop.cancelled() => return,
                Some(loaded) = loads.next(), if !loads.is_empty() => shared.in_flight().answer(loaded),
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
    fn in_flight(&self) -> MutexGuard<'_, InFlight<K, V>> {
        // No code of a source runs under the lock.
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        let ended = self.in_flight().close();
        drop(ended);
    }
}

impl<K, V> Shared<K, V>
where
    K: Copy + Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + 'static,
{
    /// Starts a load by polling it once. When that completes it, its callers are answered here; otherwise the loop goes on
    /// with it. Nothing is awaited in between, so this cannot be cancelled half way.
    async fn start(self: &Arc<Self>, batch: Vec<K>) {
        let mut load = Arc::clone(self).load(batch).boxed();
        let polled = futures_util::poll!(&mut load);
        let mut in_flight = self.in_flight();
        let for_the_loop = match polled {
            Poll::Ready(loaded) => {
                in_flight.answer(loaded);
                in_flight.has_next()
            }
            Poll::Pending => in_flight.leave_to_loop(load),
        };
        drop(in_flight);
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
            Err(error) => self.load_by_domain(keys, error).await,
        }
    }

    /// Keys of several domains that failed together, once more and each domain by itself: one of them may be down.
    async fn load_by_domain(&self, keys: Vec<K>, error: StoreError) -> Loaded<K, V> {
        let mut domains: BTreeMap<u32, Vec<K>> = BTreeMap::new();
        for key in keys {
            domains.entry(self.source.failure_domain(&key)).or_default().push(key);
        }
        if domains.len() <= 1 {
            return all_failed(domains.into_values().flatten().collect(), &Failed::of(error));
        }
        let loads = domains.into_values().map(|keys| async {
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
    fn to_error(&self) -> StoreError {
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
