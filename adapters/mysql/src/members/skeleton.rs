//! What names look like: which looks are taken, and those of members from before skeletons were kept.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use madang_board::MemberId;
use madang_engine_mysql::{Many, SqlError, Tx, bytes};
use madang_kernel::Id;
use madang_member::{name_skeleton, second_skeleton};

static TAKEN: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/member/taken_skeletons.sql")));
const WITHOUT: &str = include_str!("../../sql/member/without_skeleton.sql");
const GIVE: &str = include_str!("../../sql/member/give_skeleton.sql");

/// Of some looks those that somebody has.
pub(super) async fn taken(tx: &mut Tx<'_>, wanted: BTreeSet<&str>) -> Result<HashSet<Vec<u8>>, SqlError> {
    let rows = tx.read_many(&TAKEN, wanted.into_iter().map(|text| vec![bytes(text)]).collect()).await?;
    rows.into_iter().map(|mut cells| cells.next()).collect()
}

/// Gives up to `limit` members theirs; returns to how many. Beside another process that does the same nothing is given twice.
pub(super) async fn give(tx: &mut Tx<'_>, limit: usize) -> Result<usize, SqlError> {
    let mut members: Vec<(i64, String)> = Vec::new();
    for mut cells in tx.read(WITHOUT, vec![limit.into()]).await? {
        members.push((cells.next()?, cells.next()?));
    }
    let looks: Vec<String> = members.iter().map(|(_, name)| name_skeleton(name)).collect();
    let mut taken = taken(tx, looks.iter().map(String::as_str).collect()).await?;
    for ((member, name), skeleton) in members.iter().zip(looks) {
        let is_free = taken.insert(skeleton.as_bytes().to_vec());
        let kept = if is_free { skeleton } else { second_skeleton(name, MemberId::from_raw(*member)) };
        tx.write(GIVE, vec![bytes(kept), (*member).into()]).await?;
    }
    Ok(members.len())
}
