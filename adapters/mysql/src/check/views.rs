//! View counts: none of an article that is gone, none that changed more often than it counts.

use madang_board::ArticleId;
use madang_board::check::ViewFinding;
use madang_kernel::{Id, ShardId, StoreError};

use super::{Run, SLICE};

const COUNTS: &str = include_str!("../../sql/view/check_counts.sql");

/// Looks through every shard; each slice is one statement, and so of one moment.
pub(super) async fn compare(run: &mut Run<'_>) -> Result<(), StoreError> {
    run.parts(ShardId::all().count());
    for shard in ShardId::all() {
        let mut after = i64::MIN;
        loop {
            let values = vec![shard.number().into(), after.into(), SLICE.into()];
            let slice = run.db.read(run.db.server_of(shard), COUNTS, values).await?;
            let is_last = (slice.len() as u64) < SLICE;
            for mut cells in slice {
                after = cells.next()?;
                let article_id = ArticleId::from_raw(after);
                let (counted, version, is_gone): (i64, i64, bool) = (cells.next()?, cells.next()?, cells.next()?);
                run.report.view_counts += 1;
                if is_gone {
                    run.found(ViewFinding::CountOfGone { article_id, counted });
                }
                if version > counted {
                    run.found(ViewFinding::CountVersion { article_id, counted, version });
                }
            }
            if is_last {
                break;
            }
        }
        run.part_done();
    }
    Ok(())
}
