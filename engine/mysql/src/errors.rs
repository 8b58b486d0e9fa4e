//! What an error of the server means: run the transaction again, wait for the server, or a defect.

use std::error::Error;

use madang_kernel::{ShardId, StoreError};
use madang_messaging::Outage;

/// The name under which the database is reported to callers.
pub const PART: &str = "database";

/// Why statements did not go through.
#[derive(Debug, thiserror::Error)]
pub enum SqlError {
    /// Another transaction was in the way: everything rolls back, and the whole transaction runs again.
    #[error("another transaction was in the way: {0}")]
    Conflict(mysql_async::Error),
    /// A row with this key exists.
    #[error("a row with this key exists: {0}")]
    Duplicate(mysql_async::Error),
    /// The server cannot be reached, takes no writes or has no room: a new connection may find another one.
    #[error("the server is unavailable: {0}")]
    Unavailable(String),
    /// The server is read-only: a replica, or a primary whose place another one takes. Everything rolls back, and the other one is
    /// looked for.
    #[error("the server is read-only: {0}")]
    ReadOnly(String),
    /// The server has no room for what is to be written, or cannot write it down: reading goes on, and another connection
    /// finds the same.
    #[error("the server has no room for writes: {0}")]
    Full(String),
    /// The server does not take writes for these shards: it holds them no longer, or they are being moved. Everything rolls
    /// back, and the map tells where to go.
    #[error("the server takes no writes for {}", in_words(.0))]
    NotHere(Vec<ShardId>),
    /// A statement or data that should not exist.
    #[error(transparent)]
    Defect(Box<dyn Error + Send + Sync>),
}

fn in_words(shards: &[ShardId]) -> String {
    let numbers: Vec<String> = shards.iter().map(ShardId::to_string).collect();
    format!("shard {}", numbers.join(", "))
}

/// A lock that did not come free in time.
const LOCK_WAIT: u16 = 1205;
/// Lock wait time-out, deadlock, and a record that changed since it was read.
const CONFLICTS: [u16; 3] = [LOCK_WAIT, 1213, 1020];
/// Too many connections, shutting down, killed, interrupted, out of memory, and no such host or access while a failover is under
/// way.
const UNAVAILABLE: [u16; 13] = [1040, 1053, 1927, 3169, 1317, 1037, 1038, 1041, 1203, 1226, 1129, 4031, 1158];
/// Read-only: as the server's option says, as a mode of it, and as that of a transaction.
const READ_ONLY: [u16; 3] = [1290, 1836, 1792];
/// No room, or a disk that fails: a file that cannot be written, created or extended as the server's own layers say it (3, 1,
/// 20), the disk full (1021), a write that failed (1026), whatever the storage engine returned that has no code of its own
/// (1030), a table that cannot grow (1114), a COMMIT that could not be written (1180), temporary files (1878).
const FULL: [u16; 9] = [1, 3, 20, 1021, 1026, 1030, 1114, 1180, 1878];
/// A duplicate entry, under a plain and under a named key.
const DUPLICATES: [u16; 2] = [1062, 1586];

impl From<mysql_async::Error> for SqlError {
    fn from(error: mysql_async::Error) -> Self {
        match &error {
            mysql_async::Error::Server(server) if CONFLICTS.contains(&server.code) => Self::Conflict(error),
            mysql_async::Error::Server(server) if DUPLICATES.contains(&server.code) => Self::Duplicate(error),
            mysql_async::Error::Server(server) if UNAVAILABLE.contains(&server.code) => {
                Self::Unavailable(error.to_string())
            }
            mysql_async::Error::Server(server) if READ_ONLY.contains(&server.code) => Self::ReadOnly(error.to_string()),
            mysql_async::Error::Server(server) if FULL.contains(&server.code) => Self::Full(error.to_string()),
            mysql_async::Error::Server(_) | mysql_async::Error::Url(_) | mysql_async::Error::Other(_) => {
                Self::Defect(Box::new(error))
            }
            mysql_async::Error::Io(_) => Self::Unavailable(error.to_string()),
            mysql_async::Error::Driver(driver) if is_lost(driver) => Self::Unavailable(error.to_string()),
            mysql_async::Error::Driver(_) => Self::Defect(Box::new(error)),
        }
    }
}

