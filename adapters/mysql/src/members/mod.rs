//! Members and revocations on MySQL, all of them on the home shard.

mod decide;
mod reset;
mod row;
mod session;
mod skeleton;

use async_trait::async_trait;
use madang_board::{MemberId, SessionId};
use madang_engine_mysql::{Lanes, SqlError, bytes, transact};
use madang_kernel::{Id, ShardId, StoreError, Timestamp};
use madang_member::{
    ChangeMember, ChangeOutcome, CreateMember, Member, MemberRecord, MemberStore, NewMember, PasswordReset,
    ResetDigest, Revocation, RevocationCursor, SessionRecord,
};

use crate::Mysql;
use crate::lane_call::lane_call;
use decide::{Answer, Call, MemberFold};

const FIND: &str = include_str!("../../sql/member/find.sql");
const FIND_CREDENTIALS: &str = include_str!("../../sql/member/find_credentials.sql");
const STAFF: &str = include_str!("../../sql/member/staff.sql");
const HAS_ADMIN: &str = include_str!("../../sql/member/has_admin.sql");
const REVOCATIONS: &str = include_str!("../../sql/member/revocations.sql");
const FORGET_EXPIRED: &str = include_str!("../../sql/member/forget_expired.sql");

/// Sessions forgotten in one transaction.
const FORGET_SLICE_ROWS: u64 = 500;
/// Members seeded by one call.
const SEED_SLICE_ROWS: usize = 200;

/// Members in the members' database. Clones share the lanes.
#[derive(Clone)]
pub struct MysqlMembers {
    db: Mysql,
    lanes: Lanes<MemberFold>,
}

impl MysqlMembers {
    /// The store in `db`; starts its lanes.
    pub fn new(db: Mysql) -> Self {
        let lanes = Lanes::start(&db, MemberFold);
        Self { db, lanes }
    }
}

#[async_trait]
impl MemberStore for MysqlMembers {
    async fn create(&self, new: NewMember) -> Result<CreateMember, StoreError> {
        let created = lane_call!(self.lanes, Call::Create(vec![new]) => Answer::Created)?;
        Ok(if created == 1 { CreateMember::Created } else { CreateMember::NameTaken })
    }

    async fn create_many(&self, new: Vec<NewMember>) -> Result<u64, StoreError> {
        let mut created = 0;
        let mut rest = new.into_iter();
        loop {
            let slice: Vec<NewMember> = rest.by_ref().take(SEED_SLICE_ROWS).collect();
            if slice.is_empty() {
                return Ok(created);
            }
            created += lane_call!(self.lanes, Call::Create(slice) => Answer::Created)?;
        }
    }

    async fn give_skeletons(&self, limit: usize) -> Result<usize, StoreError> {
        let given: Result<usize, SqlError> = transact!(self.db, ShardId::HOME, |tx| skeleton::give(&mut tx, limit));
        Ok(given?)
    }

    async fn staff(&self, limit: usize) -> Result<Vec<Member>, StoreError> {
        let rows = self.db.read(self.db.server_of(ShardId::HOME), STAFF, vec![limit.into()]).await?;
        Ok(rows.into_iter().map(|mut cells| row::member(&mut cells)).collect::<Result<_, _>>()?)
    }

    async fn find(&self, member: MemberId) -> Result<Option<Member>, StoreError> {
        let found = self.db.read(self.db.server_of(ShardId::HOME), FIND, vec![member.raw().into()]).await?.pop();
        Ok(found.map(|mut cells| row::member(&mut cells)).transpose()?)
    }

    async fn find_credentials(&self, name_key: &str) -> Result<Option<MemberRecord>, StoreError> {
        let home = self.db.server_of(ShardId::HOME);
        let found = self.db.read(home, FIND_CREDENTIALS, vec![bytes(name_key)]).await?.pop();
        Ok(found.map(row::record).transpose()?)
    }

    async fn change(&self, change: ChangeMember) -> Result<ChangeOutcome, StoreError> {
        lane_call!(self.lanes, Call::Change(Box::new(change)) => Answer::Changed)
    }

    async fn find_reset(&self, digest: ResetDigest) -> Result<Option<PasswordReset>, StoreError> {
        let home = self.db.server_of(ShardId::HOME);
        let found = self.db.read(home, reset::FIND, vec![bytes(digest)]).await?.pop();
        Ok(found.map(reset::record).transpose()?)
    }

    async fn has_admin(&self) -> Result<bool, StoreError> {
        Ok(!self.db.read(self.db.server_of(ShardId::HOME), HAS_ADMIN, Vec::new()).await?.is_empty())
    }

    async fn add_session(&self, session: SessionRecord) -> Result<(), StoreError> {
        let added: Result<u64, SqlError> =
            transact!(self.db, ShardId::HOME, |tx| tx.write(session::ADD, session::values(&session)));
        added?;
        Ok(())
    }

    async fn sessions(&self, member: MemberId, limit: usize) -> Result<Vec<SessionRecord>, StoreError> {
        let values = vec![member.raw().into(), limit.into()];
        let rows = self.db.read(self.db.server_of(ShardId::HOME), session::OF_MEMBER, values).await?;
        Ok(rows.into_iter().map(session::record).collect::<Result<_, _>>()?)
    }

    async fn find_session(&self, session: SessionId) -> Result<Option<SessionRecord>, StoreError> {
        let home = self.db.server_of(ShardId::HOME);
        let found = self.db.read(home, session::FIND, vec![session.raw().into()]).await?.pop();
        Ok(found.map(session::record).transpose()?)
    }

    async fn note_seen(&self, mut seen: Vec<(SessionId, Timestamp)>) -> Result<(), StoreError> {
        seen.sort_unstable();
        let noted: Result<(), SqlError> = transact!(self.db, ShardId::HOME, |tx| session::note_seen(&mut tx, &seen));
        Ok(noted?)
    }

    async fn end_session(&self, session: SessionId, expires_at: Timestamp) -> Result<(), StoreError> {
        lane_call!(self.lanes, Call::EndSession(session, expires_at) => Answer::SessionEnded)
    }

    async fn revocations(
        &self,
        after: RevocationCursor,
        limit: usize,
    ) -> Result<(Vec<Revocation>, RevocationCursor), StoreError> {
        let values = vec![after.0.into(), limit.into()];
        let rows = self.db.read(self.db.server_of(ShardId::HOME), REVOCATIONS, values).await?;
        let rows = rows.into_iter().map(row::revocation).collect::<Result<Vec<_>, _>>()?;
        let cursor = rows.last().map_or(after, |(position, _)| RevocationCursor(*position));
        Ok((rows.into_iter().map(|(_, revocation)| revocation).collect(), cursor))
    }

    async fn forget_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        let values = || vec![now.as_millis().into(), FORGET_SLICE_ROWS.into()];
        while {
            let slice: Result<u64, SqlError> =
                transact!(self.db, ShardId::HOME, |tx| tx.write(session::FORGET, values()));
            slice? == FORGET_SLICE_ROWS
        } {}
        while {
            let slice: Result<u64, SqlError> =
                transact!(self.db, ShardId::HOME, |tx| tx.write(reset::FORGET, values()));
            slice? == FORGET_SLICE_ROWS
        } {}
        let mut forgotten = 0;
        loop {
            let slice: Result<u64, SqlError> =
                transact!(self.db, ShardId::HOME, |tx| tx.write(FORGET_EXPIRED, values()));
            let slice = slice?;
            forgotten += slice;
            if slice < FORGET_SLICE_ROWS {
                return Ok(forgotten);
            }
        }
    }
}
