//! The relay program: carries events from the outbox to Kafka. Commands tell it of what they committed, and it polls for what
//! it was not told of; several relays share the shards by membership in Redis.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::routing::{get, post};
use madang_engine_kafka::KafkaLog;
use madang_engine_mysql::{Mysql, MysqlOutbox};
use madang_engine_redis::{Redis, RedisMembership};
use madang_kernel::SystemClock;
use madang_messaging::{
    Assignment, Backoff, Coordinator, CoordinatorConfig, HandOver, InstanceId, OnError, Relay, RelayConfig, Supervisor,
    ToMessage as _,
};
use tokio::sync::watch;

use super::crash::{CrashPoints, CrashingLog, CrashingOutbox};
use super::problem::Problem;
use super::request::JsonBody;
use super::secret::{Secret, SecretSettings};
use super::settings::{KafkaSettings, MysqlSettings, RedisSettings};
use super::{database, http};
use crate::domain::AccountBalanceChanged;

/// How long the tasks may take to finish what they have in hand.
const STOP_MAX: Duration = Duration::from_secs(5);

/// How the program is started.
#[derive(Debug, Clone, clap::Args)]
pub struct RelaySettings {
    /// Where commands tell it of what they committed.
    #[arg(long, env = "LAB_LISTEN", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    #[command(flatten)]
    mysql: MysqlSettings,
    #[command(flatten)]
    kafka: KafkaSettings,
    #[command(flatten)]
    redis: RedisSettings,
    #[command(flatten)]
    secret: SecretSettings,
    /// The start of the names of databases, topics and keys.
    #[arg(long, env = "LAB_PREFIX", default_value = "lab")]
    prefix: String,
    /// What it is called among the relays.
    #[arg(long, env = "LAB_INSTANCE", default_value = "relay-1")]
    instance: String,
    /// Between two signs of life, in milliseconds.
    #[arg(long, default_value_t = 3_000)]
    heartbeat_ms: u64,
    /// A relay silent for so long has no shards any more, in milliseconds.
    #[arg(long, default_value_t = 9_000)]
    dead_after_ms: u64,
    /// Between two rounds of polling, in milliseconds.
    #[arg(long, default_value_t = 1_000)]
    poll_every_ms: u64,
    /// Rows younger than this are still on their way by hand-over, in milliseconds.
    #[arg(long, default_value_t = 10_000)]
    min_age_ms: u64,
}

impl RelaySettings {
    fn relay(&self) -> RelayConfig {
        RelayConfig {
            min_age_ms: self.min_age_ms,
            poll_every_ms: self.poll_every_ms,
            outage_backoff: Backoff { base_ms: 100, cap_ms: 1_000 },
            ..RelayConfig::default()
        }
    }

    fn coordinator(&self) -> CoordinatorConfig {
        let (heartbeat_ms, dead_after_ms) = (self.heartbeat_ms, self.dead_after_ms);
        CoordinatorConfig { heartbeat_ms, dead_after_ms, ..CoordinatorConfig::default() }
    }
}

/// What it answers about itself.
#[derive(Clone)]
struct Relaying {
    hand_over: HandOver,
    secret: Option<Secret>,
    assignment: watch::Receiver<Assignment>,
}

/// Runs it.
pub async fn run(settings: RelaySettings) -> anyhow::Result<()> {
    let crash = CrashPoints::from_environment()?;
    let db: Mysql<Infallible> = database::accounts(&settings.mysql.options(&settings.prefix)).await?;
    let log = KafkaLog::open(settings.kafka.options(&settings.prefix))?;
    let redis = Redis::connect(&settings.redis.options(&settings.prefix)).await?;
    let (tasks, clock) = (Supervisor::new("relay"), Arc::new(SystemClock));
    let me = InstanceId::new(&settings.instance);
    let membership = Arc::new(RedisMembership::new(redis));
    let coordinator = Coordinator::new("relay", me, settings.coordinator(), membership, clock.clone());
    let assignment = coordinator.assignment();
    let outbox = Arc::new(CrashingOutbox::new(MysqlOutbox::new(&db), &crash));
    let published = Arc::new(CrashingLog::new(log.clone(), &crash));
    let (relay, hand_over) = Relay::new(settings.relay(), outbox, published, assignment.clone(), clock);
    tasks.spawn("coordinator", OnError::Restart, move |stop| coordinator.clone().run(stop));
    tasks.spawn("relay", OnError::Restart, move |stop| relay.clone().run(stop));
    let router = Router::new()
        .route("/health", get(|| async { "ok" }))
        .route("/hand-over", post(take_over))
        .route("/shards", get(shards))
        .with_state(Relaying { hand_over, secret: settings.secret.secret, assignment });
    http::serve(settings.listen, router).await?;
    tasks.shutdown(STOP_MAX).await;
    log.close(STOP_MAX).await;
    db.close().await;
    Ok(())
}

/// Whoever sent the request knows the secret of the run. What is handed over is published unread, so nobody else may: where
/// there is no secret, nobody at all.
struct OfThisRun;

impl FromRequestParts<Relaying> for OfThisRun {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, relaying: &Relaying) -> Result<Self, Problem> {
        let authorization = parts.headers.get(header::AUTHORIZATION);
        let admitted = relaying.secret.as_ref().is_some_and(|secret| secret.admits(authorization));
        if admitted { Ok(Self) } else { Err(Problem::Unauthorized) }
    }
}

async fn take_over(
    _: OfThisRun,
    State(relaying): State<Relaying>,
    JsonBody(body): JsonBody,
) -> Result<StatusCode, Problem> {
    let events: Vec<AccountBalanceChanged> =
        serde_json::from_slice(&body).map_err(|error| Problem::Malformed(format!("expected events: {error}")))?;
    // A relay that cannot keep up leaves them to polling.
    relaying.hand_over.hand_over(events.iter().map(AccountBalanceChanged::to_message).collect());
    Ok(StatusCode::NO_CONTENT)
}

/// The shards that this relay polls, as a list of numbers.
async fn shards(State(relaying): State<Relaying>) -> String {
    let shards: Vec<u8> = relaying.assignment.borrow().shards().map(|shard| shard.number()).collect();
    serde_json::to_string(&shards).unwrap_or_default()
}
