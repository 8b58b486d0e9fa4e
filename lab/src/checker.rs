//! The checker: compares what clients were told with ledger, balances, projection, `processed_event` and cache, once
//! everything is quiet. A pure function of what was observed.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{Account, AccountId, Entry, TxId};

/// A row of the projection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Projected {
    /// The account.
    pub account: AccountId,
    /// Its balance.
    pub balance: i64,
    /// The version of that balance.
    pub version: u64,
    /// How many events were applied.
    pub entries: u64,
    /// What their amounts add up to.
    pub entries_sum: i64,
    /// How many came after a newer one.
    pub late: u64,
    /// How often the version that it shows became a smaller one, counted by the table itself.
    pub went_back: u64,
}

/// A balance that the cache shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InCache {
    /// The account.
    pub account: AccountId,
    /// Its balance.
    pub balance: i64,
    /// The version of that balance.
    pub version: u64,
}

/// Everything there is to compare.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    /// What clients were told.
    pub acknowledged: Vec<Entry>,
    /// The ledger.
    pub ledger: Vec<Entry>,
    /// The accounts.
    pub accounts: Vec<Account>,
    /// The projection.
    pub projection: Vec<Projected>,
    /// The names in `processed_event`; `None` where the wiring has no such table.
    pub processed: Option<BTreeSet<TxId>>,
    /// The cache.
    pub cache: Vec<InCache>,
}

/// What does not agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Report {
    /// Acknowledged commands that the ledger does not have, or has otherwise.
    pub lost_commands: u64,
    /// Entries of the ledger that the projection never heard of.
    pub lost_events: u64,
    /// Effects beyond one an event.
    pub doubled: u64,
    /// Events applied after a newer one of their account.
    pub out_of_order: u64,
    /// Events that made an account show an older version than it showed before.
    pub went_back: u64,
    /// Accounts whose projection shows another balance or version than their ledger comes to.
    pub shown_wrong: u64,
    /// Accounts of which the projection, adding up one event after another, has another sum than their ledger.
    pub added_up_wrong: u64,
    /// Accounts with either, and those whose own balance is not what their ledger comes to, or that do not exist at all.
    pub wrong_accounts: u64,
    /// Entries of the cache that show less than the projection has.
    pub stale: u64,
}

impl Report {
    /// What was lost, of either kind.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost_commands + self.lost_events
    }

    /// Events that were lost, and effects beyond one an event. Wrong accounts are another thing, and not added.
    #[must_use]
    pub fn harm(&self) -> u64 {
        self.lost() + self.doubled
    }
}

/// Compares.
#[must_use]
pub fn check(observed: &Observed) -> Report {
    let ledger: BTreeMap<&TxId, &Entry> = observed.ledger.iter().map(|entry| (&entry.tx_id, entry)).collect();
    let accounts: BTreeMap<AccountId, &Account> = observed.accounts.iter().map(|row| (row.id, row)).collect();
    let projection: BTreeMap<AccountId, &Projected> =
        observed.projection.iter().map(|row| (row.account, row)).collect();
    let lost_commands = observed.acknowledged.iter().filter(|told| ledger.get(&told.tx_id) != Some(told)).count();
    let mut report = Report {
        lost_commands: lost_commands as u64,
        out_of_order: observed.projection.iter().map(|row| row.late).sum(),
        went_back: observed.projection.iter().map(|row| row.went_back).sum(),
        stale: observed.cache.iter().filter(|cached| is_stale(cached, &projection)).count() as u64,
        ..Report::default()
    };
    let entered = observed.ledger.iter().map(|entry| entry.account_id);
    let known: BTreeSet<AccountId> = accounts.keys().chain(projection.keys()).copied().chain(entered).collect();
    for id in known {
        let entries: Vec<&Entry> = observed.ledger.iter().filter(|entry| entry.account_id == id).collect();
        let (account, projected) = (accounts.get(&id).copied(), projection.get(&id).copied());
        compare(account, &entries, projected, observed.processed.as_ref(), &mut report);
    }
    report
}

