//! The one rule of the ledger: what becomes of a movement, from what is known of its account and of its name.

use super::{Account, Entry, Movement};

/// What became of a movement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It is a new line of the ledger.
    Entered(Entry),
    /// It was entered before, and this was its answer.
    Repeated(Entry),
}

/// Why a movement changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Nobody opened the account.
    #[error("there is no such account")]
    UnknownAccount,
    /// The name stands for another movement.
    #[error("tx_id was used before for another account or amount")]
    Conflict,
    /// The account does not hold that much.
    #[error("the balance is {balance}, and an account cannot go below zero")]
    BelowZero {
        /// What it holds.
        balance: i64,
    },
    /// No account can hold that much.
    #[error("the balance is {balance}, and an account cannot hold more than 9223372036854775807")]
    Overflow {
        /// What it holds.
        balance: i64,
    },
}

/// Decides a movement. `earlier` is the line of the ledger under its name, if there is one: repeated it changes nothing, and
/// its answer is the one it got then, whatever has happened to the account since.
pub fn decide(account: Option<&Account>, earlier: Option<&Entry>, movement: &Movement) -> Result<Decision, Refusal> {
    if let Some(earlier) = earlier {
        let same = earlier.account_id == movement.account && earlier.amount == movement.signed();
        return if same { Ok(Decision::Repeated(earlier.clone())) } else { Err(Refusal::Conflict) };
    }
    let Account { id, balance, version } = *account.ok_or(Refusal::UnknownAccount)?;
    let after = balance.checked_add(movement.signed()).ok_or(Refusal::Overflow { balance })?;
    if after < 0 {
        return Err(Refusal::BelowZero { balance });
    }
    let tx_id = movement.tx_id.clone();
    let amount = movement.signed();
    Ok(Decision::Entered(Entry { tx_id, account_id: id, amount, balance: after, version: version + 1 }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::{AccountId, Amount, TxId};

    fn id(number: u16) -> AccountId {
        AccountId::new(number).unwrap()
    }

    fn account(balance: i64) -> Account {
        Account { id: id(1), balance, version: 4 }
    }

    fn deposit(name: &str, account: u16, amount: i64) -> Movement {
        Movement::deposit(TxId::new(name).unwrap(), id(account), Amount::new(amount).unwrap())
    }

    fn withdrawal(name: &str, amount: i64) -> Movement {
        Movement::withdrawal(TxId::new(name).unwrap(), id(1), Amount::new(amount).unwrap())
    }

    fn entered(decided: Result<Decision, Refusal>) -> Entry {
        match decided {
            Ok(Decision::Entered(entry)) => entry,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_movement_is_the_next_entry_of_its_account() {
        let entry = entered(decide(Some(&account(10)), None, &withdrawal("t", 10)));
        assert_eq!((entry.amount, entry.balance, entry.version), (-10, 0, 5));
        assert_eq!(entered(decide(Some(&account(10)), None, &deposit("t", 1, 5))).balance, 15);
    }

    #[test]
    fn repeated_it_gets_its_first_answer_whatever_has_happened_since() {
        let first = entered(decide(Some(&account(10)), None, &withdrawal("t", 10)));
        let now = Account { balance: 0, version: 99, ..account(0) };
        assert_eq!(decide(Some(&now), Some(&first), &withdrawal("t", 10)), Ok(Decision::Repeated(first.clone())));
        assert_eq!(decide(None, Some(&first), &withdrawal("t", 10)), Ok(Decision::Repeated(first)));
    }

    #[test]
    fn a_name_that_stands_for_another_movement_is_a_conflict() {
        let first = entered(decide(Some(&account(10)), None, &deposit("t", 1, 10)));
        for other in [deposit("t", 1, 11), deposit("t", 2, 10), withdrawal("t", 10)] {
            assert_eq!(decide(Some(&account(100)), Some(&first), &other), Err(Refusal::Conflict), "{other:?}");
        }
    }

    #[test]
    fn below_zero_past_the_top_and_into_nothing_are_refused() {
        let below = decide(Some(&account(9)), None, &withdrawal("t", 10));
        assert_eq!(below, Err(Refusal::BelowZero { balance: 9 }));
        let above = decide(Some(&account(1)), None, &deposit("t", 1, i64::MAX));
        assert_eq!(above, Err(Refusal::Overflow { balance: 1 }));
        assert_eq!(decide(None, None, &deposit("t", 1, 1)), Err(Refusal::UnknownAccount));
    }

    proptest! {
        /// Against the plainest model there is: a list of what was entered, added up.
        #[test]
        fn any_run_of_movements_adds_up_however_often_each_is_repeated(
            sums in proptest::collection::vec((0usize..12, -50i64..50), 1..60),
        ) {
            let (mut account, mut ledger) = (Account { version: 0, ..account(0) }, Vec::<Entry>::new());
            for (name, sum) in sums {
                let Ok(amount) = Amount::new(sum.abs()) else { continue };
                let name = TxId::new(format!("t{name}")).unwrap();
                let movement = match sum > 0 {
                    true => Movement::deposit(name.clone(), account.id, amount),
                    false => Movement::withdrawal(name.clone(), account.id, amount),
                };
                let earlier = ledger.iter().find(|entry| entry.tx_id == name).cloned();
                match decide(Some(&account), earlier.as_ref(), &movement) {
                    Ok(Decision::Entered(entry)) => {
                        prop_assert!(earlier.is_none());
                        account = Account { balance: entry.balance, version: entry.version, ..account };
                        ledger.push(entry);
                    }
                    Ok(Decision::Repeated(entry)) => prop_assert_eq!(Some(entry), earlier),
                    Err(Refusal::Conflict) => prop_assert!(earlier.is_some_and(|entry| entry.amount != sum)),
                    Err(_) => prop_assert!(account.balance + sum < 0),
                }
                prop_assert_eq!(account.balance, ledger.iter().map(|entry| entry.amount).sum::<i64>());
                prop_assert!(account.balance >= 0 && account.version == ledger.len() as u64);
            }
        }
    }
}
