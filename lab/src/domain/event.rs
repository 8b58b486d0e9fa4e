//! What others are told of an entry: the amount for who counts, the balance and its version for who shows the latest.

use bytes::Bytes;
use madang_kernel::{EventId, Id, Timestamp};
use madang_messaging::{Message, ToMessage};
use serde::{Deserialize, Serialize};

use super::{AccountId, Entry, TxId};

/// Where it is published.
pub const TOPIC: &str = "account.balance.v1";
/// Its type, in a header.
pub const EVENT_TYPE: &str = "AccountBalanceChanged";
/// Bits of an event's id below the shard: as many as an account's number has.
const ACCOUNT_BITS: u32 = 16;
/// Bits of an event's id below the version.
const VERSION_SHIFT: u32 = ACCOUNT_BITS + 6;

/// The balance of an account has changed. Its dedup_key is `tx_id`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountBalanceChanged {
    /// The transaction that changed it.
    pub tx_id: TxId,
    /// The account.
    pub account_id: AccountId,
    /// What was added.
    pub amount: i64,
    /// The balance after it.
    pub balance: i64,
    /// Which change of this account it is, from 1.
    pub version: u64,
    /// When, in Unix milliseconds.
    pub occurred_at_ms: i64,
}

impl AccountBalanceChanged {
    /// What an entry of the ledger means to others.
    #[must_use]
    pub fn of(entry: &Entry, now: Timestamp) -> Self {
        let Entry { tx_id, account_id, amount, balance, version } = entry.clone();
        Self { tx_id, account_id, amount, balance, version, occurred_at_ms: now.as_millis() }
    }
}

/// The id of the event of an account's entry: the same however often it is made, and of no other entry. It carries the
/// account's shard where every id does.
#[must_use]
pub fn event_id(account: AccountId, version: u64) -> EventId {
    let bits =
        version << VERSION_SHIFT | u64::from(account.shard().number()) << ACCOUNT_BITS | u64::from(account.number());
    EventId::from_raw((bits & i64::MAX.cast_unsigned()).cast_signed())
}

impl ToMessage for AccountBalanceChanged {
    fn to_message(&self) -> Message {
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        Message {
            event_id: event_id(self.account_id, self.version),
            topic: TOPIC.to_owned(),
            // What happens to one account stays in its order.
            key: self.account_id.to_string(),
            shard: self.account_id.shard(),
            occurred_at: Timestamp::from_millis(self.occurred_at_ms),
            headers: vec![header("type", EVENT_TYPE), header("dedup-key", self.tx_id.as_str())],
            payload: Bytes::from(serde_json::to_vec(self).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn an_event_has_an_id_of_its_own_that_tells_its_shard() {
        let mut seen = HashSet::new();
        for number in [1, 63, 64, 65, 255, 256, 65_535] {
            let account = AccountId::new(number).unwrap();
            for version in [1, 2, 1_000_000] {
                let id = event_id(account, version);
                assert_eq!(id.shard(), account.shard());
                assert!(seen.insert(id), "{account} {version}");
            }
        }
    }

    #[test]
    fn a_payload_comes_back_as_it_was() {
        let event = AccountBalanceChanged {
            tx_id: TxId::new("t-1").unwrap(),
            account_id: AccountId::new(7).unwrap(),
            amount: -5,
            balance: 0,
            version: 2,
            occurred_at_ms: 3,
        };
        let message = event.to_message();
        assert_eq!(serde_json::from_slice::<AccountBalanceChanged>(&message.payload).unwrap(), event);
        assert_eq!((message.key.as_str(), message.header("dedup-key")), ("7", Some("t-1")));
    }
}
