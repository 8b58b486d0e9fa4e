//! What the names of members from before skeletons were kept look like.

use madang_board::MemberId;
use madang_engine_sqlite::Statements as _;
use madang_kernel::{Id, StoreError};
use madang_member::{name_skeleton, second_skeleton};
use rusqlite::{Connection, params};

const WITHOUT: &str = include_str!("../../sql/member/without_skeleton.sql");
const GIVE: &str = include_str!("../../sql/member/give_skeleton.sql");

/// Gives up to `limit` members theirs; returns to how many.
pub(super) fn give(tx: &Connection, limit: usize) -> Result<usize, StoreError> {
    let members: Vec<(i64, String)> =
        tx.list(WITHOUT, [madang_engine_sqlite::limit(limit)], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for (member, name) in &members {
        if tx.run(GIVE, params![member, name_skeleton(name)])? == 0 {
            tx.run(GIVE, params![member, second_skeleton(name, MemberId::from_raw(*member))])?;
        }
    }
    Ok(members.len())
}
