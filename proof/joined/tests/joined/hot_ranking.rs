//! Rankings are read from Redis while they are whole there, and right whatever Redis loses.

use std::sync::Arc;

use madang_board::ArticleId;
use madang_engine_redis::{Redis, RedisOptions};
use madang_hot_article::{Counts, Day, HotChange, HotItem, HotStore, Offsets, Reading, Tally};
use madang_kernel::Id;
use madang_messaging::GroupId;
use madang_redis::RankedHot;

use crate::hot_store::Scores;
use crate::own_server::OwnServer;
use crate::proxy::Proxy;
use crate::support::{OneServer, TestRedis, ThreeNodes, eventually};

fn day() -> Day {
    "2026-03-01".parse().unwrap()
}

fn likes(article: i64, count: u64, version: u64) -> HotChange {
    let tally = Tally::Live(Counts { likes: Reading::new(count, version), ..Counts::default() });
    HotChange { day: day(), article_id: ArticleId::from_raw(article), tally }
}

async fn apply(store: &RankedHot, changes: Vec<HotChange>) {
    let done = Offsets { group: GroupId::new("hot-article"), positions: vec![] };
    store.apply(changes, done).await.unwrap();
}

async fn ranking(store: &dyn HotStore) -> Vec<(i64, u64)> {
    let pair = |item: &HotItem| (item.article_id.raw(), item.score);
    store.top(day(), 1_000).await.unwrap().iter().map(pair).collect()
}

#[tokio::test]
async fn a_whole_day_is_read_from_redis_and_a_lost_one_from_the_store() {
    for test in [TestRedis::fresh::<OneServer>().await, TestRedis::fresh::<ThreeNodes>().await] {
        let scores = Scores::fresh();
        let store = RankedHot::new(scores.store(), test.redis.clone());
        apply(&store, (1..=3).map(|article| likes(article, article as u64, 1)).collect()).await;
        scores.damage().await;
        assert_eq!(ranking(&store).await, [(3, 9), (2, 6), (1, 3)], "the damage is in the store");
        let lists = store.lists(vec![day(), day().minus(1)]).await.unwrap();
        assert_eq!((lists[0].items.len(), lists[0].is_final, lists[1].items.len()), (3, false, 0));
        test.lose_everything().await;
        assert_eq!(ranking(&store).await, [(1, 997), (2, 994), (3, 991)]);
        apply(&store, vec![likes(4, 1, 1)]).await;
        assert_eq!(ranking(&store).await, [(3, 9), (2, 6), (1, 3), (4, 3)], "made anew from the counts");
        let keys = test.keys().await;
        assert_eq!(keys.len(), 3, "{keys:?}");
        assert!(keys.iter().all(|(_, ttl)| *ttl > 0), "{keys:?}");
    }
}

#[tokio::test]
async fn a_final_day_is_the_stores() {
    let test = TestRedis::fresh::<OneServer>().await;
    let scores = Scores::fresh();
    let store = RankedHot::new(scores.store(), test.redis.clone());
    apply(&store, vec![likes(1, 1, 1)]).await;
    assert!(store.finalise(day()).await.unwrap());
    assert_eq!(test.keys().await, []);
    assert_eq!(store.lists(vec![day()]).await.unwrap()[0].items.len(), 1);
    apply(&store, vec![HotChange { tally: Tally::Gone, ..likes(1, 0, 0) }]).await;
    let list = store.lists(vec![day()]).await.unwrap().remove(0);
    assert_eq!((list.is_final, list.items), (true, vec![]));
    // Another process that has the day in Redis learns of it when it asks.
    let other = RankedHot::new(scores.store(), test.another().await);
    assert!(other.is_final(day()).await.unwrap());
    assert_eq!(test.keys().await, []);
}

#[tokio::test]
async fn a_day_that_only_the_store_has_is_asked_for_once_in_a_moment() {
    let test = TestRedis::fresh::<OneServer>().await;
    let scores = Scores::fresh();
    let done = Offsets { group: GroupId::new("hot-article"), positions: vec![] };
    scores.store().apply(vec![likes(1, 1, 1)], done).await.unwrap();
    let store = RankedHot::new(scores.store(), test.redis.clone());
    let score = async || store.lists(vec![day()]).await.unwrap()[0].items[0].score;
    assert_eq!(score().await, 3);
    scores.damage().await;
    assert_eq!(score().await, 3, "kept");
    eventually("the store is asked again", || async { score().await != 3 }).await;
}

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

