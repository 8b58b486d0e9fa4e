//! The composition root: which adapters stand behind the ports of a [`site`], in one file (`embedded`) or on servers
//! (`cluster`). The only place that knows.

mod base;
mod cluster;
mod embedded;
pub(crate) mod site;

use std::time::Duration;

use anyhow::bail;
use madang_member::{MemberOptions, ReservedNames};

use self::site::Site;
use crate::config::data_directory::DataDirectory;
use crate::config::roles::Roles;
use crate::config::{ClusterSettings, Settings};

/// Opens a site: in the data directory, or on the servers of the settings.
pub(crate) async fn open(settings: &Settings, roles: Roles, data: Option<&DataDirectory>) -> anyhow::Result<Site> {
    match (&settings.cluster, data) {
        (Some(cluster), _) => cluster::open(settings, cluster, roles).await,
        (None, Some(data)) => embedded::open(settings, roles, data).await,
        (None, None) => bail!("a site without [cluster] needs a data directory"),
    }
}

/// How the databases of a cluster are reached.
pub(crate) fn mysql_options(cluster: &ClusterSettings) -> madang_mysql::MysqlOptions {
    cluster::mysql_options(cluster)
}

/// How its Redis is reached.
pub(crate) fn redis_options(cluster: &ClusterSettings) -> madang_engine_redis::RedisOptions {
    cluster::redis_options(cluster)
}

/// How its brokers are reached.
pub(crate) fn kafka_options(cluster: &ClusterSettings) -> madang_engine_kafka::KafkaOptions {
    cluster::kafka_options(cluster)
}

/// The names in the address of the site: of `https://board.example:8443`, board and example.
fn site_words(site_url: &str) -> Vec<String> {
    let host = site_url.split_once("://").map_or(site_url, |(_, host)| host);
    host.split(['.', ':', '/']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn member_options(settings: &Settings) -> MemberOptions {
    MemberOptions {
        session_ttl: Duration::from_secs(settings.session_ttl_s),
        hash_memory_kib: settings.hash_memory_kib,
        hash_passes: settings.hash_passes,
        hash_concurrency: settings.hash_concurrency,
        hash_queue: settings.hash_queue,
        site_words: site_words(&settings.site_url),
        reserved_names: ReservedNames::listed(&settings.reserved_names),
    }
}
