//! One like a transaction, many transactions at once, with the counter kept in one of two ways; what grouped counting is
//! compared with.

use std::sync::{Arc, LazyLock};

use madang_kernel::{Clock, ShardId, StoreError};
use madang_like::{LikeAnswer, LikeCount, LikeOutcome, LikeState, Replay, Replayed};

use super::call::Change;
use super::decide::{key, pair, place, report};
use crate::errors::{PART, SqlError};
use crate::lane::{Decision, Fold};
use crate::statement::Many;
use crate::transaction::{Tx, bytes};

static COUNTS: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/like/counts.sql")));
static EXISTING: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/like/existing.sql")));
static GONE: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/like/gone.sql")));
static DELETE: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/like/delete.sql")));
const ADD: &str = include_str!("../../sql/like/add.sql");
const ADD_TO_COUNT: &str = include_str!("../../sql/like/add_to_count.sql");
const OPEN_COUNT: &str = include_str!("../../sql/like/open_count.sql");
const SET_COUNT_IF: &str = include_str!("../../sql/like/set_count_if.sql");

/// Times that an optimistic call reads and tries anew before it is refused.
const OPTIMISTIC_ATTEMPTS_MAX: usize = 64;

/// How the counter is kept.
#[derive(Clone, Copy)]
pub(super) enum Way {
    /// The database adds to it where it stands.
    InPlace,
    /// It is written only if its version is still the one read.
    Optimistic,
}

/// Decides one call at a time.
pub(super) struct SingleFold {
    way: Way,
    clock: Arc<dyn Clock>,
}

impl SingleFold {
    pub(super) fn new(way: Way, clock: Arc<dyn Clock>) -> Self {
        Self { way, clock }
    }

    async fn in_place(&self, tx: &mut Tx<'_>, change: &Change) -> Result<Decision<LikeOutcome>, SqlError> {
        let liked = change.row.is_some();
        let changed = is_liked(tx, change).await? != liked && store_row(tx, change).await?;
        if changed {
            let mut values = key(&place(change.article_id));
            values.push(if liked { 1i64 } else { -1 }.into());
            tx.write(ADD_TO_COUNT, values).await?;
        }
        // Under the lock of the counter, which whoever marks the article takes too.
        if is_gone(tx, change).await? {
            tx.undo();
            return Ok(Ok(LikeOutcome::Gone));
        }
        let committed = count(tx, change).await?;
        if changed {
            let (one, none) = (vec![change.member_id], Vec::new());
            let (liked, unliked) = if liked { (one, none) } else { (none, one) };
            self.report(tx, change, Replayed { count: committed, liked, unliked });
        }
        let state = LikeState { liked, like_count: committed.like_count };
        Ok(Ok(LikeOutcome::Done(LikeAnswer { state, changed, committed })))
    }

    async fn optimistic(&self, tx: &mut Tx<'_>, change: &Change) -> Result<Decision<LikeOutcome>, SqlError> {
        for _ in 0..OPTIMISTIC_ATTEMPTS_MAX {
            // Each read sees the moment it is made in. The row is read after the counter: if that is unchanged in the end,
            // so is the row.
            let seen = count(tx, change).await?;
            let mut replay = Replay::new(seen, is_liked(tx, change).await?.then_some(change.member_id));
            let (state, changed) = replay.apply(change.member_id, change.row.is_some());
            let replayed = replay.finish();
            if changed && !write_count(tx, change, seen, replayed.count).await? {
                continue;
            }
            if is_gone(tx, change).await? {
                tx.undo();
                return Ok(Ok(LikeOutcome::Gone));
            }
            let answer = LikeAnswer { state, changed, committed: replayed.count };
            if changed {
                store_row(tx, change).await?;
                self.report(tx, change, replayed);
            }
            return Ok(Ok(LikeOutcome::Done(answer)));
        }
        tx.undo();
        Ok(Err(StoreError::unavailable(PART, "others were faster each time")))
    }

    fn report(&self, tx: &mut Tx<'_>, change: &Change, replayed: Replayed) {
        tx.report(report(change.article_id, replayed, change.event_id, self.clock.now()));
    }
}

impl Fold for SingleFold {
    type Call = Change;
    type Answer = LikeOutcome;

    fn shard(call: &Change) -> ShardId {
        ShardId::of_parts(call.article_id)
    }

    /// There is one call, since what is undone is undone for all of them.
    async fn decide(&self, tx: &mut Tx<'_>, calls: &[Change]) -> Result<Vec<Decision<LikeOutcome>>, SqlError> {
        let mut decisions = Vec::with_capacity(calls.len());
        for call in calls {
            decisions.push(match self.way {
                Way::InPlace => self.in_place(tx, call).await?,
                Way::Optimistic => self.optimistic(tx, call).await?,
            });
        }
        Ok(decisions)
    }
}

async fn is_liked(tx: &mut Tx<'_>, change: &Change) -> Result<bool, SqlError> {
    let pair = pair(&(place(change.article_id), change.member_id));
    Ok(!tx.read_many(&EXISTING, vec![pair]).await?.is_empty())
}

async fn is_gone(tx: &mut Tx<'_>, change: &Change) -> Result<bool, SqlError> {
    Ok(!tx.read_many(&GONE, vec![key(&place(change.article_id))]).await?.is_empty())
}

/// The counter; 0 at version 0 when there is none yet.
async fn count(tx: &mut Tx<'_>, change: &Change) -> Result<LikeCount, SqlError> {
    let Some(mut cells) = tx.read_many(&COUNTS, vec![key(&place(change.article_id))]).await?.pop() else {
        return Ok(LikeCount::default());
    };
    let _: i64 = cells.next()?;
    Ok(LikeCount { like_count: cells.next()?, version: cells.next()? })
}

/// Writes or removes the row; false when it was so already.
async fn store_row(tx: &mut Tx<'_>, change: &Change) -> Result<bool, SqlError> {
    let mut values = pair(&(place(change.article_id), change.member_id));
    let Some(row) = &change.row else { return Ok(tx.reach_many(&DELETE, vec![values]).await? > 0) };
    values.extend([bytes(row.member_name.as_str()), row.created_at.as_millis().into()]);
    Ok(tx.write(ADD, values).await? > 0)
}

/// Replaces the counter that was `seen`; false when it is no longer that.
async fn write_count(tx: &mut Tx<'_>, change: &Change, seen: LikeCount, count: LikeCount) -> Result<bool, SqlError> {
    let key = key(&place(change.article_id));
    let written = if seen.version == 0 {
        tx.write(OPEN_COUNT, [key, vec![count.like_count.into(), count.version.into()]].concat()).await?
    } else {
        tx.write(SET_COUNT_IF, [vec![count.like_count.into()], key, vec![seen.version.into()]].concat()).await?
    };
    Ok(written > 0)
}
