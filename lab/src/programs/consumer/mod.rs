//! The consumer program: applies events to the projection, each once, invalidates the cache, and then lets its offset be
//! stored. What fails by itself climbs the ladder of its group: `account.balance.v1.<group>.retry.5s`, `.retry.1m`, `.dlq`.

mod handler;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::routing::{get, post};
use madang_engine_kafka::KafkaLog;
use madang_engine_mysql::Mysql;
use madang_engine_redis::Redis;
use madang_kernel::{Clock as _, SystemClock};
use madang_messaging::consumer::Rung;
use madang_messaging::{
    Backoff, Consumer, ConsumerConfig, DeadLetters as _, GroupId, Ladder, Ladders, Moment, OnError, Replayed,
    Supervisor, replay,
};

use super::cache::BalanceCache;
use super::crash::{CrashPoints, CrashingHandler};
use super::problem::Problem;
use super::settings::{KafkaSettings, MysqlSettings, RedisSettings};
use super::{database, http};
use crate::domain::TOPIC;
use handler::ApplyToProjection;

/// How long the tasks may take to finish what they have in hand.
const STOP_MAX: Duration = Duration::from_secs(5);
/// Dead letters replayed by one request.
const REPLAYED_MAX: usize = 1_000;

/// How the program is started.
#[derive(Debug, Clone, clap::Args)]
pub struct ConsumerSettings {
    /// Where it is asked to replay its dead letters.
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
    /// How long a message waits on the rung called 5s, in milliseconds.
    #[arg(long, default_value_t = 5_000)]
    short_retry_ms: u64,
    /// How long a message waits on the rung called 1m, in milliseconds.
    #[arg(long, default_value_t = 60_000)]
    long_retry_ms: u64,
}

impl ConsumerSettings {
    fn consumer(&self) -> ConsumerConfig {
        let rungs = [("5s", self.short_retry_ms), ("1m", self.long_retry_ms)];
        ConsumerConfig {
            ladder: Ladder(rungs.into_iter().map(|(name, delay_ms)| Rung { name, delay_ms }).collect()),
            batch_max: 32,
            outage_backoff: Backoff { base_ms: 50, cap_ms: 1_000 },
            ..ConsumerConfig::new(GroupId::new(&self.group), vec![TOPIC.to_owned()])
        }
    }
}

#[derive(Clone)]
struct Letters {
    log: KafkaLog,
    ladders: Ladders,
}

/// Runs it.
pub async fn run(settings: ConsumerSettings) -> anyhow::Result<()> {
    let crash = CrashPoints::from_environment()?;
    let projection = settings.projection.as_ref().unwrap_or(&settings.prefix);
    let db: Mysql<Infallible> = database::projection(&settings.mysql.options(projection)).await?;
    let log = KafkaLog::open(settings.kafka.options(&settings.prefix))?;
    let redis = Redis::connect(&settings.redis.options(projection)).await?;
    let config = settings.consumer();
    let handler = ApplyToProjection::new(&db, BalanceCache::new(redis), config.group.clone(), crash.clone());
    let handler = Arc::new(CrashingHandler::new(handler, &crash));
    let letters = Letters { log: log.clone(), ladders: Ladders::of(std::slice::from_ref(&config)) };
    let tasks = Supervisor::new("consumer");
    let consumer = Consumer::new(config, Arc::new(log.clone()), handler, Arc::new(SystemClock));
    tasks.spawn("consumer", OnError::Restart, move |stop| consumer.clone().run(stop));
    let router = Router::new()
        .route("/health", get(|| async { "ok" }))
        .route("/dead-letters", get(count))
        .route("/dead-letters/replay", post(replay_all))
        .with_state(letters);
    http::serve(settings.listen, router).await?;
    tasks.shutdown(STOP_MAX).await;
    log.close(STOP_MAX).await;
    db.close().await;
    Ok(())
}

/// How many dead letters there are.
async fn count(State(letters): State<Letters>) -> Result<String, Problem> {
    let count = letters.log.dead_letters().count().await;
    count.map(|count| count.to_string()).map_err(|outage| Problem::Unavailable(outage.to_string()))
}

/// Replays every dead letter: back onto the first rung of its group, through the same handler. Answers with their number.
async fn replay_all(State(Letters { log, ladders }): State<Letters>) -> Result<String, Problem> {
    let letters = log.dead_letters();
    let away = |error: &dyn std::fmt::Display| Problem::Unavailable(error.to_string());
    let found = letters.list(None, REPLAYED_MAX).await.map_err(|outage| away(&outage))?;
    let mut replayed = 0;
    for letter in found {
        let now = Moment::new(0, SystemClock.now());
        let outcome = replay(&letters, &log, &ladders, &letter.id, false, now).await.map_err(|error| away(&error))?;
        replayed += u32::from(matches!(outcome, Replayed::Published(_)));
    }
    Ok(replayed.to_string())
}
