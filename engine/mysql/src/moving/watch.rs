//! Triggers that note the keys of rows that change, for as long as a shard is on its way. Their names say for which shards, so
//! that another command finds out what is noted.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mysql_async::Conn;
use mysql_async::prelude::Queryable;
use tokio::time::sleep;

use super::MoveError;
use super::table::{Table, shards_of_trigger};
use crate::errors::SqlError;

const TRIGGERS: &str = include_str!("../../sql/inspect/triggers.sql");

/// How long a trigger may make everybody wait who uses its table, while it waits for those who are using it.
const SHORT_WAIT: &str = "SET SESSION lock_wait_timeout = 1";
const USUAL_WAIT: &str = "SET SESSION lock_wait_timeout = 5";
/// Attempts to find a moment in which nobody uses a table for long.
const ATTEMPTS_MAX: u32 = 60;
/// Between two of them.
const PAUSE: Duration = Duration::from_millis(200);
/// A privilege is missing: for triggers, for this command, and with the binary log on.
const NOT_ALLOWED: [u16; 4] = [1142, 1227, 1419, 1044];

/// The triggers of moves in a database, by the shards that they note changes of.
pub(super) async fn found(
    conn: &mut Conn,
    database: &str,
) -> Result<BTreeMap<BTreeSet<u8>, BTreeSet<String>>, MoveError> {
    let names: Vec<String> = conn.exec(TRIGGERS, (database,)).await?;
    let mut found: BTreeMap<BTreeSet<u8>, BTreeSet<String>> = BTreeMap::new();
    for name in names {
        if let Some((shards, _)) = shards_of_trigger(&name) {
            found.entry(shards).or_default().insert(name);
        }
    }
    Ok(found)
}

/// Whether every change of a shard is noted.
pub(super) fn is_watched(found: &BTreeMap<BTreeSet<u8>, BTreeSet<String>>, tables: &[Table], shard: u8) -> bool {
    let of_shard = found.iter().filter(|(shards, _)| shards.contains(&shard));
    of_shard.into_iter().any(|(shards, names)| {
        tables.iter().all(|table| table.triggers(shards).iter().all(|(name, _)| names.contains(name)))
    })
}

/// Has changes of some shards noted. Once a trigger is there, every transaction that it did not see has ended.
pub(super) async fn watch(
    conn: &mut Conn,
    [server, database]: [&str; 2],
    tables: &[Table],
    shards: &BTreeSet<u8>,
) -> Result<(), MoveError> {
    let there = found(conn, database).await?.remove(shards).unwrap_or_default();
    conn.query_drop(SHORT_WAIT).await?;
    for (name, sql) in tables.iter().flat_map(|table| table.triggers(shards)) {
        if !there.contains(&name) {
            patiently(conn, &sql).await.map_err(|error| refused(error, server, database))?;
        }
    }
    Ok(conn.query_drop(USUAL_WAIT).await?)
}

/// Removes the triggers of groups of shards none of which is still on its way.
pub(super) async fn unwatch(conn: &mut Conn, database: &str, on_their_way: &BTreeSet<u8>) -> Result<(), MoveError> {
    conn.query_drop(SHORT_WAIT).await?;
    for (shards, names) in found(conn, database).await? {
        if shards.is_disjoint(on_their_way) {
            for name in names {
                // The name was found in this very database, and begins as ours do.
                patiently(conn, &format!("DROP TRIGGER IF EXISTS `{}`", name.replace('`', ""))).await?;
            }
        }
    }
    Ok(conn.query_drop(USUAL_WAIT).await?)
}

async fn patiently(conn: &mut Conn, sql: &str) -> Result<(), SqlError> {
    let mut attempts = 0;
    loop {
        attempts += 1;
        match conn.query_drop(sql).await.map_err(SqlError::from) {
            Err(error) if error.is_conflict() && attempts < ATTEMPTS_MAX => sleep(PAUSE).await,
            outcome => return outcome,
        }
    }
}

fn refused(error: SqlError, server: &str, database: &str) -> MoveError {
    let code = match &error {
        SqlError::Defect(source) => source.downcast_ref::<mysql_async::Error>().and_then(|error| match error {
            mysql_async::Error::Server(told) => Some(told.code),
            _ => None,
        }),
        _ => None,
    };
    match code.filter(|code| NOT_ALLOWED.contains(code)) {
        Some(_) => MoveError::NoTriggers {
            server: server.parse().unwrap_or_default(),
            database: database.to_owned(),
            reason: error.to_string(),
        },
        None => error.into(),
    }
}
