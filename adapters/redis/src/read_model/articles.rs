//! Calls about articles, one a tag, and what their answers mean.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use madang_article_read::{
    ABSENT_TTL_MS, Change, ENTRY_TTL_MS, Entry, Filled, Freshness, LEASE_MS, Lookup, Reservation, STALE_MAX_MS,
    freshness,
};
use madang_board::ArticleId;
use madang_engine_redis::{Command, Failure, Redis, Script, Value, reply};
use madang_kernel::{Id, ShardId, Timestamp};

use super::entry;
use super::keys::{Keys, Kind};
use super::{ABANDON, LEASE, RESERVE};

/// Keys stay a little longer than their values are fresh: the moment inside decides, the expiry only cleans up.
pub(super) const ENTRY_KEY_TTL_MS: i64 = ENTRY_TTL_MS + STALE_MAX_MS + 60_000;
/// The same for absences.
pub(super) const ABSENT_KEY_TTL_MS: i64 = ABSENT_TTL_MS + 60_000;
/// A placeholder older than this belongs to a process that died.
pub(super) const PLACEHOLDER_TTL_MS: i64 = 60_000;
/// For how long it is remembered that an event of a young article was let go.
pub(super) const MARK_TTL_MS: i64 = 60_000;
/// Changes in one script, so that no script runs long.
const SCRIPT_CHANGES_MAX: usize = 100;
/// Bytes in one script; one text may be more.
const SCRIPT_BYTES_MAX: usize = 256 * 1024;

const _: () = assert!(LEASE_MS < PLACEHOLDER_TTL_MS, "the age of a placeholder is told by what is left of its time");

const FIELDS: [&str; 10] = ["e", "x", "u", "d", "v", "t", "c", "cv", "l", "lv"];

static FILL: LazyLock<Script> = script!("read_model/common", "read_model/entry", "read_model/fill");
static MERGE: LazyLock<Script> = script!("read_model/common", "read_model/entry", "read_model/merge");

/// Places of articles in a question, by shard.
fn by_shard(articles: impl Iterator<Item = ArticleId>) -> BTreeMap<u8, Vec<usize>> {
    let mut shards: BTreeMap<u8, Vec<usize>> = BTreeMap::new();
    for (index, article) in articles.enumerate() {
        shards.entry(ShardId::of_parts(article).number()).or_default().push(index);
    }
    shards
}

/// Looks at many articles in one round trip to each node.
pub(super) async fn find(redis: &Redis, articles: &[ArticleId], now: Timestamp) -> Result<Vec<Lookup>, Failure> {
    let mut found = vec![Lookup::Miss; articles.len()];
    let shards = by_shard(articles.iter().copied());
    let mut commands = Vec::with_capacity(articles.len() + shards.len());
    for indexes in shards.values() {
        let keys = Keys::of_article(redis, articles[indexes[0]]);
        commands.push(Command::new(keys.tag.clone(), "GET").arg(keys.epoch()));
        commands.extend(indexes.iter().map(|index| held(&keys, articles[*index])));
    }
    let mut answers = redis.run(commands).await?.into_iter();
    for indexes in shards.values() {
        let epoch = answers.next().ok_or_else(|| Failure::reply("too little"))?;
        for index in indexes {
            let answer = answers.next().ok_or_else(|| Failure::reply("too little"))?;
            found[*index] = lookup(&epoch, &answer, now)?;
        }
    }
    Ok(found)
}

/// Everything that is stored of the articles of a shard, whatever its time; absences left out.
pub(super) async fn all(
    redis: &Redis,
    keys: &Keys,
    articles: &[ArticleId],
) -> Result<Vec<(ArticleId, Entry)>, Failure> {
    let mut commands = vec![Command::new(keys.tag.clone(), "GET").arg(keys.epoch())];
    commands.extend(articles.iter().map(|article| held(keys, *article)));
    let answers = redis.run(commands).await?;
    let Some((epoch, answers)) = answers.split_first() else { return Ok(Vec::new()) };
    let mut entries = Vec::with_capacity(answers.len());
    for (article, answer) in articles.iter().zip(answers) {
        let fields = reply::items(answer)?;
        if is_there(epoch, fields)? && fields[1] == Value::Nil {
            entries.push((*article, entry::entry(&fields[3..], None)?));
        }
    }
    Ok(entries)
}

fn held(keys: &Keys, article: ArticleId) -> Command {
    Command::new(keys.tag.clone(), "HMGET").arg(keys.one(Kind::Article, article)).arg(&FIELDS)
}

fn is_there(epoch: &Value, fields: &[Value]) -> Result<bool, Failure> {
    if fields.len() != FIELDS.len() {
        return Err(Failure::reply("an article with other fields"));
    }
    Ok(match reply::text(&fields[0])? {
        None => false,
        Some(found) => found == reply::text(epoch)?.unwrap_or_default(),
    })
}

