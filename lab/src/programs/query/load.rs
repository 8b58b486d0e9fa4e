//! Cache-aside with one load for many: callers of a process share a load, processes share it by a lease in Redis, and nobody
//! waits for either longer than a bound. Where Redis is away, the projection answers.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use madang_engine_mysql::{Mysql, SqlError};
use madang_kernel::StoreError;
use serde::Serialize;
use tokio::sync::OnceCell;
use tokio::time::{Instant, sleep};

use crate::domain::AccountId;
use crate::programs::cache::{BalanceCache, Shown, Ttl};
use crate::programs::pause::{PausePoint, PausePoints};

const FIND: &str = include_str!("../../../sql/projection/find.sql");

/// Between two looks whether the other's load has come.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// How long processes leave a load to one of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sharing {
    /// A process may hold the right to load for so long: longer than a load takes, and no longer than others can go without.
    pub(super) lease: Duration,
    /// A process waits for another's load for so long before it loads by itself.
    pub(super) wait: Duration,
}

/// How long entries live.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lifetime {
    pub(super) logical: Duration,
    pub(super) physical: Duration,
    pub(super) jitter_percent: u64,
    pub(super) slow_load: Duration,
}

impl Lifetime {
    fn ttl(self) -> Ttl {
        let taken_off = rand::random_range(0..=self.jitter_percent);
        let part = |span: Duration| span * u32::try_from(100 - taken_off).unwrap_or(100) / 100;
        Ttl { logical: part(self.logical), physical: part(self.physical) }
    }
}

/// Where an answer came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Source {
    Cache,
    Database,
}

/// What was counted since the start.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) hits: AtomicU64,
    pub(super) loads: AtomicU64,
    pub(super) fallbacks: AtomicU64,
    pub(super) fills_refused: AtomicU64,
    /// Loads of each account; there are 65,535 accounts at most.
    pub(super) by_account: Mutex<BTreeMap<u16, u64>>,
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

type Flight = Arc<OnceCell<Result<Option<Shown>, String>>>;

/// Balances of the projection, through the cache.
#[derive(Clone)]
pub(super) struct Balances {
    db: Mysql<Infallible>,
    cache: BalanceCache,
    lifetime: Lifetime,
    sharing: Sharing,
    pause: PausePoints,
    flights: Arc<Mutex<HashMap<AccountId, Flight>>>,
    pub(super) counters: Arc<Counters>,
}

impl Balances {
    pub(super) fn new(db: Mysql<Infallible>, cache: BalanceCache, lifetime: Lifetime, sharing: Sharing) -> Self {
        let pause = PausePoints::from_environment();
        Self { db, cache, lifetime, sharing, pause, flights: Arc::default(), counters: Arc::default() }
    }

    /// What is shown of an account; `None` when no event of it has come.
    pub(super) async fn find(&self, account: AccountId) -> Result<Option<(Shown, Source)>, StoreError> {
        match self.cache.get(account).await {
            Ok(Some(cached)) if cached.is_fresh => {
                count(&self.counters.hits);
                Ok(Some((cached.shown, Source::Cache)))
            }
            // Past its logical TTL one caller loads it, and the others go on with it.
            Ok(Some(cached)) => match self.refreshed(account).await {
                Some(shown) => Ok(Some((shown, Source::Database))),
                None => {
                    count(&self.counters.hits);
                    Ok(Some((cached.shown, Source::Cache)))
                }
            },
            Ok(None) => self.collapsed(account, true).await,
            Err(failure) => {
                tracing::debug!("without the cache: {failure}");
                count(&self.counters.fallbacks);
                self.collapsed(account, false).await
            }
        }
    }

    /// Loads it if nobody else does.
    async fn refreshed(&self, account: AccountId) -> Option<Shown> {
        let token = token();
        if !self.cache.lease(account, &token, self.sharing.lease).await.unwrap_or(false) {
            return None;
        }
        let loaded = match self.filled_meanwhile(account).await {
            Some(shown) => Some(shown),
            None => self.load_and_fill(account).await.ok().flatten(),
        };
        let _ = self.cache.release(account, &token).await;
        loaded
    }

    /// One load for all callers of this process.
    async fn collapsed(&self, account: AccountId, cached: bool) -> Result<Option<(Shown, Source)>, StoreError> {
        let flight = {
            let mut flights = self.flights.lock().unwrap_or_else(PoisonError::into_inner);
            flights.entry(account).or_default().clone()
        };
        let loaded = flight.get_or_init(|| self.load(account, cached)).await.clone();
        let mut flights = self.flights.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever comes from now on begins another.
        if flights.get(&account).is_some_and(|current| Arc::ptr_eq(current, &flight)) {
            flights.remove(&account);
        }
        let found = loaded.map_err(|reason| StoreError::unavailable("projection", reason))?;
        Ok(found.map(|shown| (shown, Source::Database)))
    }

    async fn load(&self, account: AccountId, cached: bool) -> Result<Option<Shown>, String> {
        if !cached {
            return self.read(account).await;
        }
        let token = token();
        let deadline = Instant::now() + self.sharing.wait;
        while !self.cache.lease(account, &token, self.sharing.lease).await.unwrap_or(true) && Instant::now() < deadline
        {
            sleep(LOOK_AGAIN).await;
            if let Ok(Some(filled)) = self.cache.get(account).await {
                return Ok(Some(filled.shown));
            }
        }
        let loaded = match self.filled_meanwhile(account).await {
            Some(shown) => Ok(Some(shown)),
            None => self.load_and_fill(account).await,
        };
        let _ = self.cache.release(account, &token).await;
        loaded
    }

    /// What another filled in between our miss and our lease: whoever was slow in between would load a second time.
    async fn filled_meanwhile(&self, account: AccountId) -> Option<Shown> {
        let cached = self.cache.get(account).await.ok().flatten();
        cached.filter(|cached| cached.is_fresh).map(|cached| cached.shown)
    }

    async fn load_and_fill(&self, account: AccountId) -> Result<Option<Shown>, String> {
        let loaded = self.read(account).await?;
        sleep(self.lifetime.slow_load).await;
        self.pause.pass(PausePoint::AfterLoadBeforeFill, account).await;
        if let Some(shown) = loaded
            && let Ok(false) = self.cache.fill(account, shown, self.lifetime.ttl()).await
        {
            count(&self.counters.fills_refused);
        }
        Ok(loaded)
    }

    async fn read(&self, account: AccountId) -> Result<Option<Shown>, String> {
        count(&self.counters.loads);
        *self
            .counters
            .by_account
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(account.number())
            .or_default() += 1;
        let server = self.db.server_of(account.shard());
        let found =
            self.db.read(server, FIND, vec![account.number().into()]).await.map_err(|error| error.to_string())?;
        let Some(mut cells) = found.into_iter().next() else { return Ok(None) };
        let shown = (|| Ok::<_, SqlError>(Shown { balance: cells.next()?, version: cells.next()? }))();
        shown.map(Some).map_err(|error| error.to_string())
    }
}

/// Names the owner of a lease.
fn token() -> String {
    format!("{:032x}", rand::random::<u128>())
}
