//! Rows of members and revocations, read back into values.

use madang_kernel::{Id, MemberId, Role, SessionId, Timestamp};
use madang_member::{Credentials, Member, Revocation};

use crate::errors::SqlError;
use crate::transaction::Cells;

/// Columns: id, name, role, created.
pub(super) fn member(cells: &mut Cells) -> Result<Member, SqlError> {
    Ok(Member {
        member_id: MemberId::from_raw(cells.next()?),
        name: cells.next()?,
        role: role(&cells.next::<String>()?)?,
        created_at: Timestamp::from_millis(cells.next()?),
    })
}

/// Columns: the member's, then the password's hash.
pub(super) fn credentials(mut cells: Cells) -> Result<Credentials, SqlError> {
    Ok(Credentials { member: member(&mut cells)?, password_hash: cells.next()? })
}

/// Columns: position, session, its expiry, member, their role.
pub(super) fn revocation(mut cells: Cells) -> Result<(i64, Revocation), SqlError> {
    let position = cells.next()?;
    let (session, expires_at): (Option<i64>, Option<i64>) = (cells.next()?, cells.next()?);
    let (member, role_name): (Option<i64>, Option<String>) = (cells.next()?, cells.next()?);
    let revocation = match (session, expires_at, member, role_name) {
        (Some(session), Some(expires_at), None, None) => Revocation::SessionEnded {
            session_id: SessionId::from_raw(session),
            expires_at: Timestamp::from_millis(expires_at),
        },
        (None, None, Some(member), Some(name)) => {
            Revocation::RoleChanged { member_id: MemberId::from_raw(member), role: role(&name)? }
        }
        _ => return Err(SqlError::defect(format!("revocation {position} is neither a session's nor a member's"))),
    };
    Ok((position, revocation))
}

/// How a role is written in its column.
pub(super) fn role_name(role: Role) -> &'static str {
    match role {
        Role::Member => "member",
        Role::Moderator => "moderator",
        Role::Admin => "admin",
    }
}

fn role(name: &str) -> Result<Role, SqlError> {
    match name {
        "member" => Ok(Role::Member),
        "moderator" => Ok(Role::Moderator),
        "admin" => Ok(Role::Admin),
        other => Err(SqlError::defect(format!("unknown role \"{other}\""))),
    }
}
