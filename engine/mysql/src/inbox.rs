//! The inbox: an effect and the memory of its event commit together or not at all.

use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use madang_kernel::{EventId, Id, ShardId};
use madang_messaging::{Applied, GroupId, HandlerError, Inbox, Outage, Position};
use mysql_async::Params;

use crate::Databases;
use crate::errors::{SqlError, outage};
use crate::health::OfServer;
use crate::retry::Retry;
use crate::server::Server;
use crate::transact;
use crate::transaction::{Tx, bytes};

const REMEMBER: &str = include_str!("../sql/inbox/remember.sql");
const IS_REMEMBERED: &str = include_str!("../sql/inbox/is_remembered.sql");
const FORGET: &str = include_str!("../sql/inbox/forget.sql");

/// Events forgotten in one transaction.
const FORGET_SLICE: u64 = 500;

/// The transaction that an effect runs in.
pub struct EffectTx<'t>(&'t mut (dyn Statements + 't));

impl EffectTx<'_> {
    /// Runs one statement; returns the rows it reached. An error of the server ends the effect and is dealt with outside.
    pub async fn execute(&mut self, sql: &str, params: impl Into<Params> + Send) -> Result<u64, EffectError> {
        Ok(self.0.run(sql, params.into()).await?)
    }
}

/// Hides how long the transaction itself lives, which an effect need not know.
trait Statements: Send {
    fn run<'a>(&'a mut self, sql: &'a str, params: Params) -> BoxFuture<'a, Result<u64, SqlError>>;
}

impl Statements for Tx<'_> {
    fn run<'a>(&'a mut self, sql: &'a str, params: Params) -> BoxFuture<'a, Result<u64, SqlError>> {
        Box::pin(self.execute(sql, params))
    }
}

/// Why an effect did not go through.
#[derive(Debug)]
pub struct EffectError(EffectFailure);

#[derive(Debug)]
enum EffectFailure {
    Sql(SqlError),
    Handler(HandlerError),
}

impl From<SqlError> for EffectError {
    fn from(error: SqlError) -> Self {
        Self(EffectFailure::Sql(error))
    }
}

impl OfServer for EffectError {
    fn error(&self) -> Option<&SqlError> {
        match &self.0 {
            EffectFailure::Sql(error) => Some(error),
            EffectFailure::Handler(_) => None,
        }
    }
}

impl From<HandlerError> for EffectError {
    fn from(error: HandlerError) -> Self {
        Self(EffectFailure::Handler(error))
    }
}

/// What a handler does inside the transaction. May be called again after the transaction was rolled back.
pub type MysqlEffect = Box<dyn for<'t> Fn(EffectTx<'t>) -> BoxFuture<'t, Result<(), EffectError>> + Send + Sync>;

/// The inbox of one database. Effects run on the server that holds the shard of their event's id.
#[derive(Clone)]
pub struct MysqlInbox {
    db: Databases,
}

impl MysqlInbox {
    /// The inbox in `db`.
    pub fn new(db: &Databases) -> Self {
        Self { db: db.clone() }
    }

    async fn attempt(
        &self,
        server: &Server,
        group: &GroupId,
        event: EventId,
        effect: &MysqlEffect,
    ) -> Result<Applied, EffectError> {
        let shard = event.shard();
        let transaction = async {
            let mut conn = server.pooled().await?;
            let mut tx = Tx::begin(&mut conn).await?;
            let applied = self.apply(&mut tx, shard, group, event, effect).await;
            match applied {
                Ok(applied) => tx.commit().await.map(|()| applied).map_err(EffectError::from),
                Err(error) => {
                    tx.roll_back().await;
                    Err(error)
                }
            }
        };
        server.health().guard(transaction).await
    }

    async fn apply(
        &self,
        tx: &mut Tx<'_>,
        shard: ShardId,
        group: &GroupId,
        event: EventId,
        effect: &MysqlEffect,
    ) -> Result<Applied, EffectError> {
        let key = || vec![shard.number().into(), bytes(group.as_str()), event.raw().into()];
        if tx.first(IS_REMEMBERED, key()).await?.is_some() {
            return Ok(Applied::Before);
        }
        // Held until COMMIT, whatever the effect takes: a copy that lacks it must not be what goes on.
        tx.holds(&[shard]).await?;
        let mut row = key();
        row.push(self.db.age_now());
        // Of two at once the second waits here, and tries again once the server says that the row exists.
        tx.write(REMEMBER, row).await?;
        effect(EffectTx(tx)).await?;
        Ok(Applied::Now)
    }
}

#[async_trait]
impl Inbox for MysqlInbox {
    type Effect = MysqlEffect;

    /// The log lives elsewhere, so `position` is not stored.
    async fn apply_once(
        &self,
        group: &GroupId,
        event: EventId,
        _position: Option<&Position>,
        effect: Self::Effect,
    ) -> Result<Applied, HandlerError> {
        let mut retry = Retry::new();
        loop {
            let server = self.db.server_of(event.shard());
            match self.attempt(&server, group, event, &effect).await {
                Ok(applied) => return Ok(applied),
                Err(EffectError(EffectFailure::Handler(error))) => return Err(error),
                Err(EffectError(EffectFailure::Sql(error))) => {
                    let moved = retry.after_move(&error) && self.db.is_writable_again(event.shard(), &server).await;
                    if !moved && !retry.again(&error).await {
                        return Err(refused(error));
                    }
                }
            }
        }
    }

    async fn forget_older_than(&self, age: Duration) -> Result<u64, Outage> {
        let age_ms = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        let mut forgotten = 0;
        for (server, shards) in self.db.holders() {
            loop {
                let slice: Result<u64, SqlError> =
                    transact!(server, |tx| forget_slice(&self.db, &mut tx, &shards, age_ms));
                let slice = slice.map_err(outage)?;
                forgotten += slice;
                if slice < FORGET_SLICE {
                    break;
                }
            }
        }
        Ok(forgotten)
    }
}

async fn forget_slice(db: &Databases, tx: &mut Tx<'_>, shards: &[ShardId], age_ms: i64) -> Result<u64, SqlError> {
    let before = db.store_now(tx).await?.saturating_sub(age_ms);
    tx.write_among(FORGET, shards, vec![before.into(), FORGET_SLICE.into()]).await
}

/// A server that is unavailable pauses the group; a statement that is wrong is the message's own failure.
fn refused(error: SqlError) -> HandlerError {
    match error {
        SqlError::Conflict(_)
        | SqlError::Unavailable(_)
        | SqlError::ReadOnly(_)
        | SqlError::Full(_)
        | SqlError::NotHere(_) => HandlerError::Outage(outage(error)),
        SqlError::Duplicate(_) | SqlError::Defect(_) => HandlerError::Failed(error.to_string()),
    }
}
