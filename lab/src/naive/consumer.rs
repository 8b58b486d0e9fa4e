//! Consumers as they are often written: a loop around `poll`, a statement, a commit of the offset, in one order or another.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context as _;
use axum::Router;
use axum::routing::get;
use mysql_async::Pool;
use mysql_async::prelude::Queryable as _;
use rdkafka::ClientConfig;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer as _};
use rdkafka::message::{BorrowedMessage, Message as _};

use super::store;
use crate::domain::{AccountBalanceChanged, TOPIC};
use crate::programs::crash::{CrashPoint, CrashPoints};
use crate::programs::http;
use crate::programs::settings::{KafkaSettings, MysqlSettings, PROGRAM, RedisSettings};

/// How long one poll waits.
const POLL: Duration = Duration::from_millis(50);
/// Between two attempts at an event that does not work.
const TRY_AGAIN: Duration = Duration::from_millis(200);

/// How the programs are started.
#[derive(Debug, Clone, clap::Args)]
pub struct NaiveConsumerSettings {
    /// Where it says that it is there.
    #[arg(long, env = "LAB_LISTEN", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    #[command(flatten)]
    mysql: MysqlSettings,
    #[command(flatten)]
    kafka: KafkaSettings,
    #[command(flatten)]
    redis: RedisSettings,
    /// The start of the names of topics and keys.
    #[arg(long, env = "LAB_PREFIX", default_value = "lab")]
    prefix: String,
    /// The start of the name of its database; that of everything else unless told.
    #[arg(long)]
    projection: Option<String>,
    /// The consumer group.
    #[arg(long, default_value = "projection")]
    group: String,
}

struct Parts {
    consumer: BaseConsumer,
    pool: Pool,
    crash: CrashPoints,
}

impl Parts {
    fn new(settings: &NaiveConsumerSettings) -> anyhow::Result<Self> {
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", &settings.kafka.kafka);
        config.set("group.id", format!("{}.{PROGRAM}.{}", settings.prefix, settings.group));
        config.set("enable.auto.commit", "false");
        config.set("auto.offset.reset", "earliest");
        config.set("session.timeout.ms", settings.kafka.session_ms.to_string());
        config.set("heartbeat.interval.ms", (settings.kafka.session_ms / 3).to_string());
        let consumer: BaseConsumer = config.create()?;
        consumer.subscribe(&[&format!("{}.{TOPIC}", settings.prefix)])?;
        let projection = settings.projection.as_ref().unwrap_or(&settings.prefix);
        let pool = store::pool(&settings.mysql.mysql, &format!("{projection}_projection"))?;
        Ok(Self { consumer, pool, crash: CrashPoints::from_environment()? })
    }

    async fn poll(&self) -> Option<(BorrowedMessage<'_>, AccountBalanceChanged)> {
        // Polling blocks its thread; whoever serves beside it has its turn in between.
        tokio::task::yield_now().await;
        let message = tokio::task::block_in_place(|| self.consumer.poll(POLL))?.ok()?;
        let event = serde_json::from_slice(message.payload().unwrap_or_default()).ok()?;
        Some((message, event))
    }

    fn store_offset(&self, message: &BorrowedMessage<'_>) -> anyhow::Result<()> {
        Ok(tokio::task::block_in_place(|| self.consumer.commit_message(message, CommitMode::Sync))?)
    }

    /// What it added up so far, and one more. Fails while the account is on hold, and while the database is away.
    async fn add(&self, event: &AccountBalanceChanged) -> anyhow::Result<()> {
        const ADD: &str = "INSERT INTO account_projection (account_id, balance, version, updated_at, entries, entries_sum) \
            VALUES (?, ?, 1, 0, 1, ?) ON DUPLICATE KEY UPDATE balance = balance + VALUES(entries_sum), \
            version = version + 1, entries = entries + 1, entries_sum = entries_sum + VALUES(entries_sum)";
        let account = event.account_id.number();
        let mut conn = self.pool.get_conn().await?;
        let held: Option<u8> = conn.exec_first("SELECT 1 FROM account_hold WHERE account_id = ?", (account,)).await?;
        anyhow::ensure!(held.is_none(), "account {account} is on hold");
        Ok(conn.exec_drop(ADD, (account, event.amount, event.amount)).await?)
    }

