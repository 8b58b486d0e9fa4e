//! A service's databases of a scenario's own on the servers of the environment, with a relay that carries its events to
//! the broker as a process does; dropped in the end.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use madang_engine_kafka::{KafkaLog, KafkaOptions};
use madang_event::{Envelope, Topic};
use madang_kernel::{Clock as _, SystemClock};
use madang_messaging::{Assignment, OnError, Relay, RelayConfig, Supervisor};
use madang_mysql::{Mysql, MysqlOptions, MysqlOutbox, ServerOptions, Service};
use mysql_async::prelude::Queryable as _;
use tokio::sync::watch;

use super::database::Issuer;

const MYSQL: &str = "MADANG_TEST_MYSQL";
const KAFKA: &str = "MADANG_TEST_KAFKA";
/// Few: topics stay at the broker.
const PARTITIONS: u32 = 2;
const STOP_MAX: Duration = Duration::from_secs(5);
/// How long the relay may take to send what is left, and how often it is polled.
const SENT_MAX: Duration = Duration::from_secs(300);
const SENT_POLL: Duration = Duration::from_millis(200);

/// Where the servers are.
#[derive(Debug, Clone)]
pub(super) struct Servers {
    /// The first relational one; ratios need no second.
    mysql: String,
    kafka: String,
}

impl Servers {
    /// The servers of the environment; without them the scenario cannot be measured.
    pub(super) fn of_environment() -> Result<Self> {
        let (Ok(mysql), Ok(kafka)) = (std::env::var(MYSQL), std::env::var(KAFKA)) else {
            bail!("{MYSQL} and {KAFKA} are not set: `cargo xtask stack up`, then eval \"$(cargo xtask stack env)\"");
        };
        let mysql = mysql.split(',').next().unwrap_or_default().trim().to_owned();
        Ok(Self { mysql, kafka: kafka.trim().to_owned() })
    }

    /// Everything on one server, as usual but for the databases' names.
    pub(super) fn options(&self, name: &str) -> MysqlOptions {
        let mut options = MysqlOptions::new(vec![ServerOptions { url: self.mysql.clone(), shards: "0-63".into() }]);
        options.database_prefix = format!("bench_{name}_{}", SystemClock.now().as_millis());
        options
    }
}

/// Open databases with ids of their own.
#[derive(Clone)]
pub(super) struct Relayed {
    pub(super) db: Mysql,
    pub(super) issuer: Issuer,
    options: MysqlOptions,
    tasks: Arc<Mutex<Option<Supervisor>>>,
    log: KafkaLog,
}

impl Relayed {
    /// Opens the databases of a service, and starts their relay.
    pub(super) async fn open(servers: &Servers, options: MysqlOptions, service: Service) -> Result<Self> {
        let issuer = Issuer::new();
        let db = Mysql::open(&options, service, issuer.clock.clone()).await?;
        let prefix = format!("{}.", options.database_prefix);
        let kafka = KafkaOptions {
            prefix,
            topics: Topic::ALL.map(|topic| topic.name().to_owned()).to_vec(),
            event_type: |message| Envelope::type_name_of(&message.payload),
            partitions: PARTITIONS,
            ..KafkaOptions::new("madang", servers.kafka.clone())
        };
        let log = KafkaLog::connect(kafka).await?;
        let (_, all) = watch::channel(Assignment::ALL);
        let outbox = Arc::new(MysqlOutbox::new(&db));
        let (relay, hand_over) =
            Relay::new(RelayConfig::default(), outbox, Arc::new(log.clone()), all, issuer.clock.clone());
        db.hand_over_to(hand_over);
        let tasks = Supervisor::new("bench");
        tasks.spawn("relay", OnError::Restart, move |stop| relay.clone().run(stop));
        Ok(Self { db, issuer, options, tasks: Arc::new(Mutex::new(Some(tasks))), log })
    }

    /// Waits until the relay has sent everything; returns how long that took. A rate whose events stayed behind is none.
    pub(super) async fn sent(&self) -> Result<Duration> {
        let started = Instant::now();
        while self.db.sizes().await?.outbox > 0 {
            ensure!(started.elapsed() < SENT_MAX, "events are not sent within {SENT_MAX:?}");
            tokio::time::sleep(SENT_POLL).await;
        }
        Ok(started.elapsed())
    }

    /// Stops the relay, closes the databases and drops them.
    pub(super) async fn close(self) -> Result<()> {
        let tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(tasks) = tasks {
            tasks.shutdown(STOP_MAX).await;
        }
        self.log.close(STOP_MAX).await;
        self.db.close().await;
        let mut conn = self.connect(None).await?;
        let database = self.db.name_on_servers();
        conn.query_drop(format!("DROP DATABASE `{database}`")).await?;
        Ok(conn.disconnect().await?)
    }

    /// A connection of the scenario's own to the database.
    pub(super) async fn connect_to_it(&self) -> Result<mysql_async::Conn> {
        self.connect(Some(self.db.name_on_servers())).await
    }

    async fn connect(&self, database: Option<String>) -> Result<mysql_async::Conn> {
        let opts = mysql_async::Opts::from_url(&self.options.servers[0].url)?;
        let opts = mysql_async::OptsBuilder::from_opts(opts).db_name(database).prefer_socket(false);
        mysql_async::Conn::new(opts).await.context("cannot connect to the relational server")
    }
}
