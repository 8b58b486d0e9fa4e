//! Cache-aside with one load for many: callers of a process share a load, processes share it by a lease in Redis, and nobody
//! waits for either longer than a bound. Where Redis is away, the projection answers.

use std::collections::HashMap;
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

const FIND: &str = include_str!("../../../sql/projection/find.sql");

/// How long a process may hold the right to load: longer than a load takes, and no longer than others can go without.
const LEASE_HELD: Duration = Duration::from_millis(2_000);
/// How long a process waits for another's load before it loads by itself.
const WAIT_FOR_OTHERS: Duration = Duration::from_millis(500);
/// Between two looks whether the other's load has come.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

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
    flights: Arc<Mutex<HashMap<AccountId, Flight>>>,
    pub(super) counters: Arc<Counters>,
}

impl Balances {
    pub(super) fn new(db: Mysql<Infallible>, cache: BalanceCache, lifetime: Lifetime) -> Self {
        Self { db, cache, lifetime, flights: Arc::default(), counters: Arc::default() }
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
        if !self.cache.lease(account, &token, LEASE_HELD).await.unwrap_or(false) {
            return None;
        }
        let loaded = self.load_and_fill(account).await.ok().flatten();
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
        let deadline = Instant::now() + WAIT_FOR_OTHERS;
        while !self.cache.lease(account, &token, LEASE_HELD).await.unwrap_or(true) && Instant::now() < deadline {
            sleep(LOOK_AGAIN).await;
            if let Ok(Some(filled)) = self.cache.get(account).await {
                return Ok(Some(filled.shown));
            }
        }
        let loaded = self.load_and_fill(account).await;
        let _ = self.cache.release(account, &token).await;
        loaded
    }

    async fn load_and_fill(&self, account: AccountId) -> Result<Option<Shown>, String> {
        let loaded = self.read(account).await?;
        sleep(self.lifetime.slow_load).await;
        if let Some(shown) = loaded
            && let Ok(false) = self.cache.fill(account, shown, self.lifetime.ttl()).await
        {
            count(&self.counters.fills_refused);
        }
        Ok(loaded)
    }

    async fn read(&self, account: AccountId) -> Result<Option<Shown>, String> {
        count(&self.counters.loads);
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
