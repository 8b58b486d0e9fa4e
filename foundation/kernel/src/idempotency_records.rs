//! The idempotency records of a batch: loaded first, then asked and added to while its calls are decided. Pure: an adapter
//! loads and stores the bytes.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Created, IDEMPOTENCY_KEPT_MS, Idempotency, ShardId, StoreError, Timestamp};

/// The table in which records are stored.
const TABLE: &str = "once_answer";

/// What a record is found by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct IdempotencyKey {
    /// Who sent the request.
    pub caller: i64,
    /// Method and path.
    pub scope: String,
    /// The sender's key.
    pub key: String,
}

/// The answer to a request, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// The digest of the request's body.
    pub fingerprint: Vec<u8>,
    /// The answer in JSON.
    pub answer: Vec<u8>,
    /// When it was given.
    pub answered_at: Timestamp,
}

/// A record that a batch writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewIdempotencyRecord {
    /// The shard of what was created.
    pub shard: ShardId,
    /// What it is found by.
    pub key: IdempotencyKey,
    /// The record.
    pub record: IdempotencyRecord,
    /// Whether an expired record under the same key gives way to it.
    pub replaces_expired: bool,
}

/// The records that the calls of a batch need.
#[derive(Debug, Clone)]
pub struct IdempotencyRecords {
    stored: BTreeMap<IdempotencyKey, IdempotencyRecord>,
    new: BTreeMap<IdempotencyKey, NewIdempotencyRecord>,
    now: Timestamp,
}

impl From<&Idempotency> for IdempotencyKey {
    fn from(Idempotency { caller, scope, key, .. }: &Idempotency) -> Self {
        Self { caller: *caller, scope: scope.clone(), key: key.clone() }
    }
}

impl IdempotencyRecords {
    /// No records yet; what is older at `now` than [`IDEMPOTENCY_KEPT_MS`] will count as none.
    pub fn new(now: Timestamp) -> Self {
        Self { stored: BTreeMap::new(), new: BTreeMap::new(), now }
    }

    /// Adds a stored record.
    pub fn load(&mut self, key: IdempotencyKey, record: IdempotencyRecord) {
        self.stored.insert(key, record);
    }

    /// The outcome of a request that was answered before, by this batch or an earlier one; `None` when it is new.
    pub fn replay<T: DeserializeOwned>(
        &self,
        idempotency: Option<&Idempotency>,
    ) -> Result<Option<Created<T>>, StoreError> {
        let Some((idempotency, record)) = idempotency.and_then(|asked| Some((asked, self.find(asked)?))) else {
            return Ok(None);
        };
        if record.fingerprint != idempotency.fingerprint {
            return Ok(Some(Created::KeyReused));
        }
        let answer = serde_json::from_slice(&record.answer).map_err(|error| StoreError::broken(TABLE, error))?;
        Ok(Some(Created::Before(answer)))
    }

    /// Whether a request with this key was answered before.
    pub fn has_answer(&self, idempotency: Option<&Idempotency>) -> bool {
        idempotency.is_some_and(|idempotency| self.find(idempotency).is_some())
    }

    /// Keeps an answer under the key of its request, if it has one.
    pub fn remember<T: Serialize>(
        &mut self,
        shard: ShardId,
        idempotency: Option<&Idempotency>,
        answer: &T,
    ) -> Result<(), StoreError> {
        let Some(idempotency) = idempotency else { return Ok(()) };
        let answer = serde_json::to_vec(answer).map_err(|error| StoreError::broken(TABLE, error))?;
        let key = IdempotencyKey::from(idempotency);
        let record = IdempotencyRecord { fingerprint: idempotency.fingerprint.to_vec(), answer, answered_at: self.now };
        let replaces_expired = self.stored.contains_key(&key);
        self.new.insert(key.clone(), NewIdempotencyRecord { shard, key, record, replaces_expired });
        Ok(())
    }

    /// The records to write, in the order of their keys.
    pub fn into_new(self) -> Vec<NewIdempotencyRecord> {
        self.new.into_values().collect()
    }

    fn find(&self, idempotency: &Idempotency) -> Option<&IdempotencyRecord> {
        let key = IdempotencyKey::from(idempotency);
        let new = self.new.get(&key).map(|new| &new.record);
        new.or_else(|| self.stored.get(&key).filter(|record| !self.is_expired(record)))
    }

    fn is_expired(&self, record: &IdempotencyRecord) -> bool {
        self.now.as_millis().saturating_sub(record.answered_at.as_millis()) >= IDEMPOTENCY_KEPT_MS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_704_067_200_000);

    fn request(body: u8) -> Idempotency {
        Idempotency { caller: 7, scope: "POST /v1/things".into(), key: "k".into(), fingerprint: [body; 32] }
    }

    fn stored(answered_at: Timestamp) -> IdempotencyRecords {
        let record = IdempotencyRecord { fingerprint: vec![1; 32], answer: b"5".to_vec(), answered_at };
        let mut records = IdempotencyRecords::new(NOW);
        records.load(IdempotencyKey::from(&request(1)), record);
        records
    }

    #[test]
    fn a_stored_answer_is_replayed_until_it_expires() {
        let young = Timestamp::from_millis(NOW.as_millis() - IDEMPOTENCY_KEPT_MS + 1);
        assert_eq!(stored(young).replay::<u8>(Some(&request(1))).unwrap(), Some(Created::Before(5)));
        assert_eq!(stored(young).replay::<u8>(Some(&request(2))).unwrap(), Some(Created::KeyReused));
        assert_eq!(stored(young).replay::<u8>(None).unwrap(), None);
        let mut expired = stored(Timestamp::from_millis(NOW.as_millis() - IDEMPOTENCY_KEPT_MS));
        assert_eq!(expired.replay::<u8>(Some(&request(1))).unwrap(), None);
        expired.remember(ShardId::HOME, Some(&request(2)), &6).unwrap();
        assert_eq!(expired.replay::<u8>(Some(&request(2))).unwrap(), Some(Created::Before(6)));
        assert!(expired.into_new()[0].replaces_expired);
    }

    #[test]
    fn the_second_of_a_batch_gets_the_answer_of_the_first() {
        let mut records = IdempotencyRecords::new(NOW);
        records.remember(ShardId::HOME, None, &5).unwrap();
        assert_eq!(records.replay::<u8>(Some(&request(1))).unwrap(), None);
        records.remember(ShardId::HOME, Some(&request(1)), &5).unwrap();
        assert_eq!(records.replay::<u8>(Some(&request(1))).unwrap(), Some(Created::Before(5)));
        assert_eq!(records.replay::<u8>(Some(&request(2))).unwrap(), Some(Created::KeyReused));
        let new = records.into_new();
        assert_eq!((new.len(), new[0].replaces_expired, new[0].record.answered_at), (1, false, NOW));
    }

    #[test]
    fn an_answer_that_cannot_be_read_is_a_defect() {
        assert!(stored(NOW).replay::<String>(Some(&request(1))).is_err());
    }
}
