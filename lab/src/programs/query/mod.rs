//! The query program: shows balances from the cache, and loads what is not there from the projection, once for all who ask.

mod load;
mod routes;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;

use madang_engine_mysql::Mysql;
use madang_engine_redis::Redis;

use super::cache::BalanceCache;
use super::settings::{MysqlSettings, RedisSettings};
use super::{database, http};
use load::Balances;

/// How the program is started.
#[derive(Debug, Clone, clap::Args)]
pub struct QuerySettings {
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
    /// How long an entry is fresh, in milliseconds.
    #[arg(long, default_value_t = 10_000)]
    logical_ttl_ms: u64,
    /// How long an entry is kept at all, in milliseconds.
    #[arg(long, default_value_t = 60_000)]
    physical_ttl_ms: u64,
    /// Both are shortened by a random part of at most so many percent, so that what was filled together does not end together.
    #[arg(long, default_value_t = 20)]
    jitter_percent: u64,
    /// Milliseconds that a load takes longer than it does: a reader that was slow between database and cache.
    #[arg(long, default_value_t = 0)]
    slow_load_ms: u64,
    /// How long a process may hold the right to load for all, in milliseconds.
    #[arg(long, default_value_t = 2_000)]
    lease_ms: u64,
    /// How long a process waits for another's load before it loads by itself, in milliseconds.
    #[arg(long, default_value_t = 500)]
    wait_for_others_ms: u64,
}

/// Runs it.
pub async fn run(settings: QuerySettings) -> anyhow::Result<()> {
    let db: Mysql<Infallible> = database::projection(&settings.mysql.options(&settings.prefix)).await?;
    let redis = Redis::connect(&settings.redis.options(&settings.prefix)).await?;
    let balances = Balances::new(
        db.clone(),
        BalanceCache::new(redis),
        load::Lifetime {
            logical: Duration::from_millis(settings.logical_ttl_ms),
            physical: Duration::from_millis(settings.physical_ttl_ms),
            jitter_percent: settings.jitter_percent.min(99),
            slow_load: Duration::from_millis(settings.slow_load_ms),
        },
        load::Sharing {
            lease: Duration::from_millis(settings.lease_ms),
            wait: Duration::from_millis(settings.wait_for_others_ms),
        },
    );
    http::serve(settings.listen, routes::router(balances)).await?;
    db.close().await;
    Ok(())
}
