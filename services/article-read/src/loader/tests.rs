//! One load of a key at a time, many keys in one load, and no failure that outlives its readers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use madang_messaging::{OnError, Supervisor};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::*;

/// Keys that are kept in one place.
const PLACE: u64 = 1_000_000;

/// Whether a load of these keys fails.
type Fails = fn(&[u64]) -> Option<StoreError>;

/// A source that doubles keys, waits at a gate, and fails as told.
struct Doubling {
    gate: Semaphore,
    loads: Mutex<Vec<Vec<u64>>>,
    fail: Mutex<Option<Fails>>,
    at_once: AtomicUsize,
    at_once_max: AtomicUsize,
}

#[async_trait]
impl Source<u64, u64> for Doubling {
    async fn load(&self, keys: &[u64]) -> Result<Vec<u64>, StoreError> {
        let now = self.at_once.fetch_add(1, Ordering::SeqCst) + 1;
        self.at_once_max.fetch_max(now, Ordering::SeqCst);
        locked(&self.loads).push(keys.to_vec());
        self.gate.acquire().await.unwrap().forget();
        self.at_once.fetch_sub(1, Ordering::SeqCst);
        let fail = *locked(&self.fail);
        match fail.and_then(|fail| fail(keys)) {
            Some(error) => Err(error),
            None => Ok(keys.iter().map(|key| key * 2).collect()),
        }
    }

