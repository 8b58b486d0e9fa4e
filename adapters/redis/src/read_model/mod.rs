//! The query model in Redis, shared by every process.
//!
//! One hash for each article and for each list, merged by scripts that take the newer of each group; the same for the
//! placeholders of rebuilds under way, which expire, so that a process that died leaves none behind. Redis away is a model
//! that holds nothing: readers are answered from the owners, and only who has to be heard (events, a check) is told.

mod articles;
mod entry;
mod keys;
mod lists;

use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use madang_article_read::{
    BoardList, Change, Entry, Filled, FilledList, Lease, ListLookup, Lookup, ModelSize, NewestArticles, Presence,
    RankingTtl, ReadModel, Reservation, WholeList, Window,
};
use madang_board::{ArticleId, BoardId};
use madang_engine_redis::{Command, Failure, PART, Redis, Script, reply};
use madang_event::Envelope;
use madang_kernel::{Clock, Id, ShardId, StoreError, Timestamp};
use tokio::time::Instant;

use articles::Otherwise;
use keys::{Keys, Kind};
use lists::ListChange;

/// How long a writer waits for its own write to show, unless told otherwise; past it, the log brings it.
pub const COMMITTED_WAIT_MS: u64 = 100;
/// After a writer waited in vain, the next ones do not wait for so long: a Redis that hangs must not slow every write.
const COMMITTED_BACKOFF_MS: u64 = 1_000;
/// A creation older than this is not put in any more: too much may have followed on it.
const PUT_IN_MAX_MS: i64 = 10_000;
/// Articles looked at in one command of a check.
const HELD_SLICE: usize = 256;

const _: () = assert!(PUT_IN_MAX_MS * 3 < articles::MARK_TTL_MS, "a mark outlives every creation on its way");

static RESERVE: LazyLock<Script> = script!("read_model/common", "read_model/reserve");
static LEASE: LazyLock<Script> = script!("read_model/common", "read_model/lease");
static ABANDON: LazyLock<Script> = script!("read_model/abandon");
static CLEAR: LazyLock<Script> = script!("read_model/clear");
static SIZE: LazyLock<Script> = script!("read_model/size");

/// The query model in Redis.
#[derive(Clone)]
pub struct RedisReadModel {
    redis: Redis,
    clock: Arc<dyn Clock>,
    committed_wait: Duration,
    /// Until when writers do not wait.
    backoff_until: Arc<Mutex<Option<Instant>>>,
}

impl RedisReadModel {
    /// The model under the prefix of `redis`.
    pub fn new(redis: Redis, clock: Arc<dyn Clock>) -> Self {
        let committed_wait = Duration::from_millis(COMMITTED_WAIT_MS);
        Self { redis, clock, committed_wait, backoff_until: Arc::default() }
    }

    /// The same with another bound on what a writer waits for.
    #[must_use]
    pub fn with_committed_wait(self, committed_wait: Duration) -> Self {
        Self { committed_wait, ..self }
    }

    /// Merges events that this process has committed, before anybody is answered: that is how people read their own
    /// writes. New articles are put in, unless something that follows on them came by first. Waits for at most
    /// [`COMMITTED_WAIT_MS`]; what fails comes by the event log, so a failure is worth a line and nothing more.
    pub async fn merge_committed(&self, events: &[Envelope]) -> Result<(), StoreError> {
        if self.backoff().is_some_and(|until| Instant::now() < until) {
            return Err(StoreError::unavailable(PART, "did not answer in time a moment ago"));
        }
        let now = self.clock.now();
        let is_recent = |event: &Envelope| age_ms(event.occurred_at, now) <= PUT_IN_MAX_MS;
        let changes: Vec<(Change, bool)> =
            events.iter().filter_map(|event| Some((Change::of(event.clone())?, is_recent(event)))).collect();
        let decided = changes.iter().map(|(change, is_recent)| match change.is_creation && *is_recent {
            true => (change, Otherwise::Put),
            false => (change, otherwise(change, now)),
        });
        let merge = self.merge_all(decided.collect(), now);
        match tokio::time::timeout(self.committed_wait, Box::pin(merge)).await {
            Ok(merged) => Ok(merged?),
            Err(_) => {
                *self.backoff() = Some(Instant::now() + Duration::from_millis(COMMITTED_BACKOFF_MS));
                Err(StoreError::unavailable(PART, format!("no answer within {:?}", self.committed_wait)))
            }
        }
    }

