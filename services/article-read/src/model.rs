//! The port to where the model is kept. Whoever rebuilds something places a placeholder first: what is merged meanwhile
//! stays there, and meets what the owners answered by version. So a rebuild never overwrites an event.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use madang_board::{ArticleId, BoardId};
use madang_kernel::{ShardId, StoreError, Timestamp};
use madang_messaging::Stop;

use crate::{BoardList, Change, Entry, NewestArticles, RankingTtl, Step, Window};

/// How long what the owners answered is kept; events do not move its end.
pub const ENTRY_TTL_MS: i64 = 24 * 3_600_000;
/// How long past its end something is handed out while a refresh runs.
pub const STALE_MAX_MS: i64 = 3_600_000;
/// How long an absence is believed.
pub const ABSENT_TTL_MS: i64 = 1_000;
/// How long a process may take for a rebuild before another begins the same: its holder may have died.
pub const LEASE_MS: i64 = 2_000;

/// For how long rendered answers are fresh where the model hears of every change.
const RENDERED_TTL: Duration = Duration::from_secs(1);

/// Names one placing of placeholders. Only its holder fills them, and only while they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Reservation(pub u64);

/// What the model knows of an article.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// Nothing.
    Miss,
    /// That it did not exist a moment ago.
    Absent,
    /// This.
    Found {
        /// What is known.
        entry: Entry,
        /// Whether its time is over: good for an answer while one refresh runs.
        is_stale: bool,
    },
}

/// What the model knows of a board's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListLookup {
    /// Nothing.
    Miss,
    /// That the board did not exist a moment ago.
    Absent,
    /// The window asked for.
    Found {
        /// What the list says of it.
        step: Step,
        /// Whether the list is past its time or worn thin: good for an answer while one refresh runs.
        is_stale: bool,
    },
}

/// What the model knows of a board's list, all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WholeList {
    /// Nothing.
    Miss,
    /// That the board did not exist a moment ago.
    Absent,
    /// All candidates.
    Found {
        /// The list.
        newest: NewestArticles,
        /// Whether the list is past its time or worn thin: good for an answer while one refresh runs.
        is_stale: bool,
    },
}

/// What a process got of the rebuilds it asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Fills the placeholders of what it got.
    pub reservation: Reservation,
    /// What another process is rebuilding.
    pub elsewhere: Vec<ArticleId>,
    /// Whether another process may have filled some of it since the model was last asked: to be looked up once more.
    pub is_shared: bool,
}

/// What became of filling a placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Filled<T> {
    /// It is kept, together with what was merged meanwhile; `None` is kept as absent.
    Stored(Option<T>),
    /// What the owners answered cannot be trusted: the placeholder is gone, or an event contradicts the absence. Ask again.
    Retry,
}

/// A filled list, shared.
pub type FilledList = Filled<Arc<BoardList>>;

/// How much the model holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ModelSize {
    /// Articles, absent ones included.
    pub entries: u64,
    /// Lists of boards.
    pub lists: u64,
    /// Placeholders of rebuilds under way.
    pub placeholders: u64,
    /// Memory, as it is weighed against the budget.
    pub bytes: u64,
}

/// Where the model is kept. All of it may be lost at any moment, and comes back by asking the owners.
#[async_trait]
pub trait ReadModel: Send + Sync {
    /// What is known of articles, in the order asked.
    async fn find(&self, articles: &[ArticleId]) -> Result<Vec<Lookup>, StoreError>;
    /// Places a placeholder for each, in the stead of an earlier one. What is there stays readable.
    async fn reserve(&self, articles: &[ArticleId]) -> Result<Reservation, StoreError>;
    /// As [`ReadModel::reserve`], but leaves what another process began to rebuild less than [`LEASE_MS`] ago to that process.
    /// The placeholder is the lease: only its holder fills it, and one whose holder died is given to the next who asks.
    async fn lease(&self, articles: &[ArticleId]) -> Result<Lease, StoreError> {
        Ok(Lease { reservation: self.reserve(articles).await?, elsewhere: Vec::new(), is_shared: false })
    }
    /// Joins what the owners answered after `reserve` (`None`: no such article) with what was merged since, and keeps it for
    /// [`ENTRY_TTL_MS`], an absence for [`ABSENT_TTL_MS`]. One answer each, in the order given.
    async fn fill(
        &self,
        reservation: Reservation,
        told: Vec<(ArticleId, Option<Entry>)>,
    ) -> Result<Vec<Filled<Entry>>, StoreError>;
    /// Takes the placeholders away: the owners could not be asked.
    async fn abandon(&self, reservation: Reservation, articles: &[ArticleId]) -> Result<(), StoreError>;

    /// As [`ReadModel::find`], past whatever this process caches in front of the model: what a rebuild asks first.
    async fn find_anew(&self, articles: &[ArticleId]) -> Result<Vec<Lookup>, StoreError> {
        self.find(articles).await
    }
    /// Takes over what the owners answered to a process that got no lease and waited long enough: for this process alone,
    /// joined with what it has heard of.
    async fn keep_unshared(&self, told: Vec<(ArticleId, Option<Entry>)>) -> Result<Vec<Option<Entry>>, StoreError> {
        Ok(told.into_iter().map(|(_, entry)| entry).collect())
    }

