//! The same counter on `engine/mysql`: calls that wait are folded into one transaction, and each is told its own value.

use std::sync::Arc;

use madang_engine_mysql::{Database, Decided, Fold, Lanes, Mysql, MysqlOptions, ServerOptions, SqlError, Tx};
use madang_kernel::{ShardId, StoreError, SystemClock};
use madang_messaging::{Message, ToMessage};
use refinery::{Migration, Runner};

/// Starts the names of databases.
pub(super) const PREFIX: &str = "lab";
/// What the database is called behind the prefix.
pub(super) const NAME: &str = "locks";

const TABLES: &str = "
    CREATE TABLE counter (id INT NOT NULL PRIMARY KEY, value BIGINT NOT NULL, version BIGINT NOT NULL);
    INSERT INTO counter (id, value, version) VALUES (1, 0, 0);";

/// Nobody has to know of an increment.
pub(super) enum NoEvent {}

impl ToMessage for NoEvent {
    fn to_message(&self) -> Message {
        match *self {}
    }
}

/// Decides increments together.
pub(super) struct Count;

/// One more.
pub(super) struct Increment;

impl Fold for Count {
    type Call = Increment;
    type Answer = i64;
    type Event = NoEvent;

    fn shard(_: &Increment) -> ShardId {
        ShardId::for_name("counter")
    }

    async fn decide(&self, tx: &mut Tx<'_>, calls: &[Increment]) -> Result<Decided<i64, NoEvent>, SqlError> {
        const ADD: &str = "UPDATE counter SET value = value + ? WHERE id = 1";
        const VALUE: &str = "SELECT value FROM counter WHERE id = 1";
        let count = i64::try_from(calls.len()).unwrap_or(i64::MAX);
        // Locks the row, so what is read next is what this transaction made of it.
        tx.write(ADD, vec![count.into()]).await?;
        let found = tx.first(VALUE, Vec::new()).await?;
        let last: i64 = found.ok_or_else(|| SqlError::defect("the counter is gone"))?.next()?;
        Ok(Decided::without_events((1..=count).map(|number| Ok(last - count + number)).collect()))
    }
}

/// The counter behind lanes.
pub(super) struct Folded {
    db: Mysql<NoEvent>,
    lanes: Lanes<Count>,
}

impl Folded {
    /// Opens the database, and makes its table.
    pub(super) async fn open(server: &str) -> anyhow::Result<Self> {
        let server = ServerOptions { url: server.to_owned(), shards: "0-63".to_owned() };
        let options = MysqlOptions { database_prefix: PREFIX.to_owned(), ..MysqlOptions::new(vec![server]) };
        let database = Database::new(NAME).with_migrations("schema_locks", tables);
        let db = Mysql::open(&options, database, Arc::new(SystemClock)).await?;
        Ok(Self { lanes: Lanes::start(&db, Count), db })
    }

    /// One more; the value that it came to.
    pub(super) async fn increment(&self) -> Result<i64, StoreError> {
        self.lanes.call(Increment).await
    }

    pub(super) async fn close(&self) {
        self.db.close().await;
    }
}

fn tables() -> Runner {
    match Migration::unapplied("V1__counter", TABLES) {
        Ok(migration) => Runner::new(&[migration]),
        Err(_) => Runner::new(&[]),
    }
}