    async fn merge_all(&self, changes: Vec<(&Change, Otherwise)>, now: Timestamp) -> Result<(), Failure> {
        // Entries come first: whoever sees an id in a list must not find it absent.
        articles::merge(&self.redis, &changes, now).await?;
        let boards = changes.iter().filter_map(|(change, _)| change.board);
        lists::merge(&self.redis, boards.map(ListChange::from).collect()).await
    }

    fn backoff(&self) -> MutexGuard<'_, Option<Instant>> {
        self.backoff_until.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keys(&self) -> impl Iterator<Item = Keys> {
        ShardId::all().map(|shard| Keys::of(&self.redis, shard))
    }
}

/// Only a young article's creation can still be on its way here.
fn otherwise(change: &Change, now: Timestamp) -> Otherwise {
    let is_young = age_ms(change.article_id.issued_at(), now) < articles::MARK_TTL_MS;
    if is_young && !change.is_creation { Otherwise::Mark } else { Otherwise::LetGo }
}

fn age_ms(since: Timestamp, now: Timestamp) -> i64 {
    now.as_millis().saturating_sub(since.as_millis())
}

/// A number that no process gives out twice, nor two of them.
fn reservation() -> Reservation {
    Reservation(rand::random())
}

/// What a model answers that holds nothing, when Redis is away.
fn or_nothing<T>(answer: Result<T, Failure>, nothing: impl FnOnce() -> T) -> Result<T, StoreError> {
    match answer {
        Err(Failure::Away(_)) => Ok(nothing()),
        other => Ok(other?),
    }
}

#[async_trait]
impl ReadModel for RedisReadModel {
    /// Nothing is heard of other processes here, so a ranking is asked for anew several times a second.
    fn ranking_ttl(&self) -> RankingTtl {
        RankingTtl { fresh_ms: 75, ttl_ms: 150 }
    }

    async fn find(&self, articles: &[ArticleId]) -> Result<Vec<Lookup>, StoreError> {
        let found = articles::find(&self.redis, articles, self.clock.now()).await;
        or_nothing(found, || vec![Lookup::Miss; articles.len()])
    }

    async fn reserve(&self, articles: &[ArticleId]) -> Result<Reservation, StoreError> {
        let reservation = reservation();
        or_nothing(articles::reserve(&self.redis, reservation, articles).await, || ())?;
        Ok(reservation)
    }

    async fn lease(&self, articles: &[ArticleId]) -> Result<Lease, StoreError> {
        let reservation = reservation();
        let elsewhere = or_nothing(articles::lease(&self.redis, reservation, articles).await, Vec::new)?;
        Ok(Lease { reservation, elsewhere, is_shared: true })
    }

    async fn fill(
        &self,
        reservation: Reservation,
        loaded: Vec<(ArticleId, Option<Entry>)>,
    ) -> Result<Vec<Filled<Entry>>, StoreError> {
        let filled = articles::fill(&self.redis, reservation, &loaded, self.clock.now()).await;
        or_nothing(filled, || loaded.into_iter().map(|(_, entry)| Filled::Stored(entry)).collect())
    }

    async fn abandon(&self, reservation: Reservation, articles: &[ArticleId]) -> Result<(), StoreError> {
        or_nothing(articles::abandon(&self.redis, reservation, articles).await, || ())
    }

    async fn merge(&self, changes: Vec<Change>) -> Result<(), StoreError> {
        let now = self.clock.now();
        let decided = changes.iter().map(|change| (change, otherwise(change, now))).collect();
        Ok(self.merge_all(decided, now).await?)
    }

    async fn list(&self, board: BoardId, window: Window) -> Result<ListLookup, StoreError> {
        or_nothing(lists::find(&self.redis, board, window, self.clock.now()).await, || ListLookup::Miss)
    }

