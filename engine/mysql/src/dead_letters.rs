//! Dead letters of the relays: messages that could not be published, kept until a person replays or dismisses them.

use async_trait::async_trait;
use madang_kernel::{ShardId, Timestamp};
use madang_messaging::{DeadLetter, DeadLetterId, DeadLetters, Message, Outage};

use crate::errors::{SqlError, outage};
use crate::transaction::{Cells, Tx};
use crate::{Databases, rows, snapshot, transact};

const INSERT: &str = include_str!("../sql/dead_letter/insert.sql");
const LIST: &str = include_str!("../sql/dead_letter/list.sql");
const FIND: &str = include_str!("../sql/dead_letter/find.sql");
const REMOVE: &str = include_str!("../sql/dead_letter/remove.sql");
const COUNT: &str = include_str!("../sql/dead_letter/count.sql");

/// One answer lists no more letters than this.
const LIST_MAX: usize = 1_000;

/// The letters that the relays of one database gave up. A letter is called `<database>/<shard>/<event>`.
#[derive(Clone)]
pub struct MysqlDeadLetters {
    db: Databases,
}

/// Keeps a message as a dead letter, in the caller's transaction.
pub(crate) async fn insert(tx: &mut Tx<'_>, message: &Message, died_at: i64) -> Result<(), SqlError> {
    let mut values = rows::message_values(message);
    values.push(died_at.into());
    tx.write(INSERT, values).await.map(|_| ())
}

impl MysqlDeadLetters {
    /// The letters in `db`.
    pub fn new(db: &Databases) -> Self {
        Self { db: db.clone() }
    }

    /// The shard and event that a name stands for; `None` when no letter of this database can have it.
    fn key(&self, id: &DeadLetterId) -> Option<(ShardId, i64)> {
        let (shard, event) = id.0.strip_prefix(self.db.name())?.strip_prefix('/')?.split_once('/')?;
        Some((ShardId::new(shard.parse().ok()?)?, event.parse().ok()?))
    }

    fn letter(&self, mut cells: Cells) -> Result<DeadLetter, SqlError> {
        let message = rows::message(&mut cells)?;
        let id = format!("{}/{}/{}", self.db.name(), message.shard, message.event_id);
        Ok(DeadLetter { id: DeadLetterId(id), message, died_at: Timestamp::from_millis(cells.next()?) })
    }
}

#[async_trait]
impl DeadLetters for MysqlDeadLetters {
    async fn list(&self, after: Option<&DeadLetterId>, limit: usize) -> Result<Vec<DeadLetter>, Outage> {
        let after = match after {
            None => Some((ShardId::HOME, i64::MIN)),
            Some(id) => self.key(id),
        };
        // A name that no letter can have: nothing comes after it.
        let Some((shard, event)) = after else { return Ok(Vec::new()) };
        let limit = limit.min(LIST_MAX);
        let mut letters = Vec::new();
        for (server, shards) in self.db.holders() {
            let values = || vec![shard.number().into(), shard.number().into(), event.into(), limit.into()];
            let found: Result<Vec<Cells>, SqlError> = snapshot!(server, |tx| tx.read_among(LIST, &shards, values()));
            for cells in found.map_err(outage)? {
                letters.push(self.letter(cells).map_err(outage)?);
            }
        }
        letters.sort_by_key(|letter| (letter.message.shard, letter.message.event_id));
        letters.truncate(limit);
        Ok(letters)
    }

    async fn find(&self, id: &DeadLetterId) -> Result<Option<DeadLetter>, Outage> {
        let Some((shard, event)) = self.key(id) else { return Ok(None) };
        let values = || vec![shard.number().into(), event.into()];
        let found: Result<Option<Cells>, SqlError> = snapshot!(self.db.server_of(shard), |tx| tx.first(FIND, values()));
        found.map_err(outage)?.map(|cells| self.letter(cells)).transpose().map_err(outage)
    }

    async fn remove(&self, id: &DeadLetterId) -> Result<bool, Outage> {
        let Some((shard, event)) = self.key(id) else { return Ok(false) };
        let values = || vec![shard.number().into(), event.into()];
        let removed: Result<u64, SqlError> = transact!(self.db, shard, |tx| tx.write(REMOVE, values()));
        Ok(removed.map_err(outage)? == 1)
    }

    async fn count(&self) -> Result<u64, Outage> {
        self.db.count(COUNT).await.map_err(outage)
    }
}