#[tokio::test]
async fn whatever_redis_loses_and_whenever_the_ranking_is_the_stores() {
    for (seed, test) in [(1, TestRedis::fresh::<OneServer>().await), (2, TestRedis::fresh::<ThreeNodes>().await)] {
        let (scores, mut numbers) = (Scores::fresh(), Numbers(seed));
        let one = RankedHot::new(scores.store(), test.redis.clone());
        let other = RankedHot::new(scores.store(), test.another().await);
        for version in 1..=120 {
            let changes = (0..1 + numbers.below(20)).map(|_| {
                let article = 1 + numbers.below(60) as i64;
                match numbers.below(60) {
                    0 => HotChange { tally: Tally::Gone, ..likes(article, 0, 0) },
                    // Scores fall as often as they rise.
                    count => likes(article, count % 9, version),
                }
            });
            let changes = madang_hot_article::fold(changes.collect::<Vec<_>>());
            apply(if numbers.below(2) == 0 { &one } else { &other }, changes).await;
            match numbers.below(8) {
                0 => test.lose_everything().await,
                1 => test.lose(":rank").await,
                2 => test.lose(":rows").await,
                3 => test.lose(":whole").await,
                _ => {}
            }
            let expected = ranking(&*scores.store()).await;
            assert_eq!(ranking(&one).await, expected, "version {version}");
            assert_eq!(ranking(&other).await, expected, "version {version}");
        }
    }
}

#[tokio::test]
async fn while_redis_is_away_the_store_is_read_and_afterwards_the_day_is_made_anew() {
    let mut server = OwnServer::not_running();
    server.start().await;
    let scores = Scores::fresh();
    let store = RankedHot::new(scores.store(), Redis::connect(&server.options()).await.unwrap());
    apply(&store, vec![likes(1, 5, 1)]).await;
    server.kill();
    apply(&store, vec![likes(2, 7, 1)]).await;
    assert_eq!(ranking(&store).await, [(2, 21), (1, 15)]);
    server.start().await;
    scores.damage().await;
    let changes = || vec![likes(3, 1, 1)];
    eventually("the day is read from Redis", || async {
        apply(&store, changes()).await;
        ranking(&store).await == [(2, 21), (1, 15), (3, 3)]
    })
    .await;
}

#[tokio::test]
async fn a_change_that_could_not_be_sent_is_made_up_for() {
    let test = TestRedis::fresh::<OneServer>().await;
    let scores = Scores::fresh();
    let proxy = Proxy::to(&test.options.urls[0]).await;
    let options = RedisOptions { urls: vec![proxy.url.clone()], ..test.options.clone() };
    let cut_off = RankedHot::new(scores.store(), Redis::connect(&options).await.unwrap());
    let reader = RankedHot::new(scores.store(), test.redis.clone());
    apply(&cut_off, vec![likes(1, 5, 1), likes(2, 1, 1)]).await;
    assert_eq!(ranking(&reader).await, [(1, 15), (2, 3)]);
    proxy.cut();
    apply(&cut_off, vec![likes(2, 9, 2)]).await;
    assert_eq!(ranking(&cut_off).await, [(2, 27), (1, 15)], "who knows of it asks the store");
    proxy.mend();
    // Something else changes; the day is made anew, with what was missing.
    eventually("everybody has it", || async {
        apply(&cut_off, vec![likes(3, 1, 1)]).await;
        ranking(&reader).await == [(2, 27), (1, 15), (3, 3)]
    })
    .await;
    let stored: Arc<dyn HotStore> = scores.store();
    assert_eq!(ranking(&*stored).await, ranking(&reader).await);
}

#[tokio::test]
async fn a_process_that_starts_trusts_no_day_before_it_has_made_it_anew() {
    let test = TestRedis::fresh::<OneServer>().await;
    let scores = Scores::fresh();
    let before = RankedHot::new(scores.store(), test.redis.clone());
    apply(&before, vec![likes(1, 5, 1)]).await;
    // It commits this, and dies before Redis hears of it.
    let done = Offsets { group: GroupId::new("hot-article"), positions: vec![] };
    scores.store().apply(vec![likes(2, 9, 1)], done).await.unwrap();
    drop(before);
    let after = RankedHot::new(scores.store(), test.another().await);
    apply(&after, vec![likes(3, 1, 1)]).await;
    scores.damage().await;
    assert_eq!(ranking(&after).await, [(2, 27), (1, 15), (3, 3)]);
}
