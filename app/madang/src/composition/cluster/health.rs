//! The health of a cluster as `/readyz` tells it: each server by its name, each peer, and how far the groups of this
//! process are behind, which is looked up now and then because a broker takes its time to say.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use madang_engine_kafka::KafkaLog;
use madang_http::PeerState;
use madang_messaging::{ConsumerConfig, Outage, Stop};
use madang_server::PartState;

use super::servers::Servers;
use crate::composition::site::GroupProgress;

/// What the parts of the relational store are called.
pub(super) const MYSQL: &str = "mysql";
/// What Redis is called.
pub(super) const REDIS: &str = "redis";
/// What Kafka is called.
const KAFKA: &str = "kafka";
/// Between two looks at how far groups are behind.
const LAG_EVERY: Duration = Duration::from_secs(10);

/// The same where the last look told nothing: the broker was away, or topics were just being made.
const LAG_AGAIN: Duration = Duration::from_secs(1);

/// How far groups are behind, as of the last look.
#[derive(Clone, Default)]
pub(super) struct Lags(Arc<Mutex<BTreeMap<String, String>>>);

impl Lags {
    /// The last words about a group.
    pub(super) fn of(&self, group: &str) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(group).cloned()
    }

    /// Looks again and again until `stop`.
    pub(super) async fn keep(self, log: KafkaLog, groups: Vec<ConsumerConfig>, stop: Stop) -> Result<(), Infallible> {
        loop {
            let mut again = LAG_EVERY;
            for group in &groups {
                let lag = tokio::select! {
                    () = stop.cancelled() => return Ok(()),
                    lag = behind(&log, group) => lag,
                };
                if lag.is_err() {
                    again = LAG_AGAIN;
                }
                self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(group.group.to_string(), in_words(&lag));
            }
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = tokio::time::sleep(again) => {}
            }
        }
    }
}

/// How far a group is behind: messages of its topics, and of its rungs.
pub(super) struct Behind {
    topics: u64,
    rungs: u64,
}

impl Behind {
    /// Whether nothing is before it.
    pub(super) fn is_nothing(&self) -> bool {
        self.topics + self.rungs == 0
    }
}

/// Asks a broker how far a group is behind.
pub(super) async fn behind(log: &KafkaLog, group: &ConsumerConfig) -> Result<Behind, Outage> {
    let mut behind = Behind { topics: 0, rungs: 0 };
    for lane in group.lanes() {
        let lag = log.lag(&group.group, &lane.topics).await?;
        match lane.rung {
            None => behind.topics += lag,
            Some(_) => behind.rungs += lag,
        }
    }
    Ok(behind)
}

fn in_words(lag: &Result<Behind, Outage>) -> String {
    match lag {
        Err(outage) => format!("not known: {outage}"),
        Ok(behind) if behind.is_nothing() => "up to date".to_owned(),
        Ok(Behind { topics, rungs: 0 }) => format!("{topics} messages behind"),
        Ok(Behind { topics, rungs }) => format!("{topics} messages behind, {rungs} waiting to be tried again"),
    }
}

/// How far each of these groups is behind, now.
pub(super) async fn progress(log: &KafkaLog, groups: &[ConsumerConfig]) -> Vec<GroupProgress> {
    let mut progress = Vec::new();
    for group in groups {
        let words = in_words(&behind(log, group).await);
        progress.push(GroupProgress { name: group.group.to_string(), words });
    }
    progress
}

/// Each server, now.
pub(super) async fn servers(servers: &Servers) -> Vec<PartState> {
    let (mysql, redis, kafka) = tokio::join!(servers.member.ping(), servers.redis.ping(), servers.log.ping());
    let named = servers.mysql_hosts.iter().map(|host| format!("{MYSQL} {host}"));
    let mut parts: Vec<PartState> = named.zip(mysql).map(|(name, state)| part(name, state)).collect();
    parts.push(part(REDIS.to_owned(), redis));
    parts.push(part(KAFKA.to_owned(), kafka));
    parts
}

/// The same in the words of every composition: whether there is a store, and a log.
pub(super) fn in_short(servers: &[PartState], groups: usize) -> Vec<PartState> {
    let stores: Vec<_> = servers.iter().filter(|part| part.name.starts_with(MYSQL)).collect();
    let there = stores.iter().filter(|part| part.ok).count();
    let has_log = servers.iter().any(|part| part.ok && part.name == KAFKA);
    let short = |name: &str, ok, detail| PartState { name: name.to_owned(), ok, detail };
    vec![
        short("store", there > 0, format!("{there} of {} servers answer", stores.len())),
        short("log", has_log, format!("{groups} consumer groups here")),
    ]
}

/// A peer, as the last calls left it.
pub(super) fn peer(state: &PeerState) -> PartState {
    let name = format!("peer {} ({})", state.address, state.roles.join(", "));
    let detail = match (state.is_open, state.failures) {
        (true, failures) => format!("did not answer {failures} times in a row"),
        (false, 0) => "answers, or was not asked yet".to_owned(),
        (false, failures) => format!("did not answer the last {failures} times"),
    };
    PartState { name, ok: !state.is_open, detail }
}

/// A part that answers, or why it does not.
pub(super) fn part<E: std::fmt::Display>(name: String, state: Result<(), E>) -> PartState {
    match state {
        Ok(()) => PartState { name, ok: true, detail: "answers".to_owned() },
        Err(error) => PartState { name, ok: false, detail: error.to_string() },
    }
}
