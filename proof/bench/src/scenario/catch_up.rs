//! Entries of the log applied by the hot list and the query model side by side, each as one group with the real consumer,
//! from the first poll to the last effect; and both compared with the truth at the end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use jiff::tz::TimeZone;
use madang_article_read::{
    ArticleGroup, ArticleText, Count, Discussion, Entry, Lookup, ReadConsumer, ReadModel, Shown,
};
use madang_board::ArticleId;
use madang_event::Topic;
use madang_hot_article::{HotConsumer, HotItem, HotStore, LISTED_MAX, SiteDays};
use madang_kernel::{Clock, Id, IdGenerator, ManualClock, NodeId, NodeLease, SystemClock, Timestamp};
use madang_memory::{DEFAULT_BUDGET_BYTES, MemoryReadModel};
use madang_messaging::{Consumer, ConsumerConfig, EventLog, GroupId, Message, OnError, PublishOutcome, Supervisor};
use madang_sqlite::{SqliteHot, SqliteLog};

use super::Scenario;
use super::counted::Counted;
use super::database::{Commits, Database};
use super::log_mix::LogMix;
use crate::cli::Options;
use crate::report::{Figure, Goal, Row};
use crate::site::Scratch;

const ENTRIES_PER_SECOND: f64 = 50_000.0;
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
/// Entries handed to the log at once, and articles to the query model.
const STEP: usize = 2_000;
/// Deliveries in hand of each group, as in the composition.
const BATCH_MAX: usize = 2_048;
const HOT: &str = "hot-article";
const READ: &str = "article-read";
/// The longest that both groups may take.
const GIVE_UP: Duration = Duration::from_secs(600);
const STOP_MAX: Duration = Duration::from_secs(10);

/// Fills a log, lets both groups catch up, and compares what they made of it with the truth.
pub(crate) async fn run(options: &Options, scratch: &Scratch) -> Result<Vec<Row>> {
    let Database { db, .. } = Database::open(&scratch.folder("catch-up")?, Commits::Grouped)?;
    let log = SqliteLog::new(db.clone());
    for (group, topics) in [(HOT, topics(&Topic::ALL)), (READ, topics(&ReadConsumer::topics()))] {
        // A group that is known before the first entry is written has all of them before it.
        log.subscribe(&GroupId::new(group), &topics).await?;
    }
    // Noon, so that the day is the same for all of it.
    let noon = Timestamp::from_millis(SystemClock.now().as_millis() / DAY_MS * DAY_MS + DAY_MS / 2);
    let clock: Arc<dyn Clock> = Arc::new(ManualClock::at(noon));
    let lease = NodeLease { node: NodeId(0), from_ms: noon.as_millis(), until_ms: noon.as_millis() + DAY_MS / 4 };
    let ids = IdGenerator::new(clock.clone(), lease);
    let mut mix = LogMix::new(&ids, noon, options.entries as usize);
    let views = write(&log, &mut mix, options.entries as usize).await?;

    let days = SiteDays::new(TimeZone::UTC);
    let hot_store = Arc::new(SqliteHot::new(db.clone()));
    let hot = HotConsumer::new(hot_store.clone(), clock, days.clone(), GroupId::new(HOT));
    let hot = Arc::new(Counted::new(hot, options.entries.into()));
    let model = Arc::new(MemoryReadModel::new(DEFAULT_BUDGET_BYTES, Arc::new(SystemClock)));
    fill(&model, &mix).await?;
    let read = Arc::new(Counted::new(ReadConsumer::new(model.clone()), u64::from(options.entries) - views));

    let supervisor = Supervisor::new("catch-up");
    let started = Instant::now();
    for (name, topics, handler) in [
        (HOT, topics(&Topic::ALL), hot.clone() as Arc<dyn madang_messaging::Handler>),
        (READ, topics(&ReadConsumer::topics()), read.clone()),
    ] {
        let config = ConsumerConfig { batch_max: BATCH_MAX, ..ConsumerConfig::new(GroupId::new(name), topics) };
        let consumer = Consumer::new(config, Arc::new(log.clone()), handler, Arc::new(SystemClock));
        supervisor.spawn(name, OnError::Stop, move |stop| consumer.clone().run(stop));
    }
    let took = async { tokio::try_join!(hot.finished(started), read.finished(started)) };
    let (hot_took, read_took) = tokio::time::timeout(GIVE_UP, took).await.context("the groups never caught up")??;
    let report = supervisor.shutdown(STOP_MAX).await;
    ensure!(report.aborted.is_empty(), "{:?} did not stop", report.aborted);

    compare_hot(&hot_store, &days, noon, &mix).await?;
    compare_read(&model, &mix).await?;
    db.close().await;
    Ok(rows(options.entries, views, hot_took, read_took))
}

