//! Rows of members and revocations, read back into values.

use madang_board::{MemberId, Role, SessionId};
use madang_engine_mysql::{Cells, SqlError};
use madang_kernel::{Id, Timestamp};
use madang_member::{Member, MemberRecord, Revocation, Standing};

use crate::named;

/// Columns: id, name, role, created.
pub(super) fn member(cells: &mut Cells) -> Result<Member, SqlError> {
    Ok(Member {
        member_id: MemberId::from_raw(cells.next()?),
        name: cells.next()?,
        role: named("role", &cells.next::<String>()?, Role::named)?,
        created_at: Timestamp::from_millis(cells.next()?),
    })
}

/// Columns: the member's, then the password's hash, then how they stand.
pub(super) fn record(mut cells: Cells) -> Result<MemberRecord, SqlError> {
    let (member, password_hash) = (member(&mut cells)?, cells.next()?);
    Ok(MemberRecord { member, password_hash, standing: standing(cells.next()?)? })
}

/// How a standing is written in its column.
pub(super) fn standing_json(standing: &Standing) -> String {
    // Numbers and texts into memory: there is nothing that could fail.
    serde_json::to_string(standing).unwrap_or_default()
}

/// Without one nothing has changed.
fn standing(json: Option<String>) -> Result<Standing, SqlError> {
    json.map_or(Ok(Standing::default()), |json| serde_json::from_str(&json).map_err(SqlError::defect))
}

/// Columns: position, session, its expiry, member, their role, how they stand.
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
            let standing = standing(cells.next()?)?;
            Revocation::MemberChanged {
                member_id: MemberId::from_raw(member),
                role: named("role", &name, Role::named)?,
                standing,
            }
        }
        _ => return Err(SqlError::defect(format!("revocation {position} is neither a session's nor a member's"))),
    };
    Ok((position, revocation))
}
