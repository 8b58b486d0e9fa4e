//! A query program that caches as it is often done: GET, and on a miss load and SET with a fixed TTL. Every caller who misses
//! loads for itself, or, with `--collapse`, callers of one process share a load and processes know nothing of each other.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use axum::Router;
use axum::extract::State;
use axum::routing::get;
use mysql_async::Pool;
use mysql_async::prelude::Queryable as _;
use redis::aio::MultiplexedConnection;
use tokio::sync::OnceCell;

use super::store;
use crate::domain::AccountId;
use crate::programs::http;
use crate::programs::problem::Problem;
use crate::programs::request::AccountPath;
use crate::programs::settings::{MysqlSettings, RedisSettings};

/// How the program is started.
#[derive(Debug, Clone, clap::Args)]
pub struct NaiveQuerySettings {
    /// Where to listen.
    #[arg(long, env = "LAB_LISTEN", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    #[command(flatten)]
    mysql: MysqlSettings,
    #[command(flatten)]
    redis: RedisSettings,
    /// The start of the names of databases and keys.
    #[arg(long, env = "LAB_PREFIX", default_value = "lab")]
    prefix: String,
    /// How long a balance is cached, in milliseconds.
    #[arg(long, default_value_t = 3_600_000)]
    ttl_ms: u64,
    /// Milliseconds that a load takes longer than it does.
    #[arg(long, default_value_t = 0)]
    slow_load_ms: u64,
    /// Callers of this process who miss the same balance share one load.
    #[arg(long)]
    collapse: bool,
}

/// A load that callers wait for together.
type Flight = Arc<OnceCell<Option<String>>>;

#[derive(Clone)]
struct Balances {
    pool: Pool,
    redis: MultiplexedConnection,
    settings: Arc<NaiveQuerySettings>,
    flights: Arc<Mutex<HashMap<AccountId, Flight>>>,
    loads: Arc<Mutex<BTreeMap<u16, u64>>>,
    hits: Arc<AtomicU64>,
}

/// The key under which a balance is cached.
fn key(prefix: &str, account: AccountId) -> String {
    format!("{prefix}:balance:{account}")
}

/// Runs it.
pub async fn run(settings: NaiveQuerySettings) -> anyhow::Result<()> {
    let redis = redis::Client::open(settings.redis.redis.as_str()).context("no address of Redis")?;
    let balances = Balances {
        pool: store::pool(&settings.mysql.mysql, &format!("{}_projection", settings.prefix))?,
        redis: redis.get_multiplexed_async_connection().await?,
        flights: Arc::default(),
        loads: Arc::default(),
        hits: Arc::default(),
        settings: Arc::new(settings.clone()),
    };
    let router = Router::new()
        .route("/health", get(|| async { "ok" }))
        .route("/accounts/{id}", get(show))
        .route("/counters", get(counters))
        .with_state(balances);
    http::serve(settings.listen, router).await
}

async fn show(State(balances): State<Balances>, AccountPath(id): AccountPath) -> Result<String, Problem> {
    let found = balances.find(id).await.map_err(|error| Problem::Unavailable(error.to_string()))?;
    found.ok_or_else(|| Problem::NotFound(format!("nothing is known of account {id}")))
}

async fn counters(State(balances): State<Balances>) -> String {
    let loads = balances.loads.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let counters = serde_json::json!({
        "hits": balances.hits.load(Ordering::Relaxed),
        "loads": loads.values().sum::<u64>(),
        "fallbacks": 0,
        "fills_refused": 0,
        "loads_by_account": loads,
    });
    counters.to_string()
}

impl Balances {
    async fn find(&self, account: AccountId) -> anyhow::Result<Option<String>> {
        let key = key(&self.settings.prefix, account);
        let mut redis = self.redis.clone();
        let cached: Option<String> = redis::cmd("GET").arg(&key).query_async(&mut redis).await?;
        if cached.is_some() {
            self.hits.fetch_add(1, Ordering::Relaxed);
            return Ok(cached);
        }
        if self.settings.collapse { self.collapsed(account).await } else { self.load_and_set(account).await }
    }

    /// One load for all callers of this process.
    async fn collapsed(&self, account: AccountId) -> anyhow::Result<Option<String>> {
        let flights = || self.flights.lock().unwrap_or_else(PoisonError::into_inner);
        let flight = flights().entry(account).or_default().clone();
        let loaded = flight.get_or_try_init(|| self.load_and_set(account)).await.cloned();
        flights().remove(&account);
        loaded
    }

    async fn load_and_set(&self, account: AccountId) -> anyhow::Result<Option<String>> {
        let Some(loaded) = self.load(account).await? else { return Ok(None) };
        tokio::time::sleep(Duration::from_millis(self.settings.slow_load_ms)).await;
        let mut redis = self.redis.clone();
        let key = key(&self.settings.prefix, account);
        let set = redis::cmd("SET").arg(&key).arg(&loaded).arg("PX").arg(self.settings.ttl_ms).to_owned();
        set.query_async::<()>(&mut redis).await?;
        Ok(Some(loaded))
    }

    async fn load(&self, account: AccountId) -> anyhow::Result<Option<String>> {
        *self.loads.lock().unwrap_or_else(PoisonError::into_inner).entry(account.number()).or_default() += 1;
        let mut conn = self.pool.get_conn().await?;
        let find = "SELECT balance, version FROM account_projection WHERE account_id = ?";
        let found: Option<(i64, u64)> = conn.exec_first(find, (account.number(),)).await?;
        Ok(found.map(|(balance, version)| {
            format!(r#"{{"account_id":{account},"balance":{balance},"version":{version},"source":"database"}}"#)
        }))
    }
}
