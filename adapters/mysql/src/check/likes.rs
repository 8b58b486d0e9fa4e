//! Likes: every counter against its rows, shard by shard in slices of one snapshot each.

use std::collections::BTreeMap;

use madang_board::ArticleId;
use madang_board::check::CheckFinding;
use madang_engine_mysql::{SqlError, Tx, snapshot};
use madang_kernel::{Id, ShardId, StoreError};

use super::{Run, SLICE};

const COUNTS: &str = include_str!("../../sql/like/check_counts.sql");
const ROWS: &str = include_str!("../../sql/like/check_rows.sql");

/// Counters and rows of the articles of one slice.
struct Slice {
    counted: BTreeMap<i64, i64>,
    rows: BTreeMap<i64, i64>,
    next: Option<i64>,
}

/// Compares every shard.
pub(super) async fn compare(run: &mut Run<'_>) -> Result<(), StoreError> {
    run.parts(ShardId::all().count());
    for shard in ShardId::all() {
        let mut after = Some(i64::MIN);
        while let Some(from) = after {
            let slice: Result<Slice, SqlError> = snapshot!(run.db.server_of(shard), |tx| slice(&mut tx, shard, from));
            let slice = slice?;
            compare_slice(run, &slice);
            after = slice.next;
        }
        run.part_done();
    }
    Ok(())
}

async fn slice(tx: &mut Tx<'_>, shard: ShardId, from: i64) -> Result<Slice, SqlError> {
    let mut counted = BTreeMap::new();
    for mut cells in tx.read(COUNTS, vec![shard.number().into(), from.into(), SLICE.into()]).await? {
        counted.insert(cells.next()?, cells.next()?);
    }
    let next = counted.keys().next_back().copied().filter(|_| counted.len() as u64 == SLICE);
    let mut rows = BTreeMap::new();
    let range = vec![shard.number().into(), from.into(), next.unwrap_or(i64::MAX).into()];
    for mut cells in tx.read(ROWS, range).await? {
        rows.insert(cells.next()?, cells.next()?);
    }
    Ok(Slice { counted, rows, next })
}

fn compare_slice(run: &mut Run<'_>, slice: &Slice) {
    run.report.likes += slice.rows.values().sum::<i64>().cast_unsigned();
    for (article, counted) in &slice.counted {
        let (counted, rows) = (*counted, slice.rows.get(article).copied().unwrap_or(0));
        if counted != rows {
            run.found(CheckFinding::LikeCount { article_id: ArticleId::from_raw(*article), counted, rows });
        }
    }
    for (article, rows) in slice.rows.iter().filter(|(article, _)| !slice.counted.contains_key(article)) {
        run.found(CheckFinding::UncountedLikes { article_id: ArticleId::from_raw(*article), rows: *rows });
    }
}
