//! Moves that are not finished, for whoever tells an operator about them. Changes nothing.

use madang_kernel::ShardId;
use mysql_async::prelude::Queryable;

use super::Phase;
use super::ends::Ends;
use crate::growth::shard_copies;
use crate::open::name_on_servers;
use crate::{Database, MysqlOptions};

const HISTORY: &str = include_str!("../../sql/inspect/history.sql");

/// A move that is not finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfinishedMove {
    /// What the program calls the database.
    pub database: &'static str,
    /// The shard.
    pub shard: ShardId,
    /// Where it comes from.
    pub source: u8,
    /// Where it is going.
    pub target: u8,
    /// How far it is.
    pub phase: Phase,
}

/// The moves that servers which respond have on record, each as the server says that it goes to.
pub async fn unfinished_moves(options: &MysqlOptions, databases: &[Database]) -> Vec<UnfinishedMove> {
    let copies = shard_copies(options, databases).await;
    let there = copies.into_iter().filter(|told| told.copies.is_ok());
    let addresses = there.map(|told| (told.server, told.address)).collect();
    let mut found = Vec::new();
    for database in databases {
        let Ok(name) = name_on_servers(options, database) else { continue };
        let mut ends = Ends::new(options, name.clone(), Clone::clone(&addresses));
        for server in ends.servers() {
            let Ok(conn) = ends.conn(server).await else { continue };
            let table: Result<Option<String>, _> = conn.exec_first(HISTORY, (&name, "shard_move")).await;
            if !matches!(table, Ok(Some(_))) {
                continue;
            }
            for record in ends.records(server).await.unwrap_or_default() {
                if record.target == server {
                    let (database, shard) = (database.name(), record.shard);
                    let (source, target, phase) = (record.source, record.target, record.phase);
                    found.push(UnfinishedMove { database, shard, source, target, phase });
                }
            }
        }
    }
    found
}
