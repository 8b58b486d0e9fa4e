//! What the ledger is made of. A value out of range cannot be constructed.

use std::fmt;
use std::str::FromStr;

use madang_kernel::{SHARDS_U8, ShardId};
use serde::{Deserialize, Serialize};

/// The longest name of a transaction, in characters.
const TX_ID_MAX: usize = 64;
/// Bits of a version: few enough that an event's id can hold it.
pub(super) const VERSION_BITS: u32 = 41;
/// The last version that an account can have.
const VERSION_MAX: u64 = (1 << VERSION_BITS) - 1;

/// An account, 1 to 65,535: few enough that an event's id can hold it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u16", into = "u16")]
pub struct AccountId(u16);

/// A number that no account has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an account is a number from 1 to 65535")]
pub struct InvalidAccountId;

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

impl TryFrom<u16> for AccountId {
    type Error = InvalidAccountId;

    fn try_from(number: u16) -> Result<Self, InvalidAccountId> {
        Self::new(number).ok_or(InvalidAccountId)
    }
}

impl From<AccountId> for u16 {
    fn from(account: AccountId) -> Self {
        account.0
    }
}

impl FromStr for AccountId {
    type Err = InvalidAccountId;

    /// An account has one name: digits, without a sign and without zeros in front.
    fn from_str(text: &str) -> Result<Self, InvalidAccountId> {
        let is_plain = !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = is_plain.then(|| text.parse::<u16>().ok()).flatten();
        number.and_then(Self::new).ok_or(InvalidAccountId)
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
#[serde(try_from = "UncheckedEntry")]
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

/// An entry as it was read, before anybody asked whether it can be.
#[derive(Deserialize)]
struct UncheckedEntry {
    tx_id: TxId,
    account_id: AccountId,
    amount: i64,
    balance: i64,
    version: u64,
}

impl TryFrom<UncheckedEntry> for Entry {
    type Error = ImpossibleEntry;

    fn try_from(unchecked: UncheckedEntry) -> Result<Self, ImpossibleEntry> {
        let UncheckedEntry { tx_id, account_id, amount, balance, version } = unchecked;
        check_entry(amount, balance, version)?;
        Ok(Self { tx_id, account_id, amount, balance, version })
    }
}

/// Why no ledger has such an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ImpossibleEntry {
    /// Entries are counted from 1, and their number fits into an event's id.
    #[error("no entry has version {0}: they are counted from 1 to 2199023255551")]
    Version(u64),
    /// No account goes below zero.
    #[error("no account has the balance {0}: it is at least 0")]
    Balance(i64),
    /// The balance before it would be one that no account has, or not 0 before the first.
    #[error("no entry of {amount} leads to the balance {balance} at version {version}")]
    Amount {
        /// What it adds.
        amount: i64,
        /// What it leads to.
        balance: i64,
        /// Which entry it is.
        version: u64,
    },
}

/// What holds of every entry of a ledger, whoever tells of it.
pub(super) fn check_entry(amount: i64, balance: i64, version: u64) -> Result<(), ImpossibleEntry> {
    if !(1..=VERSION_MAX).contains(&version) {
        return Err(ImpossibleEntry::Version(version));
    }
    if balance < 0 {
        return Err(ImpossibleEntry::Balance(balance));
    }
    let before = balance.checked_sub(amount).filter(|before| *before >= 0 && amount != 0);
    let follows = before.is_some_and(|before| version > 1 || before == 0);
    if follows { Ok(()) } else { Err(ImpossibleEntry::Amount { amount, balance, version }) }
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
        for text in ["0", "-1", "65536", "x", "", "+1", "01", "00", " 1", "1 ", "١"] {
            assert_eq!(text.parse::<AccountId>(), Err(InvalidAccountId), "{text}");
        }
        assert_eq!("10".parse::<AccountId>().map(AccountId::number), Ok(10));
        assert_eq!("65535".parse::<AccountId>().map(AccountId::number), Ok(65_535));
    }
    #[test]
    fn what_is_read_keeps_the_rules_of_what_is_made() {
        assert!(serde_json::from_str::<AccountId>("0").is_err());
        assert!(serde_json::from_str::<AccountId>("65536").is_err());
        assert_eq!(serde_json::from_str::<AccountId>("7").unwrap().number(), 7);
        assert_eq!(serde_json::to_string(&AccountId(7)).unwrap(), "7");
        assert!(serde_json::from_str::<TxId>(r#""a b""#).is_err());
        let read = |account: u16, balance: i64| {
            let entry = serde_json::json!({
                "tx_id": "t", "account_id": account, "amount": 5, "balance": balance, "version": 1
            });
            serde_json::from_value::<Entry>(entry)
        };
        assert_eq!(read(1, 5).unwrap().balance, 5);
        assert!(read(0, 5).is_err() && read(1, -5).is_err());
    }

    #[test]
    fn an_entry_leads_from_a_possible_balance_to_a_possible_one() {
        for (amount, balance, version) in
            [(1, 1, 1), (i64::MAX, i64::MAX, 1), (-5, 0, 2), (-i64::MAX, 0, 2), (1, 2, VERSION_MAX)]
        {
            assert_eq!(check_entry(amount, balance, version), Ok(()), "{amount} {balance} {version}");
        }
        for version in [0, VERSION_MAX + 1, u64::MAX] {
            assert_eq!(check_entry(1, 1, version), Err(ImpossibleEntry::Version(version)));
        }
        for balance in [-1, i64::MIN] {
            assert_eq!(check_entry(1, balance, 2), Err(ImpossibleEntry::Balance(balance)));
        }
        for (amount, balance, version) in
            [(0, 1, 2), (2, 1, 2), (-1, i64::MAX, 2), (i64::MIN, 0, 2), (5, 6, 1), (-5, 0, 1)]
        {
            let impossible = ImpossibleEntry::Amount { amount, balance, version };
            assert_eq!(check_entry(amount, balance, version), Err(impossible));
        }
    }
}
