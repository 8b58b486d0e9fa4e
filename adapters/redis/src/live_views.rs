//! Live view counts that every process shares: a view is one script and one round trip.
//!
//! Count, sightings of viewers and the index of what is unwritten carry the hash tag of the article's shard. Any process
//! writes back what is due, so the views that a process counted before it died are written all the same.
//!
//! *What a viewer costs.* A sighting is a key of 16 bytes beside prefix and tag, an HMAC from which neither viewer nor
//! article can be read, and the moment; it expires by itself after ten minutes. A guest's network has one more, whose two
//! fields say how many of its guests counted and since when. A million of them took 142 MB of Redis 7.0
//! (`used_memory` before and after, with the prefix `madang`): that is what a million viewers within ten minutes cost.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use async_trait::async_trait;
use madang_board::ArticleId;
use madang_engine_redis::{Command, Failure, Redis, Script, Tag, Value, reply};
use madang_kernel::{Id, ShardId, StoreError, Timestamp};
use madang_view::{GuestKey, LiveLimits, LiveView, LiveViews, StoredViews, Viewer, WINDOW_MS, WrittenBack};

use crate::epochs::EPOCH;

/// How long a count stays live after it was last read or written back.
const COUNT_TTL_MS: u64 = 24 * 3_600_000;
/// How long an index of unwritten articles stays after it last grew: a store may be away for days.
const INDEX_TTL_MS: u64 = 7 * 24 * 3_600_000;
/// How long other processes leave alone what one has taken to write back; if that one died, they take it then.
const TAKEN_MS: u64 = 2_000;
/// Counts taken from one shard at once.
const DUE_MAX: usize = 500;
/// The same when all are wanted.
const DUE_ALL_MAX: usize = 10_000;
/// Articles in one script.
const SCRIPT_ARTICLES_MAX: usize = 200;

static VIEW: LazyLock<Script> = script!("views/view");
static INSERT: LazyLock<Script> = script!("views/insert");
static DUE: LazyLock<Script> = script!("views/due");
static NOTE: LazyLock<Script> = script!("views/note");

/// Live counts in Redis.
#[derive(Clone)]
pub struct RedisLiveViews {
    redis: Redis,
    key: GuestKey,
    limits: LiveLimits,
}

/// The keys of one shard.
struct Keys {
    tag: Tag,
    base: String,
}

impl Keys {
    fn of(redis: &Redis, shard: ShardId) -> Self {
        let tag = Tag::new(format_args!("v{shard}"));
        let base = redis.key(&tag, "");
        Self { tag, base }
    }

    fn counts(&self) -> String {
        format!("{}:c:", self.base)
    }

    fn count(&self, article: ArticleId) -> String {
        format!("{}:c:{}", self.base, article.raw())
    }

    fn sighting(&self, sighting: u128) -> Vec<u8> {
        self.hidden(b":s:", sighting)
    }

    fn network_guests(&self, sighting: u128) -> Vec<u8> {
        self.hidden(b":g:", sighting)
    }

    /// As bytes, not as digits: there are many.
    fn hidden(&self, kind: &[u8], sighting: u128) -> Vec<u8> {
        let mut key = Vec::with_capacity(self.base.len() + kind.len() + size_of::<u128>());
        key.extend_from_slice(self.base.as_bytes());
        key.extend_from_slice(kind);
        key.extend_from_slice(&sighting.to_be_bytes());
        key
    }

    fn unwritten(&self) -> String {
        format!("{}:unwritten", self.base)
    }

    fn epoch(&self) -> String {
        format!("{}{EPOCH}", self.base)
    }

    fn many(&self) -> String {
        format!("{}:many", self.base)
    }
}

impl RedisLiveViews {
    /// Live counts under the prefix of `redis`. Every process must have the same `key`, or one viewer counts twice.
    /// [`LiveLimits::articles_max`] has no meaning here: counts leave when nobody asks for them.
    pub fn new(redis: Redis, key: GuestKey, limits: LiveLimits) -> Self {
        Self { redis, key, limits }
    }

