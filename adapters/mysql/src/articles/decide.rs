//! A batch of calls: decided by the replay on what was loaded under the boards' locks, and written once.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use madang_article::Article;
use madang_article::replay::{BoardCounter, CountedBlock, Replay, Replayed};
use madang_board::ArticleId;
use madang_engine_mysql::{Decided, Decision, Fold, Many, SqlError, Tx, Values, bytes, idempotency};
use madang_event::Envelope;
use madang_kernel::{Clock, ShardId};

use super::call::{Answer, Call};
use super::load::load;
use super::{board, row};
use crate::moderation;

static INSERT: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/article/insert.sql")));
static DELETE: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/article/delete.sql")));
static SET_PINS: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/article/set_pins.sql")));
static DELETE_PINS: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/article/delete_pins.sql")));
static SET_COUNTS: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/article/set_counts.sql")));
static SET_BLOCKS: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/article/set_blocks.sql")));
static SET_REMOVED: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/article/set_removed.sql")));
static DELETE_REMOVED: LazyLock<Many> =
    LazyLock::new(|| Many::parse(include_str!("../../sql/article/delete_removed.sql")));
const UPDATE: &str = include_str!("../../sql/article/update.sql");

/// Decides the calls of a batch.
pub(super) struct ArticleFold {
    pub(super) clock: Arc<dyn Clock>,
}

impl Fold for ArticleFold {
    type Call = Call;
    type Answer = Answer;
    type Event = Envelope;

    fn shard(call: &Call) -> ShardId {
        call.shard()
    }

    async fn decide(&self, tx: &mut Tx<'_>, calls: &[Call]) -> Result<Decided<Answer, Envelope>, SqlError> {
        let now = self.clock.now();
        let mut replay = Replay::new(load(tx, calls, now).await?, now);
        let decisions = calls.iter().map(|call| apply(&mut replay, call)).collect();
        let events = write(tx, replay.finish()).await?;
        Ok(Decided { decisions, events })
    }
}

fn apply(replay: &mut Replay, call: &Call) -> Decision<Answer> {
    match call {
        Call::Create(new) => replay.create(new).map(Answer::Created),
        Call::CreateMany(new, announce) => replay.create_many(new, *announce).map(Answer::CreatedMany),
        Call::Edit(edit) => replay.edit(edit).map(Answer::Edited),
        Call::Delete(delete) => replay.delete(delete).map(Answer::Deleted),
        Call::Pin(pin) => replay.pin(pin).map(Answer::Pinned),
        Call::Restore(restore) => replay.restore(restore).map(Answer::Restored),
        Call::Purge(purge) => Ok(Answer::Purged(replay.purge(purge))),
        Call::CreateBoard(new) => replay.create_board(new).map(Answer::Board),
        Call::SetState(board, state) => Ok(Answer::StateSet(replay.set_state(*board, *state))),
        Call::DeleteBoard(board) => Ok(Answer::BoardDeleted(replay.delete_board(*board))),
    }
}

/// Boards and articles first, then what counts them, then records. Returns the events, which go with the transaction.
async fn write(tx: &mut Tx<'_>, replayed: Replayed) -> Result<Vec<Envelope>, SqlError> {
    let Replayed { boards, articles, pins, removed, counters, states, blocks, records, acts, events } = replayed;
    board::insert(tx, &boards).await?;
    let unpinned: BTreeSet<ArticleId> = articles.deletes.iter().chain(&pins.deletes).copied().collect();
    tx.set_many(&DELETE_PINS, unpinned.into_iter().map(row::key).collect()).await?;
    tx.set_many(&DELETE, articles.deletes.into_iter().map(row::key).collect()).await?;
    tx.insert_many(&INSERT, articles.inserts.iter().map(row::values).collect()).await?;
    for article in articles.updates {
        tx.write(UPDATE, update(article)).await?;
    }
    tx.set_many(&SET_PINS, pins.inserts.iter().chain(&pins.updates).map(row::pin_values).collect()).await?;
    tx.set_many(&DELETE_REMOVED, removed.deletes.into_iter().map(row::key).collect()).await?;
    let kept = removed.inserts.iter().chain(&removed.updates);
    tx.set_many(&SET_REMOVED, kept.map(row::removed_values).collect()).await?;
    tx.set_many(&SET_COUNTS, counters.iter().map(counter).collect()).await?;
    for (board, state) in states {
        board::set_state(tx, board, state).await?;
    }
    tx.set_many(&SET_BLOCKS, blocks.iter().map(block).collect()).await?;
    idempotency::store(tx, records).await?;
    moderation::record(tx, &acts).await?;
    Ok(events)
}

fn counter(BoardCounter { board_id, count, greatest_id, .. }: &BoardCounter) -> Values {
    let mut values = board::count_key(*board_id);
    values.extend([count.article_count.into(), count.version.into(), (*greatest_id).into()]);
    values
}

fn block(CountedBlock { board_id, level, first_id, article_count }: &CountedBlock) -> Values {
    let mut values = board::count_key(*board_id);
    values.extend([(*level).into(), (*first_id).into(), (*article_count).into()]);
    values
}

fn update(article: Article) -> Values {
    let mut values = vec![
        bytes(article.title),
        bytes(article.content),
        bytes(article.content_html),
        article.modified_at.as_millis().into(),
        article.version.into(),
    ];
    values.extend(row::key(article.article_id));
    values
}
