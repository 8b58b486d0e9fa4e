//! What goes wrong on servers, and between them: killed, slow, full, behind, stuck.

use std::time::Duration;

use anyhow::{Context as _, Result};
use rustix::process::Signal;

use super::scenario::Scenario;
use crate::http;
use crate::observed::ObservedSite;

/// The server of shard 0, and another.
const HOME: &str = "mariadb-1";
const OTHER: &str = "mariadb-2";
const BROKER: &str = "kafka-1";
const REDIS: &str = "redis";
/// A topic, a group that reads it, and where that puts what it cannot read.
const TOPIC: &str = "madang.like.v1";
const GROUP: &str = "hot-article";
/// How long a server is stopped at a time: longer than a request may take, shorter than it takes to be given up.
const FROZEN: Duration = Duration::from_millis(1_800);

pub(super) const ALL: &[Scenario] = &[
    Scenario {
        alerts: &["MadangDown"],
        how: "the process killed (SIGKILL), then started",
        cause: |site| site.cluster.kill(),
        meanwhile: None,
        undo: |site| site.cluster.start(),
    },
    Scenario {
        alerts: &["MadangClockSkew", "MadangNotReady"],
        how: "the clock of the process set an hour ahead, then right",
        cause: |site| site.clock.set(3_600),
        meanwhile: None,
        undo: |site| site.clock.set(0),
    },
    Scenario {
        alerts: &["MadangDeadLetter"],
        how: "a record that is no event written to a topic",
        cause: |site| produce(site, "no event"),
        meanwhile: None,
        undo: |_| Ok(()),
    },
    Scenario {
        alerts: &["MadangGroupBehind"],
        how: "`madang groups pause hot-article`, then `resume`",
        cause: |site| site.command(&["groups", "pause", GROUP]).map(drop),
        meanwhile: None,
        undo: |site| site.command(&["groups", "resume", GROUP]).map(drop),
    },
    Scenario {
        alerts: &["MadangGroupStuck"],
        how: "the same record, 6 KB long, while the topics of dead letters take 1,000 bytes; then `madang groups skip`",
        cause: |site| {
            letters_of(site, &["--add-config", "max.message.bytes=1000"])?;
            produce(site, &noise())
        },
        meanwhile: None,
        undo: skip,
    },
    Scenario {
        alerts: &["KafkaDown", "MadangOutboxBacklog"],
        how: "the broker killed while people write, then started",
        cause: |site| site.stack.signal(BROKER, Signal::KILL),
        meanwhile: None,
        undo: |site| site.stack.restart(BROKER),
    },
    Scenario {
        alerts: &["MysqlDown", "MadangErrors"],
        how: "a relational server killed while people use the site, then started",
        cause: |site| site.stack.signal(OTHER, Signal::KILL),
        meanwhile: None,
        undo: |site| site.stack.restart(OTHER),
    },
    Scenario {
        alerts: &["MysqlReplicaStopped"],
        how: "`STOP SLAVE SQL_THREAD` on a replica, then `START SLAVE`",
        cause: |site| site.stack.sql("mariadb-2-replica", "STOP SLAVE SQL_THREAD").map(drop),
        meanwhile: None,
        undo: |site| site.stack.sql("mariadb-2-replica", "START SLAVE").map(drop),
    },
    Scenario {
        alerts: &["MysqlReplicaBehind"],
        how: "a replica told to stay 600 s behind (`MASTER_DELAY`) while people write, then not",
        cause: |site| delay(site, 600),
        meanwhile: None,
        undo: |site| delay(site, 0),
    },
    Scenario {
        alerts: &["MysqlConnectionsNearlyUsed"],
        how: "`max_connections` set to a tenth more than are in use, then to 500",
        cause: |site| {
            let used = site.stack.sql(HOME, "SELECT ceil(variable_value * 1.1) FROM information_schema.global_status WHERE variable_name = 'threads_connected'")?;
            site.stack.sql(HOME, &format!("SET GLOBAL max_connections = {}", used.trim())).map(drop)
        },
        meanwhile: None,
        undo: |site| site.stack.sql(HOME, "SET GLOBAL max_connections = 500").map(drop),
    },
    Scenario {
        alerts: &["MadangSlow"],
        how: "a relational server stopped (SIGSTOP) for 1.8 s again and again while people use the site",
        cause: |_| Ok(()),
        meanwhile: Some(|site| {
            site.stack.signal(HOME, Signal::STOP)?;
            site.pause(FROZEN)?;
            site.stack.signal(HOME, Signal::CONT)
        }),
        undo: |site| site.stack.signal(HOME, Signal::CONT),
    },
    Scenario {
        alerts: &["RedisDown", "MadangPartAway"],
        how: "Redis killed, then started",
        cause: |site| site.stack.signal(REDIS, Signal::KILL),
        meanwhile: None,
        undo: |site| site.stack.restart(REDIS),
    },
    Scenario {
        alerts: &["RedisMemoryNearlyFull"],
        how: "`maxmemory` set to a twentieth more than is used, then to none",
        cause: |site| {
            let info = site.stack.redis(&["INFO", "memory"])?;
            let used = info.lines().find_map(|line| line.strip_prefix("used_memory:")).context("no used_memory")?;
            let max = used.trim().parse::<u64>()? * 21 / 20;
            site.stack.redis(&["CONFIG", "SET", "maxmemory", &max.to_string()]).map(drop)
        },
        meanwhile: None,
        undo: |site| site.stack.redis(&["CONFIG", "SET", "maxmemory", "0"]).map(drop),
    },
];

/// Writes a record to the topic of likes.
fn produce(site: &ObservedSite, record: &str) -> Result<()> {
    let input = format!("{record}\n");
    site.stack.kafka("org.apache.kafka.tools.ConsoleProducer", &["--topic", TOPIC], &input).map(drop)
}

/// Longer than dead letters may be, and no smaller when it is compressed.
fn noise() -> String {
    std::iter::repeat_with(|| format!("{:032x}", rand::random::<u128>())).take(192).collect()
}

/// Changes the settings of the topics that hold what groups could not read of likes.
fn letters_of(site: &ObservedSite, change: &[&str]) -> Result<()> {
    for group in [GROUP, "article-read"] {
        let topic = format!("{TOPIC}.{group}.dlq");
        let arguments = [&["--alter", "--entity-type", "topics", "--entity-name", &topic][..], change].concat();
        site.stack.kafka("kafka.admin.ConfigCommand", &arguments, "")?;
    }
    Ok(())
}

/// Has every group that is stuck pass over its record, as an operator would.
fn skip(site: &ObservedSite) -> Result<()> {
    let ready = http::get(&site.cluster.operations(), "/readyz")?.json()?;
    for part in ready["parts"].as_array().into_iter().flatten() {
        let (name, detail) = (part["name"].as_str().unwrap_or_default(), part["detail"].as_str().unwrap_or_default());
        let group = name.strip_prefix("group ").zip(detail.split_once("stuck at "));
        if let Some((group, (_, record))) = group {
            let record = record.split(": ").next().unwrap_or_default();
            site.command(&["groups", "skip", group, record])?;
        }
    }
    letters_of(site, &["--delete-config", "max.message.bytes"])
}

fn delay(site: &ObservedSite, seconds: u32) -> Result<()> {
    let statement = format!("STOP SLAVE; CHANGE MASTER TO MASTER_DELAY = {seconds}; START SLAVE");
    site.stack.sql("mariadb-1-replica", &statement).map(drop)
}
