//! An outbox in memory, with the port's meaning: rows are found by their state, attempts counted when claimed.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use madang_kernel::{EventId, Id, Timestamp};
use madang_messaging::{Claim, Failed, Message, Outage, Outbox, OutboxBacklog, OutboxRow, UnsentMessages};

#[derive(Default)]
pub(crate) struct TestOutbox {
    rows: Mutex<Rows>,
}

#[derive(Default)]
struct Rows {
    unsent: BTreeMap<i64, OutboxRow>,
    parked: HashMap<String, Instant>,
    buried: Vec<(EventId, String)>,
    /// The most attempts ever counted on one row.
    attempts_max: u32,
}

impl TestOutbox {
    /// Commits rows.
    pub(crate) fn commit(&self, messages: impl IntoIterator<Item = Message>) {
        let mut rows = self.rows.lock().unwrap();
        for message in messages {
            rows.unsent.insert(message.event_id.raw(), OutboxRow { message, attempts: 0 });
        }
    }

    /// The most attempts ever counted on one row, this one included when it was claimed.
    pub(crate) fn attempts_counted(&self) -> u32 {
        self.rows.lock().unwrap().attempts_max
    }

    /// What went to the dead letters.
    pub(crate) fn buried(&self) -> usize {
        self.rows.lock().unwrap().buried.len()
    }
}

#[async_trait]
impl UnsentMessages for TestOutbox {
    async fn has_unsent_before(&self, moment: Timestamp) -> Result<bool, Outage> {
        Ok(self.rows.lock().unwrap().unsent.values().any(|row| row.message.occurred_at <= moment))
    }
}

#[async_trait]
impl Outbox for TestOutbox {
    async fn claim(&self, claim: Claim) -> Result<Vec<OutboxRow>, Outage> {
        let mut rows = self.rows.lock().unwrap();
        let now = Instant::now();
        rows.parked.retain(|_, until| *until > now);
        let Rows { unsent, parked, attempts_max, .. } = &mut *rows;
        let due = unsent
            .values_mut()
            .filter(|row| claim.shards.contains(&row.message.shard) && !parked.contains_key(&row.message.key));
        let claimed: Vec<OutboxRow> = due
            .take(claim.limit)
            .map(|row| {
                row.attempts += 1;
                *attempts_max = row.attempts.max(*attempts_max);
                row.clone()
            })
            .collect();
        Ok(claimed)
    }

    async fn release(&self, released: &[EventId]) -> Result<(), Outage> {
        let mut rows = self.rows.lock().unwrap();
        for event in released {
            if let Some(row) = rows.unsent.get_mut(&event.raw()) {
                row.attempts = row.attempts.saturating_sub(1);
            }
        }
        Ok(())
    }

    async fn delete(&self, published: &[EventId]) -> Result<(), Outage> {
        let mut rows = self.rows.lock().unwrap();
        for event in published {
            rows.unsent.remove(&event.raw());
        }
        Ok(())
    }

    async fn park(&self, failed: &[Failed]) -> Result<(), Outage> {
        let mut rows = self.rows.lock().unwrap();
        for failed in failed {
            if let Some(key) = rows.unsent.get(&failed.event_id.raw()).map(|row| row.message.key.clone()) {
                rows.parked.insert(key, Instant::now() + failed.park_for);
            }
        }
        Ok(())
    }

    async fn bury(&self, row: EventId, reason: &str) -> Result<(), Outage> {
        let mut rows = self.rows.lock().unwrap();
        rows.unsent.remove(&row.raw());
        rows.buried.push((row, reason.to_owned()));
        Ok(())
    }

    async fn backlog(&self) -> Result<OutboxBacklog, Outage> {
        let rows = self.rows.lock().unwrap();
        let (unsent, parked) = (rows.unsent.len() as u64, rows.parked.len() as u64);
        Ok(OutboxBacklog { unsent, parked, oldest_age: Duration::ZERO })
    }
}
