//! Relays without a protection: one that keeps its shards whoever else lives, and one that sends without a key.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use madang_engine_kafka::KafkaLog;
use madang_engine_mysql::{Mysql, MysqlOutbox};
use madang_kernel::SystemClock;
use madang_messaging::{Assignment, OnError, Relay, RelayConfig, Supervisor};
use mysql_async::Pool;
use mysql_async::prelude::Queryable as _;
use rdkafka::ClientConfig;
use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer as _};
use tokio::sync::watch;

use super::store;
use crate::domain::TOPIC;
use crate::programs::settings::{KafkaSettings, MysqlSettings};
use crate::programs::{database, http};

/// How the relay of fixed shards is started.
#[derive(Debug, Clone, clap::Args)]
pub struct FixedRelaySettings {
    /// Where it says that it is there.
    #[arg(long, env = "LAB_LISTEN", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    #[command(flatten)]
    mysql: MysqlSettings,
    #[command(flatten)]
    kafka: KafkaSettings,
    /// The start of the names of databases and topics.
    #[arg(long, env = "LAB_PREFIX", default_value = "lab")]
    prefix: String,
    /// Its first shard.
    #[arg(long)]
    from_shard: u8,
    /// The first shard that is not its own any more.
    #[arg(long)]
    until_shard: u8,
    /// Between two rounds of polling, in milliseconds.
    #[arg(long, default_value_t = 1_000)]
    poll_every_ms: u64,
    /// Rows younger than this are left alone, in milliseconds.
    #[arg(long, default_value_t = 10_000)]
    min_age_ms: u64,
}

/// Runs the relay of fixed shards.
pub async fn run_fixed(settings: FixedRelaySettings) -> anyhow::Result<()> {
    let db: Mysql<Infallible> = database::accounts(&settings.mysql.options(&settings.prefix)).await?;
    let log = KafkaLog::open(settings.kafka.options(&settings.prefix))?;
    let (_kept, assignment) = watch::channel(Assignment::of(settings.from_shard..settings.until_shard));
    let (min_age_ms, poll_every_ms) = (settings.min_age_ms, settings.poll_every_ms);
    let config = RelayConfig { min_age_ms, poll_every_ms, ..RelayConfig::default() };
    let outbox = Arc::new(MysqlOutbox::new(&db));
    let (relay, _hand_over) = Relay::new(config, outbox, Arc::new(log), assignment, Arc::new(SystemClock));
    let tasks = Supervisor::new("relay");
    tasks.spawn("relay", OnError::Restart, move |stop| relay.clone().run(stop));
    let shards: Vec<u8> = (settings.from_shard..settings.until_shard).collect();
    let shards = serde_json::to_string(&shards)?;
    let router = Router::new().route("/health", get(|| async { "ok" })).route("/shards", get(|| async { shards }));
    http::serve(settings.listen, router).await?;
    tasks.shutdown(Duration::from_secs(5)).await;
    Ok(())
}

/// How the relay without keys is started.
#[derive(Debug, Clone, clap::Args)]
pub struct UnkeyedRelaySettings {
    /// Where it says that it is there.
    #[arg(long, env = "LAB_LISTEN", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    #[command(flatten)]
    mysql: MysqlSettings,
    #[command(flatten)]
    kafka: KafkaSettings,
    /// The start of the names of databases and topics.
    #[arg(long, env = "LAB_PREFIX", default_value = "lab")]
    prefix: String,
}

/// Rows sent in one round.
const ROUND_ROWS: usize = 200;
/// Between two rounds.
const ROUND_PAUSE: Duration = Duration::from_millis(20);

/// Runs the relay without keys.
pub async fn run_unkeyed(settings: UnkeyedRelaySettings) -> anyhow::Result<()> {
    let pool = store::pool(&settings.mysql.mysql, &format!("{}_accounts", settings.prefix))?;
    let mut config = ClientConfig::new();
    config
        .set("bootstrap.servers", &settings.kafka.kafka)
        .set("linger.ms", "0")
        .set("sticky.partitioning.linger.ms", "0");
    let producer: BaseProducer = config.create()?;
    let topic = format!("{}.{TOPIC}", settings.prefix);
    let relaying = async {
        loop {
            if let Err(error) = round(&pool, &producer, &topic).await {
                tracing::warn!("a round failed: {error}");
            }
            tokio::time::sleep(ROUND_PAUSE).await;
        }
    };
    let router = Router::new().route("/health", get(|| async { "ok" }));
    tokio::select! {
        served = http::serve(settings.listen, router) => served,
        () = relaying => Ok(()),
    }
}

async fn round(pool: &Pool, producer: &BaseProducer, topic: &str) -> anyhow::Result<()> {
    let mut conn = pool.get_conn().await?;
    let oldest = format!("SELECT row_id, event_id, payload FROM outbox ORDER BY row_id LIMIT {ROUND_ROWS}");
    let rows: Vec<(u64, i64, Vec<u8>)> = conn.query(oldest).await?;
    let mut sent = Vec::new();
    for (row_id, event_id, payload) in rows {
        let id = event_id.to_string();
        let headers = OwnedHeaders::new().insert(Header { key: "ce_id", value: Some(&id) });
        let record = BaseRecord::<(), [u8]>::to(topic).payload(&payload).headers(headers);
        producer.send(record).map_err(|(error, _)| error)?;
        sent.push(row_id);
    }
    if sent.is_empty() {
        return Ok(());
    }
    tokio::task::block_in_place(|| producer.flush(Duration::from_secs(10)))?;
    for row_id in sent {
        conn.exec_drop("DELETE FROM outbox WHERE row_id = ?", (row_id,)).await?;
    }
    Ok(())
}