    async fn held_list(&self, board: BoardId, limit: usize) -> Result<Option<NewestArticles>, StoreError> {
        Ok(lists::held(&self.redis, board, limit).await?)
    }

    async fn whole_list(&self, board: BoardId) -> Result<WholeList, StoreError> {
        or_nothing(lists::whole(&self.redis, board, self.clock.now()).await, || WholeList::Miss)
    }

    async fn lease_list(&self, board: BoardId) -> Result<Option<Reservation>, StoreError> {
        let reservation = reservation();
        let is_ours = or_nothing(lists::lease(&self.redis, reservation, board).await, || true)?;
        Ok(is_ours.then_some(reservation))
    }

    async fn reserve_list(&self, board: BoardId) -> Result<Reservation, StoreError> {
        let reservation = reservation();
        or_nothing(lists::reserve(&self.redis, reservation, board).await, || ())?;
        Ok(reservation)
    }

    async fn fill_list(
        &self,
        reservation: Reservation,
        board: BoardId,
        loaded: Option<NewestArticles>,
    ) -> Result<FilledList, StoreError> {
        let filled = lists::fill(&self.redis, reservation, board, loaded.clone(), self.clock.now()).await;
        or_nothing(filled, || Filled::Stored(loaded.map(|newest| Arc::new(BoardList::of(newest)))))
    }

    async fn abandon_list(&self, reservation: Reservation, board: BoardId) -> Result<(), StoreError> {
        or_nothing(lists::abandon(&self.redis, reservation, board).await, || ())
    }

    async fn drop_candidates(&self, board: BoardId, gone: &[ArticleId]) -> Result<(), StoreError> {
        let change =
            |article: &ArticleId| ListChange { board, article: *article, presence: Presence::Gone, count: None };
        or_nothing(lists::merge(&self.redis, gone.iter().map(change).collect()).await, || ())
    }

    async fn entries(&self, shard: ShardId) -> Result<Vec<(ArticleId, Entry)>, StoreError> {
        let keys = Keys::of(&self.redis, shard);
        let command = Command::new(keys.tag.clone(), "ZRANGE").arg(keys.index(Kind::Article)).arg(0).arg(-1);
        let answer = self.redis.ask(command).await?;
        let mut articles = Vec::new();
        for id in reply::items(&answer)? {
            articles.push(ArticleId::from_raw(reply::millis(id)?));
        }
        let mut entries = Vec::with_capacity(articles.len());
        for slice in articles.chunks(HELD_SLICE) {
            entries.extend(articles::all(&self.redis, &keys, slice).await?);
        }
        Ok(entries)
    }

    async fn clear(&self) -> Result<(), StoreError> {
        const KINDS: [Kind; 4] = [Kind::Article, Kind::ArticlePlaceholder, Kind::List, Kind::ListPlaceholder];
        let commands = self.keys().map(|keys| {
            let mut touched = vec![keys.epoch()];
            touched.extend(KINDS.map(|kind| keys.index(kind)));
            let starts = KINDS.map(|kind| keys.start(kind));
            Command::script(keys.tag, &CLEAR, &touched).arg(&starts)
        });
        self.redis.run(commands.collect()).await?;
        Ok(())
    }

    async fn size(&self) -> Result<ModelSize, StoreError> {
        let commands = self.keys().map(|keys| {
            let kinds = [Kind::Article, Kind::List, Kind::ArticlePlaceholder, Kind::ListPlaceholder];
            let starts = [Kind::Article, Kind::List].map(|kind| keys.start(kind));
            let touched = kinds.map(|kind| keys.index(kind));
            Command::script(keys.tag, &SIZE, &touched).arg(&starts)
        });
        let mut size = ModelSize::default();
        for answer in self.redis.run(commands.collect()).await? {
            let [entries, lists, expected, bytes] = reply::items(&answer)? else {
                return Err(Failure::reply("a size with other fields").into());
            };
            size.entries += reply::count(entries)?;
            size.lists += reply::count(lists)?;
            size.placeholders += reply::count(expected)?;
            size.bytes += reply::count(bytes)?;
        }
        Ok(size)
    }
}
