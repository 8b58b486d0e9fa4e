//! `madang doctor`: looks at everything a site needs, changes nothing, and says for each finding what to do.
//!
//! Each file asks one part and judges what it was told; the judging is pure, and tested with values.

mod configuration;
pub(super) mod embedded;
pub(super) mod finding;
mod kafka;
mod mysql;
mod redis;
mod system;

use std::path::Path;

use clap::Args;
use madang_engine_kafka::KafkaLog;
use madang_kernel::SystemClock;

use self::finding::Report;
use super::upgrade::databases;
use crate::composition;
use crate::config::{ClusterSettings, Settings};

/// How findings are told.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct DoctorArgs {
    /// Print one JSON object, for programs
    #[arg(long)]
    pub json: bool,
}

/// Looks, and tells.
pub(crate) async fn doctor(args: DoctorArgs, settings: &Settings, file: Option<&Path>) -> anyhow::Result<u8> {
    let mut report = Report::default();
    configuration::look(settings, file, &mut report);
    system::files(settings, &mut report);
    system::memory(settings, &mut report);
    match &settings.cluster {
        None => embedded::look(settings, &mut report),
        Some(cluster) => servers(cluster, &mut report).await,
    }
    match args.json {
        true => println!("{}", serde_json::to_string_pretty(&report)?),
        false => print!("{}", report.in_words()),
    }
    Ok(report.exit_code())
}

/// Asks every server of a cluster.
async fn servers(cluster: &ClusterSettings, report: &mut Report) {
    let options = composition::mysql_options(cluster);
    for (index, server) in cluster.mysql.iter().enumerate() {
        let host = server.url.host();
        match madang_mysql::inspect(&options, index, &databases(), &SystemClock).await {
            Ok(found) => mysql::judge(host, &found, cluster, report),
            Err(error) => report.problem(
                &format!("mysql {host}"),
                format!("cannot be asked: {error}"),
                "start it, or correct its address, user and password in [[cluster.mysql]]",
            ),
        }
    }
    let found = madang_engine_redis::inspect(&composition::redis_options(cluster)).await;
    for (url, found) in cluster.redis.urls.iter().zip(found) {
        match found {
            Ok(found) => redis::judge(url.host(), &found, report),
            Err(error) => report.problem(
                &format!("redis {}", url.host()),
                format!("cannot be asked: {error}"),
                "start it, or correct its address in cluster.redis.urls",
            ),
        }
    }
    let log = match KafkaLog::open(composition::kafka_options(cluster)) {
        Ok(log) => log.inspect().await.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    match log {
        Ok(found) => kafka::judge(&found, cluster, report),
        Err(error) => report.problem(
            "kafka",
            format!("cannot be asked: {error}"),
            "start the brokers, or correct cluster.kafka.bootstrap",
        ),
    }
}