fn rows(entries: u32, views: u64, hot_took: Duration, read_took: Duration) -> Vec<Row> {
    let entries = f64::from(entries);
    let row = |what: &str, entries: f64, took: Duration, goal| {
        let figure = Figure::plain(what, entries / took.as_secs_f64());
        Row::compare(Scenario::CatchUp, "/s", figure, Figure::plain("asked for", ENTRIES_PER_SECOND), goal)
    };
    vec![
        row("entries applied by both groups", entries, hot_took.max(read_took), Goal::AtLeast(1.0)),
        row("the hot list, beside the other", entries, hot_took, Goal::None),
        row("the query model, beside the other", entries - views as f64, read_took, Goal::None),
    ]
}

fn topics(topics: &[Topic]) -> Vec<String> {
    topics.iter().map(|topic| topic.name().to_owned()).collect()
}

/// Writes the entries; returns how many are views, which the query model does not hear.
async fn write(log: &SqliteLog, mix: &mut LogMix<'_>, entries: usize) -> Result<u64> {
    let mut views = 0;
    let mut left = entries;
    while left > 0 {
        let step = left.min(STEP);
        let messages: Vec<Message> = (0..step).map(|_| mix.next()).collect::<Result<_, _>>()?;
        views += messages.iter().filter(|message| message.topic == Topic::View.name()).count() as u64;
        let published = log.publish(&messages).await?;
        ensure!(published.iter().all(|outcome| *outcome == PublishOutcome::Published), "the log refused an entry");
        left -= step;
    }
    Ok(views)
}

/// Puts every article into the model as it was created, so that each entry finds something to change.
async fn fill(model: &MemoryReadModel, mix: &LogMix<'_>) -> Result<()> {
    for articles in mix.articles().chunks(STEP) {
        let ids: Vec<_> = articles.iter().map(|article| ArticleId::from_raw(article.article_id)).collect();
        let ticket = model.reserve(&ids).await?;
        let told = articles.iter().zip(&ids).map(|(article, id)| {
            let text = ArticleText::of(mix.created(article), 1);
            let (comments, likes) = (Some(Discussion::default()), Some(Count::default()));
            (*id, Some(Entry { article: Some(ArticleGroup::Live(Arc::new(text))), comments, likes }))
        });
        model.fill(ticket, told.collect()).await?;
    }
    Ok(())
}

async fn compare_hot(store: &SqliteHot, days: &SiteDays, noon: Timestamp, mix: &LogMix<'_>) -> Result<()> {
    let found = store.top(days.day_of(noon), LISTED_MAX).await?;
    let truth = mix.top(LISTED_MAX).into_iter().map(|article| HotItem {
        article_id: ArticleId::from_raw(article.article_id),
        score: article.score(),
        like_count: article.likes,
        comment_count: article.comments,
        view_count: article.views,
    });
    ensure!(found == truth.collect::<Vec<_>>(), "the hot list is not what the entries amount to");
    Ok(())
}

async fn compare_read(model: &MemoryReadModel, mix: &LogMix<'_>) -> Result<()> {
    let mut held = 0;
    for articles in mix.articles().chunks(STEP) {
        let ids: Vec<_> = articles.iter().map(|article| ArticleId::from_raw(article.article_id)).collect();
        for (article, look) in articles.iter().zip(model.find(&ids).await?) {
            // What the budget had no room for is rebuilt from its owners when somebody asks.
            let Lookup::Found { entry, .. } = look else { continue };
            held += 1;
            let told = match entry.shown() {
                Shown::Live { comment_count, like_count, .. } => Some((comment_count, like_count)),
                Shown::Gone => None,
                Shown::Unknown => anyhow::bail!("the query model lost a count"),
            };
            let truth = (!article.deleted).then_some((article.comments, article.likes));
            ensure!(told == truth, "the query model says {told:?} of an article, the entries {truth:?}");
        }
    }
    ensure!(held * 2 > mix.articles().len(), "only {held} of {} articles fit the model", mix.articles().len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::Cli;

    #[tokio::test]
    async fn both_groups_end_where_the_entries_do() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().to_str().unwrap();
        let binary = std::env::current_exe().unwrap();
        let args = ["bench", "--entries", "5000", "--scratch", folder, "--binary", binary.to_str().unwrap()];
        let options = Cli::parse_from(args).options.settled();
        let rows = run(&options, &Scratch::prepare(&options).unwrap()).await.unwrap();
        assert_eq!(rows.len(), 3);
    }
}
