//! A batch of calls: decided by the replay on what was loaded under the articles' locks, and written once.

use std::sync::{Arc, LazyLock};

use madang_board::ArticleId;
use madang_comment::CommentCount;
use madang_comment::replay::{CommentCounter, Replay, Replayed};
use madang_engine_mysql::{Decided, Decision, Fold, Many, SqlError, Tx, Values, bytes, idempotency};
use madang_event::Envelope;
use madang_kernel::{Clock, Id, ShardId};
use mysql_async::Value;

use super::call::{Answer, Call};
use super::load::load;
use super::row;
use crate::moderation;
use crate::several_servers::parts_key;

static INSERT: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/comment/insert.sql")));
static DELETE: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/comment/delete.sql")));
static SET_COUNTS: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/comment/set_counts.sql")));
static DELETE_COUNTS: LazyLock<Many> =
    LazyLock::new(|| Many::parse(include_str!("../../sql/comment/delete_counts.sql")));
static MARK_GONE: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/comment/mark_gone.sql")));
static SET_REMOVED: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/comment/set_removed.sql")));
static DELETE_REMOVED: LazyLock<Many> =
    LazyLock::new(|| Many::parse(include_str!("../../sql/comment/delete_removed.sql")));
const CLEAN_UP_REMOVED: &str = include_str!("../../sql/comment/clean_up_removed.sql");
const UPDATE: &str = include_str!("../../sql/comment/update.sql");
const RESTORE_COUNT: &str = include_str!("../../sql/comment/restore_count.sql");
static UNMARK_GONE: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/comment/unmark_gone.sql")));
const CLEAN_UP: &str = include_str!("../../sql/comment/clean_up.sql");

/// Decides the calls of a batch.
pub(super) struct CommentFold {
    pub(super) clock: Arc<dyn Clock>,
}

impl Fold for CommentFold {
    type Call = Call;
    type Answer = Answer;
    type Event = Envelope;

    fn shard(call: &Call) -> ShardId {
        call.shard()
    }

    async fn decide(&self, tx: &mut Tx<'_>, calls: &[Call]) -> Result<Decided<Answer, Envelope>, SqlError> {
        let now = self.clock.now();
        let mut replay = Replay::new(load(tx, calls, now).await?, now);
        let mut decisions: Vec<Decision<Answer>> = calls.iter().map(|call| apply(&mut replay, call)).collect();
        let may_go: Vec<bool> = calls.iter().map(|call| call.article().is_some_and(|id| replay.is_gone(id))).collect();
        let mut replayed = replay.finish();
        let mut uncounted = std::mem::take(&mut replayed.uncounted);
        let events = write(tx, replayed).await?;
        for ((call, decision), may_go) in calls.iter().zip(&mut decisions).zip(may_go) {
            match call {
                Call::CleanUp(article, slice) if may_go => {
                    *decision = Ok(Answer::CleanedUp(clean_up(tx, *article, *slice).await?));
                }
                Call::Restore(article) if may_go => {
                    restore(tx, *article).await?;
                    uncounted.retain(|uncounted| uncounted != article);
                }
                _ => {}
            }
        }
        // A batch that wrote nothing is rolled back, and counters that were made only to be locked go with it.
        if tx.wrote() {
            tx.set_many(&DELETE_COUNTS, uncounted.into_iter().map(parts_key).collect()).await?;
        }
        Ok(Decided { decisions, events })
    }
}

/// Decides one call in memory. A clean-up and the end of a mark wait until the rows are written.
fn apply(replay: &mut Replay, call: &Call) -> Decision<Answer> {
    match call {
        Call::Create(new) => replay.create(new).map(Answer::Created),
        Call::Edit(edit) => replay.edit(edit).map(Answer::Edited),
        Call::Delete(delete) => replay.delete(delete).map(Answer::Deleted),
        Call::RestoreComment(restore) => replay.restore(restore).map(Answer::RestoredComment),
        Call::Purge(purge) => replay.purge(purge).map(Answer::Purged),
        Call::SetLock(set) => Ok(Answer::LockSet(replay.set_lock(set))),
        Call::Place(article, board) => {
            replay.place(*article, *board);
            Ok(Answer::Placed(()))
        }
        Call::MarkGone(article) => {
            replay.mark_gone(*article);
            Ok(Answer::Marked(()))
        }
        Call::CleanUp(..) => Ok(Answer::CleanedUp(0)),
        Call::Restore(_) => Ok(Answer::Restored(())),
    }
}

/// Comments first, then what counts them, then records. Returns the events, which go with the transaction.
async fn write(tx: &mut Tx<'_>, replayed: Replayed) -> Result<Vec<Envelope>, SqlError> {
    let Replayed { comments, removed, counters, gone_now, records, acts, events, .. } = replayed;
    tx.set_many(&DELETE_REMOVED, removed.deletes.into_iter().map(row::key).collect()).await?;
    let kept = removed.inserts.iter().chain(&removed.updates);
    tx.set_many(&SET_REMOVED, kept.map(row::removed_values).collect()).await?;
    tx.set_many(&DELETE, comments.deletes.into_iter().map(row::key).collect()).await?;
    for comment in &comments.updates {
        tx.write(UPDATE, row::update(comment)).await?;
    }
    tx.insert_many(&INSERT, comments.inserts.iter().map(row::values).collect()).await?;
    tx.set_many(&SET_COUNTS, counters.iter().map(counter).collect()).await?;
    tx.set_many(&MARK_GONE, gone_now.into_iter().map(parts_key).collect()).await?;
    idempotency::store(tx, records).await?;
    moderation::record(tx, &acts).await?;
    Ok(events)
}

fn counter(CommentCounter { article_id, count, greatest_id, board_id, last, .. }: &CommentCounter) -> Values {
    let CommentCount { comment_count, row_count, version, locked } = *count;
    let mut values = parts_key(*article_id);
    values.extend([comment_count.into(), row_count.into(), version.into(), (*greatest_id).into(), locked.into()]);
    let last = last.as_ref();
    values.extend([
        board_id.map(Id::raw).into(),
        version.into(),
        last.map(|last| last.comment_id.raw()).into(),
        last.map(|last| last.created_at.as_millis()).into(),
        last.map(|last| last.writer.member_id.raw()).into(),
        last.map_or(Value::NULL, |last| bytes(last.writer.name.as_str())),
    ]);
    values
}

async fn clean_up(tx: &mut Tx<'_>, article: ArticleId, slice_rows: u32) -> Result<u32, SqlError> {
    tx.write(CLEAN_UP_REMOVED, vec![article.raw().into(), slice_rows.into()]).await?;
    let removed = tx.write(CLEAN_UP, vec![article.raw().into(), slice_rows.into()]).await?;
    u32::try_from(removed).map_err(SqlError::defect)
}

/// Takes a mark away; what is left counts again.
async fn restore(tx: &mut Tx<'_>, article: ArticleId) -> Result<(), SqlError> {
    tx.write(RESTORE_COUNT, [vec![article.raw().into()], parts_key(article)].concat()).await?;
    tx.set_many(&UNMARK_GONE, vec![parts_key(article)]).await?;
    Ok(())
}
