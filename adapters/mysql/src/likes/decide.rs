//! A batch of calls: their counters are locked in key order, the pairs they are about are read, the calls are replayed in
//! their order in memory, and the result is written once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, LazyLock};

use madang_board::{ArticleId, MemberId};
use madang_engine_mysql::{Decided, Fold, Many, SqlError, Tx, Values, bytes};
use madang_event::Envelope;
use madang_kernel::{Clock, EventId, Id, ShardId, Timestamp};
use madang_like::{CleanedUp, LikeAnswer, LikeCount, LikeOutcome, Replay, Replayed, events};

use super::call::{Answer, Call, Change, NewRow};

static LOCK_COUNTS: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/like/lock_counts.sql")));
static LOCKED_COUNTS: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/like/locked_counts.sql")));
static EXISTING: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/like/existing.sql")));
static INSERT: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/like/insert.sql")));
static DELETE: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/like/delete.sql")));
static SET_COUNTS: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/like/set_counts.sql")));
static DELETE_COUNTS: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/like/delete_counts.sql")));
static MARK_GONE: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/like/mark_gone.sql")));
static UNMARK_GONE: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/like/unmark_gone.sql")));
static COUNTS: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/like/counts.sql")));
const RESTORE_COUNT: &str = include_str!("../../sql/like/restore_count.sql");
const CLEAN_UP: &str = include_str!("../../sql/like/clean_up.sql");
const TAKE_FROM_COUNT: &str = include_str!("../../sql/like/take_from_count.sql");

/// Where the likes of an article are, in the order of the primary keys.
type Place = (u8, ArticleId);

/// Decides the calls of a batch.
pub(super) struct LikeFold {
    pub(super) clock: Arc<dyn Clock>,
}

/// One article of a batch.
struct Batched {
    before: LikeCount,
    replay: Replay,
    gone: Gone,
    /// The first call that changed something names the event.
    event_id: Option<EventId>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Gone {
    No,
    /// Marked by this batch.
    Now,
    Before,
}

impl Fold for LikeFold {
    type Call = Call;
    type Answer = Answer;
    type Event = Envelope;

    fn shard(call: &Call) -> ShardId {
        ShardId::of_parts(call.article())
    }

    async fn decide(&self, tx: &mut Tx<'_>, calls: &[Call]) -> Result<Decided<Answer, Envelope>, SqlError> {
        let mut batch = load(tx, calls).await?;
        let mut rows: HashMap<(ArticleId, MemberId), &NewRow> = HashMap::new();
        let mut answers: Vec<Answer> = calls.iter().map(|call| replay(&mut batch, call, &mut rows)).collect();
        let mut committed = write(tx, batch, &rows, self.clock.now()).await?;
        for (call, answer) in calls.iter().zip(&mut answers) {
            match (call, answer) {
                (Call::Change(change), Answer::Changed(LikeOutcome::Done(answer))) => {
                    answer.committed = committed.counts.get(&change.article_id).copied().unwrap_or_default();
                }
                (Call::CleanUp(article, slice), Answer::CleanedUp(cleaned)) if committed.gone.contains(article) => {
                    *cleaned = clean_up(tx, *article, *slice).await?;
                }
                (Call::Restore(article, event_id), _) if committed.gone.remove(article) => {
                    let change = restore(tx, *article).await?;
                    committed.unused.retain(|unused| unused.1 != *article);
                    committed.events.push(events::changed(*article, change, *event_id, self.clock.now()));
                }
                _ => {}
            }
        }
        drop_unused_counts(tx, &committed.unused).await?;
        Ok(Decided { decisions: answers.into_iter().map(Ok).collect(), events: committed.events })
    }
}

fn place(article: ArticleId) -> Place {
    (ShardId::of_parts(article).number(), article)
}

fn key((shard, article): &Place) -> Values {
    vec![(*shard).into(), article.raw().into()]
}

/// Locks the counters in key order, then reads what is under the locks.
async fn load(tx: &mut Tx<'_>, calls: &[Call]) -> Result<BTreeMap<Place, Batched>, SqlError> {
    let places: BTreeSet<Place> = calls.iter().map(|call| place(call.article())).collect();
    let keys: Vec<Values> = places.iter().map(key).collect();
    tx.touch_many(&LOCK_COUNTS, keys.clone()).await?;
    let mut counts = HashMap::with_capacity(places.len());
    for mut cells in tx.read_many(&LOCKED_COUNTS, keys).await? {
        let article = ArticleId::from_raw(cells.next()?);
        let count = LikeCount { like_count: cells.next()?, version: cells.next()? };
        counts.insert(article, (count, cells.next::<bool>()?));
    }
    let mut likers = existing(tx, calls).await?;
    let start = |place: Place| {
        let (before, gone) =
            counts.get(&place.1).copied().ok_or_else(|| SqlError::defect("a locked counter is gone"))?;
        let replay = Replay::new(before, likers.remove(&place.1).unwrap_or_default());
        let gone = if gone { Gone::Before } else { Gone::No };
        Ok((place, Batched { before, replay, gone, event_id: None }))
    };
    places.into_iter().map(start).collect()
}

/// Which of the members involved like which of the articles.
async fn existing(tx: &mut Tx<'_>, calls: &[Call]) -> Result<HashMap<ArticleId, Vec<MemberId>>, SqlError> {
    let pairs: BTreeSet<(Place, MemberId)> = calls
        .iter()
        .filter_map(|call| match call {
            Call::Change(change) => Some((place(change.article_id), change.member_id)),
            Call::MarkGone(_) | Call::CleanUp(..) | Call::Restore(..) => None,
        })
        .collect();
    let mut likers: HashMap<ArticleId, Vec<MemberId>> = HashMap::new();
    for mut cells in tx.read_many(&EXISTING, pairs.iter().map(pair).collect()).await? {
        let article = ArticleId::from_raw(cells.next()?);
        likers.entry(article).or_default().push(MemberId::from_raw(cells.next()?));
    }
    Ok(likers)
}

fn pair((place, member): &(Place, MemberId)) -> Values {
    let mut values = key(place);
    values.push(member.raw().into());
    values
}

/// Applies one call to the articles in memory. A clean-up and the end of a mark wait until the rows are written.
fn replay<'c>(
    batch: &mut BTreeMap<Place, Batched>,
    call: &'c Call,
    rows: &mut HashMap<(ArticleId, MemberId), &'c NewRow>,
) -> Answer {
    let Some(article) = batch.get_mut(&place(call.article())) else {
        return Answer::Changed(LikeOutcome::Gone);
    };
    match call {
        Call::Change(_) if article.gone != Gone::No => Answer::Changed(LikeOutcome::Gone),
        Call::Change(Change { article_id, member_id, event_id, row }) => {
            let (state, changed) = article.replay.apply(*member_id, row.is_some());
            if changed {
                article.event_id.get_or_insert(*event_id);
                if let Some(row) = row {
                    rows.insert((*article_id, *member_id), row);
                }
            }
            Answer::Changed(LikeOutcome::Done(LikeAnswer { state, changed, committed: LikeCount::default() }))
        }
        Call::MarkGone(_) => {
            let now = article.gone == Gone::No;
            if now {
                article.gone = Gone::Now;
            }
            Answer::Marked(now)
        }
        Call::CleanUp(..) => Answer::CleanedUp(CleanedUp { removed: 0, done: true }),
        Call::Restore(..) => Answer::Restored(()),
    }
}

