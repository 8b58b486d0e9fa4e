//! Accounts and a ledger: a domain in which a second processing, or a missing one, shows at once as a wrong balance.

mod account;
mod decide;
mod event;

pub use account::{
    Account, AccountId, Amount, Entry, ImpossibleEntry, InvalidAccountId, InvalidAmount, InvalidTxId, Movement, TxId,
};
pub use decide::{Decision, Refusal, decide};
pub use event::{AccountBalanceChanged, Defect, EVENT_TYPE, TOPIC, event_id};
