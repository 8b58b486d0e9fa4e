//! A system under test for one trial: databases, topics and keys of its own, processes, and proxies in front of servers.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use madang_engine_kafka::{KafkaLog, KafkaOptions};
use madang_messaging::{ConsumerConfig, GroupId};
use tokio::time::{Instant, sleep};

use super::{Faults, Fleet, Proxy, Spec, observe, record};
use crate::Lab;
use crate::checker::{Observed, Report, check};
use crate::domain::{Entry, TOPIC};
use crate::programs::database;
use crate::programs::settings::{KafkaSettings, MysqlSettings};

/// The group of the projection.
pub const GROUP: &str = "projection";
/// A consumer that was killed is missed by its group after so long, in milliseconds.
const SESSION_MS: u64 = 1_200;
/// How long a system may take to be quiet, with every protection or without: longer than the whole ladder of a message.
const QUIET_MAX: Duration = Duration::from_secs(120);
/// Between two looks whether it is quiet.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The system of one trial.
pub struct System {
    /// Starts the names of everything it has.
    pub prefix: String,
    /// Its processes.
    pub fleet: Fleet,
    /// Its line to the database.
    pub database: Proxy,
    /// Its line to Redis.
    pub redis: Proxy,
    /// What happened to it.
    pub faults: Faults,
    /// The database, past the proxy.
    pub mysql_url: String,
    /// Redis, past the proxy.
    pub redis_url: String,
    /// The broker.
    pub kafka: String,
    /// Its folder.
    pub dir: PathBuf,
    /// Whether somebody wants to look at it afterwards.
    keep: bool,
    log: KafkaLog,
}

impl System {
    /// An empty system, called by its experiment and its side.
    pub async fn new(lab: &Lab, experiment: &str, side: &str) -> anyhow::Result<Self> {
        let prefix = format!("lab_{experiment}_{side}_{:06x}", rand::random_range(0..0x0100_0000));
        let dir = lab.dir.join(side);
        std::fs::create_dir_all(&dir).with_context(|| format!("could not make {}", dir.display()))?;
        let faults = Faults::new(&dir);
        // Left by an earlier run in the same folder.
        let _ = std::fs::remove_file(faults.crash_log());
        let database = Proxy::start(lab.stack.port("mariadb-1")?, faults.clone()).await?;
        let redis = Proxy::start(lab.stack.port("redis")?, faults.clone()).await?;
        let (mysql_url, redis_url, kafka) = (lab.stack.mysql(1)?, lab.stack.redis()?, lab.stack.kafka()?);
        let login = mysql_url.rsplit_once('@').map_or("mysql://root", |(login, _)| login);
        let env = [
            ("LAB_MYSQL", format!("{login}@127.0.0.1:{}", database.port())),
            ("LAB_REDIS", format!("redis://127.0.0.1:{}", redis.port())),
            ("LAB_KAFKA", kafka.clone()),
            ("LAB_PREFIX", prefix.clone()),
            ("LAB_SESSION_MS", SESSION_MS.to_string()),
            ("LAB_SECRET", crate::programs::secret::draw()),
        ];
        let env = env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let fleet = Fleet::new(&lab.programs, &dir, env, lab.seed, faults.clone())?;
        let log = KafkaLog::connect(log_options(&prefix, &kafka)).await?;
        let mysql = MysqlSettings { mysql: mysql_url.clone() };
        database::accounts::<()>(&mysql.options(&prefix)).await?.close().await;
        let keep = lab.keep;
        let system = Self { prefix, fleet, database, redis, faults, mysql_url, redis_url, kafka, dir, keep, log };
        system.prepare(&system.prefix.clone(), GROUP).await?;
        // There from the start, so that the same query answers whatever the experiment does.
        system.keep_told(&[]).await?;
        Ok(system)
    }

    /// Makes the database of a projection, and the topics of its group.
    pub async fn prepare(&self, projection: &str, group: &str) -> anyhow::Result<()> {
        let mysql = MysqlSettings { mysql: self.mysql_url.clone() };
        database::projection::<()>(&mysql.options(projection)).await?.close().await;
        Ok(self.log.prepare(&[ConsumerConfig::new(GroupId::new(group), vec![TOPIC.to_owned()])]).await?)
    }

