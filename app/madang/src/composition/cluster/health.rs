//! The health of a cluster as `/readyz` tells it: each server by its name, each peer, and how far the groups of this
//! process are behind, which is read now and then because a broker takes its time to answer.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use madang_engine_kafka::KafkaLog;
use madang_http::PeerState;
use madang_messaging::{ConsumerConfig, Outage, Stop};
use madang_server::PartState;

use super::servers::Servers;
use crate::composition::site::GroupLagText;
use crate::tasks::lag::{self, UP_TO_DATE};

/// What the parts of the relational store are called.
pub(super) const MYSQL: &str = "mysql";
/// What Redis is called.
pub(super) const REDIS: &str = "redis";
/// What Kafka is called.
const KAFKA: &str = "kafka";
/// How often the lag of groups is read.
const LAG_EVERY: Duration = Duration::from_secs(10);

/// The same where it could not be read: the broker was away, or topics were just being made.
const LAG_RETRY: Duration = Duration::from_secs(1);

/// The lag of groups, as it was read last.
#[derive(Clone, Default)]
pub(super) struct LastLags(Arc<Mutex<BTreeMap<String, String>>>);

impl LastLags {
    /// The last known lag of a group.
    pub(super) fn of(&self, group: &str) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(group).cloned()
    }

    /// Reads it again and again until `stop`.
    pub(super) async fn keep(self, log: KafkaLog, groups: Vec<ConsumerConfig>, stop: Stop) -> Result<(), Infallible> {
        loop {
            let mut wait = LAG_EVERY;
            for group in &groups {
                let lag = tokio::select! {
                    () = stop.cancelled() => return Ok(()),
                    lag = lag_of(&log, group) => lag,
                };
                if lag.is_err() {
                    wait = LAG_RETRY;
                }
                if let Ok(lag) = &lag {
                    lag::show(group.group.as_str(), lag.topics, lag.rungs);
                }
                self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(group.group.to_string(), describe(&lag));
            }
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = tokio::time::sleep(wait) => {}
            }
        }
    }
}

/// The lag of a group: messages of its topics, and of its retry topics, that it has not consumed.
pub(super) struct Lag {
    topics: u64,
    rungs: u64,
}

impl Lag {
    /// Whether everything is consumed.
    pub(super) fn is_none(&self) -> bool {
        self.topics + self.rungs == 0
    }
}

/// Asks a broker for the lag of a group.
pub(super) async fn lag_of(log: &KafkaLog, group: &ConsumerConfig) -> Result<Lag, Outage> {
    let mut sum = Lag { topics: 0, rungs: 0 };
    for level in group.levels() {
        let lag = log.lag(&group.group, &level.topics).await?;
        match level.rung {
            None => sum.topics += lag,
            Some(_) => sum.rungs += lag,
        }
    }
    Ok(sum)
}

fn describe(lag: &Result<Lag, Outage>) -> String {
    match lag {
        Err(outage) => {
            tracing::debug!("the lag of a group is not known: {outage}");
            "not known, because Kafka does not respond".to_owned()
        }
        Ok(lag) if lag.is_none() => UP_TO_DATE.to_owned(),
        Ok(Lag { topics, rungs: 0 }) => format!("{topics} messages behind"),
        Ok(Lag { topics, rungs }) => format!("{topics} messages behind, {rungs} waiting to be retried"),
    }
}

/// The lag of each of these groups, now.
pub(super) async fn lags(log: &KafkaLog, groups: &[ConsumerConfig]) -> Vec<GroupLagText> {
    let mut lags = Vec::new();
    for group in groups {
        let lag = describe(&lag_of(log, group).await);
        lags.push(GroupLagText { name: group.group.to_string(), lag });
    }
    lags
}

/// How servers and peers are named to whoever asks: operators know them by their hosts, which are nobody else's business.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    /// By host and port.
    Hosts,
    /// By their place among the servers or peers, from 1.
    Numbers,
}

impl Naming {
    fn of(self, host: &str, place: usize) -> String {
        match self {
            Self::Hosts => host.to_owned(),
            Self::Numbers => (place + 1).to_string(),
        }
    }
}

/// Each server, now.
pub(super) async fn servers(servers: &Servers, naming: Naming) -> Vec<PartState> {
    let (mysql, redis, kafka) = tokio::join!(servers.member.ping(), servers.redis.ping(), servers.log.ping());
    let hosts = servers.member.addresses().into_iter().enumerate();
    let named = hosts.map(|(place, host)| format!("{MYSQL} {}", naming.of(&host, place)));
    let mut parts: Vec<PartState> = named.zip(mysql).map(|(name, state)| part(name, state)).collect();
    for (service, database) in servers.of_all() {
        for (part, is_full) in parts.iter_mut().zip(database.are_full()) {
            // Why it has none is in the log.
            if is_full && part.ok {
                (part.ok, part.detail) =
                    (false, format!("responds, but its disk has no room for writes of {}", service.name()));
            }
        }
    }
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
        short("store", there > 0, format!("{there} of {} servers respond", stores.len())),
        short("log", has_log, format!("{groups} consumer groups here")),
    ]
}

/// A peer, as the last calls left it.
pub(super) fn peer(place: usize, state: &PeerState, naming: Naming) -> PartState {
    let name = format!("peer {} ({})", naming.of(&state.address.to_string(), place), state.roles.join(", "));
    let detail = match (state.is_open, state.failures) {
        (true, failures) => format!("has failed to respond {failures} times in a row"),
        (false, 0) => "responds, or has not been called yet".to_owned(),
        (false, failures) => format!("failed to respond the last {failures} times"),
    };
    PartState { name, ok: !state.is_open, detail }
}

/// A part that answers, or does not; why not is in the log, where errors of servers belong.
pub(super) fn part<E: std::fmt::Display>(name: String, state: Result<(), E>) -> PartState {
    match state {
        Ok(()) => PartState { name, ok: true, detail: "responds".to_owned() },
        Err(error) => {
            tracing::debug!("{name} does not respond: {error}");
            PartState { name, ok: false, detail: "does not respond".to_owned() }
        }
    }
}
