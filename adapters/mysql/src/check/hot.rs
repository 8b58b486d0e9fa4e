//! Hot articles: each score as its counts have it, and each kept list marked as final and in the order of the scores, which
//! no longer change.

use madang_board::check::{DayNumber, HotFinding};
use madang_engine_mysql::{SqlError, Tx, snapshot};
use madang_hot_article::{Day, HotItem, LISTED_MAX};
use madang_kernel::{Id, ShardId, StoreError};

use super::{Run, SLICE};
use crate::hot::{days, falling_score, key, lists, shard_of, tally, top};

const AFTER: &str = include_str!("../../sql/hot/after.sql");
const LIST_DAYS: &str = include_str!("../../sql/hot/check_list_days.sql");

/// Compares every day.
pub(super) async fn compare(run: &mut Run<'_>) -> Result<(), StoreError> {
    let days = days(run.db).await?;
    run.parts(days.len());
    for day in &days {
        let server = run.db.server_of(shard_of(*day));
        let mut after = Some(i64::MIN);
        while let Some(from) = after {
            let slice: Result<Slice, SqlError> = snapshot!(server, |tx| scores(&mut tx, *day, from));
            let slice = slice?;
            run.report.hot_scores += slice.scores;
            slice.findings.into_iter().for_each(|finding| run.found(finding));
            after = slice.next;
        }
        let finding: Result<Option<HotFinding>, SqlError> = snapshot!(server, |tx| list(&mut tx, *day));
        if let Some(finding) = finding? {
            run.found(finding);
        }
        run.part_done();
    }
    lists_without_mark(run).await
}

struct Slice {
    scores: u64,
    findings: Vec<HotFinding>,
    next: Option<i64>,
}

async fn scores(tx: &mut Tx<'_>, day: Day, from: i64) -> Result<Slice, SqlError> {
    let mut slice = Slice { scores: 0, findings: Vec::new(), next: None };
    let mut last = from;
    for mut cells in tx.read(AFTER, [key(day), vec![from.into(), SLICE.into()]].concat()).await? {
        let (article_id, tally) = tally(&mut cells)?;
        let (stored, counted): (i64, i64) = (-cells.next::<i64>()?, -falling_score(tally));
        if stored != counted {
            slice.findings.push(HotFinding::Score { day: DayNumber(day.number()), article_id, stored, counted });
        }
        slice.scores += 1;
        last = article_id.raw();
    }
    slice.next = (slice.scores == SLICE).then_some(last);
    Ok(slice)
}

/// Deletions leave list and ranking alike, so a kept list is always how the ranking begins.
async fn list(tx: &mut Tx<'_>, day: Day) -> Result<Option<HotFinding>, SqlError> {
    let Some(kept) = lists(tx, &[day]).await?.pop().filter(|list| list.is_final) else { return Ok(None) };
    let scored = top(tx, day, LISTED_MAX).await?;
    let differs = |(place, item): &(usize, &HotItem)| scored.get(*place) != Some(*item);
    let different = kept.items.iter().enumerate().find(differs);
    Ok(different.map(|(place, item)| HotFinding::ListDiffers {
        day: DayNumber(day.number()),
        place: place + 1,
        listed: item.article_id,
        scored: scored.get(place).map(|item| item.article_id),
    }))
}

async fn lists_without_mark(run: &mut Run<'_>) -> Result<(), StoreError> {
    for (server, shards) in run.db.holders() {
        for mut cells in run.db.read(&*server, LIST_DAYS, Vec::new()).await? {
            let (shard, number): (u8, i64) = (cells.next()?, cells.next()?);
            if ShardId::new(shard).is_some_and(|shard| !shards.contains(&shard)) {
                continue;
            }
            let day = Day::from_number(number).filter(|day| Some(shard_of(*day)) == ShardId::new(shard));
            let is_final = match day {
                // A day that is none is none that is final.
                None => Ok(false),
                Some(day) => snapshot!(server, |tx| crate::hot::is_final(&mut tx, day)),
            };
            if !is_final? {
                run.found(HotFinding::ListWithoutMark { day: DayNumber(number) });
            }
        }
    }
    Ok(())
}
