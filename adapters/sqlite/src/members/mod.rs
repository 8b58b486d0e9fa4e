//! Members and revocations on SQLite.

mod reset;
mod revocation;
mod row;
mod session;
mod skeleton;

use async_trait::async_trait;
use madang_board::{MemberId, SessionId};
use madang_engine_sqlite::Statements as _;
use madang_kernel::{Id, StoreError, Timestamp};
use madang_member::{
    ChangeMember, ChangeOutcome, CreateMember, Member, MemberRecord, MemberStore, NewMember, PasswordReset,
    ResetDigest, Revocation, RevocationCursor, SessionRecord,
};
use rusqlite::{Connection, params};

use crate::{Priority, Sqlite, Tx, moderation};

const INSERT: &str = include_str!("../../sql/member/insert.sql");
const FIND: &str = include_str!("../../sql/member/find.sql");
const FIND_CREDENTIALS: &str = include_str!("../../sql/member/find_credentials.sql");
const FIND_RECORD: &str = include_str!("../../sql/member/find_record.sql");
const STORE_RECORD: &str = include_str!("../../sql/member/store_record.sql");
const HAS_OTHER_ADMIN: &str = include_str!("../../sql/member/has_other_admin.sql");
const HAS_ADMIN: &str = include_str!("../../sql/member/has_admin.sql");
const STAFF: &str = include_str!("../../sql/member/staff.sql");

/// Members seeded, or sessions forgotten, by one call to the writer: a slice of background work stays short.
const SLICE_ROWS: usize = 200;

/// Members in one SQLite file.
#[derive(Clone)]
pub struct SqliteMembers {
    db: Sqlite,
}

impl SqliteMembers {
    /// The store in `db`.
    pub fn new(db: Sqlite) -> Self {
        Self { db }
    }
}

#[async_trait]
impl MemberStore for SqliteMembers {
    async fn create(&self, new: NewMember) -> Result<CreateMember, StoreError> {
        let inserted = self.db.write(Priority::Foreground, move |tx| insert(tx, &new)).await?;
        Ok(if inserted { CreateMember::Created } else { CreateMember::NameTaken })
    }

    async fn create_many(&self, new: Vec<NewMember>) -> Result<u64, StoreError> {
        let mut created = 0;
        let mut rest = new.into_iter();
        loop {
            let slice: Vec<NewMember> = rest.by_ref().take(SLICE_ROWS).collect();
            if slice.is_empty() {
                return Ok(created);
            }
            created += self.db.write(Priority::Background, move |tx| insert_slice(tx, &slice)).await?;
        }
    }

    async fn give_skeletons(&self, limit: usize) -> Result<usize, StoreError> {
        self.db.write(Priority::Background, move |tx| skeleton::give(tx, limit)).await
    }

    async fn staff(&self, limit: usize) -> Result<Vec<Member>, StoreError> {
        self.db.read(move |tx| tx.list(STAFF, [madang_engine_sqlite::limit(limit)], row::member)).await
    }

    async fn find(&self, member: MemberId) -> Result<Option<Member>, StoreError> {
        self.db.read(move |tx| tx.find(FIND, [member.raw()], row::member)).await
    }

    async fn find_credentials(&self, name_key: &str) -> Result<Option<MemberRecord>, StoreError> {
        let name_key = name_key.to_owned();
        self.db.read(move |tx| tx.find(FIND_CREDENTIALS, [name_key], row::record)).await
    }

    async fn change(&self, change: ChangeMember) -> Result<ChangeOutcome, StoreError> {
        self.db.write(Priority::Foreground, move |tx| self::change(tx, &change)).await
    }

    async fn find_reset(&self, digest: ResetDigest) -> Result<Option<PasswordReset>, StoreError> {
        self.db.read(move |tx| reset::find(tx, digest)).await
    }

    async fn has_admin(&self) -> Result<bool, StoreError> {
        self.db.read(|tx| tx.one(HAS_ADMIN, [], |row| row.get(0))).await
    }