    /// Merges events into entries, lists and placeholders that are there; the rest is let go, because an event alone may
    /// be late. Something absent that is reported to exist becomes unknown. Expiry stays as it is.
    async fn merge(&self, changes: Vec<Change>) -> Result<(), StoreError>;
    /// Whether an article's creation or edit, of which article and version are known, can change nothing any more, so that
    /// it need not be decoded. `false` is always right.
    async fn settled(&self, articles: &[(ArticleId, u64)]) -> Result<Vec<bool>, StoreError> {
        Ok(vec![false; articles.len()])
    }

    /// A window of a board's list.
    async fn list(&self, board: BoardId, window: Window) -> Result<ListLookup, StoreError>;
    /// The same past whatever this process caches in front of the model.
    async fn list_anew(&self, board: BoardId, window: Window) -> Result<ListLookup, StoreError> {
        self.list(board, window).await
    }
    /// A board's list with all its candidates.
    async fn whole_list(&self, board: BoardId) -> Result<WholeList, StoreError>;
    /// As [`ReadModel::lease`], for a list; `None` when another process is rebuilding it.
    async fn lease_list(&self, board: BoardId) -> Result<Option<Reservation>, StoreError> {
        self.reserve_list(board).await.map(Some)
    }
    /// As [`ReadModel::reserve`], for a list.
    async fn reserve_list(&self, board: BoardId) -> Result<Reservation, StoreError>;
    /// As [`ReadModel::fill`], for a list (`None`: no such board); what the owner answered takes the place of an older list.
    async fn fill_list(
        &self,
        reservation: Reservation,
        board: BoardId,
        told: Option<NewestArticles>,
    ) -> Result<FilledList, StoreError>;
    /// As [`ReadModel::abandon`], for a list.
    async fn abandon_list(&self, reservation: Reservation, board: BoardId) -> Result<(), StoreError>;
    /// Removes candidates that turned out to be gone.
    async fn drop_candidates(&self, board: BoardId, gone: &[ArticleId]) -> Result<(), StoreError>;

    /// Everything that is held of the articles whose parts live on a shard, absences left out. A look for a check: it
    /// loads nothing, and keeps nothing from leaving.
    async fn entries(&self, shard: ShardId) -> Result<Vec<(ArticleId, Entry)>, StoreError>;
    /// The newest `limit` articles of a board as the list holds them, candidates that are gone included, with its count; `None`
    /// when no list is held, or the model does not tell. A look for a check, as [`ReadModel::entries`] is.
    async fn held_list(&self, _board: BoardId, _limit: usize) -> Result<Option<NewestArticles>, StoreError> {
        Ok(None)
    }
    /// How often something was merged, removed or dropped here, counted after it was done: while it stays the same, what
    /// was read stays true. `None` when the model cannot say, because others change it too.
    fn generation(&self) -> Option<u64> {
        None
    }
    /// For how long what was rendered from the model may be handed out while its generation stays the same.
    fn rendered_ttl(&self) -> Duration {
        RENDERED_TTL
    }
    /// For how long a ranking that was built from the owners is believed.
    fn ranking_ttl(&self) -> RankingTtl {
        RankingTtl { fresh_ms: ENTRY_TTL_MS, ttl_ms: ENTRY_TTL_MS + STALE_MAX_MS }
    }
    /// Drops everything, placeholders too: rebuilds under way are told to ask again.
    async fn clear(&self) -> Result<(), StoreError>;
    /// How much there is.
    async fn size(&self) -> Result<ModelSize, StoreError>;
    /// Does what the model has to do beside its readers until `stop` fires.
    async fn run(&self, _stop: &Stop) {}
}

/// How far something kept may be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// It is in its time.
    Fresh,
    /// It may be handed out while a refresh runs.
    Stale,
    /// It is as good as not there.
    Expired,
}

/// How far something that is kept for `kept_ms` until `until` may be believed. A clock that stepped back makes nothing
/// last longer: what seems to come from the future is stale.
pub fn freshness(until: Timestamp, kept_ms: i64, now: Timestamp) -> Freshness {
    let left_ms = until.as_millis().saturating_sub(now.as_millis());
    match left_ms {
        left if left > kept_ms => Freshness::Stale,
        1.. => Freshness::Fresh,
        left if left > -STALE_MAX_MS => Freshness::Stale,
        _ => Freshness::Expired,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_steps_back_makes_nothing_last() {
        let at = Timestamp::from_millis;
        let until = at(1_000_000 + ENTRY_TTL_MS);
        for (now, expected) in [
            (999_999, Freshness::Stale),
            (1_000_000, Freshness::Fresh),
            (999_999 + ENTRY_TTL_MS, Freshness::Fresh),
            (1_000_000 + ENTRY_TTL_MS, Freshness::Stale),
            (999_999 + ENTRY_TTL_MS + STALE_MAX_MS, Freshness::Stale),
            (1_000_000 + ENTRY_TTL_MS + STALE_MAX_MS, Freshness::Expired),
        ] {
            assert_eq!(freshness(until, ENTRY_TTL_MS, at(now)), expected, "{now}");
        }
    }
}
