//! Movements on MySQL: those that come together are decided together, in one transaction with their events.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use madang_engine_mysql::{Cells, Decided, Fold, Many, Mysql, SqlError, Tx, bytes, transact};
use madang_kernel::{Clock as _, ShardId, StoreError, SystemClock};

use crate::domain::{Account, AccountBalanceChanged, AccountId, Decision, Entry, Movement, Refusal, TxId, decide};
use crate::programs::crash::{CrashPoint, CrashPoints};

const OPEN: &str = include_str!("../../../sql/account/open.sql");
const STORE: &str = include_str!("../../../sql/account/store.sql");
static LOCK: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../../sql/account/lock.sql")));
static ENTRIES: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../../sql/account/entries.sql")));
static ENTER: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../../sql/account/enter.sql")));

/// Decides movements.
pub(super) struct Moves {
    crash: CrashPoints,
}

impl Moves {
    pub(super) fn new(crash: CrashPoints) -> Self {
        Self { crash }
    }
}

impl Fold for Moves {
    type Call = Movement;
    type Answer = Result<Decision, Refusal>;
    type Event = AccountBalanceChanged;

    fn shard(call: &Movement) -> ShardId {
        call.account.shard()
    }

    async fn decide(
        &self,
        tx: &mut Tx<'_>,
        calls: &[Movement],
    ) -> Result<Decided<Self::Answer, AccountBalanceChanged>, SqlError> {
        let mut accounts = locked(tx, calls).await?;
        let mut entries = entered(tx, calls).await?;
        let now = SystemClock.now();
        let mut decided = Decided::without_events(Vec::with_capacity(calls.len()));
        let (mut lines, mut changed) = (Vec::new(), BTreeMap::new());
        for call in calls {
            let decision = decide(accounts.get(&call.account), entries.get(&call.tx_id), call);
            if let Ok(Decision::Entered(entry)) = &decision {
                let after = Account { id: entry.account_id, balance: entry.balance, version: entry.version };
                accounts.insert(after.id, after);
                entries.insert(entry.tx_id.clone(), entry.clone());
                changed.insert(after.id, after);
                lines.push(line(entry, now.as_millis()));
                decided.events.push(AccountBalanceChanged::of(entry, now));
            }
            decided.decisions.push(Ok(decision));
        }
        if !lines.is_empty() {
            tx.insert_many(&ENTER, lines).await?;
            for Account { id, balance, version } in changed.into_values() {
                tx.write(STORE, vec![balance.into(), version.into(), now.as_millis().into(), id.number().into()])
                    .await?;
            }
            self.crash.pass(CrashPoint::BeforeCommit);
        }
        Ok(decided)
    }
}

async fn locked(tx: &mut Tx<'_>, calls: &[Movement]) -> Result<BTreeMap<AccountId, Account>, SqlError> {
    let mut ids: Vec<AccountId> = calls.iter().map(|call| call.account).collect();
    ids.sort_unstable();
    ids.dedup();
    let found = tx.read_many(&LOCK, ids.iter().map(|id| vec![id.number().into()]).collect()).await?;
    found.into_iter().map(|mut cells| account(&mut cells).map(|account| (account.id, account))).collect()
}

async fn entered(tx: &mut Tx<'_>, calls: &[Movement]) -> Result<BTreeMap<TxId, Entry>, SqlError> {
    let found = tx.read_many(&ENTRIES, calls.iter().map(|call| vec![bytes(call.tx_id.as_str())]).collect()).await?;
    found.into_iter().map(|mut cells| entry(&mut cells).map(|entry| (entry.tx_id.clone(), entry))).collect()
}

fn account(cells: &mut Cells) -> Result<Account, SqlError> {
    Ok(Account { id: account_id(cells)?, balance: cells.next()?, version: cells.next()? })
}

fn entry(cells: &mut Cells) -> Result<Entry, SqlError> {
    let name: String = cells.next()?;
    Ok(Entry {
        tx_id: TxId::new(name).map_err(SqlError::defect)?,
        account_id: account_id(cells)?,
        amount: cells.next()?,
        balance: cells.next()?,
        version: cells.next()?,
    })
}

fn account_id(cells: &mut Cells) -> Result<AccountId, SqlError> {
    AccountId::new(cells.next()?).ok_or_else(|| SqlError::defect("an account 0"))
}

fn line(entry: &Entry, now_ms: i64) -> Vec<mysql_async::Value> {
    let Entry { tx_id, account_id, amount, balance, version } = entry;
    let id = account_id.number();
    vec![bytes(tx_id.as_str()), id.into(), (*amount).into(), (*balance).into(), (*version).into(), now_ms.into()]
}

/// Opens an account; one that is open stays as it is.
pub(super) async fn open(db: &Mysql<AccountBalanceChanged>, account: AccountId) -> Result<(), StoreError> {
    let opened: Result<u64, SqlError> =
        transact!(db, account.shard(), |tx| tx.write(OPEN, vec![account.number().into()]));
    Ok(opened.map(drop)?)
}