    /// The balance that came last.
    async fn show(&self, event: &AccountBalanceChanged) -> anyhow::Result<()> {
        const SHOW: &str = "INSERT INTO account_projection (account_id, balance, version, updated_at, entries, entries_sum) \
            VALUES (?, ?, ?, 0, 1, ?) ON DUPLICATE KEY UPDATE late = late + IF(VALUES(version) < version, 1, 0), \
            balance = VALUES(balance), version = VALUES(version), entries = entries + 1, \
            entries_sum = entries_sum + VALUES(entries_sum)";
        let AccountBalanceChanged { account_id, balance, version, amount, .. } = event;
        let mut conn = self.pool.get_conn().await?;
        Ok(conn.exec_drop(SHOW, (account_id.number(), balance, version, amount)).await?)
    }
}

/// Does a thing until it works.
macro_rules! until_it_works {
    ($attempt:expr) => {
        while let Err(error) = $attempt {
            tracing::warn!("tries again: {error}");
            tokio::time::sleep(TRY_AGAIN).await;
        }
    };
}

/// Serves its health beside its work.
async fn beside(listen: SocketAddr, work: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<()> {
    let router = Router::new().route("/health", get(|| async { "ok" }));
    tokio::select! {
        served = http::serve(listen, router) => served,
        worked = work => worked,
    }
}

/// Adds every event that comes, and stores its offset afterwards: what comes twice is added twice.
pub async fn no_dedup(settings: NaiveConsumerSettings) -> anyhow::Result<()> {
    let parts = Parts::new(&settings)?;
    beside(settings.listen, async {
        loop {
            let Some((message, event)) = parts.poll().await else { continue };
            until_it_works!(parts.add(&event).await);
            parts.crash.pass(CrashPoint::AfterEffectBeforeOffset);
            if let Err(error) = parts.store_offset(&message) {
                tracing::warn!("the offset was not stored: {error}");
            }
        }
    })
    .await
}

/// Stores the offset so that nothing comes twice, and then does the work: what a crash interrupts never comes again.
pub async fn offset_first(settings: NaiveConsumerSettings) -> anyhow::Result<()> {
    let parts = Parts::new(&settings)?;
    beside(settings.listen, async {
        loop {
            let Some((message, event)) = parts.poll().await else { continue };
            if let Err(error) = parts.store_offset(&message) {
                tracing::warn!("the offset was not stored: {error}");
            }
            parts.crash.pass(CrashPoint::AfterOffsetBeforeEffect);
            until_it_works!(parts.add(&event).await);
        }
    })
    .await
}

/// Tries an event until it works, and everything behind it waits.
pub async fn retry_in_place(settings: NaiveConsumerSettings) -> anyhow::Result<()> {
    let parts = Parts::new(&settings)?;
    beside(settings.listen, async {
        loop {
            let Some((message, event)) = parts.poll().await else { continue };
            until_it_works!(parts.add(&event).await);
            if let Err(error) = parts.store_offset(&message) {
                tracing::warn!("the offset was not stored: {error}");
            }
        }
    })
    .await
}

/// Shows what came last, whatever its version.
pub async fn last_write_wins(settings: NaiveConsumerSettings) -> anyhow::Result<()> {
    let parts = Parts::new(&settings)?;
    beside(settings.listen, async {
        loop {
            let Some((message, event)) = parts.poll().await else { continue };
            until_it_works!(parts.show(&event).await);
            if let Err(error) = parts.store_offset(&message) {
                tracing::warn!("the offset was not stored: {error}");
            }
        }
    })
    .await
}

/// Applies events and deletes the cached balance: a reader that loaded before fills the old one in again.
pub async fn plain_delete(settings: NaiveConsumerSettings) -> anyhow::Result<()> {
    let parts = Parts::new(&settings)?;
    let redis = redis::Client::open(settings.redis.redis.as_str()).context("no address of Redis")?;
    let mut redis = redis.get_multiplexed_async_connection().await?;
    beside(settings.listen, async {
        loop {
            let Some((message, event)) = parts.poll().await else { continue };
            until_it_works!(parts.show(&event).await);
            let key = super::query::key(&settings.prefix, event.account_id);
            let deleted: Result<(), _> = redis::cmd("DEL").arg(key).query_async(&mut redis).await;
            if let Err(error) = deleted.map_err(anyhow::Error::from).and_then(|()| parts.store_offset(&message)) {
                tracing::warn!("goes on without: {error}");
            }
        }
    })
    .await
}