fn lookup(epoch: &Value, answer: &Value, now: Timestamp) -> Result<Lookup, Failure> {
    let fields = reply::items(answer)?;
    if !is_there(epoch, fields)? {
        return Ok(Lookup::Miss);
    }
    let until = Timestamp::from_millis(reply::millis(&fields[2])?);
    if fields[1] != Value::Nil {
        return Ok(match freshness(until, ABSENT_TTL_MS, now) {
            Freshness::Fresh => Lookup::Absent,
            Freshness::Stale | Freshness::Expired => Lookup::Miss,
        });
    }
    let is_stale = match freshness(until, ENTRY_TTL_MS, now) {
        Freshness::Fresh => false,
        Freshness::Stale => true,
        Freshness::Expired => return Ok(Lookup::Miss),
    };
    Ok(Lookup::Found { entry: entry::entry(&fields[3..], None)?, is_stale })
}

/// Places placeholders.
pub(super) async fn reserve(redis: &Redis, reservation: Reservation, articles: &[ArticleId]) -> Result<(), Failure> {
    let commands = by_shard(articles.iter().copied()).into_values().map(|indexes| {
        let keys = Keys::of_article(redis, articles[indexes[0]]);
        let placeholder = |index: &usize| keys.one(Kind::ArticlePlaceholder, articles[*index]);
        let mut touched = vec![keys.epoch(), keys.index(Kind::ArticlePlaceholder)];
        touched.extend(indexes.iter().map(placeholder));
        let mut command = Command::script(keys.tag, &RESERVE, &touched).arg(reservation.0).arg(PLACEHOLDER_TTL_MS);
        indexes.iter().for_each(|index| command.push(articles[*index].raw()));
        command
    });
    redis.run(commands.collect()).await.map(drop)
}

/// Places placeholders where no other process began a rebuild a moment ago; tells where one did.
pub(super) async fn lease(
    redis: &Redis,
    reservation: Reservation,
    articles: &[ArticleId],
) -> Result<Vec<ArticleId>, Failure> {
    let shards = by_shard(articles.iter().copied());
    let commands = shards.values().map(|indexes| {
        let keys = Keys::of_article(redis, articles[indexes[0]]);
        let placeholder = |index: &usize| keys.one(Kind::ArticlePlaceholder, articles[*index]);
        let mut touched = vec![keys.epoch(), keys.index(Kind::ArticlePlaceholder)];
        touched.extend(indexes.iter().map(placeholder));
        let mut command =
            Command::script(keys.tag, &LEASE, &touched).arg(reservation.0).arg(PLACEHOLDER_TTL_MS).arg(LEASE_MS);
        indexes.iter().for_each(|index| command.push(articles[*index].raw()));
        command
    });
    let answers = redis.run(commands.collect()).await?;
    let mut elsewhere = Vec::new();
    for (indexes, answer) in shards.values().zip(&answers) {
        for (index, answer) in indexes.iter().zip(reply::items(answer)?) {
            if *answer == Value::Int(0) {
                elsewhere.push(articles[*index]);
            }
        }
    }
    Ok(elsewhere)
}

/// Takes placeholders away.
pub(super) async fn abandon(redis: &Redis, reservation: Reservation, articles: &[ArticleId]) -> Result<(), Failure> {
    let commands = by_shard(articles.iter().copied()).into_values().map(|indexes| {
        let keys = Keys::of_article(redis, articles[indexes[0]]);
        let placeholder = |index: &usize| keys.one(Kind::ArticlePlaceholder, articles[*index]);
        let mut touched = vec![keys.index(Kind::ArticlePlaceholder)];
        touched.extend(indexes.iter().map(placeholder));
        let mut command = Command::script(keys.tag, &ABANDON, &touched).arg(reservation.0);
        indexes.iter().for_each(|index| command.push(articles[*index].raw()));
        command
    });
    redis.run(commands.collect()).await.map(drop)
}

