//! The simulated relational store: changes and their outbox rows commit together, and so do effects and inbox rows.

use std::collections::{BTreeMap, BTreeSet};

use madang_kernel::EventId;
use madang_messaging::relay::Write;
use madang_messaging::{Message, OutboxRow};

use crate::content::{Nature, PROJECTING};
use crate::faults::Protections;

/// A change, and what is known of it.
pub(crate) struct Committed {
    pub(crate) message: Message,
    pub(crate) nature: Nature,
    /// Its place among the changes of its key, in commit order; the event carries it.
    pub(crate) version: u32,
}

struct Row {
    message: Message,
    committed_at_ms: u64,
    attempts: u32,
}

#[derive(Default)]
pub(crate) struct Store {
    /// What was committed, and what it is like: the truth that the checker goes by.
    pub(crate) committed: BTreeMap<EventId, Committed>,
    /// The last version of each key.
    versions: BTreeMap<String, u32>,
    /// The version of each key that the projection of the first group shows.
    pub(crate) projection: BTreeMap<String, u32>,
    /// By commit order, not by id: ids are drawn before the commit.
    outbox: Vec<Row>,
    parked_until: BTreeMap<String, u64>,
    pub(crate) buried: BTreeSet<EventId>,
    inbox: BTreeSet<(usize, EventId)>,
    /// How often each group applied each event.
    pub(crate) effects: BTreeMap<(usize, EventId), u32>,
    failures: BTreeMap<(usize, EventId), u32>,
    /// Where the id cursor stands, for the relay that has one.
    cursor: BTreeMap<u8, EventId>,
}

impl Store {
    pub(crate) fn commit(&mut self, messages: &[(Message, Nature)], with_outbox: bool, now_ms: u64) {
        for (message, nature) in messages {
            let version = self.versions.entry(message.key.clone()).or_default();
            *version += 1;
            let committed = Committed { message: message.clone(), nature: *nature, version: *version };
            self.committed.insert(message.event_id, committed);
            if with_outbox {
                self.outbox.push(Row { message: message.clone(), committed_at_ms: now_ms, attempts: 0 });
            }
        }
    }

    pub(crate) fn claim(
        &mut self,
        shards: &[u8],
        min_age_ms: u64,
        limit: usize,
        by_state: bool,
        now_ms: u64,
    ) -> Vec<OutboxRow> {
        let Self { outbox, parked_until, cursor, .. } = self;
        let parked = |key: &str| parked_until.get(key).is_some_and(|until| now_ms < *until);
        let mut due: Vec<&mut Row> = outbox
            .iter_mut()
            .filter(|row| shards.contains(&row.message.shard.number()) && !parked(&row.message.key))
            .filter(|row| now_ms >= row.committed_at_ms + min_age_ms)
            .collect();
        if !by_state {
            due.retain(|row| cursor.get(&row.message.shard.number()).is_none_or(|last| row.message.event_id > *last));
            due.sort_by_key(|row| row.message.event_id);
        }
        due.truncate(limit);
        let rows = due.into_iter().map(|row| {
            row.attempts += 1;
            OutboxRow { message: row.message.clone(), attempts: row.attempts }
        });
        let rows: Vec<OutboxRow> = rows.collect();
        for row in &rows {
            let last = cursor.entry(row.message.shard.number()).or_insert(row.message.event_id);
            *last = (*last).max(row.message.event_id);
        }
        rows
    }

    pub(crate) fn write(&mut self, write: &Write, now_ms: u64) {
        match write {
            Write::Delete(rows) => self.outbox.retain(|row| !rows.contains(&row.message.event_id)),
            Write::Release(rows) => {
                for row in self.outbox.iter_mut().filter(|row| rows.contains(&row.message.event_id)) {
                    row.attempts = row.attempts.saturating_sub(1);
                }
            }
            Write::Park(failed) => {
                for failed in failed {
                    if let Some(row) = self.outbox.iter().find(|row| row.message.event_id == failed.event_id) {
                        let until = now_ms + failed.park_for.as_millis() as u64;
                        self.parked_until.insert(row.message.key.clone(), until);
                    }
                }
            }
            Write::Bury(id, _) => {
                if let Some(place) = self.outbox.iter().position(|row| row.message.event_id == *id) {
                    let row = self.outbox.remove(place);
                    self.parked_until.remove(&row.message.key);
                    self.buried.insert(*id);
                }
            }
        }
    }

    /// Applies a message for a group in one transaction; says whether the handler managed.
    pub(crate) fn apply(&mut self, group: usize, message: &Message, protections: Protections) -> Result<(), Refusal> {
        let id = message.event_id;
        let (nature, version) =
            self.committed.get(&id).map_or((Nature::Fine, 0), |committed| (committed.nature, committed.version));
        let fails = match nature {
            Nature::Undecodable => return Err(Refusal::Undecodable),
            Nature::FailsForEver => true,
            Nature::FailsFor(times) => {
                let failures = self.failures.entry((group, id)).or_default();
                *failures += 1;
                *failures <= times
            }
            Nature::Fine | Nature::RefusedFor(_) | Nature::RefusedForEver => false,
        };
        if fails {
            return Err(Refusal::Failed);
        }
        if self.inbox.insert((group, id)) || !protections.inbox {
            *self.effects.entry((group, id)).or_default() += 1;
            if group == PROJECTING {
                let shown = self.projection.entry(message.key.clone()).or_default();
                *shown = if protections.merge_by_version { version.max(*shown) } else { version };
            }
        }
        Ok(())
    }

    pub(crate) fn is_drained(&self) -> bool {
        self.outbox.is_empty()
    }
}

/// Why a handler did not apply a message.
pub(crate) enum Refusal {
    Failed,
    Undecodable,
}
