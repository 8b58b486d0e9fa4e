//! Consumers as they are often written: a loop around `poll`, a transaction, a commit of the offset, in one order or another.
//! Each lacks one protection of the projection and has the others, by the same statements as the protected consumer. None has
//! a retry ladder: what fails is tried again in place, which only `retry_in_place` is about.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use madang_engine_redis::{Command, Redis};
use madang_kernel::Id as _;
use mysql_async::prelude::Queryable as _;
use mysql_async::{Pool, Transaction, TxOpts};
use rdkafka::ClientConfig;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer as _};
use rdkafka::message::{BorrowedMessage, Message as _};

use super::store;
use crate::domain::{AccountBalanceChanged, TOPIC, event_id};
use crate::programs::cache;
use crate::programs::crash::{CrashPoint, CrashPoints};
use crate::programs::http;
use crate::programs::settings::{KafkaSettings, MysqlSettings, PROGRAM, RedisSettings};

/// How long one poll waits.
const POLL: Duration = Duration::from_millis(50);
/// Between two attempts at an event that does not work.
const TRY_AGAIN: Duration = Duration::from_millis(200);

/// As the protected consumer applies an event.
const APPLY: &str = include_str!("../../sql/projection/apply.sql");

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
    group: String,
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
        Ok(Self { consumer, pool, group: settings.group.clone(), crash: CrashPoints::from_environment()? })
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

    /// Applies an event as often as it comes: the newest balance is shown, by its version, and amounts are added up.
    async fn apply(&self, event: &AccountBalanceChanged) -> anyhow::Result<()> {
        let mut conn = self.pool.get_conn().await?;
        let mut tx = conn.start_transaction(TxOpts::default()).await?;
        let applied = apply_in(&mut tx, event).await;
        ended(tx, applied).await
    }

    /// Applies an event once: in one transaction with its row in `processed_event`.
    async fn apply_once(&self, event: &AccountBalanceChanged) -> anyhow::Result<()> {
        let mut conn = self.pool.get_conn().await?;
        let mut tx = conn.start_transaction(TxOpts::default()).await?;
        let applied = async {
            if remember_in(&mut tx, &self.group, event).await? { apply_in(&mut tx, event).await } else { Ok(()) }
        };
        let applied = applied.await;
        ended(tx, applied).await
    }

    /// Shows the balance that came last, once, whatever its version.
    async fn show_once(&self, event: &AccountBalanceChanged) -> anyhow::Result<()> {
        const SHOW: &str = "INSERT INTO account_projection (account_id, balance, version, updated_at, entries, entries_sum) \
            VALUES (?, ?, ?, 0, 1, ?) ON DUPLICATE KEY UPDATE late = late + IF(VALUES(version) < version, 1, 0), \
            balance = VALUES(balance), version = VALUES(version), entries = entries + 1, \
            entries_sum = entries_sum + VALUES(entries_sum)";
        let AccountBalanceChanged { account_id, balance, version, amount, .. } = event;
        let mut conn = self.pool.get_conn().await?;
        let mut tx = conn.start_transaction(TxOpts::default()).await?;
        let shown = async {
            if remember_in(&mut tx, &self.group, event).await? {
                tx.exec_drop(SHOW, (account_id.number(), balance, version, amount)).await?;
            }
            Ok(())
        };
        let shown = shown.await;
        ended(tx, shown).await
    }
}

/// Commits what worked, and rolls the rest back at once, so that no lock outlives it.
async fn ended(tx: Transaction<'_>, outcome: anyhow::Result<()>) -> anyhow::Result<()> {
    match outcome {
        Ok(()) => Ok(tx.commit().await?),
        Err(error) => {
            // The error is what matters; a connection that cannot roll back is closed, which does.
            let _ = tx.rollback().await;
            Err(error)
        }
    }
}

/// Fails while the account is on hold.
async fn apply_in(tx: &mut Transaction<'_>, event: &AccountBalanceChanged) -> anyhow::Result<()> {
    let account = event.account_id.number();
    tx.exec_drop(APPLY, (account, event.balance, event.version, event.amount, account)).await?;
    anyhow::ensure!(tx.affected_rows() > 0, "account {account} is on hold");
    Ok(())
}

/// Whether the group has not processed the event before; waits for whoever is processing it.
async fn remember_in(tx: &mut Transaction<'_>, group: &str, event: &AccountBalanceChanged) -> anyhow::Result<bool> {
    const REMEMBER: &str = "INSERT IGNORE INTO processed_event (shard, group_name, event_id, processed_at, dedup_key) \
        VALUES (?, ?, ?, CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED), ?)";
    let id = event_id(event.account_id, event.version);
    tx.exec_drop(REMEMBER, (id.shard().number(), group, id.raw(), event.tx_id.as_str())).await?;
    Ok(tx.affected_rows() == 1)
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

/// Applies every event that comes, and stores its offset afterwards: what comes twice is added twice.
pub async fn no_dedup(settings: NaiveConsumerSettings) -> anyhow::Result<()> {
    let parts = Parts::new(&settings)?;
    beside(settings.listen, async {
        loop {
            let Some((message, event)) = parts.poll().await else { continue };
            until_it_works!(parts.apply(&event).await);
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
            until_it_works!(parts.apply_once(&event).await);
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
            until_it_works!(parts.apply_once(&event).await);
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
            until_it_works!(parts.show_once(&event).await);
            if let Err(error) = parts.store_offset(&message) {
                tracing::warn!("the offset was not stored: {error}");
            }
        }
    })
    .await
}

/// Applies events, and tells no cache.
pub async fn no_invalidation(settings: NaiveConsumerSettings) -> anyhow::Result<()> {
    let parts = Parts::new(&settings)?;
    beside(settings.listen, async {
        loop {
            let Some((message, event)) = parts.poll().await else { continue };
            until_it_works!(parts.apply_once(&event).await);
            if let Err(error) = parts.store_offset(&message) {
                tracing::warn!("the offset was not stored: {error}");
            }
        }
    })
    .await
}

/// Applies events and deletes the cached balance, without saying which version is known now: a reader that loaded before fills
/// the old one in again.
pub async fn plain_delete(settings: NaiveConsumerSettings) -> anyhow::Result<()> {
    let parts = Parts::new(&settings)?;
    let redis = Redis::connect(&settings.redis.options(&settings.prefix)).await?;
    beside(settings.listen, async {
        loop {
            let Some((message, event)) = parts.poll().await else { continue };
            until_it_works!(parts.apply_once(&event).await);
            let (tag, key) = cache::entry_key(&redis, event.account_id);
            until_it_works!(redis.ask(Command::new(tag.clone(), "DEL").arg(&key)).await);
            if let Err(error) = parts.store_offset(&message) {
                tracing::warn!("the offset was not stored: {error}");
            }
        }
    })
    .await
}