    fn keys_of(&self, article: ArticleId) -> Keys {
        Keys::of(&self.redis, ShardId::of_parts(article))
    }

    fn many_views(&self) -> u64 {
        self.limits.write_back_views.max(1)
    }

    async fn view_now(&self, article: ArticleId, viewer: Viewer, now: Timestamp) -> Result<LiveView, Failure> {
        let keys = self.keys_of(article);
        let sighting = keys.sighting(self.key.sighting(viewer, article));
        let network = self.key.network_sighting(viewer, article).map(|network| keys.network_guests(network));
        let guests_max = network.as_ref().map(|_| self.limits.network_guests_max.to_string()).unwrap_or_default();
        let network = network.unwrap_or_else(|| sighting.clone());
        let (unwritten, many) = (keys.unwritten().into_bytes(), keys.many().into_bytes());
        let (count, epoch) = (keys.count(article).into_bytes(), keys.epoch().into_bytes());
        let touched = [count, sighting, unwritten, many, network, epoch];
        let command = Command::script(keys.tag, &VIEW, &touched)
            .arg(article.raw())
            .arg(now.as_millis())
            .arg(WINDOW_MS)
            .arg(self.many_views())
            .arg(INDEX_TTL_MS)
            .arg(guests_max);
        let answer = self.redis.ask(command).await?;
        if answer == Value::Nil {
            return Ok(LiveView::NotLive);
        }
        let [counted, count, unwritten] = reply::items(&answer)? else {
            return Err(Failure::reply("a view with other fields"));
        };
        let (count, unwritten) = (reply::count(count)?, reply::count(unwritten)?);
        Ok(match reply::count(counted)? {
            0 => LiveView::Seen { count },
            _ => LiveView::Counted { count, is_due: unwritten.is_multiple_of(self.many_views()) },
        })
    }

    async fn counts_now(&self, articles: &[ArticleId]) -> Result<Vec<Option<u64>>, Failure> {
        let groups = by_shard(articles.iter().copied());
        let mut commands = Vec::with_capacity(articles.len() + groups.len());
        for indexes in &groups {
            let keys = self.keys_of(articles[indexes[0]]);
            commands.push(Command::new(keys.tag.clone(), "GET").arg(keys.epoch()));
            let held = |index: &usize| {
                Command::new(keys.tag.clone(), "HMGET").arg(keys.count(articles[*index])).arg(&["n", "e"])
            };
            commands.extend(indexes.iter().map(held));
        }
        let mut answers = self.redis.run(commands).await?.into_iter();
        let mut next = || answers.next().ok_or_else(|| Failure::reply("too little"));
        let mut counts = vec![None; articles.len()];
        for indexes in &groups {
            let epoch = next()?;
            for index in indexes {
                let held = next()?;
                let [count, of] = reply::items(&held)? else {
                    return Err(Failure::reply("a count with other fields"));
                };
                // What was counted in another epoch is merged with what is stored before it is told.
                let is_of_now = reply::text(of)?.unwrap_or_default() == reply::text(&epoch)?.unwrap_or_default();
                counts[*index] = if is_of_now { reply::number(count)? } else { None };
            }
        }
        Ok(counts)
    }

    async fn insert_all(&self, stored: &[(ArticleId, u64)]) -> Result<Vec<Option<u64>>, Failure> {
        let groups = by_shard(stored.iter().map(|(article, _)| *article));
        let commands = groups.iter().map(|indexes| {
            let keys = self.keys_of(stored[indexes[0]].0);
            let mut touched = vec![keys.unwritten(), keys.epoch()];
            touched.extend(indexes.iter().map(|index| keys.count(stored[*index].0)));
            let mut command = Command::script(keys.tag, &INSERT, &touched).arg(COUNT_TTL_MS);
            for index in indexes {
                command.push(stored[*index].0.raw());
                command.push(stored[*index].1);
            }
            command
        });
        let answers = self.redis.run(commands.collect()).await?;
        let mut counts = vec![None; stored.len()];
        for (indexes, answer) in groups.iter().zip(&answers) {
            for (index, count) in indexes.iter().zip(reply::items(answer)?) {
                counts[*index] = Some(reply::count(count)?);
            }
        }
        Ok(counts)
    }

