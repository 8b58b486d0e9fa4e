//! A shard changes hands: the old server takes no more writes, the new one becomes the owner, everybody is told, and the new
//! owner takes writes. The new owner's row is the commit point. Every change names the run, or only ever goes forward.

use madang_kernel::ShardId;
use mysql_async::Conn;
use mysql_async::prelude::Queryable;

use super::ends::lock;
use super::{MoveError, Phase};
use crate::transaction::Tx;

const FENCE: &str = include_str!("../../sql/shard/fence.sql");
const CHANGE_HANDS: &str = include_str!("../../sql/shard/change_hands.sql");
const ANNOUNCE: &str = include_str!("../../sql/shard/announce.sql");
const SWITCHED: &str = include_str!("../../sql/move/switched.sql");

/// A shard between its owners.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hands {
    pub(super) shard: ShardId,
    pub(super) source: u8,
    pub(super) target: u8,
    /// The epoch of the new owner.
    pub(super) epoch: u64,
    pub(super) run: u64,
}

impl Hands {
    /// Has the old server take no more writes, or take them again. Waits for whoever is writing.
    pub(super) async fn set_fence(&self, source: &mut Conn, is_fenced: bool) -> Result<(), MoveError> {
        let mut tx = Tx::begin(source).await?;
        lock(&mut tx, self.shard, self.run).await?;
        let writable = u8::from(!is_fenced);
        let values = vec![writable.into(), self.shard.number().into(), self.source.into(), (self.epoch - 1).into()];
        if tx.write(FENCE, values).await? != 1 {
            return Err(MoveError::TakenOver { shard: self.shard });
        }
        Ok(tx.commit().await?)
    }

    /// Whether the new server is the owner; it does not become so until the transaction ends.
    pub(super) async fn is_switched(&self, target: &mut Conn) -> Result<bool, MoveError> {
        let mut tx = Tx::begin(target).await?;
        let phase = lock(&mut tx, self.shard, self.run).await?;
        tx.commit().await?;
        Ok(phase == Phase::Switched)
    }

    /// The commit point: the new server is the owner, and takes no writes yet.
    pub(super) async fn switch(&self, target: &mut Conn) -> Result<(), MoveError> {
        let mut tx = Tx::begin(target).await?;
        let phase = lock(&mut tx, self.shard, self.run).await?;
        if phase != Phase::Verified || tx.write(CHANGE_HANDS, self.new_owner()).await? != 1 {
            return Err(MoveError::TakenOver { shard: self.shard });
        }
        tx.write(SWITCHED, vec![Phase::Switched.number().into(), self.shard.number().into()]).await?;
        Ok(tx.commit().await?)
    }

    /// Tells a server of the new owner; one that knows keeps what it knows.
    pub(super) async fn tell(&self, conn: &mut Conn) -> Result<(), MoveError> {
        let mut tx = Tx::begin(conn).await?;
        tx.write(CHANGE_HANDS, self.new_owner()).await?;
        Ok(tx.commit().await?)
    }

    /// Has the new owner take writes.
    pub(super) async fn open(&self, target: &mut Conn) -> Result<(), MoveError> {
        let mut tx = Tx::begin(target).await?;
        let phase = lock(&mut tx, self.shard, self.run).await?;
        let values = vec![1_u8.into(), self.shard.number().into(), self.target.into(), self.epoch.into()];
        if phase != Phase::Switched || tx.write(FENCE, values).await? != 1 {
            return Err(MoveError::TakenOver { shard: self.shard });
        }
        Ok(tx.commit().await?)
    }

    fn new_owner(&self) -> Vec<mysql_async::Value> {
        vec![self.target.into(), self.epoch.into(), self.shard.number().into(), self.epoch.into()]
    }
}

/// Has the processes that read a server's map read it often, or no longer.
pub(super) async fn announce(conn: &mut Conn, shard: ShardId, is_moving: bool) -> Result<(), MoveError> {
    Ok(conn.exec_drop(ANNOUNCE, (u8::from(is_moving), shard.number())).await?)
}
