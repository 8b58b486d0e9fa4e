//! What a query model that processes share, and that can be lost, promises beyond the port.

use std::sync::Arc;
use std::time::Duration;

use madang_article_read::{
    ArticleGroup, ArticleText, Change, Count, Discussion, ENTRY_TTL_MS, Entry, Filled, ListLookup, Lookup,
    NewestArticles, ReadModel, STALE_MAX_MS, Window,
};
use madang_board::{ArticleId, BoardId, MemberId};
use madang_engine_redis::Redis;
use madang_event::{ArticleDeleted, ArticleLikes, ArticleState, BoardCount, Envelope, Event, Writer};
use madang_kernel::{EventId, Id, ManualClock, PageNumber, PageSize, ShardId, Timestamp};
use madang_redis::{COMMITTED_WAIT_MS, RedisReadModel};
use tokio::time::Instant;

use crate::own_server::OwnServer;
use crate::support::{OneServer, TestRedis, ThreeNodes, Topology, eventually};

const NOW_MS: i64 = 1_800_000_000_000;
const ID_EPOCH_MS: i64 = 1_704_067_200_000;

struct Site {
    test: TestRedis,
    clock: Arc<ManualClock>,
    model: RedisReadModel,
}

impl Site {
    async fn fresh<T: Topology>() -> Self {
        Self::over(TestRedis::fresh::<T>().await)
    }

    fn over(test: TestRedis) -> Self {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(NOW_MS)));
        // The machine may do other things too.
        let patience = Duration::from_secs(20);
        let model = RedisReadModel::new(test.redis.clone(), clock.clone()).with_committed_wait(patience);
        Self { test, clock, model }
    }

    async fn another(&self) -> RedisReadModel {
        RedisReadModel::new(self.test.another().await, self.clock.clone())
    }

    async fn look(&self, article: ArticleId) -> Lookup {
        self.model.find(&[article]).await.unwrap().remove(0)
    }

    /// Likes of an article that is there.
    async fn likes(&self, article: ArticleId) -> Option<u64> {
        match self.look(article).await {
            Lookup::Found { entry, .. } => entry.likes.map(|likes| likes.count),
            Lookup::Miss | Lookup::Absent => None,
        }
    }

    async fn merge(&self, events: impl IntoIterator<Item = Envelope>) {
        self.model.merge(events.into_iter().filter_map(Change::of).collect()).await.unwrap();
    }
}

/// An article created so many milliseconds before the test began.
fn article(age_ms: i64) -> ArticleId {
    ArticleId::from_raw((NOW_MS - age_ms - ID_EPOCH_MS) << 22 | 77)
}

fn envelope(key: ArticleId, version: u64, event: Event) -> Envelope {
    Envelope { event_id: EventId::from_raw(1), occurred_at: Timestamp::from_millis(NOW_MS), key, version, event }
}

fn state(article_id: ArticleId) -> ArticleState {
    ArticleState {
        article_id,
        board_id: BoardId::from_raw(1),
        title: "title".into(),
        content: "content \"\u{0}\u{10ffff}".into(),
        content_html: "<p>".repeat(50_000),
        writer: Writer { member_id: MemberId::from_raw(3), name: "마당".into() },
        created_at: Timestamp::from_millis(NOW_MS),
        modified_at: Timestamp::from_millis(NOW_MS),
        board_count: BoardCount { article_count: 1, version: 1 },
    }
}

fn created(article: ArticleId) -> Envelope {
    envelope(article, 1, Event::ArticleCreated(state(article)))
}

fn liked(article_id: ArticleId, like_count: u64) -> Envelope {
    let likes = ArticleLikes { article_id, liked: vec![], unliked: vec![], like_count };
    envelope(article_id, like_count, Event::ArticleLikesChanged(likes))
}

fn deleted(article_id: ArticleId) -> Envelope {
    let board_count = BoardCount { article_count: 0, version: 2 };
    let gone = ArticleDeleted { article_id, board_id: BoardId::from_raw(1), board_count, restorable: false };
    envelope(article_id, 2, Event::ArticleDeleted(gone))
}

fn told(article: ArticleId, likes: u64) -> Option<Entry> {
    let text = Arc::new(ArticleText::of(state(article), 1));
    let count = |count| Some(Count { count, version: count });
    Some(Entry {
        article: Some(ArticleGroup::Live(text)),
        comments: count(0).map(Discussion::from),
        likes: count(likes),
    })
}

fn first_page() -> Window {
    Window::Page(PageNumber::new("page", 1).unwrap(), PageSize::new("size", 5).unwrap())
}