/// How a batch ended.
#[derive(Default)]
struct Committed {
    counts: HashMap<ArticleId, LikeCount>,
    gone: BTreeSet<ArticleId>,
    /// Counters that were made only to be locked.
    unused: Vec<Place>,
    events: Vec<Envelope>,
}

/// Writes rows, counters and marks.
async fn write(
    tx: &mut Tx<'_>,
    batch: BTreeMap<Place, Batched>,
    rows: &HashMap<(ArticleId, MemberId), &NewRow>,
    now: Timestamp,
) -> Result<Committed, SqlError> {
    let mut committed = Committed::default();
    let (mut inserts, mut deletes, mut counts, mut marks) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (place, Batched { before, replay, gone, event_id }) in batch {
        let article = place.1;
        let replayed = replay.finish();
        committed.counts.insert(article, replayed.count);
        if gone != Gone::No {
            committed.gone.insert(article);
        }
        if gone == Gone::Now {
            marks.push(key(&place));
        }
        match event_id {
            Some(event_id) if replayed.is_change() => {
                inserts.extend(replayed.liked.iter().filter_map(|m| Some(row(&place, *m, rows.get(&(article, *m))?))));
                deletes.extend(replayed.unliked.iter().map(|member| pair(&(place, *member))));
                let mut count = key(&place);
                count.extend([replayed.count.like_count.into(), replayed.count.version.into()]);
                counts.push(count);
                committed.events.push(events::changed(article, replayed, event_id, now));
            }
            _ if before == LikeCount::default() => committed.unused.push(place),
            _ => {}
        }
    }
    tx.set_many(&DELETE, deletes).await?;
    tx.set_many(&INSERT, inserts).await?;
    tx.set_many(&SET_COUNTS, counts).await?;
    tx.set_many(&MARK_GONE, marks).await?;
    Ok(committed)
}

fn row(place: &Place, member: MemberId, row: &NewRow) -> Values {
    let mut values = pair(&(*place, member));
    values.extend([bytes(row.member_name.as_str()), row.created_at.as_millis().into()]);
    values
}

async fn clean_up(tx: &mut Tx<'_>, article: ArticleId, slice: usize) -> Result<CleanedUp, SqlError> {
    let place = place(article);
    // A slice of nothing would never be done.
    let slice = slice.max(1) as u64;
    let mut values = key(&place);
    values.push(slice.into());
    let removed = tx.write(CLEAN_UP, values).await?;
    let done = removed < slice;
    if done {
        tx.set_many(&DELETE_COUNTS, vec![key(&place)]).await?;
    } else {
        let mut values = vec![removed.into()];
        values.extend(key(&place));
        tx.write(TAKE_FROM_COUNT, values).await?;
    }
    Ok(CleanedUp { removed, done })
}

/// Takes a mark away; what is left counts again.
async fn restore(tx: &mut Tx<'_>, article: ArticleId) -> Result<Replayed, SqlError> {
    let key = key(&place(article));
    tx.write(RESTORE_COUNT, key.clone()).await?;
    tx.set_many(&UNMARK_GONE, vec![key.clone()]).await?;
    let mut found = tx.read_many(&COUNTS, vec![key]).await?;
    let mut cells = found.pop().ok_or_else(|| SqlError::defect("a locked counter is gone"))?;
    let _: i64 = cells.next()?;
    let count = LikeCount { like_count: cells.next()?, version: cells.next()? };
    Ok(Replayed { count, liked: Vec::new(), unliked: Vec::new() })
}

/// A batch that wrote nothing is rolled back, and they go with it.
async fn drop_unused_counts(tx: &mut Tx<'_>, unused: &[Place]) -> Result<(), SqlError> {
    if tx.wrote() {
        tx.set_many(&DELETE_COUNTS, unused.iter().map(key).collect()).await?;
    }
    Ok(())
}