    async fn add_session(&self, session: SessionRecord) -> Result<(), StoreError> {
        self.db.write(Priority::Foreground, move |tx| session::add(tx, &session)).await
    }

    async fn sessions(&self, member: MemberId, limit: usize) -> Result<Vec<SessionRecord>, StoreError> {
        self.db.read(move |tx| session::of_member(tx, member, limit)).await
    }

    async fn find_session(&self, session: SessionId) -> Result<Option<SessionRecord>, StoreError> {
        self.db.read(move |tx| session::find(tx, session)).await
    }

    async fn note_seen(&self, seen: Vec<(SessionId, Timestamp)>) -> Result<(), StoreError> {
        self.db.write(Priority::Background, move |tx| session::note_seen(tx, &seen)).await
    }

    async fn end_session(&self, session: SessionId, expires_at: Timestamp) -> Result<(), StoreError> {
        self.db.write(Priority::Foreground, move |tx| revocation::end_session(tx, session, expires_at)).await
    }

    async fn revocations(
        &self,
        after: RevocationCursor,
        limit: usize,
    ) -> Result<(Vec<Revocation>, RevocationCursor), StoreError> {
        self.db.read(move |tx| revocation::after(tx, after, limit)).await
    }

    async fn forget_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        let forget = move |tx: &Tx| session::forget(tx, now, SLICE_ROWS);
        while self.db.write(Priority::Background, forget).await? == SLICE_ROWS {}
        let forget = move |tx: &Tx| reset::forget(tx, now, SLICE_ROWS);
        while self.db.write(Priority::Background, forget).await? == SLICE_ROWS {}
        let mut forgotten = 0;
        loop {
            let call = move |tx: &Tx| revocation::forget_expired(tx, now, SLICE_ROWS);
            let slice = self.db.write(Priority::Background, call).await?;
            forgotten += slice as u64;
            if slice < SLICE_ROWS {
                return Ok(forgotten);
            }
        }
    }
}

/// False when somebody has the name or its looks.
fn insert(tx: &Connection, new: &NewMember) -> Result<bool, StoreError> {
    let NewMember { member, name_key, skeleton, password_hash } = new;
    let inserted = tx.run(
        INSERT,
        params![
            member.member_id.raw(),
            member.name,
            name_key,
            skeleton,
            member.role.name(),
            password_hash,
            member.created_at.as_millis(),
        ],
    )?;
    Ok(inserted == 1)
}

fn insert_slice(tx: &Connection, slice: &[NewMember]) -> Result<u64, StoreError> {
    let mut created = 0;
    for new in slice {
        created += u64::from(insert(tx, new)?);
    }
    Ok(created)
}

/// There is one writer, so nothing changes between the look and the change.
fn change(tx: &Connection, change: &ChangeMember) -> Result<ChangeOutcome, StoreError> {
    let member = change.member_id.raw();
    let Some(found) = tx.find(FIND_RECORD, [member], row::record)? else {
        return Ok(ChangeOutcome::Absent);
    };
    let before = found.member.role;
    let has_other_admin = tx.one(HAS_OTHER_ADMIN, [member], |row| row.get(0))?;
    let actor = match &change.act {
        Some(act) => tx.find(FIND_RECORD, [act.moderator_id.raw()], row::record)?,
        None => None,
    };
    let reset = reset::needed(tx, change.member_id, &change.change)?;
    let changed = match change.decide(found, has_other_admin, actor.as_ref(), reset.as_ref()) {
        Ok(changed) => changed,
        Err(refused) => return Ok(ChangeOutcome::Refused(refused)),
    };
    let (role, standing) = (changed.member.role.name(), row::standing_json(&changed.standing));
    tx.run(STORE_RECORD, params![member, role, changed.password_hash, standing])?;
    reset::follow(tx, change, before)?;
    revocation::change_member(tx, &changed)?;
    moderation::record(tx, &change.act)?;
    Ok(ChangeOutcome::Changed(changed))
}
