//! Rows of members, read back into values.

use madang_kernel::{Id, MemberId, Role, Timestamp};
use madang_member::{Credentials, Member};
use rusqlite::Row;
use rusqlite::types::Type;

/// Columns: id, name, role, created.
pub(super) fn member(row: &Row<'_>) -> rusqlite::Result<Member> {
    Ok(Member {
        member_id: MemberId::from_raw(row.get(0)?),
        name: row.get(1)?,
        role: role(row, 2)?,
        created_at: Timestamp::from_millis(row.get(3)?),
    })
}

/// Columns: the member's, then the password's hash.
pub(super) fn credentials(row: &Row<'_>) -> rusqlite::Result<Credentials> {
    Ok(Credentials { member: member(row)?, password_hash: row.get(4)? })
}

/// How a role is written in its column.
pub(super) fn role_name(role: Role) -> &'static str {
    match role {
        Role::Member => "member",
        Role::Moderator => "moderator",
        Role::Admin => "admin",
    }
}

/// The role written in a column; one nobody knows is a defect.
pub(super) fn role(row: &Row<'_>, column: usize) -> rusqlite::Result<Role> {
    match row.get_ref(column)?.as_str()? {
        "member" => Ok(Role::Member),
        "moderator" => Ok(Role::Moderator),
        "admin" => Ok(Role::Admin),
        other => {
            let reason = format!("unknown role \"{other}\"");
            Err(rusqlite::Error::FromSqlConversionFailure(column, Type::Text, reason.into()))
        }
    }
}
