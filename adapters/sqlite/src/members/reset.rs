//! Links by which members choose a new password.

use madang_board::{MemberId, Role};
use madang_engine_sqlite::Statements as _;
use madang_kernel::{Id, StoreError, Timestamp};
use madang_member::{Change, ChangeMember, PasswordReset, ResetDigest};
use rusqlite::{Connection, Row, params};

const PUT: &str = include_str!("../../sql/member/put_reset.sql");
const FIND: &str = include_str!("../../sql/member/find_reset.sql");
const OF_MEMBER: &str = include_str!("../../sql/member/reset_of_member.sql");
const REMOVE: &str = include_str!("../../sql/member/remove_reset.sql");
const VOID: &str = include_str!("../../sql/member/void_resets.sql");
const FORGET: &str = include_str!("../../sql/member/forget_resets.sql");

pub(super) fn find(tx: &Connection, digest: ResetDigest) -> Result<Option<PasswordReset>, StoreError> {
    tx.find(FIND, [digest], record)
}

/// The link that a change depends on.
pub(super) fn needed(tx: &Connection, member: MemberId, change: &Change) -> Result<Option<PasswordReset>, StoreError> {
    match change {
        Change::UseReset { .. } => tx.find(OF_MEMBER, [member.raw()], record),
        _ => Ok(None),
    }
}

/// What a change means for the link of its member, whose role was this before, and for all links.
pub(super) fn follow(tx: &Connection, change: &ChangeMember, before: Role) -> Result<(), StoreError> {
    let member = change.member_id;
    match &change.change {
        Change::IssueReset(reset, _) => {
            tx.run(PUT, params![member.raw(), reset.digest, reset.expires_at.as_millis()])?;
        }
        change_of_role if change_of_role.voids_links(before) => {
            tx.run(VOID, [change.changed_at.as_millis()])?;
        }
        // A link that was made for somebody of another role is not for who they are now.
        Change::UseReset { .. } | Change::Password { .. } | Change::Role(_) => {
            tx.run(REMOVE, [member.raw()])?;
        }
        _ => {}
    }
    Ok(())
}

/// Removes up to `limit` that are no longer good; returns how many.
pub(super) fn forget(tx: &Connection, now: Timestamp, limit: usize) -> Result<usize, StoreError> {
    tx.run(FORGET, [now.as_millis(), madang_engine_sqlite::limit(limit)])
}

fn record(row: &Row<'_>) -> rusqlite::Result<PasswordReset> {
    Ok(PasswordReset {
        member_id: MemberId::from_raw(row.get(0)?),
        digest: row.get(1)?,
        expires_at: Timestamp::from_millis(row.get(2)?),
    })
}