/// Whether the cause of an error, however deep, is a server that is unavailable.
pub(crate) fn is_caused_by_absence(error: &(dyn Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |error| (*error).source());
    causes.any(|cause| match cause.downcast_ref::<mysql_async::Error>() {
        Some(mysql_async::Error::Server(server)) => {
            [&UNAVAILABLE[..], &READ_ONLY, &FULL].iter().any(|codes| codes.contains(&server.code))
        }
        Some(mysql_async::Error::Io(_)) => true,
        Some(mysql_async::Error::Driver(driver)) => is_lost(driver),
        Some(mysql_async::Error::Url(_) | mysql_async::Error::Other(_)) | None => false,
    })
}

fn is_lost(error: &mysql_async::DriverError) -> bool {
    use mysql_async::DriverError as E;
    matches!(error, E::ConnectionClosed | E::PoolDisconnected | E::PacketOutOfOrder)
}

impl SqlError {
    /// Data that cannot be what was written.
    pub fn defect(what: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Defect(what.into())
    }

    /// Whether another connection may do better.
    pub fn is_unavailable(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::ReadOnly(_))
    }

    /// Whether it waited for a lock until the time was up.
    pub(crate) fn is_lock_wait(&self) -> bool {
        matches!(self, Self::Conflict(mysql_async::Error::Server(server)) if server.code == LOCK_WAIT)
    }

    /// Whether the whole transaction is worth running again at once.
    pub(crate) fn is_conflict(&self) -> bool {
        matches!(self, Self::Conflict(_))
    }
}

/// For a caller whose transaction did not commit: nothing was changed.
impl From<SqlError> for StoreError {
    fn from(error: SqlError) -> Self {
        match error {
            SqlError::Conflict(_)
            | SqlError::Unavailable(_)
            | SqlError::ReadOnly(_)
            | SqlError::Full(_)
            | SqlError::NotHere(_) => Self::unavailable(PART, error.to_string()),
            SqlError::Duplicate(_) | SqlError::Defect(_) => Self::broken(PART, error),
        }
    }
}

/// To messaging every failure of the store is an outage of a part: a message is never blamed for it.
pub(crate) fn outage(error: impl Into<StoreError>) -> Outage {
    let reason = match error.into() {
        StoreError::Unavailable { reason, .. } => reason,
        StoreError::Broken { source, .. } => source.to_string(),
    };
    Outage::new(PART, reason)
}

#[cfg(test)]
mod tests {
    use mysql_async::{Error, ServerError};

    use super::*;

    fn server(code: u16) -> SqlError {
        Error::Server(ServerError { code, message: "m".into(), state: "HY000".into() }).into()
    }

    #[test]
    fn codes_say_what_can_be_done() {
        for code in [1205, 1213, 1020] {
            assert!(server(code).is_conflict(), "{code}");
        }
        assert!(matches!(server(1290), SqlError::ReadOnly(_)));
        for code in [1290, 1836, 1040, 1053] {
            assert!(server(code).is_unavailable(), "{code}");
            assert!(matches!(StoreError::from(server(code)), StoreError::Unavailable { .. }), "{code}");
        }
        for code in [1021, 1026, 1030, 1114, 1180] {
            assert!(!server(code).is_unavailable(), "{code}: another connection finds the same");
            assert!(matches!(StoreError::from(server(code)), StoreError::Unavailable { .. }), "{code}");
        }
        for code in [1062, 1064, 1406] {
            assert!(matches!(StoreError::from(server(code)), StoreError::Broken { .. }), "{code}");
        }
    }

    #[test]
    fn a_lost_connection_is_worth_another_try() {
        let lost = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
        assert!(SqlError::from(Error::from(lost)).is_unavailable());
    }
}