    /// Starts a command program that tells these relays.
    pub async fn command(&self, name: &str, relays: &[String], crash: &str) -> anyhow::Result<String> {
        let spec = Spec::new(name, &["command"]).env("LAB_RELAYS", relays.join(",")).crashing(crash);
        self.fleet.start(spec).await
    }

    /// Starts a relay that polls often, so that what it was not told of is found soon.
    pub async fn relay(&self, name: &str, crash: &str) -> anyhow::Result<String> {
        let spec = Spec::new(name, &["relay"]).env("LAB_INSTANCE", name).flag("poll-every-ms", 100);
        self.fleet.start(spec.flag("min-age-ms", 300).crashing(crash)).await
    }

    /// Starts the consumer of the projection.
    pub async fn consumer(&self, name: &str, crash: &str) -> anyhow::Result<String> {
        self.fleet.start(Spec::new(name, &["consumer"]).crashing(crash)).await
    }

    /// Waits until the outbox is empty and a group has stored everything as done, on its rungs too. A system that does not get
    /// there cannot be judged: what looks lost may only be on its way.
    pub async fn quiet(&self, group: &str) -> anyhow::Result<()> {
        self.until_quiet(Some(group)).await
    }

    /// Waits until the outbox is empty.
    pub async fn sent(&self) -> anyhow::Result<()> {
        self.until_quiet(None).await
    }

    async fn until_quiet(&self, group: Option<&str>) -> anyhow::Result<()> {
        let deadline = Instant::now() + QUIET_MAX;
        loop {
            let is_sent = self.is_sent().await.unwrap_or(false);
            let is_applied = match group {
                Some(group) if is_sent => self.is_applied(group).await.unwrap_or(false),
                Some(_) => false,
                None => true,
            };
            if is_sent && is_applied {
                return Ok(());
            }
            ensure!(
                Instant::now() < deadline,
                "{} was not quiet within {QUIET_MAX:?}: everything sent {is_sent}, everything applied {is_applied}",
                self.prefix
            );
            sleep(LOOK_EVERY).await;
        }
    }

    async fn is_sent(&self) -> anyhow::Result<bool> {
        let mut conn = observe::connect(&self.mysql_url).await?;
        let unsent = format!("SELECT COUNT(*) FROM `{}_accounts`.outbox", self.prefix);
        let unsent = observe::number(&mut conn, &unsent).await?;
        conn.disconnect().await?;
        Ok(unsent == 0)
    }

    async fn is_applied(&self, group: &str) -> anyhow::Result<bool> {
        let group = ConsumerConfig::new(GroupId::new(group), vec![TOPIC.to_owned()]);
        for level in group.levels() {
            if self.log.lag(&group.group, &level.topics).await? > 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Everything there is to compare, of the projection of a group.
    pub async fn observed(&self, group: Option<&str>) -> anyhow::Result<Observed> {
        observe::all(&self.mysql_url, &self.prefix, &self.prefix, group).await
    }

    /// Compares everything with what clients were told.
    pub async fn report(&self, history: &super::History, group: Option<&str>) -> anyhow::Result<Report> {
        let mut observed = self.observed(group).await?;
        observed.acknowledged.clone_from(&history.acknowledged);
        observed.cache = observe::cache(&self.redis_url, &self.prefix, &observed.accounts).await?;
        self.keep_told(&history.acknowledged).await?;
        Ok(check(&observed))
    }

    /// Puts what the clients were told beside the tables, where somebody wants to look at them afterwards.
    pub async fn keep_told(&self, acknowledged: &[Entry]) -> anyhow::Result<()> {
        if self.keep {
            record::acknowledged(&self.mysql_url, &self.prefix, acknowledged).await?;
        }
        Ok(())
    }

    /// The log, for who looks at it.
    #[must_use]
    pub fn log(&self) -> &KafkaLog {
        &self.log
    }
}

fn log_options(prefix: &str, kafka: &str) -> KafkaOptions {
    KafkaSettings { kafka: kafka.to_owned(), session_ms: SESSION_MS }.options(prefix)
}
