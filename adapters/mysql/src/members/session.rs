//! Sessions as their owners list them.

use madang_board::{MemberId, SessionId};
use madang_engine_mysql::{Cells, SqlError, Tx, Values, bytes};
use madang_kernel::{Id, Timestamp};
use madang_member::SessionRecord;

pub(super) const ADD: &str = include_str!("../../sql/member/add_session.sql");
pub(super) const OF_MEMBER: &str = include_str!("../../sql/member/sessions.sql");
pub(super) const FIND: &str = include_str!("../../sql/member/find_session.sql");
pub(super) const FORGET: &str = include_str!("../../sql/member/forget_sessions.sql");
const NOTE_SEEN: &str = include_str!("../../sql/member/note_seen.sql");

/// The columns of a session, in the order of the statements.
pub(super) fn values(session: &SessionRecord) -> Values {
    vec![
        session.session_id.raw().into(),
        session.member_id.raw().into(),
        session.created_at.as_millis().into(),
        session.last_seen_at.as_millis().into(),
        session.expires_at.as_millis().into(),
        session.passwords.into(),
        bytes(session.agent.as_str()),
    ]
}

/// In the order of their ids, so that two processes wait for each other and not for ever.
pub(super) async fn note_seen(tx: &mut Tx<'_>, seen: &[(SessionId, Timestamp)]) -> Result<(), SqlError> {
    for (session, at) in seen {
        tx.write(NOTE_SEEN, vec![at.as_millis().into(), session.raw().into()]).await?;
    }
    Ok(())
}

pub(super) fn record(mut cells: Cells) -> Result<SessionRecord, SqlError> {
    Ok(SessionRecord {
        session_id: SessionId::from_raw(cells.next()?),
        member_id: MemberId::from_raw(cells.next()?),
        created_at: Timestamp::from_millis(cells.next()?),
        last_seen_at: Timestamp::from_millis(cells.next()?),
        expires_at: Timestamp::from_millis(cells.next()?),
        passwords: cells.next()?,
        agent: cells.next()?,
    })
}
