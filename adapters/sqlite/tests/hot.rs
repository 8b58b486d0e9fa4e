//! Hot articles as the composition has them: the service and the real consumer on SQLite and its log.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use jiff::tz::TimeZone;
use madang_board::{ArticleId, BoardId};
use madang_event::{ArticleViews, Envelope, Event, Topic};
use madang_hot_article::{
    Counts, Day, Finished, HotChange, HotConsumer, HotOwners, HotService, HotStore, Offsets, Progress, Reading,
    SiteDays, Tally,
};
use madang_kernel::{EventId, Id, ManualClock, ShardId, SteadyClock, StoreError, SystemClock, Timestamp};
use madang_messaging::{
    Consumer, ConsumerConfig, DeadLetters, EventLog, GroupId, Message, OnError, PublishOutcome, Supervisor,
};
use madang_sqlite::{Sqlite, SqliteDeadLetters, SqliteHot, SqliteLog, SqliteProgress};
use support::TestDb;

const ID_EPOCH_MS: i64 = 1_704_067_200_000;
/// Far longer than anything here takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

struct Site {
    test: TestDb,
    days: SiteDays,
    store: Arc<SqliteHot>,
    log: SqliteLog,
    clock: Arc<ManualClock>,
    service: HotService,
}

impl Site {
    /// A site in Seoul, whose group has joined the log.
    async fn at(now: &str) -> Self {
        let test = TestDb::fresh();
        let clock = Arc::new(ManualClock::at(at(now)));
        let days = SiteDays::new(TimeZone::get("Asia/Seoul").unwrap());
        let log = SqliteLog::new(test.db.clone());
        log.register_group(&group(), &topics()).await.unwrap();
        let store = Arc::new(SqliteHot::new(test.db.clone()));
        let progress = Arc::new(SqliteProgress::new(test.db.clone(), group()));
        let service = HotService::new(store.clone(), clock.clone(), days.clone(), progress);
        Self { test, days, store, log, clock, service }
    }

    async fn finalise_due(&self, now: &str) -> Vec<String> {
        self.clock.set(at(now));
        let finished = self.service.finalise_due().await.unwrap();
        finished.finalised.iter().map(Day::to_string).collect()
    }

    /// Views of an article created at `created`, seen at `occurred`, put into the log.
    async fn publish_views(&self, created: &str, occurred: &str, view_count: u64) -> ArticleId {
        let key = article(created, 1);
        let event = Event::ArticleViewed(ArticleViews { article_id: key, view_count });
        let (event_id, occurred_at) = (EventId::from_raw(1), at(occurred));
        let payload = Envelope { event_id, occurred_at, key, version: view_count, event }.encode();
        self.publish(occurred, payload).await;
        key
    }

    async fn publish(&self, occurred: &str, payload: Bytes) {
        let message = Message {
            event_id: EventId::from_raw(1),
            topic: Topic::View.name().to_owned(),
            key: "key".to_owned(),
            shard: ShardId::HOME,
            occurred_at: at(occurred),
            headers: Vec::new(),
            payload,
        };
        assert_eq!(self.log.publish(&[message]).await.unwrap(), [PublishOutcome::Published]);
    }

    /// Runs the real consumer until everything in the log is done.
    async fn consume(&self) {
        let handler = HotConsumer::new(self.store.clone(), self.clock.clone(), self.days.clone(), group());
        let config = ConsumerConfig::new(group(), topics());
        let consumer = Consumer::new(config, Arc::new(self.log.clone()), Arc::new(handler), Arc::new(SystemClock));
        let supervisor = Supervisor::new("test");
        supervisor.spawn("hot-article", OnError::Restart, move |stop| consumer.clone().run(stop));
        let progress = SqliteProgress::new(self.test.db.clone(), group());
        let end_of_time = Timestamp::from_millis(i64::MAX);
        eventually(async || progress.caught_up(end_of_time).await.unwrap()).await;
        assert!(supervisor.shutdown(PATIENCE).await.aborted.is_empty());
    }
}

