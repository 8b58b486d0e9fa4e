//! Links by which members choose a new password.

use madang_board::{MemberId, Role};
use madang_engine_mysql::{Cells, SqlError, Tx, bytes};
use madang_kernel::{Id, Timestamp};
use madang_member::{Change, ChangeMember, PasswordReset, ResetDigest};

pub(super) const FIND: &str = include_str!("../../sql/member/find_reset.sql");
pub(super) const FORGET: &str = include_str!("../../sql/member/forget_resets.sql");
const PUT: &str = include_str!("../../sql/member/put_reset.sql");
const OF_MEMBER: &str = include_str!("../../sql/member/reset_of_member.sql");
const REMOVE: &str = include_str!("../../sql/member/remove_reset.sql");
const VOID: &str = include_str!("../../sql/member/void_resets.sql");

/// The link that a change depends on.
pub(super) async fn needed(
    tx: &mut Tx<'_>,
    member: MemberId,
    change: &Change,
) -> Result<Option<PasswordReset>, SqlError> {
    match change {
        Change::UseReset { .. } => tx.first(OF_MEMBER, vec![member.raw().into()]).await?.map(record).transpose(),
        _ => Ok(None),
    }
}

/// What a change means for the link of its member, whose role was this before, and for all links.
pub(super) async fn follow(tx: &mut Tx<'_>, change: &ChangeMember, before: Role) -> Result<(), SqlError> {
    let member = change.member_id;
    match &change.change {
        Change::IssueReset(reset, _) => {
            let (digest, expires_at) = (bytes(reset.digest), reset.expires_at.as_millis().into());
            tx.write(PUT, vec![member.raw().into(), digest, expires_at]).await?;
        }
        change_of_role if change_of_role.voids_links(before) => {
            tx.write(VOID, Vec::new()).await?;
        }
        // A link that was made for somebody of another role is not for who they are now.
        Change::UseReset { .. } | Change::Password { .. } | Change::Role(_) => {
            tx.write(REMOVE, vec![member.raw().into()]).await?;
        }
        _ => {}
    }
    Ok(())
}

pub(super) fn record(mut cells: Cells) -> Result<PasswordReset, SqlError> {
    let member_id = MemberId::from_raw(cells.next()?);
    let digest: Vec<u8> = cells.next()?;
    let digest = ResetDigest::try_from(digest.as_slice())
        .map_err(|_| SqlError::defect(format!("the reset of member {member_id} has no digest")))?;
    Ok(PasswordReset { member_id, digest, expires_at: Timestamp::from_millis(cells.next()?) })
}
