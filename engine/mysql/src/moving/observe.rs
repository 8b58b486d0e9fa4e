//! What the servers say about a move, as [`super::step`] needs it.

use std::collections::{BTreeMap, BTreeSet};

use madang_kernel::ShardId;
use mysql_async::prelude::Queryable;

use super::ends::{MapRow, Record};
use super::step::{Facts, next};
use super::{MoveError, Mover, Part, Phase, Step, watch};

const SERVER_NOW: &str = include_str!("../../sql/backbone/server_now.sql");

impl Mover {
    /// What comes next for a unit, and its record where it has one.
    pub(super) async fn next(&mut self, place: usize) -> Result<(Step, Option<Record>), MoveError> {
        let (shard, target) = (self.units[place].shard, self.target);
        let release_after = i64::try_from(self.pace.release_after.as_millis()).unwrap_or(i64::MAX);
        let part = &mut self.parts[self.units[place].part];
        let record = part.ends.records(target).await?.into_iter().find(|record| record.shard == shard);
        let record = record.filter(|record| record.target == target);
        let there = part.ends.map_row(target, shard).await?;
        let mut facts = Facts {
            phase: record.as_ref().map(|record| record.phase),
            is_there: there.server == target,
            is_watched: false,
            is_fenced: false,
            is_told: true,
            is_told_to_all: true,
            is_open: there.server == target && there.writable,
            is_old: false,
        };
        let Some(record) = record else { return Ok((next(&facts), None)) };
        if record.phase == Phase::Switched {
            part.who_knows(&record, &mut facts).await?;
        } else {
            let here = part.ends.map_row(record.source, shard).await?;
            facts.is_fenced = here.server == record.source && !here.writable;
        }
        // While writers wait for nothing but to be told, nothing else is asked.
        if record.phase < Phase::Switched || facts.is_told && facts.is_open {
            let name = part.ends.name.clone();
            let found = watch::found(part.ends.conn(record.source).await?, &name).await?;
            facts.is_watched = match record.phase {
                // What is left of them goes, even where some are gone.
                Phase::Switched => found.keys().any(|shards| shards.contains(&shard.number())),
                _ => watch::is_watched(&found, &part.tables, shard.number()),
            };
        }
        if let Some(switched_at) = record.switched_at {
            let now: Option<i64> = part.ends.conn(target).await?.query_first(SERVER_NOW).await?;
            facts.is_old = now.is_some_and(|now| now.saturating_sub(switched_at) >= release_after);
        }
        Ok((next(&facts), Some(record)))
    }

    /// Says which server does not know of a new owner.
    pub(super) async fn untold(&mut self, place: usize, record: &Record) -> MoveError {
        let part = &mut self.parts[place];
        for server in part.ends.servers() {
            if let Err(error) = part.ends.map_row(server, record.shard).await {
                return error;
            }
        }
        MoveError::Disagree { database: part.ends.name.clone(), shard: record.shard }
    }
}

impl Part {
    /// The moves that are on record anywhere, each as the server says that it goes to, where that knows of it.
    pub(super) async fn unfinished(&mut self) -> Result<Vec<Record>, MoveError> {
        let mut found: BTreeMap<ShardId, Record> = BTreeMap::new();
        for server in self.ends.servers() {
            for record in self.ends.records(server).await? {
                if record.target == server || !found.contains_key(&record.shard) {
                    found.insert(record.shard, record);
                }
            }
        }
        Ok(found.into_values().collect())
    }

    /// The shards that a server has not handed over yet.
    pub(super) async fn on_their_way(&mut self, source: u8) -> Result<BTreeSet<u8>, MoveError> {
        let records = self.unfinished().await?.into_iter();
        let left = records.filter(|record| record.source == source && record.phase < Phase::Switched);
        Ok(left.map(|record| record.shard.number()).collect())
    }

    /// The owner of a shard, where every server names the same.
    pub(super) async fn agreed_owner(&mut self, shard: ShardId) -> Result<MapRow, MoveError> {
        let mut rows = Vec::new();
        for server in self.ends.servers() {
            rows.push((server, self.ends.map_row(server, shard).await?));
        }
        let disagree = || MoveError::Disagree { database: self.ends.name.clone(), shard };
        let owner = rows.iter().find(|(server, row)| row.server == *server).ok_or_else(disagree)?.1;
        let agree = rows.iter().all(|(_, row)| (row.server, row.epoch) == (owner.server, owner.epoch));
        if agree { Ok(owner) } else { Err(disagree()) }
    }

    async fn who_knows(&mut self, record: &Record, facts: &mut Facts) -> Result<(), MoveError> {
        for server in self.ends.servers() {
            match self.ends.map_row(server, record.shard).await {
                Ok(row) => {
                    let knows = row.epoch >= record.epoch;
                    facts.is_told &= knows;
                    facts.is_told_to_all &= knows;
                }
                Err(MoveError::Unreachable { .. }) if ![record.source, record.target].contains(&server) => {
                    facts.is_told_to_all = false;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
