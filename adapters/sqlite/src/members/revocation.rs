//! What signed tokens do not know: ended sessions and changed members, in commit order because there is one writer.

use madang_board::{MemberId, Role, SessionId};
use madang_engine_sqlite::Statements as _;
use madang_kernel::{Id, StoreError, Timestamp};
use madang_member::{MemberRecord, Revocation, RevocationCursor};
use rusqlite::{Connection, Row, params};

use super::row;

const END_SESSION: &str = include_str!("../../sql/member/end_session.sql");
const FORGET_CHANGE: &str = include_str!("../../sql/member/forget_change.sql");
const CHANGE_MEMBER: &str = include_str!("../../sql/member/change_member.sql");
const AFTER: &str = include_str!("../../sql/member/revocations.sql");
const FORGET_EXPIRED: &str = include_str!("../../sql/member/forget_expired.sql");

pub(super) fn end_session(tx: &Connection, session: SessionId, expires_at: Timestamp) -> Result<(), StoreError> {
    tx.run(END_SESSION, [session.raw(), expires_at.as_millis()])?;
    Ok(())
}

/// Keeps one row a member, and puts it at the end, so that every process still polls it.
pub(super) fn change_member(tx: &Connection, record: &MemberRecord) -> Result<(), StoreError> {
    let (member, role) = (record.member.member_id.raw(), record.member.role.name());
    tx.run(FORGET_CHANGE, [member])?;
    tx.run(CHANGE_MEMBER, params![member, role, row::standing_json(&record.standing)])?;
    Ok(())
}

pub(super) fn after(
    tx: &Connection,
    after: RevocationCursor,
    limit: usize,
) -> Result<(Vec<Revocation>, RevocationCursor), StoreError> {
    let rows: Vec<(i64, Revocation)> = tx.list(AFTER, [after.0, madang_engine_sqlite::limit(limit)], positioned)?;
    let cursor = rows.last().map_or(after, |(position, _)| RevocationCursor(*position));
    Ok((rows.into_iter().map(|(_, revocation)| revocation).collect(), cursor))
}

/// Removes up to `limit` ended sessions whose tokens have expired; returns how many.
pub(super) fn forget_expired(tx: &Connection, now: Timestamp, limit: usize) -> Result<usize, StoreError> {
    tx.run(FORGET_EXPIRED, [now.as_millis(), madang_engine_sqlite::limit(limit)])
}

fn positioned(row: &Row<'_>) -> rusqlite::Result<(i64, Revocation)> {
    let revocation = match row.get::<_, Option<i64>>(1)? {
        Some(session) => Revocation::SessionEnded {
            session_id: SessionId::from_raw(session),
            expires_at: Timestamp::from_millis(row.get(2)?),
        },
        None => Revocation::MemberChanged {
            member_id: MemberId::from_raw(row.get(3)?),
            role: crate::named(row, 4, "role", Role::named)?,
            standing: self::row::standing(row, 5)?,
        },
    };
    Ok((row.get(0)?, revocation))
}