async fn eventually(mut holds: impl AsyncFnMut() -> bool) {
    let mut ticks = tokio::time::interval(Duration::from_millis(5));
    let wait = async {
        while !holds().await {
            ticks.tick().await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("it holds in time");
}

fn group() -> GroupId {
    GroupId::new("hot-article")
}

fn topics() -> Vec<String> {
    Topic::ALL.map(|topic| topic.name().to_owned()).to_vec()
}

fn at(text: &str) -> Timestamp {
    Timestamp::from_millis(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
}

fn day(text: &str) -> Day {
    text.parse().unwrap()
}

fn article(created: &str, number: i64) -> ArticleId {
    ArticleId::from_raw((at(created).as_millis() - ID_EPOCH_MS) << 22 | number)
}

fn views(day: Day, number: i64, count: u64) -> HotChange {
    let counts = Counts { views: Reading::new(count, 1), ..Counts::default() };
    HotChange { day, article_id: ArticleId::from_raw(number), tally: Tally::Live(counts) }
}

/// Views of an article that was written on that day.
fn seen(day: Day, number: i64, count: u64) -> HotChange {
    HotChange { article_id: article(&format!("{day}T01:00:00Z"), number), ..views(day, number, count) }
}

fn nothing_done() -> Offsets {
    Offsets { group: group(), positions: Vec::new() }
}

#[tokio::test]
async fn a_day_is_final_an_hour_into_the_next_day_of_the_site() {
    let site = Site::at("2026-03-05T14:59:59Z").await;
    assert_eq!(site.finalise_due("2026-03-05T15:59:59.999Z").await.last().unwrap(), "2026-03-04");
    assert_eq!(site.finalise_due("2026-03-05T16:00:00Z").await, ["2026-03-05"]);
    assert_eq!(site.finalise_due("2026-03-05T16:00:01Z").await, Vec::<String>::new());
    let lists = site.service.days().await.unwrap();
    let finals: Vec<_> = lists.iter().map(|list| list.is_final).collect();
    assert_eq!(finals, [false, true, true, true, true, true, true], "today goes on");
}

#[tokio::test]
async fn several_days_are_due_after_a_long_stop() {
    let site = Site::at("2026-03-01T12:00:00Z").await;
    assert_eq!(site.finalise_due("2026-03-01T12:00:00Z").await.len(), 6);
    let days = site.finalise_due("2026-03-05T01:00:00Z").await;
    assert_eq!(days, ["2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04"]);
}

#[tokio::test]
async fn a_list_waits_until_everything_before_is_consumed() {
    let site = Site::at("2026-03-05T12:00:00Z").await;
    site.finalise_due("2026-03-05T12:00:00Z").await;
    let key = site.publish_views("2026-03-05T12:00:00Z", "2026-03-05T14:59:59.999Z", 5).await;
    assert_eq!(site.finalise_due("2026-03-05T16:00:00Z").await, Vec::<String>::new(), "an event is unread");
    assert_eq!(site.finalise_due("2026-03-06T03:00:00Z").await, Vec::<String>::new(), "however long it takes");
    site.consume().await;
    // What occurred later holds nothing up.
    site.publish_views("2026-03-05T16:00:00Z", "2026-03-05T16:00:00Z", 9).await;
    assert_eq!(site.finalise_due("2026-03-06T03:00:00Z").await, ["2026-03-05"]);
    let list = site.service.day(day("2026-03-05")).await.unwrap().unwrap();
    assert!(list.is_final);
    assert_eq!((list.items.len(), list.items[0].article_id, list.items[0].score), (1, key, 5));
}

#[tokio::test]
async fn a_clock_that_jumps_ahead_and_comes_back_ends_no_day_and_forgets_none() {
    let mut site = Site::at("2026-03-10T12:00:00+09:00").await;
    site.service = site.service.ending_days_by(Arc::new(SteadyClock::new(site.clock.clone())));
    let key = site.publish_views("2026-03-10T11:00:00+09:00", "2026-03-10T11:30:00+09:00", 7).await;
    site.consume().await;
    assert_eq!(site.finalise_due("2026-03-10T12:00:00+09:00").await.len(), 6, "those before it are over");
    for ahead in ["2026-03-11T12:00:00+09:00", "2026-03-20T12:00:00+09:00", "2027-01-01T00:00:00+09:00"] {
        assert_eq!(site.finalise_due(ahead).await, Vec::<String>::new(), "{ahead}");
    }
    site.clock.set(at("2026-03-10T12:00:05+09:00"));
    let today = site.service.days().await.unwrap().remove(0);
    assert!(!today.is_final);
    assert_eq!(today.items.iter().map(|item| item.article_id).collect::<Vec<_>>(), [key]);
}

#[tokio::test]
async fn a_group_that_never_joined_makes_nothing_final() {
    let test = TestDb::fresh();
    let progress = SqliteProgress::new(test.db.clone(), group());
    assert!(!progress.caught_up(at("2026-03-05T00:00:00Z")).await.unwrap());
}

#[tokio::test]
async fn only_the_last_seven_days_have_a_list() {
    let site = Site::at("2026-03-05T12:00:00Z").await;
    for (date, has_list) in [
        ("2026-03-06", false),
        ("2026-03-05", true),
        ("2026-02-27", true),
        ("2026-02-26", false),
        ("1999-01-01", false),
    ] {
        assert_eq!(site.service.day(day(date)).await.unwrap().is_some(), has_list, "{date}");
    }
    let dates: Vec<_> = site.service.days().await.unwrap().iter().map(|list| list.date).collect();
    assert_eq!((dates.len(), dates[0], dates[6]), (7, day("2026-03-05"), day("2026-02-27")));
}

#[tokio::test]
async fn days_are_forgotten_once_they_are_too_old_to_be_shown() {
    let site = Site::at("2026-03-05T12:00:00Z").await;
    let (oldest, older) = (day("2026-02-26"), day("2026-02-25"));
    let changes = (1..=1_200).map(|number| views(older, number, 1)).chain([views(oldest, 1, 1)]);
    site.store.apply(changes.collect(), nothing_done()).await.unwrap();
    let finished = site.service.finalise_due().await.unwrap();
    assert_eq!(finished.forgotten, 1_200);
    assert_eq!(site.store.top(older, 10).await.unwrap().len(), 0);
    assert_eq!(site.store.top(oldest, 10).await.unwrap().len(), 1, "eight days are kept");
    assert_eq!(site.service.finalise_due().await.unwrap(), Finished::default());
    site.clock.advance(Duration::from_secs(86_400));
    // A row, and no mark: that day was never final here.
    assert_eq!(site.service.finalise_due().await.unwrap().forgotten, 1);
}

#[tokio::test]
async fn an_unreadable_message_goes_to_the_dead_letters_and_holds_up_nobody() {
    let site = Site::at("2026-03-05T12:00:00Z").await;
    let created = "2026-03-05T11:00:00Z";
    let key = site.publish_views(created, created, 1).await;
    site.publish(created, Bytes::from_static(b"{\"event_id\"")).await;
    site.publish_views(created, "2026-03-05T11:30:00Z", 2).await;
    site.consume().await;
    let list = site.service.day(day("2026-03-05")).await.unwrap().unwrap();
    assert_eq!((list.items[0].article_id, list.items[0].view_count), (key, 2));
    let letters = SqliteDeadLetters::new(site.test.db.clone()).list(None, 10).await.unwrap();
    assert_eq!(letters.len(), 1);
    assert_eq!(&letters[0].message.payload[..], b"{\"event_id\"");
}

#[tokio::test]
async fn what_is_consumed_is_not_consumed_again_after_a_restart() {
    let site = Site::at("2026-03-05T12:00:00Z").await;
    let created = "2026-03-05T11:00:00Z";
    for count in 1..=50 {
        site.publish_views(created, created, count).await;
    }
    site.consume().await;
    let before = site.service.days().await.unwrap();
    site.test.db.close().await;
    let reopened: Sqlite = site.test.reopen();
    let done = SqliteLog::new(reopened.clone()).groups().await.unwrap();
    let views = done.iter().find(|state| state.topic == Topic::View.name()).unwrap();
    assert_eq!(views.done, 50, "the offset was stored with the last batch");
    let after = SqliteHot::new(reopened).lists(site.days.shown(at("2026-03-05T12:00:00Z"))).await.unwrap();
    assert_eq!(after, before);
}

#[tokio::test]
async fn a_rebuild_leaves_the_lists_as_they_were() {
    let site = Site::at("2026-03-05T12:00:00Z").await;
    let today = day("2026-03-05");
    site.store.apply((1..=1_500).map(|n| views(today, n, n as u64)).collect(), nothing_done()).await.unwrap();
    let before = site.service.days().await.unwrap();
    let owners = Owners::of((1..=1_500).map(|n| views(today, n, n as u64)));
    let rebuilt = site.service.rebuild(&owners).await.unwrap();
    assert_eq!((rebuilt.mended, rebuilt.looked_at, rebuilt.corrected), (0, 1_500, 0));
    assert_eq!(site.service.days().await.unwrap(), before);
}

#[tokio::test]
async fn a_rebuild_holds_what_the_owners_say_of_today_and_removes_what_is_gone_of_any_day() {
    let site = Site::at("2026-03-05T12:00:00Z").await;
    let (today, yesterday) = (day("2026-03-05"), day("2026-03-04"));
    let forged = Counts { views: Reading::new(9, 1 << 40), ..Counts::default() };
    let held = [
        HotChange { tally: Tally::Live(forged), ..seen(today, 1, 0) },
        HotChange { tally: Tally::Gone, ..seen(today, 2, 0) },
        seen(today, 4, 4),
        seen(yesterday, 5, 5),
        seen(yesterday, 6, 6),
    ];
    site.store.apply(held.to_vec(), nothing_done()).await.unwrap();
    // The third was never told of, the fourth and the sixth are gone without a word, the fifth went on after its day.
    let owners = Owners::of([seen(today, 1, 1), seen(today, 2, 2), seen(today, 3, 3), seen(yesterday, 5, 50)]);
    let found = site.service.compare(&owners).await.unwrap().findings;
    assert_eq!(found.len(), 5, "{found:?}");
    assert_eq!(site.service.rebuild(&owners).await.unwrap().mended, 5);
    assert_eq!(site.service.compare(&owners).await.unwrap().findings, []);
    let scores =
        async |day| -> Vec<u64> { site.store.top(day, 10).await.unwrap().iter().map(|item| item.score).collect() };
    assert_eq!((scores(today).await, scores(yesterday).await), (vec![3, 2, 1], vec![5]));
    let next = Counts { views: Reading::new(7, 7), ..Counts::default() };
    site.store.apply(vec![HotChange { tally: Tally::Live(next), ..seen(today, 1, 0) }], nothing_done()).await.unwrap();
    assert_eq!(scores(today).await, [7, 3, 2], "events count again");
}

#[tokio::test]
async fn an_event_that_comes_while_the_owners_are_asked_is_kept() {
    let site = Site::at("2026-03-05T12:00:00Z").await;
    let today = day("2026-03-05");
    site.store.apply(vec![seen(today, 1, 1)], nothing_done()).await.unwrap();
    let mut owners = Owners::of([seen(today, 1, 2)]);
    // They answer what was true, and before it is stored an event tells of more.
    owners.meanwhile = Some((site.store.clone(), seen(today, 1, 3)));
    site.service.rebuild(&owners).await.unwrap();
    assert_eq!(site.store.top(today, 10).await.unwrap()[0].view_count, 3);
}

/// Owners who have these counts of these articles, on one board.
struct Owners {
    counts: BTreeMap<ArticleId, Counts>,
    /// What is applied while they are asked, and what they have from then on.
    meanwhile: Option<(Arc<SqliteHot>, HotChange)>,
}

impl Owners {
    fn of(changes: impl IntoIterator<Item = HotChange>) -> Self {
        let counts = changes.into_iter().map(|change| match change.tally {
            Tally::Live(counts) => (change.article_id, counts),
            Tally::Gone => panic!("an owner has what is there"),
        });
        Self { counts: counts.collect(), meanwhile: None }
    }
}

#[async_trait]
impl HotOwners for Owners {
    async fn boards(&self) -> Result<Vec<BoardId>, StoreError> {
        Ok(vec![BoardId::from_raw(1)])
    }

    async fn articles_before(&self, _: BoardId, before: Option<ArticleId>) -> Result<Vec<ArticleId>, StoreError> {
        let older = self.counts.keys().rev().filter(|article| before.is_none_or(|before| **article < before));
        Ok(older.take(100).copied().collect())
    }

    async fn counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<Counts>>, StoreError> {
        let mut counts: Vec<_> = articles.iter().map(|article| self.counts.get(article).copied()).collect();
        if let Some((store, change)) = &self.meanwhile
            && let Tally::Live(newer) = change.tally
        {
            let is_first = store.apply(vec![*change], nothing_done()).await?.changed == 1;
            if !is_first {
                counts.fill(Some(newer));
            }
        }
        Ok(counts)
    }
}

/// Prints how long a thousand folded changes take; the bound is for a loaded machine and an unoptimised build.
#[tokio::test]
async fn a_thousand_changes_are_applied_in_a_moment() {
    let site = Site::at("2026-03-05T12:00:00Z").await;
    let today = day("2026-03-05");
    let mut took = Vec::new();
    for round in 1..=20u64 {
        let changes: Vec<_> = (1..=1_000)
            .map(|n| {
                let counts = Counts { views: Reading::new(round * 7 % 13 + n as u64 % 50, round), ..Counts::default() };
                HotChange { tally: Tally::Live(counts), ..views(today, n * 977, 0) }
            })
            .collect();
        let started = Instant::now();
        assert_eq!(site.store.apply(changes, nothing_done()).await.unwrap().changed, 1_000);
        took.push(started.elapsed());
    }
    took.sort();
    println!("1,000 changes: median {:?}, fastest {:?}", took[10], took[0]);
    assert!(took[0] < Duration::from_millis(250), "{took:?}");
}