    async fn due_now(&self, now: Timestamp, all: bool) -> Result<Vec<(ArticleId, u64)>, Failure> {
        let commands = ShardId::all().map(|shard| {
            let keys = Keys::of(&self.redis, shard);
            let (counts, touched) = (keys.counts(), [keys.unwritten(), keys.many()]);
            Command::script(keys.tag, &DUE, &touched)
                .arg(counts)
                .arg(now.as_millis())
                .arg(self.limits.due_after_ms())
                .arg(TAKEN_MS)
                .arg(if all { DUE_ALL_MAX } else { DUE_MAX })
                .arg(if all { "all" } else { "" })
        });
        let mut due = Vec::new();
        for answer in self.redis.run(commands.collect()).await? {
            let (pairs, []) = reply::items(&answer)?.as_chunks::<2>() else {
                return Err(Failure::reply("a count without its article"));
            };
            for [article, count] in pairs {
                due.push((ArticleId::from_raw(reply::millis(article)?), reply::count(count)?));
            }
        }
        Ok(due)
    }

    async fn note_all(&self, answers: &[WrittenBack], taken_at: Timestamp) -> Result<(), Failure> {
        let groups = by_shard(answers.iter().map(|answer| answer.article_id));
        let commands = groups.iter().map(|indexes| {
            let keys = self.keys_of(answers[indexes[0]].article_id);
            let mut touched = vec![keys.unwritten(), keys.many()];
            touched.extend(indexes.iter().map(|index| keys.count(answers[*index].article_id)));
            let mut command = Command::script(keys.tag, &NOTE, &touched)
                .arg(taken_at.as_millis())
                .arg(COUNT_TTL_MS)
                .arg(INDEX_TTL_MS)
                .arg(self.many_views());
            for index in indexes {
                command.push(answers[*index].article_id.raw());
                match answers[*index].stored {
                    StoredViews::Count(stored) => command.push(stored),
                    StoredViews::Gone => command.push(""),
                }
            }
            command
        });
        self.redis.run(commands.collect()).await.map(drop)
    }
}

/// Places of articles that one script can take.
fn by_shard(articles: impl Iterator<Item = ArticleId>) -> Vec<Vec<usize>> {
    let mut shards: BTreeMap<u8, Vec<usize>> = BTreeMap::new();
    for (index, article) in articles.enumerate() {
        shards.entry(ShardId::of_parts(article).number()).or_default().push(index);
    }
    shards
        .into_values()
        .flat_map(|indexes| indexes.chunks(SCRIPT_ARTICLES_MAX).map(<[_]>::to_vec).collect::<Vec<_>>())
        .collect()
}

#[async_trait]
impl LiveViews for RedisLiveViews {
    async fn view(&self, article: ArticleId, viewer: Viewer, now: Timestamp) -> Result<LiveView, StoreError> {
        Ok(self.view_now(article, viewer, now).await?)
    }

    async fn counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<u64>>, StoreError> {
        Ok(self.counts_now(articles).await?)
    }

    async fn insert(&self, stored: &[(ArticleId, u64)], _: Timestamp) -> Result<Vec<Option<u64>>, StoreError> {
        Ok(self.insert_all(stored).await?)
    }

    async fn due(&self, now: Timestamp, all: bool) -> Result<Vec<(ArticleId, u64)>, StoreError> {
        Ok(self.due_now(now, all).await?)
    }

    async fn note_written(&self, answers: &[WrittenBack], taken_at: Timestamp) -> Result<(), StoreError> {
        Ok(self.note_all(answers, taken_at).await?)
    }

    async fn forget(&self, article: ArticleId) -> Result<(), StoreError> {
        let gone = WrittenBack { article_id: article, stored: StoredViews::Gone };
        Ok(self.note_all(&[gone], Timestamp::from_millis(0)).await?)
    }
}
