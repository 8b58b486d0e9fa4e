//! A program of the tests' own, which knows nothing of a board.

use madang_engine_mysql::{Database, MysqlLeases, idempotency};
use madang_kernel::{EventId, ShardId, Timestamp};
use madang_messaging::{Message, ToMessage};
use refinery::{Migration, Runner};

pub(crate) type Mysql = madang_engine_mysql::Mysql<Added>;

/// Something was added to a tally.
pub(crate) struct Added {
    pub(crate) event_id: EventId,
    pub(crate) tally: i64,
    pub(crate) version: u64,
}

impl ToMessage for Added {
    fn to_message(&self) -> Message {
        Message {
            event_id: self.event_id,
            topic: "tally.v1".to_owned(),
            key: self.tally.to_string(),
            shard: ShardId::HOME,
            occurred_at: Timestamp::from_millis(1),
            headers: Vec::new(),
            payload: self.version.to_string().into_bytes().into(),
        }
    }
}

/// The database of the tallies.
pub(crate) fn tallies() -> Database {
    Database::new("tally").with_migrations("schema_history", migrations)
}

fn migrations() -> Runner {
    let tables = [("V1__node_lease", MysqlLeases::TABLE), ("V2__once_answer", idempotency::TABLE)];
    Runner::new(&tables.map(|(name, sql)| Migration::unapplied(name, sql).unwrap()))
}
