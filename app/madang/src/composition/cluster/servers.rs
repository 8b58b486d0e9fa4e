//! The servers of a cluster as the settings name them: how each is reached, and the databases that this process's roles
//! need. None of them has to be there at a start.

use std::sync::Arc;

use anyhow::Context as _;
use madang_engine_kafka::{KafkaLog, KafkaOptions};
use madang_engine_redis::{Mode, Redis, RedisOptions};
use madang_event::{Envelope, Topic};
use madang_kernel::Clock;
use madang_mysql::{Mysql, MysqlOptions, ServerOptions, Service, TlsOptions};

use crate::config::roles::{Role, Roles};
use crate::config::{ClusterSettings, MysqlTlsSettings, RedisMode, ServerUrl};

/// What this program is called at the broker. A site of the same name needs no prefix for its topics, which start with it.
const PROGRAM: &str = "madang";

/// Everything that is reached over the network, but the other processes.
pub(super) struct Servers {
    /// Members, revocations and node leases; every process leases its number there.
    pub(super) member: Mysql,
    /// The other databases that this process needs, by their service.
    pub(super) databases: Vec<(Service, Mysql)>,
    /// Redis.
    pub(super) redis: Redis,
    /// Kafka.
    pub(super) log: KafkaLog,
}

impl Servers {
    /// Reaches for all of them. Fails on what no waiting would mend.
    pub(super) async fn reach(
        settings: &ClusterSettings,
        roles: &Roles,
        clock: &Arc<dyn Clock>,
    ) -> anyhow::Result<Self> {
        let options = mysql_options(settings);
        let open = async |service: Service| {
            let opened = Mysql::open(&options, service, clock.clone()).await;
            opened.with_context(|| format!("cannot open the databases of {}", service.name()))
        };
        let member = open(Service::Member).await?;
        let mut databases = Vec::new();
        for (role, service) in WITH_DATABASE {
            if roles.runs(role) {
                databases.push((service, open(service).await?));
            }
        }
        let redis = Redis::connect(&redis_options(settings)).await.context("setting `cluster.redis`")?;
        let log = KafkaLog::open(kafka_options(settings)).context("setting `cluster.kafka`")?;
        Ok(Self { member, databases, redis, log })
    }

    /// Every database of this process.
    pub(super) fn of_all(&self) -> impl Iterator<Item = (Service, &Mysql)> {
        let others = self.databases.iter().map(|(service, database)| (*service, database));
        std::iter::once((Service::Member, &self.member)).chain(others)
    }

    /// The database of a service, where this process has it.
    pub(super) fn database(&self, service: Service) -> Option<Mysql> {
        self.databases.iter().find(|(found, _)| *found == service).map(|(_, database)| database.clone())
    }
}

/// The roles with a database of their own, but for members, which every process opens.
const WITH_DATABASE: [(Role, Service); 5] = [
    (Role::Article, Service::Article),
    (Role::Comment, Service::Comment),
    (Role::Like, Service::Like),
    (Role::View, Service::View),
    (Role::HotArticle, Service::HotArticle),
];

pub(in crate::composition) fn mysql_options(settings: &ClusterSettings) -> MysqlOptions {
    let server = |server: &crate::config::MysqlSettings| ServerOptions {
        url: server.url.reveal().to_owned(),
        shards: server.shards.clone().unwrap_or_default(),
    };
    let servers = settings.mysql.iter().map(server).collect();
    MysqlOptions {
        database_prefix: settings.name.clone(),
        connections_max: settings.mysql_connections_max,
        tls: settings.mysql_tls.clone().map(tls_options),
        ..MysqlOptions::new(servers)
    }
}

fn tls_options(settings: MysqlTlsSettings) -> TlsOptions {
    let MysqlTlsSettings { ca_file, client_cert_file, client_key_file, server_name } = settings;
    TlsOptions { ca_file, client_cert_file, client_key_file, server_name }
}

pub(in crate::composition) fn redis_options(settings: &ClusterSettings) -> RedisOptions {
    let urls: Vec<String> = settings.redis.urls.iter().map(|url: &ServerUrl| url.reveal().to_owned()).collect();
    let mode = match settings.redis.mode {
        RedisMode::Single => Mode::Single,
        RedisMode::Cluster => Mode::Cluster,
    };
    let response_timeout_ms = settings.redis.response_timeout_ms;
    RedisOptions { mode, response_timeout_ms, ..RedisOptions::cluster(settings.name.clone(), urls) }
}

pub(in crate::composition) fn kafka_options(settings: &ClusterSettings) -> KafkaOptions {
    let kafka = &settings.kafka;
    let prefix = if settings.name == PROGRAM { String::new() } else { format!("{}.", settings.name) };
    let security = kafka.security.iter().map(|(key, value)| (key.clone(), value.reveal().to_owned())).collect();
    KafkaOptions {
        prefix,
        topics: Topic::ALL.map(|topic| topic.name().to_owned()).to_vec(),
        event_type: |message| Envelope::type_name_of(&message.payload),
        partitions: kafka.partitions,
        replication: kafka.replication,
        security,
        ..KafkaOptions::new(PROGRAM, kafka.bootstrap.join(","))
    }
}
