//! What the ledger is made of. A value out of range cannot be constructed.

use std::fmt;
use std::str::FromStr;

use madang_kernel::{SHARDS_U8, ShardId};
use serde::{Deserialize, Serialize};

/// The longest name of a transaction, in characters.
const TX_ID_MAX: usize = 64;

/// An account, 1 to 65,535: few enough that an event's id can hold it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AccountId(u16);

impl AccountId {
    /// The account of that number; there is no account 0.
    #[must_use]
    pub fn new(number: u16) -> Option<Self> {
        (number > 0).then_some(Self(number))
    }

    /// Its number.
    #[must_use]
    pub fn number(self) -> u16 {
        self.0
    }

    /// The shard whose lane orders what happens to it.
    #[must_use]
    pub fn shard(self) -> ShardId {
        let [low, _] = self.0.to_le_bytes();
        ShardId::new(low % SHARDS_U8).unwrap_or(ShardId::HOME)
    }
}

impl fmt::Display for AccountId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for AccountId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        std::num::NonZeroU16::from_str(text).map(|number| Self(number.get()))
    }
}

/// The name that a client gives a transaction. Sent again under the same name it is the same transaction.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TxId(String);

/// A name that no transaction can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("tx_id must be 1 to 64 visible ASCII characters")]
pub struct InvalidTxId;

impl TxId {
    /// The name, if a transaction can have it.
    pub fn new(text: impl Into<String>) -> Result<Self, InvalidTxId> {
        let text = text.into();
        let fits = (1..=TX_ID_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if fits { Ok(Self(text)) } else { Err(InvalidTxId) }
    }

    /// As text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for TxId {
    type Error = InvalidTxId;

    fn try_from(text: String) -> Result<Self, InvalidTxId> {
        Self::new(text)
    }
}

impl From<TxId> for String {
    fn from(tx_id: TxId) -> Self {
        tx_id.0
    }
}

impl fmt::Display for TxId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A sum of money that moves, in the smallest unit: at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount(i64);

/// A sum that cannot move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("amount must be a whole number from 1 to 9223372036854775807")]
pub struct InvalidAmount;

impl Amount {
    /// The sum, if it is positive.
    pub fn new(sum: i64) -> Result<Self, InvalidAmount> {
        if sum > 0 { Ok(Self(sum)) } else { Err(InvalidAmount) }
    }

    /// As a number.
    #[must_use]
    pub fn get(self) -> i64 {
        self.0
    }
}

/// What a client wants: money into an account or out of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Movement {
    /// Its name.
    pub tx_id: TxId,
    /// The account.
    pub account: AccountId,
    /// What is added to the balance: positive for a deposit, negative for a withdrawal.
    signed: i64,
}

impl Movement {
    /// Money into an account.
    #[must_use]
    pub fn deposit(tx_id: TxId, account: AccountId, amount: Amount) -> Self {
        Self { tx_id, account, signed: amount.0 }
    }

    /// Money out of an account.
    #[must_use]
    pub fn withdrawal(tx_id: TxId, account: AccountId, amount: Amount) -> Self {
        Self { tx_id, account, signed: -amount.0 }
    }

    /// What is added to the balance.
    #[must_use]
    pub fn signed(&self) -> i64 {
        self.signed
    }
}

/// An account as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Account {
    /// Which.
    pub id: AccountId,
    /// What is in it; never below zero.
    pub balance: i64,
    /// How many entries the ledger has of it.
    pub version: u64,
}

/// A line of the ledger, which is also the answer to its command: repeated, the command gets the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The transaction.
    pub tx_id: TxId,
    /// The account.
    pub account_id: AccountId,
    /// What was added to the balance.
    pub amount: i64,
    /// The balance after it.
    pub balance: i64,
    /// Which entry of its account it is, from 1.
    pub version: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_positive_amounts_and_plain_names_exist() {
        assert!(Amount::new(0).is_err() && Amount::new(-1).is_err() && Amount::new(i64::MIN).is_err());
        assert_eq!(Amount::new(i64::MAX).map(Amount::get), Ok(i64::MAX));
        for name in ["", " ", "a b", "é", "a\n", &"x".repeat(65)] {
            assert_eq!(TxId::new(name), Err(InvalidTxId), "{name:?}");
        }
        assert!(TxId::new("x".repeat(64)).is_ok());
    }

    #[test]
    fn there_is_no_account_0_and_none_above_65535() {
        for text in ["0", "-1", "65536", "x", ""] {
            assert!(text.parse::<AccountId>().is_err(), "{text}");
        }
        assert_eq!("65535".parse::<AccountId>().map(AccountId::number), Ok(65_535));
    }
}
