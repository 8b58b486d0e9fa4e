//! Failures of Redis as the ports know them: away, or a defect.

use madang_kernel::StoreError;
use madang_messaging::Outage;
use redis::{ErrorKind, RedisError, ServerErrorKind};

/// What Redis is called in errors.
pub const PART: &str = "redis";

/// Why a command got no answer.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Failure {
    /// Away, overloaded or starting: later it may answer.
    #[error("{0}")]
    Away(String),
    /// A script, a reply or a configuration that should not exist.
    #[error("{0}")]
    Defect(String),
}

impl Failure {
    /// A reply that no script of ours gives.
    pub fn reply(what: &str) -> Self {
        Self::Defect(format!("a reply that makes no sense: {what}"))
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Away(reason) => Self::unavailable(PART, reason),
            Failure::Defect(reason) => Self::broken(PART, reason),
        }
    }
}

/// For ports that know outages only: asking again later is right for a defect too, and it is logged each time.
impl From<Failure> for Outage {
    fn from(failure: Failure) -> Self {
        Self::new(PART, failure.to_string())
    }
}

/// What an error means to the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// The server does not know the script yet.
    UnknownScript,
    /// The connection is of no use any more, or nobody answers on it.
    Lost,
    /// The server answers, but not with what was asked for.
    Refused,
    /// The slot of the keys is moving between nodes, which all answer; nothing was done.
    Moving,
    /// It will fail again.
    Defect,
}

pub(crate) fn meaning(error: &RedisError) -> Meaning {
    match error.kind() {
        ErrorKind::Server(ServerErrorKind::NoScript) => Meaning::UnknownScript,
        ErrorKind::Server(
            ServerErrorKind::BusyLoading | ServerErrorKind::ClusterDown | ServerErrorKind::MasterDown,
        ) => Meaning::Refused,
        ErrorKind::Server(ServerErrorKind::TryAgain | ServerErrorKind::Moved | ServerErrorKind::Ask) => Meaning::Moving,
        // A server that became a replica: the address may lead to another by now.
        ErrorKind::Server(ServerErrorKind::ReadOnly)
        | ErrorKind::Io
        | ErrorKind::Parse
        | ErrorKind::AuthenticationFailed
        | ErrorKind::ClusterConnectionNotFound => Meaning::Lost,
        _ if error.is_timeout() || error.is_connection_dropped() => Meaning::Lost,
        _ => match error.code() {
            Some("OOM" | "BUSY" | "MISCONF" | "NOREPLICAS" | "NOAUTH" | "WRONGPASS" | "UNKILLABLE") => Meaning::Refused,
            _ => Meaning::Defect,
        },
    }
}