fn compare(
    account: Option<&Account>,
    entries: &[&Entry],
    projected: Option<&Projected>,
    processed: Option<&BTreeSet<TxId>>,
    report: &mut Report,
) {
    let entered = entries.len() as u64;
    let effects = projected.map_or(0, |row| row.entries);
    // Where names are remembered, each event is known by its own; elsewhere by their number only, so that one lost and one
    // doubled of the same account would cancel out.
    let distinct = processed.map_or(effects.min(entered), |names| {
        entries.iter().filter(|entry| names.contains(&entry.tx_id)).count() as u64
    });
    report.lost_events += entered - distinct;
    report.doubled += effects.saturating_sub(distinct);
    let sum: i64 = entries.iter().map(|entry| entry.amount).sum();
    let has = account.map(|account| (account.balance, account.version));
    let is_shown = projected.map_or((0, 0), |row| (row.balance, row.version)) == (sum, entered);
    let is_added_up = projected.map_or(0, |row| row.entries_sum) == sum;
    let is_whole = is_shown && is_added_up && has == Some((sum, entered));
    report.shown_wrong += u64::from(!is_shown);
    report.added_up_wrong += u64::from(!is_added_up);
    report.wrong_accounts += u64::from(!is_whole);
}

fn is_stale(cached: &InCache, projection: &BTreeMap<AccountId, &Projected>) -> bool {
    projection.get(&cached.account).is_some_and(|row| {
        cached.version < row.version || (cached.version == row.version && cached.balance != row.balance)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u16) -> AccountId {
        AccountId::new(number).unwrap()
    }

    fn entry(name: &str, amount: i64, balance: i64, version: u64) -> Entry {
        Entry { tx_id: TxId::new(name).unwrap(), account_id: id(1), amount, balance, version }
    }

    /// Two entries of one account, everywhere as they should be.
    fn whole() -> Observed {
        let ledger = vec![entry("a", 10, 10, 1), entry("b", -3, 7, 2)];
        Observed {
            acknowledged: ledger.clone(),
            accounts: vec![Account { id: id(1), balance: 7, version: 2 }],
            projection: vec![Projected {
                account: id(1),
                balance: 7,
                version: 2,
                entries: 2,
                entries_sum: 7,
                late: 0,
                went_back: 0,
            }],
            processed: Some(ledger.iter().map(|entry| entry.tx_id.clone()).collect()),
            cache: vec![InCache { account: id(1), balance: 7, version: 2 }],
            ledger,
        }
    }

    fn broken(how: impl FnOnce(&mut Observed)) -> Report {
        let mut observed = whole();
        how(&mut observed);
        check(&observed)
    }

    #[test]
    fn what_agrees_is_reported_as_whole() {
        assert_eq!(check(&whole()), Report::default());
        assert_eq!(broken(|observed| observed.processed = None), Report::default());
        assert_eq!(broken(|observed| observed.cache.clear()), Report::default());
    }

    #[test]
    fn an_acknowledged_command_that_the_ledger_does_not_have_is_lost() {
        let report = broken(|observed| observed.acknowledged.push(entry("c", 1, 8, 3)));
        assert_eq!(report, Report { lost_commands: 1, ..Report::default() });
        let report = broken(|observed| observed.acknowledged[0].balance = 11);
        assert_eq!(report, Report { lost_commands: 1, ..Report::default() }, "it was told something else");
    }

    #[test]
    fn an_event_that_was_never_applied_is_lost_and_leaves_a_wrong_balance() {
        let lose = |observed: &mut Observed| {
            observed.projection[0] =
                Projected { balance: 10, version: 1, entries: 1, entries_sum: 10, ..observed.projection[0] };
            if let Some(processed) = &mut observed.processed {
                processed.remove(&TxId::new("b").unwrap());
            }
        };
        let expected =
            Report { lost_events: 1, shown_wrong: 1, added_up_wrong: 1, wrong_accounts: 1, ..Report::default() };
        let report = broken(|observed| {
            lose(observed);
            observed.cache.clear();
        });
        assert_eq!(report, expected);
        let report = broken(|observed| {
            lose(observed);
            observed.processed = None;
            observed.cache.clear();
        });
        assert_eq!(report, expected, "also where nothing is remembered");
    }

    #[test]
    fn an_account_that_the_projection_does_not_have_lost_all_its_events() {
        let report = broken(|observed| {
            observed.projection.clear();
            observed.processed = Some(BTreeSet::new());
        });
        let expected =
            Report { lost_events: 2, shown_wrong: 1, added_up_wrong: 1, wrong_accounts: 1, ..Report::default() };
        assert_eq!(report, expected);
    }

    #[test]
    fn an_effect_too_many_is_doubled_also_when_the_balance_hides_it() {
        let double = |observed: &mut Observed| {
            observed.projection[0].entries = 3;
            observed.projection[0].entries_sum = 17;
        };
        let expected = Report { doubled: 1, added_up_wrong: 1, wrong_accounts: 1, ..Report::default() };
        assert_eq!(broken(double), expected, "what is shown is right, by its version");
        let report = broken(|observed| {
            double(observed);
            observed.processed = None;
        });
        assert_eq!(report, expected);
        let report = broken(|observed| {
            double(observed);
            observed.projection[0].entries_sum = 7;
        });
        assert_eq!(report.doubled, 1);
    }

    #[test]
    fn one_lost_and_one_doubled_are_both_seen_where_names_are_remembered() {
        let report = broken(|observed| {
            observed.projection[0] = Projected { balance: 20, entries: 2, entries_sum: 20, ..observed.projection[0] };
            observed.processed = Some(BTreeSet::from([TxId::new("a").unwrap()]));
        });
        assert_eq!((report.lost_events, report.doubled, report.wrong_accounts), (1, 1, 1));
    }

    #[test]
    fn balances_that_do_not_add_up_are_wrong() {
        let wrong = |how: fn(&mut Observed)| {
            let report = broken(how);
            assert_eq!((report.wrong_accounts, report.harm()), (1, 0), "an account is wrong, and no event is to blame");
            (report.shown_wrong, report.added_up_wrong)
        };
        assert_eq!(wrong(|observed| observed.accounts[0].balance = 8), (0, 0));
        assert_eq!(wrong(|observed| observed.accounts[0].version = 3), (0, 0));
        assert_eq!(wrong(|observed| observed.projection[0].balance = 8), (1, 0));
        assert_eq!(wrong(|observed| observed.projection[0].entries_sum = 8), (0, 1));
        assert_eq!(Report { lost_events: 2, doubled: 1, wrong_accounts: 3, ..Report::default() }.harm(), 3);
    }

    #[test]
    fn a_projection_that_shows_another_version_than_the_account_has_is_wrong() {
        let report = broken(|observed| {
            observed.projection[0].version = u64::MAX;
            observed.cache.clear();
        });
        assert_eq!(report, Report { shown_wrong: 1, wrong_accounts: 1, ..Report::default() });
    }

    #[test]
    fn a_row_of_an_account_that_does_not_exist_is_wrong_and_its_effects_are_too_many() {
        let forged = |entries| Projected {
            account: id(9),
            balance: 5,
            version: 1,
            entries,
            entries_sum: 5,
            late: 0,
            went_back: 0,
        };
        let report = broken(|observed| observed.projection.push(forged(2)));
        let expected = Report { doubled: 2, shown_wrong: 1, added_up_wrong: 1, wrong_accounts: 1, ..Report::default() };
        assert_eq!(report, expected);
        let report = broken(|observed| {
            observed.projection.push(Projected { balance: 0, version: 0, entries_sum: 0, ..forged(0) });
        });
        assert_eq!((report.doubled, report.wrong_accounts), (0, 1), "also one that shows nothing");
        let report = broken(|observed| observed.accounts.clear());
        assert_eq!((report.lost_events, report.wrong_accounts), (0, 1), "and a ledger without its account");
    }

    #[test]
    fn late_arrivals_and_stale_entries_are_counted_apart() {
        let report = broken(|observed| observed.projection[0].late = 4);
        assert_eq!((report.out_of_order, report.went_back, report.harm()), (4, 0, 0));
        let report = broken(|observed| observed.projection[0].went_back = 2);
        assert_eq!((report.out_of_order, report.went_back, report.harm()), (0, 2, 0));
        let report = broken(|observed| observed.cache[0] = InCache { account: id(1), balance: 10, version: 1 });
        assert_eq!((report.stale, report.harm()), (1, 0));
        let report = broken(|observed| observed.cache[0].balance = 99);
        assert_eq!(report.stale, 1, "the same version with another balance");
    }
}
