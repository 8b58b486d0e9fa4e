//! A batch of calls: their counters are locked in key order, the greater count of each wins, and the result is written once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use madang_board::ArticleId;
use madang_engine_mysql::{Decided, Fold, Many, SqlError, Tx, Values};
use madang_event::Envelope;
use madang_kernel::{Clock, Id, ShardId, Timestamp};
use madang_view::events::viewed;
use madang_view::{StoredViews, WriteBack, WrittenBack};

static LOCK_COUNTS: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/view/lock_counts.sql")));
static LOCKED_COUNTS: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/view/locked_counts.sql")));
static SET_COUNTS: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/view/set_counts.sql")));
static DELETE_COUNTS: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/view/delete_counts.sql")));
static MARK_GONE: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/view/mark_gone.sql")));
static UNMARK_GONE: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../../sql/view/unmark_gone.sql")));

/// One call.
pub(super) enum Call {
    /// Counts of articles whose parts are on one shard.
    WriteBack(ShardId, Vec<WriteBack>),
    /// The article is deleted.
    MarkGone(ArticleId),
    /// The article was never deleted.
    Restore(ArticleId),
}

/// The answer, each for its kind of call.
pub(super) enum Answer {
    Written(Vec<WrittenBack>),
    Marked(()),
    Restored(()),
}

/// Where the count of an article is, in the order of the primary keys.
type Place = (u8, ArticleId);

/// The count of an article while a batch is decided.
struct Counted {
    view_count: u64,
    version: u64,
    gone: bool,
    changed: bool,
    marked: bool,
    unmarked: bool,
    /// What the mark of a deletion replaced.
    replaced: (u64, u64),
}

impl Counted {
    fn mark(&mut self) {
        if !self.gone {
            (self.gone, self.marked, self.unmarked) = (true, true, false);
            self.replaced = (self.view_count, self.version);
        }
    }

    /// The count is what it was when the article was marked.
    fn restore(&mut self) {
        if self.gone {
            (self.gone, self.marked, self.unmarked) = (false, false, true);
            (self.view_count, self.version) = self.replaced;
            self.changed = self.version > 0;
        }
    }
}

/// Decides the calls of a batch.
pub(super) struct ViewFold {
    pub(super) clock: Arc<dyn Clock>,
}

impl Fold for ViewFold {
    type Call = Call;
    type Answer = Answer;
    type Event = Envelope;

    fn shard(call: &Call) -> ShardId {
        match call {
            Call::WriteBack(shard, _) => *shard,
            Call::MarkGone(article) | Call::Restore(article) => ShardId::of_parts(*article),
        }
    }

    async fn decide(&self, tx: &mut Tx<'_>, calls: &[Call]) -> Result<Decided<Answer, Envelope>, SqlError> {
        let mut counts = load(tx, calls).await?;
        let now = self.clock.now();
        let (mut decisions, mut events) = (Vec::with_capacity(calls.len()), Vec::new());
        for call in calls {
            decisions.push(Ok(match call {
                Call::WriteBack(_, backs) => {
                    Answer::Written(backs.iter().map(|back| write_back(&mut events, &mut counts, *back, now)).collect())
                }
                Call::MarkGone(article) => {
                    if let Some(counted) = counts.get_mut(&place(*article)) {
                        counted.mark();
                    }
                    Answer::Marked(())
                }
                Call::Restore(article) => {
                    if let Some(counted) = counts.get_mut(&place(*article)) {
                        counted.restore();
                    }
                    Answer::Restored(())
                }
            }));
        }
        write(tx, &counts).await?;
        Ok(Decided { decisions, events })
    }
}

fn place(article: ArticleId) -> Place {
    (ShardId::of_parts(article).number(), article)
}

fn key((shard, article): &Place) -> Values {
    vec![(*shard).into(), article.raw().into()]
}

async fn load(tx: &mut Tx<'_>, calls: &[Call]) -> Result<BTreeMap<Place, Counted>, SqlError> {
    let mut places: BTreeSet<Place> = BTreeSet::new();
    for call in calls {
        match call {
            Call::WriteBack(_, backs) => places.extend(backs.iter().map(|back| place(back.article_id))),
            Call::MarkGone(article) | Call::Restore(article) => {
                places.insert(place(*article));
            }
        }
    }
    let keys: Vec<Values> = places.iter().map(key).collect();
    tx.touch_many(&LOCK_COUNTS, keys.clone()).await?;
    let mut counts = BTreeMap::new();
    for mut cells in tx.read_many(&LOCKED_COUNTS, keys).await? {
        let article = ArticleId::from_raw(cells.next()?);
        let (view_count, version, gone) = (cells.next()?, cells.next()?, cells.next()?);
        let replaced = (cells.next()?, cells.next()?);
        let counted = Counted { view_count, version, gone, changed: false, marked: false, unmarked: false, replaced };
        counts.insert(place(article), counted);
    }
    Ok(counts)
}

/// Takes the greater of both counts; only a change is an event.
fn write_back(
    events: &mut Vec<Envelope>,
    counts: &mut BTreeMap<Place, Counted>,
    back: WriteBack,
    now: Timestamp,
) -> WrittenBack {
    let article_id = back.article_id;
    let stored = match counts.get_mut(&place(article_id)) {
        Some(counted) if !counted.gone => {
            if back.view_count > counted.view_count {
                counted.view_count = back.view_count;
                counted.version += 1;
                counted.changed = true;
                events.push(viewed(back, counted.version, now));
            }
            StoredViews::Count(counted.view_count)
        }
        _ => StoredViews::Gone,
    };
    WrittenBack { article_id, stored }
}

/// Counts, marks, and the end of counts that are gone or were made only to be locked.
async fn write(tx: &mut Tx<'_>, counts: &BTreeMap<Place, Counted>) -> Result<(), SqlError> {
    let changed = counts.iter().filter(|(_, counted)| counted.changed && !counted.gone).map(|(place, counted)| {
        let mut values = key(place);
        values.extend([counted.view_count.into(), counted.version.into()]);
        values
    });
    tx.set_many(&SET_COUNTS, changed.collect()).await?;
    let marked = counts.iter().filter(|(_, counted)| counted.marked).map(|(place, counted)| {
        let mut values = key(place);
        values.extend([counted.replaced.0.into(), counted.replaced.1.into()]);
        values
    });
    tx.set_many(&MARK_GONE, marked.collect()).await?;
    let unmarked = counts.iter().filter(|(_, counted)| counted.unmarked).map(|(place, _)| key(place));
    tx.set_many(&UNMARK_GONE, unmarked.collect()).await?;
    // A batch that wrote nothing is rolled back, and they go with it.
    if tx.wrote() {
        let ended = counts.iter().filter(|(_, counted)| counted.gone || counted.version == 0);
        tx.set_many(&DELETE_COUNTS, ended.map(|(place, _)| key(place)).collect()).await?;
    }
    Ok(())
}
