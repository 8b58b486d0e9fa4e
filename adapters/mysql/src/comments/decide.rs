//! A batch of calls: replayed in their order in memory on what was loaded under the articles' locks, and written once.

use std::sync::{Arc, LazyLock};

use madang_board::ArticleId;
use madang_comment::CommentCount;
use madang_engine_mysql::{Decided, Decision, Fold, Many, SqlError, Tx, Values};
use madang_event::Envelope;
use madang_kernel::{Clock, Id, ShardId};

use super::call::{Answer, Call};
use super::load::load;
use super::replay::{Article, Gone, Held, Replay};
use super::row;
use crate::moderation;

static INSERT: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/comment/insert.sql")));
static DELETE: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/comment/delete.sql")));
static MARK_DELETED: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/comment/mark_deleted.sql")));
static SET_COUNTS: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/comment/set_counts.sql")));
static DELETE_COUNTS: LazyLock<Many> =
    LazyLock::new(|| Many::parse(include_str!("../../sql/comment/delete_counts.sql")));
static MARK_GONE: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/comment/mark_gone.sql")));
const CLEAN_UP: &str = include_str!("../../sql/comment/clean_up.sql");

/// Decides the calls of a batch.
pub(super) struct CommentFold {
    clock: Arc<dyn Clock>,
}

impl CommentFold {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock }
    }
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
        let mut decisions: Vec<Decision<Answer>> = calls.iter().map(|call| decide_one(&mut replay, call)).collect();
        let gone: Vec<ArticleId> = articles(&replay, |article| article.gone != Gone::No);
        let uncounted = articles(&replay, is_uncounted);
        let events = write(tx, replay).await?;
        for (call, decision) in calls.iter().zip(&mut decisions) {
            match call {
                Call::CleanUp(article, slice) if gone.contains(article) => {
                    *decision = Ok(Answer::CleanedUp(clean_up(tx, *article, *slice).await?));
                }
                _ => {}
            }
        }
        // A batch that wrote nothing is rolled back, and counters that were made only to be locked go with it.
        if tx.wrote() {
            tx.set_many(&DELETE_COUNTS, uncounted.into_iter().map(row::article_key).collect()).await?;
        }
        Ok(Decided { decisions, events })
    }
}

/// Decides one call in memory. A clean-up waits until the rows are written.
fn decide_one(replay: &mut Replay, call: &Call) -> Decision<Answer> {
    match call {
        Call::Create(new) => replay.create(new).map(Answer::Created),
        Call::Delete(delete) => replay.delete(delete).map(Answer::Deleted),
        Call::MarkGone(article) => {
            replay.mark_gone(*article);
            Ok(Answer::Marked)
        }
        Call::CleanUp(..) => Ok(Answer::CleanedUp(0)),
    }
}

fn articles(replay: &Replay, is_meant: impl Fn(&Article) -> bool) -> Vec<ArticleId> {
    replay.articles.iter().filter(|(_, article)| is_meant(article)).map(|(id, _)| *id).collect()
}

/// Counters of articles that are gone, and those that nobody has used yet.
fn is_uncounted(article: &Article) -> bool {
    article.gone != Gone::No || article.count == CommentCount::default()
}

/// Comments first, then what counts them, then keys; returns the events, which go with the transaction.
async fn write(tx: &mut Tx<'_>, replay: Replay) -> Result<Vec<Envelope>, SqlError> {
    let (mut inserts, mut marks, mut deletes) = (Vec::new(), Vec::new(), Vec::new());
    for (id, held) in replay.held {
        match held {
            Held::New(comment) => inserts.push(comment),
            Held::Marked(_) => marks.push(id),
            Held::Removed => deletes.push(id),
            Held::Stored(_) | Held::Passed => {}
        }
    }
    inserts.sort_by_key(|comment| comment.comment_id);
    marks.sort_unstable();
    deletes.sort_unstable();
    tx.set_many(&DELETE, deletes.into_iter().map(row::key).collect()).await?;
    tx.set_many(&MARK_DELETED, marks.into_iter().map(row::key).collect()).await?;
    tx.insert_many(&INSERT, inserts.iter().map(row::values).collect()).await?;
    let counted = replay.articles.iter().filter(|(_, article)| article.changed && article.gone == Gone::No);
    tx.set_many(&SET_COUNTS, counted.map(|(id, article)| count(*id, article)).collect()).await?;
    let gone = replay.articles.iter().filter(|(_, article)| article.gone == Gone::Now);
    tx.set_many(&MARK_GONE, gone.map(|(id, _)| row::article_key(*id)).collect()).await?;
    replay.keys.write(tx).await?;
    moderation::record(tx, &replay.acts).await?;
    Ok(replay.events)
}

fn count(id: ArticleId, article: &Article) -> Values {
    let CommentCount { comment_count, row_count, version } = article.count;
    let mut values = row::article_key(id);
    values.extend([comment_count.into(), row_count.into(), version.into(), article.greatest_id.into()]);
    values
}

async fn clean_up(tx: &mut Tx<'_>, article: ArticleId, slice_rows: u32) -> Result<u32, SqlError> {
    let removed = tx.write(CLEAN_UP, vec![article.raw().into(), slice_rows.into()]).await?;
    u32::try_from(removed).map_err(SqlError::defect)
}
