//! Rows of members, read back into values.

use madang_board::{MemberId, Role};
use madang_kernel::{Id, Timestamp};
use madang_member::{Member, MemberRecord, Standing};
use rusqlite::Row;
use rusqlite::types::Type;

use crate::named;

/// Columns: id, name, role, created.
pub(super) fn member(row: &Row<'_>) -> rusqlite::Result<Member> {
    Ok(Member {
        member_id: MemberId::from_raw(row.get(0)?),
        name: row.get(1)?,
        role: named(row, 2, "role", Role::named)?,
        created_at: Timestamp::from_millis(row.get(3)?),
    })
}

/// Columns: the member's, then the password's hash, then how they stand.
pub(super) fn record(row: &Row<'_>) -> rusqlite::Result<MemberRecord> {
    Ok(MemberRecord { member: member(row)?, password_hash: row.get(4)?, standing: standing(row, 5)? })
}

/// How a standing is written in its column.
pub(super) fn standing_json(standing: &Standing) -> String {
    // Numbers and texts into memory: there is nothing that could fail.
    serde_json::to_string(standing).unwrap_or_default()
}

/// The standing written in a column; without one nothing has changed.
pub(super) fn standing(row: &Row<'_>, column: usize) -> rusqlite::Result<Standing> {
    let Some(text) = row.get_ref(column)?.as_str_or_null()? else { return Ok(Standing::default()) };
    let unreadable = |error| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error));
    serde_json::from_str(text).map_err(unreadable)
}
