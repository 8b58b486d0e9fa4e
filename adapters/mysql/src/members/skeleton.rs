//! What the names of members from before skeletons were kept look like.

use madang_board::MemberId;
use madang_engine_mysql::{SqlError, Tx, bytes};
use madang_kernel::Id;
use madang_member::{name_skeleton, second_skeleton};

const WITHOUT: &str = include_str!("../../sql/member/without_skeleton.sql");
const GIVE: &str = include_str!("../../sql/member/give_skeleton.sql");

/// Gives up to `limit` members theirs; returns to how many. Beside another process that does the same nothing is given twice.
pub(super) async fn give(tx: &mut Tx<'_>, limit: usize) -> Result<usize, SqlError> {
    let members = tx.read(WITHOUT, vec![limit.into()]).await?;
    let count = members.len();
    for mut cells in members {
        let (member, name): (i64, String) = (cells.next()?, cells.next()?);
        for skeleton in [name_skeleton(&name), second_skeleton(&name, MemberId::from_raw(member))] {
            if tx.write(GIVE, vec![bytes(skeleton), member.into()]).await? > 0 {
                break;
            }
        }
    }
    Ok(count)
}