#[tokio::test]
async fn who_commits_an_article_puts_it_in_and_everybody_sees_it() {
    for site in [Site::fresh::<OneServer>().await, Site::fresh::<ThreeNodes>().await] {
        let new = article(5);
        site.model.merge_committed(&[created(new)]).await.unwrap();
        let Lookup::Found { entry, is_stale: false } = site.another().await.find(&[new]).await.unwrap().remove(0)
        else {
            panic!("it was put in")
        };
        assert_eq!(**entry.live().unwrap(), ArticleText::of(state(new), 1));
        site.merge([liked(new, 1)]).await;
        assert_eq!(site.likes(new).await, Some(1));
        site.model.merge_committed(&[created(new)]).await.unwrap();
        assert_eq!(site.likes(new).await, Some(1), "again: nothing");
    }
}

#[tokio::test]
async fn a_creation_that_something_overtook_is_not_put_in() {
    let site = Site::fresh::<OneServer>().await;
    for overtaking in [liked(article(5), 1), deleted(article(5))] {
        site.model.clear().await.unwrap();
        site.merge([created(article(5)), overtaking]).await;
        site.model.merge_committed(&[created(article(5))]).await.unwrap();
        assert_eq!(site.look(article(5)).await, Lookup::Miss, "the owners know what followed");
    }
}

#[tokio::test]
async fn a_creation_that_was_held_up_is_not_put_in() {
    let site = Site::fresh::<OneServer>().await;
    site.clock.advance(Duration::from_secs(11));
    site.model.merge_committed(&[created(article(5))]).await.unwrap();
    assert_eq!(site.look(article(5)).await, Lookup::Miss);
}

#[tokio::test]
async fn events_of_old_articles_that_nobody_reads_leave_nothing_behind() {
    let site = Site::fresh::<OneServer>().await;
    site.merge((1..200).map(|minutes| liked(article(minutes * 60_000), 1))).await;
    assert_eq!(site.test.keys().await, []);
}

#[tokio::test]
async fn versions_are_told_apart_where_a_double_cannot() {
    let site = Site::fresh::<OneServer>().await;
    let (one, first) = (article(100_000), 1 << 53);
    let reservation = site.model.reserve(&[one]).await.unwrap();
    site.model.fill(reservation, vec![(one, told(one, first))]).await.unwrap();
    for likes in [first + 1, u64::MAX] {
        site.merge([liked(one, likes), liked(one, likes - 1)]).await;
        assert_eq!(site.likes(one).await, Some(likes));
    }
}

#[tokio::test]
async fn another_process_hears_what_comes_during_a_rebuild() {
    let site = Site::fresh::<ThreeNodes>().await;
    let (here, there) = (article(100_000), site.another().await);
    let reservation = site.model.reserve(&[here]).await.unwrap();
    there.merge([liked(here, 7)].into_iter().filter_map(Change::of).collect()).await.unwrap();
    let filled = site.model.fill(reservation, vec![(here, told(here, 3))]).await.unwrap();
    assert!(matches!(&filled[..], [Filled::Stored(Some(entry))] if entry.likes.unwrap().count == 7));
    assert_eq!(there.find(&[here]).await.unwrap(), [site.look(here).await]);
}

#[tokio::test]
async fn what_is_lost_during_a_rebuild_is_asked_for_again() {
    for site in [Site::fresh::<OneServer>().await, Site::fresh::<ThreeNodes>().await] {
        let (lost, board) = (article(100_000), BoardId::from_raw(1));
        let reservation = site.model.reserve(&[lost]).await.unwrap();
        let list_ticket = site.model.reserve_list(board).await.unwrap();
        site.test.lose_everything().await;
        assert_eq!(site.model.fill(reservation, vec![(lost, told(lost, 3))]).await.unwrap(), [Filled::Retry]);
        let newest =
            NewestArticles { ids: vec![lost], is_all: true, count: BoardCount { article_count: 1, version: 1 } };
        assert_eq!(site.model.fill_list(list_ticket, board, Some(newest)).await.unwrap(), Filled::Retry);
        assert_eq!(site.look(lost).await, Lookup::Miss);
    }
}

