//! Likes one transaction each, with the counter changed where it stands: what folding is compared with.

use std::sync::{Arc, LazyLock};

use madang_board::{ArticleId, MemberId};
use madang_engine_mysql::{Decided, Fold, Lanes, Many, SqlError, Tx, Values, bytes};
use madang_event::Envelope;
use madang_kernel::{Clock, EventId, Id as _, ShardId, StoreError};
use madang_like::{LikeCount, Replayed, events};
use madang_mysql::Mysql;

static EXISTING: LazyLock<Many> = LazyLock::new(|| {
    Many::parse(
        "SELECT article_id FROM article_like FORCE INDEX (PRIMARY) WHERE\n-- rows, joined by OR\n\
         (shard = ? AND article_id = ? AND member_id = ?)\n",
    )
});
const GONE: &str = "SELECT article_id FROM like_article_gone WHERE shard = ? AND article_id = ?";
const COUNT: &str = "SELECT like_count, version FROM article_like_count WHERE shard = ? AND article_id = ?";
const INSERT: &str =
    "INSERT INTO article_like (shard, article_id, member_id, member_name, created_at) VALUES (?, ?, ?, ?, ?)";
const DELETE: &str = "DELETE FROM article_like WHERE shard = ? AND article_id = ? AND member_id = ?";
const ADD_TO_COUNT: &str = "INSERT INTO article_like_count (shard, article_id, like_count, version)
    VALUES (?, ?, 1, 1) ON DUPLICATE KEY UPDATE like_count = like_count + ?, version = version + 1";

/// A like, or its end.
pub(super) struct Change {
    pub(super) article_id: ArticleId,
    pub(super) member_id: MemberId,
    pub(super) event_id: EventId,
    pub(super) likes: bool,
}

/// Likes counted in place. Clones share the lanes.
#[derive(Clone)]
pub(super) struct InPlaceLikes(Lanes<InPlace>);

impl InPlaceLikes {
    /// Starts lanes in which every call is a transaction of its own.
    pub(super) fn new(db: &Mysql) -> Self {
        Self(Lanes::start_unfolded(db, InPlace { clock: db.clock().clone() }))
    }

    /// Whether the call changed something.
    pub(super) async fn change(&self, change: Change) -> Result<bool, StoreError> {
        self.0.call(change).await
    }
}

struct InPlace {
    clock: Arc<dyn Clock>,
}

impl Fold for InPlace {
    type Call = Change;
    type Answer = bool;
    type Event = Envelope;

    fn shard(call: &Change) -> ShardId {
        ShardId::of_parts(call.article_id)
    }

    async fn decide(&self, tx: &mut Tx<'_>, calls: &[Change]) -> Result<Decided<bool, Envelope>, SqlError> {
        let mut decided = Decided::without_events(Vec::with_capacity(calls.len()));
        for call in calls {
            let event = self.apply(tx, call).await?;
            decided.decisions.push(Ok(event.is_some()));
            decided.events.extend(event);
        }
        Ok(decided)
    }
}

impl InPlace {
    async fn apply(&self, tx: &mut Tx<'_>, change: &Change) -> Result<Option<Envelope>, SqlError> {
        let Change { article_id, member_id, event_id, likes } = change;
        let article: Values = vec![ShardId::of_parts(*article_id).number().into(), article_id.raw().into()];
        let pair: Values = [article.clone(), vec![member_id.raw().into()]].concat();
        if tx.read_many(&EXISTING, vec![pair.clone()]).await?.is_empty() != *likes {
            return Ok(None);
        }
        let now = self.clock.now();
        if *likes {
            tx.write(INSERT, [pair, vec![bytes("somebody"), now.as_millis().into()]].concat()).await?;
        } else {
            tx.write(DELETE, pair).await?;
        }
        let by: i64 = if *likes { 1 } else { -1 };
        tx.write(ADD_TO_COUNT, [article.clone(), vec![by.into()]].concat()).await?;
        // Under the lock of the counter, which whoever marks the article takes too.
        if tx.first(GONE, article.clone()).await?.is_some() {
            return Err(SqlError::defect("the article is gone"));
        }
        let counted = tx.first(COUNT, article).await?;
        let mut counted = counted.ok_or_else(|| SqlError::defect("a counter that was written is gone"))?;
        let count = LikeCount { like_count: counted.next()?, version: counted.next()? };
        let (one, none) = (vec![*member_id], Vec::new());
        let (liked, unliked) = if *likes { (one, none) } else { (none, one) };
        Ok(Some(events::changed(*article_id, Replayed { count, liked, unliked }, *event_id, now)))
    }
}
