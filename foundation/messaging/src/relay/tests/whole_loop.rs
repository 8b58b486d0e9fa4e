//! The whole loop over a small outbox and log in memory.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use madang_kernel::{EventId, Id, SystemClock, Timestamp};
use tokio::sync::watch;

use super::{away, ids, message};
use crate::relay::{Relay, RelayConfig};
use crate::{
    Assignment, Claim, EventLog, Failed, GroupId, Message, OnError, Outage, Outbox, OutboxBacklog, OutboxRow,
    PublishOutcome, Subscription, Supervisor, UnsentMessages,
};

/// An outbox and a log in memory; enough to run the loop.
#[derive(Default)]
struct Parts(Mutex<State>);

#[derive(Default)]
struct State {
    rows: BTreeMap<EventId, (Message, u32, bool)>,
    buried: Vec<EventId>,
    log: Vec<EventId>,
    log_away: bool,
    refused: HashMap<EventId, String>,
}

impl Parts {
    fn commit(&self, messages: &[Message]) {
        let mut state = self.0.lock().unwrap();
        for message in messages {
            state.rows.insert(message.event_id, (message.clone(), 0, false));
        }
    }
}

#[async_trait]
impl UnsentMessages for Parts {
    async fn has_unsent_before(&self, moment: Timestamp) -> Result<bool, Outage> {
        Ok(self.0.lock().unwrap().rows.values().any(|(message, ..)| message.occurred_at <= moment))
    }
}

#[async_trait]
impl Outbox for Parts {
    async fn claim(&self, claim: Claim) -> Result<Vec<OutboxRow>, Outage> {
        let mut state = self.0.lock().unwrap();
        let due =
            state.rows.values_mut().filter(|(message, _, parked)| !parked && claim.shards.contains(&message.shard));
        Ok(due
            .take(claim.limit)
            .map(|(message, attempts, _)| {
                *attempts += 1;
                OutboxRow { message: message.clone(), attempts: *attempts }
            })
            .collect())
    }
    async fn release(&self, rows: &[EventId]) -> Result<(), Outage> {
        let mut state = self.0.lock().unwrap();
        for row in rows {
            if let Some((_, attempts, _)) = state.rows.get_mut(row) {
                *attempts -= 1;
            }
        }
        Ok(())
    }
    async fn delete(&self, rows: &[EventId]) -> Result<(), Outage> {
        self.0.lock().unwrap().rows.retain(|id, _| !rows.contains(id));
        Ok(())
    }
    async fn park(&self, rows: &[Failed]) -> Result<(), Outage> {
        let mut state = self.0.lock().unwrap();
        for failed in rows {
            if let Some((_, _, parked)) = state.rows.get_mut(&failed.event_id) {
                *parked = failed.park_for > Duration::from_secs(3_600);
            }
        }
        Ok(())
    }
    async fn bury(&self, row: EventId, _: &str) -> Result<(), Outage> {
        let mut state = self.0.lock().unwrap();
        state.rows.remove(&row);
        state.buried.push(row);
        Ok(())
    }
    async fn backlog(&self) -> Result<OutboxBacklog, Outage> {
        Ok(OutboxBacklog { unsent: self.0.lock().unwrap().rows.len() as u64, ..OutboxBacklog::default() })
    }
}

#[async_trait]
impl EventLog for Parts {
    async fn publish(&self, messages: &[Message]) -> Result<Vec<PublishOutcome>, Outage> {
        let mut state = self.0.lock().unwrap();
        if state.log_away {
            return Err(away());
        }
        let mut outcomes = Vec::new();
        for message in messages {
            outcomes.push(match state.refused.get(&message.event_id) {
                Some(reason) => PublishOutcome::Rejected(reason.clone()),
                None => {
                    state.log.push(message.event_id);
                    PublishOutcome::Published
                }
            });
        }
        Ok(outcomes)
    }
    async fn subscribe(&self, _: &GroupId, _: &[String]) -> Result<Box<dyn Subscription>, Outage> {
        Err(away())
    }
}

async fn eventually(parts: &Parts, holds: impl Fn(&State) -> bool) {
    for _ in 0..100_000 {
        if holds(&parts.0.lock().unwrap()) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it never came to be");
}

#[tokio::test(start_paused = true)]
async fn the_loop_empties_the_outbox_through_an_outage_and_past_a_poison_message() {
    let parts: Arc<Parts> = Arc::default();
    parts.0.lock().unwrap().refused.insert(EventId::from_raw(3), "too large".into());
    let (_assign, assignment) = watch::channel(Assignment::ALL);
    let (relay, hand_over) =
        Relay::new(RelayConfig::default(), parts.clone(), parts.clone(), assignment, Arc::new(SystemClock));
    let supervisor = Supervisor::new("relay");
    supervisor.spawn("relay", OnError::Restart, move |stop| relay.clone().run(stop));

    let first: Vec<Message> = (1..=5).map(message).collect();
    parts.commit(&first);
    assert!(hand_over.hand_over(first));
    eventually(&parts, |state| state.rows.is_empty()).await;

    parts.0.lock().unwrap().log_away = true;
    let second: Vec<Message> = (100..2_000).map(message).collect();
    parts.commit(&second);
    hand_over.hand_over(second);
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    parts.0.lock().unwrap().log_away = false;
    eventually(&parts, |state| state.rows.is_empty()).await;

    assert!(supervisor.shutdown(Duration::from_secs(10)).await.aborted.is_empty());
    let state = parts.0.lock().unwrap();
    assert_eq!(state.buried, ids(&[3]), "an hour's outage buries nothing");
    let mut seen = state.log.clone();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 4 + 1_900);
}