    fn failure_domain(&self, key: &u64) -> u32 {
        (key / PLACE) as u32
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Doubling {
    fn loads(&self) -> Vec<Vec<u64>> {
        locked(&self.loads).clone()
    }

    fn open(&self) {
        self.gate.add_permits(1_000_000);
    }

    fn fail(&self, fail: Option<Fails>) {
        *locked(&self.fail) = fail;
    }
}

struct Site {
    source: Arc<Doubling>,
    loader: Arc<Loader<u64, u64>>,
    supervisor: Supervisor,
}

/// A loader at work, its gate closed.
fn site() -> Site {
    let source = Arc::new(Doubling {
        gate: Semaphore::new(0),
        loads: Mutex::default(),
        fail: Mutex::default(),
        at_once: AtomicUsize::new(0),
        at_once_max: AtomicUsize::new(0),
    });
    let (readers, loads) = loader("doubles", Arc::clone(&source) as Arc<dyn Source<u64, u64>>);
    let (supervisor, loads) = (Supervisor::new("test"), Arc::new(loads));
    supervisor.spawn("loads", OnError::Restart, move |stop| {
        let loads = Arc::clone(&loads);
        async move {
            loads.run(&stop).await;
            Ok::<(), String>(())
        }
    });
    Site { source, loader: Arc::new(readers), supervisor }
}

impl Site {
    /// Readers that wait for the keys, all of them on their way.
    async fn readers(&self, keys: impl IntoIterator<Item = Vec<u64>>) -> JoinSet<Result<Vec<u64>, StoreError>> {
        let mut readers = JoinSet::new();
        for keys in keys {
            let loader = Arc::clone(&self.loader);
            readers.spawn(async move { loader.load(&keys).await });
        }
        self.settle().await;
        readers
    }

    /// Lets every task come as far as it can: time stands still until all of them wait.
    async fn settle(&self) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn many_readers_of_one_key_share_one_load() {
    let site = site();
    let readers = site.readers((0..512).map(|_| vec![7])).await;
    assert_eq!(site.source.loads(), vec![vec![7]]);
    site.source.open();
    for answer in readers.join_all().await {
        assert_eq!(answer.unwrap(), vec![14]);
    }
    assert_eq!(site.source.loads(), vec![vec![7]]);
}

#[tokio::test(start_paused = true)]
async fn keys_that_wait_together_are_loaded_together() {
    let site = site();
    let mut readers = site.readers((0..4).map(|key| vec![key])).await;
    let alone = site.source.loads().len();
    let more = site.readers((100..700).map(|key| vec![key])).await;
    assert!(alone <= LOADS_MAX && site.source.loads().len() <= LOADS_MAX);
    site.source.open();
    while let Some(answer) = readers.join_next().await {
        answer.unwrap().unwrap();
    }
    assert_eq!(more.join_all().await.len(), 600);
    let batches: Vec<_> = site.source.loads().iter().map(Vec::len).collect();
    assert!(batches.iter().all(|size| *size <= BATCH_MAX), "{batches:?}");
    assert!(batches.len() <= LOADS_MAX + 3, "{batches:?}");
    assert!(site.source.at_once_max.load(Ordering::SeqCst) <= LOADS_MAX);
}

#[tokio::test(start_paused = true)]
async fn values_come_in_the_order_asked() {
    let site = site();
    site.source.open();
    assert_eq!(site.loader.load(&[3, 1, 2, 3]).await.unwrap(), vec![6, 2, 4, 6]);
}

#[tokio::test(start_paused = true)]
async fn a_reader_who_goes_away_cancels_nothing() {
    let site = site();
    let mut first = site.readers([vec![7]]).await;
    let second = site.readers([vec![7]]).await;
    first.abort_all();
    assert!(first.join_next().await.unwrap().unwrap_err().is_cancelled());
    site.source.open();
    assert_eq!(second.join_all().await.pop().unwrap().unwrap(), vec![14]);
    assert_eq!(site.source.loads(), vec![vec![7]]);
}

#[tokio::test(start_paused = true)]
async fn a_failure_reaches_its_readers_and_nobody_later() {
    let site = site();
    site.source.fail(Some(|_| Some(StoreError::unavailable("owner", "away"))));
    let readers = site.readers((0..3).map(|_| vec![7])).await;
    site.source.open();
    for answer in readers.join_all().await {
        assert!(matches!(answer.unwrap_err(), StoreError::Unavailable { what: "owner", .. }));
    }
    assert_eq!(site.source.loads().len(), 1, "an outage is not asked again for each key");
    site.source.fail(None);
    assert_eq!(site.loader.load(&[7]).await.unwrap(), vec![14]);
}

#[tokio::test(start_paused = true)]
async fn a_defect_of_one_key_does_not_fail_the_others() {
    let site = site();
    site.source.fail(Some(|keys| keys.contains(&5).then(|| StoreError::broken("owner", "a bad row"))));
    site.source.open();
    let readers = site.readers([vec![4], vec![5], vec![6]]).await;
    let answers = readers.join_all().await;
    let broken = answers.iter().filter(|answer| matches!(answer, Err(StoreError::Broken { .. }))).count();
    assert_eq!((broken, answers.len()), (1, 3));
}

#[tokio::test(start_paused = true)]
async fn a_place_that_is_away_fails_nobody_who_needs_another() {
    let site = site();
    site.source.fail(Some(|keys| {
        keys.iter().any(|key| *key >= PLACE).then(|| StoreError::unavailable("owner", "its server is away"))
    }));
    // Every load that may run waits at the gate, so that whoever comes now shares the next.
    for key in 10..10 + LOADS_MAX as u64 {
        drop(site.readers([vec![key]]).await);
    }
    let readers = site.readers([vec![2, 3], vec![PLACE + 1], vec![4, PLACE + 2]]).await;
    site.source.open();
    let mut answers: Vec<_> = readers.join_all().await.into_iter().map(Result::ok).collect();
    answers.sort();
    assert_eq!(answers, [None, None, Some(vec![4, 6])]);
    assert!(site.source.loads().contains(&vec![2, 3, PLACE + 1, 4, PLACE + 2]), "{:?}", site.source.loads());
}

#[tokio::test(start_paused = true)]
async fn a_load_that_panics_fails_its_readers_only() {
    let site = site();
    site.source.fail(Some(|keys| if keys == [5] { panic!("on purpose") } else { None }));
    site.source.open();
    assert!(matches!(site.loader.load(&[5]).await.unwrap_err(), StoreError::Broken { .. }));
    assert_eq!(site.loader.load(&[6]).await.unwrap(), vec![12]);
}

#[tokio::test(start_paused = true)]
async fn one_refresh_of_a_key_runs_at_a_time() {
    let site = site();
    for _ in 0..10_000 {
        site.loader.refresh(&[7]);
    }
    site.settle().await;
    assert_eq!(site.source.loads(), vec![vec![7]]);
    site.source.open();
    site.settle().await;
    site.loader.refresh(&[7]);
    site.settle().await;
    assert_eq!(site.source.loads(), vec![vec![7], vec![7]], "done, so it may be refreshed again");
}

#[tokio::test(start_paused = true)]
async fn too_many_who_wait_are_told_at_once() {
    let site = site();
    let waiting = site.readers((0..WAITING_MAX as u64).map(|key| vec![key])).await;
    assert!(matches!(site.loader.load(&[1]).await.unwrap_err(), StoreError::Unavailable { what: "doubles", .. }));
    site.source.open();
    assert!(waiting.join_all().await.iter().all(Result::is_ok));
    assert_eq!(site.loader.load(&[1]).await.unwrap(), vec![2], "there is room again");
}

#[tokio::test(start_paused = true)]
async fn more_refreshes_than_may_wait_are_dropped() {
    let site = site();
    (0..2 * WAITING_MAX as u64).for_each(|key| site.loader.refresh(&[key]));
    site.source.open();
    site.settle().await;
    assert_eq!(site.source.loads().iter().map(Vec::len).sum::<usize>(), WAITING_MAX);
}

#[tokio::test(start_paused = true)]
async fn what_is_there_at_once_needs_no_loop() {
    let source = Arc::clone(&site().source);
    let (readers, loads) = loader("doubles", Arc::clone(&source) as Arc<dyn Source<u64, u64>>);
    source.open();
    assert_eq!(readers.load(&[7, 8]).await.unwrap(), vec![14, 16]);
    drop(loads);
    assert!(
        matches!(readers.load(&[7]).await.unwrap_err(), StoreError::Unavailable { .. }),
        "and none begins after it"
    );
}

#[tokio::test(start_paused = true)]
async fn a_load_that_a_reader_began_is_ended_by_the_loop() {
    let site = site();
    let readers = site.readers((0..3).map(|_| vec![7])).await;
    site.source.open();
    assert!(readers.join_all().await.iter().all(|answer| answer.as_ref().is_ok_and(|values| values == &[14])));
    assert_eq!(site.source.loads(), vec![vec![7]]);
    assert_eq!(site.loader.load(&[7]).await.unwrap(), vec![14], "and its place is free again");
}

#[tokio::test(start_paused = true)]
async fn readers_on_many_threads_never_load_a_key_twice_at_once() {
    let busy: Arc<Vec<AtomicUsize>> = Arc::new((0..8).map(|_| AtomicUsize::new(0)).collect());
    let twice = Arc::new(AtomicUsize::new(0));
    let source = Arc::new(Exclusive { busy, twice: Arc::clone(&twice) });
    let (readers, _loads) = loader("exclusive", source as Arc<dyn Source<u64, u64>>);
    let readers = Arc::new(readers);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let readers = Arc::clone(&readers);
            scope.spawn(move || {
                for key in (0..2_000).map(|number| (number * 7 + thread) % 8) {
                    // Nobody runs the loop, so whoever is asked while others load may wait: that is given up at once.
                    let answer = readers.load(&[key]).now_or_never();
                    assert!(answer.is_none_or(|answer| answer.unwrap() == vec![key]));
                }
            });
        }
    });
    assert_eq!(twice.load(Ordering::SeqCst), 0);
}

/// A source that is done at once, and notices when it is asked for a key that it is at.
struct Exclusive {
    busy: Arc<Vec<AtomicUsize>>,
    twice: Arc<AtomicUsize>,
}

#[async_trait]
impl Source<u64, u64> for Exclusive {
    async fn load(&self, keys: &[u64]) -> Result<Vec<u64>, StoreError> {
        for key in keys {
            self.twice.fetch_add(self.busy[*key as usize].fetch_add(1, Ordering::SeqCst), Ordering::SeqCst);
        }
        std::thread::yield_now();
        for key in keys {
            self.busy[*key as usize].fetch_sub(1, Ordering::SeqCst);
        }
        Ok(keys.to_vec())
    }
}

#[tokio::test(start_paused = true)]
async fn readers_who_wait_at_the_end_are_told() {
    let site = site();
    let readers = site.readers([vec![7]]).await;
    site.supervisor.shutdown(Duration::from_secs(1)).await;
    assert!(matches!(readers.join_all().await.pop().unwrap().unwrap_err(), StoreError::Unavailable { .. }));
}