/// Fills placeholders.
pub(super) async fn fill(
    redis: &Redis,
    reservation: Reservation,
    loaded: &[(ArticleId, Option<Entry>)],
    now: Timestamp,
) -> Result<Vec<Filled<Entry>>, Failure> {
    let shards = by_shard(loaded.iter().map(|(article, _)| *article));
    let mut groups = Vec::with_capacity(shards.len());
    for indexes in shards.into_values() {
        let weight = |index: &usize| loaded[*index].1.as_ref().map_or(0, entry::weight_bytes);
        groups.extend(slices(indexes, weight));
    }
    let commands = groups
        .iter()
        .map(|indexes| fill_command(redis, reservation, loaded, indexes, now))
        .collect::<Result<_, _>>()?;
    let answers = redis.run(commands).await?;
    let mut filled = vec![Filled::Retry; loaded.len()];
    for (indexes, answer) in groups.iter().zip(&answers) {
        for (index, answer) in indexes.iter().zip(reply::items(answer)?) {
            filled[*index] = match answer {
                Value::Int(0) => Filled::Retry,
                Value::Int(_) => Filled::Stored(None),
                stored => {
                    let text = loaded[*index].1.as_ref().and_then(Entry::live);
                    Filled::Stored(Some(entry::entry(reply::items(stored)?, text)?))
                }
            };
        }
    }
    Ok(filled)
}

fn fill_command(
    redis: &Redis,
    reservation: Reservation,
    loaded: &[(ArticleId, Option<Entry>)],
    indexes: &[usize],
    now: Timestamp,
) -> Result<Command, Failure> {
    let keys = Keys::of_article(redis, loaded[indexes[0]].0);
    let mut touched = vec![keys.epoch(), keys.index(Kind::Article), keys.index(Kind::ArticlePlaceholder)];
    for index in indexes {
        let article = loaded[*index].0;
        touched.extend([keys.one(Kind::ArticlePlaceholder, article), keys.one(Kind::Article, article)]);
    }
    let mut command = Command::script(keys.tag, &FILL, &touched)
        .arg(reservation.0)
        .arg(until(now, ENTRY_TTL_MS))
        .arg(ENTRY_KEY_TTL_MS)
        .arg(until(now, ABSENT_TTL_MS))
        .arg(ABSENT_KEY_TTL_MS);
    let nothing = Entry::default();
    for index in indexes {
        let (article, entry) = &loaded[*index];
        command.push(article.raw());
        command.push(u8::from(entry.is_some()));
        entry::push(&mut command, entry.as_ref().unwrap_or(&nothing))?;
    }
    Ok(command)
}

/// What becomes of an event of an article that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Otherwise {
    /// It is let go.
    LetGo,
    /// It is let go, and that is remembered for a while: a creation that is put in later would lack it.
    Mark,
    /// The article is put in.
    Put,
}

/// Merges changes.
pub(super) async fn merge(redis: &Redis, changes: &[(&Change, Otherwise)], now: Timestamp) -> Result<(), Failure> {
    let mut commands = Vec::new();
    for indexes in by_shard(changes.iter().map(|(change, _)| change.article_id)).into_values() {
        for slice in slices(indexes, |index| entry::weight_bytes(&changes[*index].0.entry)) {
            commands.push(merge_command(redis, changes, &slice, now)?);
        }
    }
    redis.run(commands).await.map(drop)
}

fn merge_command(
    redis: &Redis,
    changes: &[(&Change, Otherwise)],
    indexes: &[usize],
    now: Timestamp,
) -> Result<Command, Failure> {
    let keys = Keys::of_article(redis, changes[indexes[0]].0.article_id);
    let mut touched = vec![keys.epoch(), keys.index(Kind::Article)];
    for index in indexes {
        let article = changes[*index].0.article_id;
        touched.extend([Kind::ArticlePlaceholder, Kind::Article, Kind::Mark].map(|kind| keys.one(kind, article)));
    }
    let mut command = Command::script(keys.tag, &MERGE, &touched)
        .arg(until(now, ENTRY_TTL_MS))
        .arg(ENTRY_KEY_TTL_MS)
        .arg(MARK_TTL_MS);
    for index in indexes {
        let (change, otherwise) = &changes[*index];
        command.push(change.article_id.raw());
        command.push(match otherwise {
            Otherwise::LetGo => "",
            Otherwise::Mark => "mark",
            Otherwise::Put => "put",
        });
        entry::push(&mut command, &change.entry)?;
    }
    Ok(command)
}

/// Cuts the indexes of articles into what one script takes.
fn slices(indexes: Vec<usize>, weight_bytes: impl Fn(&usize) -> usize) -> Vec<Vec<usize>> {
    let mut slices = vec![Vec::new()];
    let mut bytes = 0;
    for index in indexes {
        let weight = weight_bytes(&index);
        if let Some(last) = slices.last_mut() {
            let is_full = last.len() >= SCRIPT_CHANGES_MAX || bytes + weight > SCRIPT_BYTES_MAX;
            if is_full && !last.is_empty() {
                slices.push(vec![index]);
                bytes = weight;
            } else {
                last.push(index);
                bytes += weight;
            }
        }
    }
    slices
}

/// When a TTL that starts now ends, in milliseconds.
pub(super) fn until(now: Timestamp, ttl_ms: i64) -> i64 {
    now.as_millis().saturating_add(ttl_ms)
}
