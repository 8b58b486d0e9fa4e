//! What others are told of an entry: the amount for who counts, the balance and its version for who shows the latest.

use bytes::Bytes;
use madang_kernel::{EventId, Id, Timestamp};
use madang_messaging::{Message, ToMessage};
use serde::{Deserialize, Serialize};

use super::account::{VERSION_BITS, check_entry};
use super::{AccountId, Entry, ImpossibleEntry, TxId};

/// Where it is published.
pub const TOPIC: &str = "account.balance.v1";
/// Its type, in a header.
pub const EVENT_TYPE: &str = "AccountBalanceChanged";
/// Bits of an event's id below the shard: as many as an account's number has.
const ACCOUNT_BITS: u32 = 16;
/// Bits of an event's id below the version.
const VERSION_SHIFT: u32 = ACCOUNT_BITS + 6;
const _: () = assert!(VERSION_SHIFT + VERSION_BITS == 63);

/// The balance of an account has changed. Its dedup_key is `tx_id`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
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

/// An event as it was read, before anybody asked whether it can be.
#[derive(Deserialize)]
struct Unchecked {
    tx_id: TxId,
    account_id: AccountId,
    amount: i64,
    balance: i64,
    version: u64,
    occurred_at_ms: i64,
}

impl TryFrom<Unchecked> for AccountBalanceChanged {
    type Error = ImpossibleEntry;

    fn try_from(unchecked: Unchecked) -> Result<Self, ImpossibleEntry> {
        let Unchecked { tx_id, account_id, amount, balance, version, occurred_at_ms } = unchecked;
        check_entry(amount, balance, version)?;
        Ok(Self { tx_id, account_id, amount, balance, version, occurred_at_ms })
    }
}

/// Why a message is no event of an account, and never will be.
#[derive(Debug, thiserror::Error)]
pub enum Defect {
    /// The payload is not an object of JSON.
    #[error("the payload is no JSON object")]
    NoObject,
    /// The payload is not an event that can be.
    #[error(transparent)]
    Payload(#[from] serde_json::Error),
    /// The message bears no id, or that of another event. By it the event would be known again, so that it, or the one whose
    /// id it bears, would be taken for a redelivery.
    #[error("ce_id is {found} (0 where there is none), and that of account {account}, version {version} is {expected}")]
    Id {
        /// What the message bears.
        found: i64,
        /// Which account the payload tells of.
        account: AccountId,
        /// Which entry.
        version: u64,
        /// What it should bear.
        expected: i64,
    },
}

impl AccountBalanceChanged {
    /// The event in a message, whoever sent it.
    pub fn from_message(message: &Message) -> Result<Self, Defect> {
        // Fields in a row, without their names, would be read as well.
        if message.payload.trim_ascii_start().first() != Some(&b'{') {
            return Err(Defect::NoObject);
        }
        let event: Self = serde_json::from_slice(&message.payload)?;
        let (found, expected) = (message.event_id, event_id(event.account_id, event.version));
        if found != expected {
            let (account, version) = (event.account_id, event.version);
            return Err(Defect::Id { found: found.raw(), account, version, expected: expected.raw() });
        }
        Ok(event)
    }

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
        assert_eq!(AccountBalanceChanged::from_message(&message).unwrap(), event);
    }

    #[test]
    fn a_message_under_another_id_or_with_an_impossible_payload_is_no_event() {
        let message = |payload: &str, event_id| Message {
            event_id,
            payload: Bytes::copy_from_slice(payload.as_bytes()),
            ..AccountBalanceChanged {
                tx_id: TxId::new("t-1").unwrap(),
                account_id: AccountId::new(7).unwrap(),
                amount: 5,
                balance: 5,
                version: 1,
                occurred_at_ms: 3,
            }
            .to_message()
        };
        let read = |payload: &str, id| AccountBalanceChanged::from_message(&message(payload, id));
        let id = |account, version| event_id(AccountId::new(account).unwrap(), version);
        let right = r#" {"tx_id":"t-1","account_id":7,"amount":5,"balance":5,"version":1,"occurred_at_ms":3}"#;
        assert!(read(right, id(7, 1)).is_ok());
        for other in [EventId::from_raw(0), id(7, 2), id(8, 1)] {
            assert!(matches!(read(right, other), Err(Defect::Id { .. })), "{other:?}");
        }
        let wraps = right.replace(r#""version":1"#, &format!(r#""version":{}"#, (1_u64 << 41) + 1));
        assert!(matches!(read(&wraps, id(7, 1)), Err(Defect::Payload(_))), "its id would be that of version 1");
        let nobody = right.replace(r#""account_id":7"#, r#""account_id":0"#);
        assert!(matches!(read(&nobody, id(7, 1)), Err(Defect::Payload(_))));
        for payload in [r#"["t-1",7,5,5,1,3]"#, "", "null"] {
            assert!(matches!(read(payload, id(7, 1)), Err(Defect::NoObject)), "{payload}");
        }
    }
}
