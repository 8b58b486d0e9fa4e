//! The ranking of one day in Redis: four keys of one tag, and scripts that keep them together.

use std::sync::LazyLock;

use madang_board::ArticleId;
use madang_engine_redis::{Command, Failure, Redis, Script, Tag, Value, reply};
use madang_hot_article::{Counts, DAYS_KEPT, Day, HotItem, Tally};
use madang_kernel::Id;

const DAY_MS: u64 = 24 * 3_600_000;
/// How long a day stays after it last changed.
const DAY_TTL_MS: u64 = (DAYS_KEPT as u64 + 1) * DAY_MS;
/// How long making a day anew may take; past it, another may begin.
const BUILDING_MS: u64 = 60_000;
/// How long a day is believed to be whole before it is made anew: the longest that a change can be missing whose process
/// could reach the store but not Redis, and died before it could say so.
pub(super) const WHOLE_MS: u64 = 300_000;
/// Articles in one script.
const SCRIPT_ARTICLES_MAX: usize = 200;

static PUSH: LazyLock<Script> = script!("hot/common", "hot/push");
static TOP: LazyLock<Script> = script!("hot/common", "hot/top");
static BEGIN: LazyLock<Script> = script!("hot/begin");
static FINISH: LazyLock<Script> = script!("hot/finish");

/// The keys of a day.
struct Keys {
    tag: Tag,
    mark: String,
    rows: String,
    rank: String,
    builder: String,
}

fn keys(redis: &Redis, day: Day) -> Keys {
    let tag = Tag::new(format_args!("h{day}"));
    let key = |name| redis.key(&tag, name);
    Keys { mark: key(":whole"), rows: key(":rows"), rank: key(":rank"), builder: key(":builder"), tag: tag.clone() }
}

/// Puts articles at their ranks; tells whether the day is whole.
pub(super) async fn push(redis: &Redis, day: Day, tallies: &[(ArticleId, Tally)]) -> Result<bool, Failure> {
    let commands = tallies.chunks(SCRIPT_ARTICLES_MAX).map(|slice| {
        let Keys { tag, mark, rows, rank, .. } = keys(redis, day);
        let mut command = Command::script(tag, &PUSH, &[mark, rows, rank]).arg(DAY_TTL_MS);
        for (article, tally) in slice {
            command.push(format!("{:016x}", article.raw()));
            match tally {
                Tally::Live(counts) => {
                    command.push(version(counts).to_string());
                    command.push(inverted(counts.score()));
                    let Counts { likes, comments, views, .. } = counts;
                    let shown =
                        [counts.score(), likes.count(), comments.count(), views.count()].map(|it| it.to_string());
                    command.push(shown.join(" "));
                }
                Tally::Gone => ["", "-", ""].iter().for_each(|empty| command.push(empty)),
            }
        }
        command
    });
    let mut is_whole = true;
    for answer in redis.run(commands.collect()).await? {
        is_whole &= reply::count(&answer)? == 1;
    }
    Ok(is_whole)
}

/// Grows with each change of the article: every group's version does, and none falls but in a rebuild, which makes the day anew.
fn version(counts: &Counts) -> u128 {
    let groups = [counts.likes, counts.comments, counts.views, counts.hidden];
    groups.iter().map(|reading| u128::from(reading.version())).sum()
}

/// Sorts the best first; what scores nothing is not ranked.
fn inverted(score: u64) -> String {
    if score == 0 { "-".to_owned() } else { format!("{:016x}", u64::MAX - score) }
}

/// The best of days, each `None` that is not whole.
pub(super) async fn top(redis: &Redis, days: &[Day], limit: usize) -> Result<Vec<Option<Vec<HotItem>>>, Failure> {
    let commands = days.iter().map(|day| {
        let Keys { tag, mark, rows, rank, .. } = keys(redis, *day);
        Command::script(tag, &TOP, &[mark, rows, rank]).arg(limit)
    });
    let answers = redis.run(commands.collect()).await?;
    answers.iter().map(|answer| if *answer == Value::Nil { Ok(None) } else { items(answer).map(Some) }).collect()
}

fn items(answer: &Value) -> Result<Vec<HotItem>, Failure> {
    let (pairs, []) = reply::items(answer)?.as_chunks::<2>() else {
        return Err(Failure::reply("an article without its row"));
    };
    let item = |[id, row]: &[Value; 2]| {
        let id = i64::from_str_radix(reply::text(id)?.unwrap_or_default(), 16).ok();
        // Version and rank come first.
        let numbers = reply::text(row)?.unwrap_or_default().split(' ').skip(2).map(str::parse);
        let numbers: Vec<u64> = numbers.collect::<Result<_, _>>().map_err(|_| Failure::reply("a row of no numbers"))?;
        match (id, &numbers[..]) {
            (Some(id), &[score, like_count, comment_count, view_count]) => {
                Ok(HotItem { article_id: ArticleId::from_raw(id), score, like_count, comment_count, view_count })
            }
            _ => Err(Failure::reply("a row with other fields")),
        }
    };
    pairs.iter().map(item).collect()
}

/// Begins to make a day anew; `None` when somebody is at it.
pub(super) async fn begin(redis: &Redis, day: Day) -> Result<Option<u64>, Failure> {
    let Keys { tag, mark, rows, rank, builder } = keys(redis, day);
    let token: u64 = rand::random();
    let command = Command::script(tag, &BEGIN, &[mark, rows, rank, builder]).arg(token).arg(BUILDING_MS);
    Ok((reply::count(&redis.ask(command).await?)? == 1).then_some(token))
}

/// Marks a day that was made anew as whole, unless something was lost or missed meanwhile.
pub(super) async fn finish(redis: &Redis, day: Day, token: u64) -> Result<(), Failure> {
    let Keys { tag, mark, builder, .. } = keys(redis, day);
    redis.ask(Command::script(tag, &FINISH, &[mark, builder]).arg(token).arg(WHOLE_MS)).await.map(drop)
}

/// Believes a day no longer, nor whoever is making it anew.
pub(super) async fn distrust(redis: &Redis, day: Day) -> Result<(), Failure> {
    let Keys { tag, mark, builder, .. } = keys(redis, day);
    redis.ask(Command::new(tag, "DEL").arg(mark).arg(builder)).await.map(drop)
}

/// Removes a day.
pub(super) async fn remove(redis: &Redis, day: Day) -> Result<(), Failure> {
    let Keys { tag, mark, rows, rank, builder } = keys(redis, day);
    redis.ask(Command::new(tag, "UNLINK").arg(mark).arg(builder).arg(rows).arg(rank)).await.map(drop)
}