#[tokio::test]
async fn every_key_expires_but_the_epochs() {
    let site = Site::fresh::<OneServer>().await;
    let board = BoardId::from_raw(1);
    let filled = |article, entry| vec![(article, entry)];
    for (number, entry) in [(1, told(article(1), 1)), (2, None)] {
        let reservation = site.model.reserve(&[article(number)]).await.unwrap();
        site.model.fill(reservation, filled(article(number), entry)).await.unwrap();
    }
    let reservation = site.model.reserve_list(board).await.unwrap();
    let newest = NewestArticles { ids: vec![], is_all: true, count: BoardCount { article_count: 0, version: 0 } };
    site.model.fill_list(reservation, board, Some(newest)).await.unwrap();
    site.model.reserve_list(board).await.unwrap();
    site.model.reserve(&[article(3)]).await.unwrap();
    site.model.merge_committed(&[created(article(4)), liked(article(5), 1)]).await.unwrap();
    site.merge([liked(article(1), 9), liked(article(3), 2), deleted(article(4))]).await;
    let day_ms = 25 * 3_600_000 + 120_000;
    let keys = site.test.keys().await;
    assert!(keys.len() > 10, "{keys:?}");
    assert!(keys.iter().all(|(_, ttl)| (1..day_ms).contains(ttl)), "{keys:?}");
    // Entry and list outlive the time for which they may be served stale.
    let stale_until_ms = ENTRY_TTL_MS + STALE_MAX_MS;
    let entry = format!(":a:{}", article(1));
    let served = keys.iter().filter(|(key, _)| key.ends_with(&entry) || key.ends_with(":b:1"));
    assert_eq!(served.filter(|(_, ttl)| *ttl > stale_until_ms).count(), 2, "{keys:?}");
    site.model.clear().await.unwrap();
    let left = site.test.keys().await;
    // A mark says only that something was let go, and goes by itself.
    assert!(left.iter().all(|(key, ttl)| key.ends_with(":epoch") || (key.contains(":n:") && *ttl > 0)), "{left:?}");
}

#[tokio::test]
async fn a_check_sees_what_is_held_and_no_absence() {
    for site in [Site::fresh::<OneServer>().await, Site::fresh::<ThreeNodes>().await] {
        let articles: Vec<_> = (1..=300).map(article).collect();
        let reservation = site.model.reserve(&articles).await.unwrap();
        let entries = articles.iter().enumerate();
        let entries = entries.map(|(n, article)| (*article, if n % 3 == 0 { None } else { told(*article, 1) }));
        site.model.fill(reservation, entries.collect()).await.unwrap();
        let mut held = Vec::new();
        for shard in ShardId::all() {
            for (article, entry) in site.model.entries(shard).await.unwrap() {
                assert_eq!(ShardId::of_parts(article), shard);
                assert_eq!(Some(entry), told(article, 1));
                held.push(article);
            }
        }
        held.sort_unstable_by(|a, b| b.cmp(a));
        let expected: Vec<_> = articles.iter().enumerate().filter(|(n, _)| n % 3 != 0).map(|(_, id)| *id).collect();
        assert_eq!(held, expected);
    }
}

#[tokio::test]
async fn while_redis_is_away_the_owners_are_believed_and_events_wait() {
    let mut server = OwnServer::not_running();
    server.start().await;
    let site = Site::over(TestRedis::over(server.options()).await);
    let (one, board) = (article(100_000), BoardId::from_raw(1));
    let reservation = site.model.reserve(&[one]).await.unwrap();
    site.model.fill(reservation, vec![(one, told(one, 3))]).await.unwrap();
    server.kill();
    assert_eq!(site.look(one).await, Lookup::Miss);
    assert_eq!(site.model.list(board, first_page()).await.unwrap(), ListLookup::Miss);
    let reservation = site.model.reserve(&[one]).await.unwrap();
    assert_eq!(
        site.model.fill(reservation, vec![(one, told(one, 4))]).await.unwrap(),
        [Filled::Stored(told(one, 4))],
        "readers are answered"
    );
    let changes: Vec<_> = [liked(one, 9)].into_iter().filter_map(Change::of).collect();
    assert!(site.model.merge(changes.clone()).await.is_err(), "an event is not lost silently");
    assert!(site.model.merge_committed(&[created(one)]).await.is_err());
    server.start().await;
    eventually("events go on", || async { site.model.merge(changes.clone()).await.is_ok() }).await;
    assert_eq!(site.look(one).await, Lookup::Miss, "all is lost");
    let reservation = site.model.reserve(&[one]).await.unwrap();
    site.model.fill(reservation, vec![(one, told(one, 9))]).await.unwrap();
    assert_eq!(site.likes(one).await, Some(9));
}

#[tokio::test]
async fn a_redis_that_hangs_does_not_slow_every_write() {
    let mut server = OwnServer::not_running();
    server.start().await;
    let redis = Redis::connect(&server.options()).await.unwrap();
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(NOW_MS)));
    let model = RedisReadModel::new(redis, clock);
    server.hang();
    let started = Instant::now();
    for _ in 0..50 {
        assert!(model.merge_committed(&[created(article(5))]).await.is_err());
    }
    let waited = started.elapsed();
    assert!(waited < Duration::from_millis(50 * COMMITTED_WAIT_MS / 2), "{waited:?}");
}
