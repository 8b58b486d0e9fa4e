//! Sessions as their owners list them.

use madang_board::{MemberId, SessionId};
use madang_engine_sqlite::Statements as _;
use madang_kernel::{Id, StoreError, Timestamp};
use madang_member::SessionRecord;
use rusqlite::{Connection, Row, params};

const ADD: &str = include_str!("../../sql/member/add_session.sql");
const OF_MEMBER: &str = include_str!("../../sql/member/sessions.sql");
const FIND: &str = include_str!("../../sql/member/find_session.sql");
const NOTE_SEEN: &str = include_str!("../../sql/member/note_seen.sql");
const FORGET: &str = include_str!("../../sql/member/forget_sessions.sql");

pub(super) fn add(tx: &Connection, session: &SessionRecord) -> Result<(), StoreError> {
    let SessionRecord { session_id, member_id, created_at, last_seen_at, expires_at, passwords, agent } = session;
    let (created_at, last_seen_at) = (created_at.as_millis(), last_seen_at.as_millis());
    let (session, member, expires_at) = (session_id.raw(), member_id.raw(), expires_at.as_millis());
    tx.run(ADD, params![session, member, created_at, last_seen_at, expires_at, passwords, agent])?;
    Ok(())
}

pub(super) fn of_member(tx: &Connection, member: MemberId, limit: usize) -> Result<Vec<SessionRecord>, StoreError> {
    tx.list(OF_MEMBER, [member.raw(), madang_engine_sqlite::limit(limit)], record)
}

pub(super) fn find(tx: &Connection, session: SessionId) -> Result<Option<SessionRecord>, StoreError> {
    tx.find(FIND, [session.raw()], record)
}

pub(super) fn note_seen(tx: &Connection, seen: &[(SessionId, Timestamp)]) -> Result<(), StoreError> {
    for (session, at) in seen {
        tx.run(NOTE_SEEN, [session.raw(), at.as_millis()])?;
    }
    Ok(())
}

/// Removes up to `limit` sessions that have expired; returns how many.
pub(super) fn forget(tx: &Connection, now: Timestamp, limit: usize) -> Result<usize, StoreError> {
    tx.run(FORGET, [now.as_millis(), madang_engine_sqlite::limit(limit)])
}

fn record(row: &Row<'_>) -> rusqlite::Result<SessionRecord> {
    Ok(SessionRecord {
        session_id: SessionId::from_raw(row.get(0)?),
        member_id: MemberId::from_raw(row.get(1)?),
        created_at: Timestamp::from_millis(row.get(2)?),
        last_seen_at: Timestamp::from_millis(row.get(3)?),
        expires_at: Timestamp::from_millis(row.get(4)?),
        passwords: row.get(5)?,
        agent: row.get(6)?,
    })
}
