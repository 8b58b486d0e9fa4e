//! One process of several rebuilds: the placeholder is its lease, by its token alone it is filled, and one whose holder died
//! is given to the next.

use std::sync::Arc;
use std::time::Duration;

use madang_article_read::{Filled, LEASE_MS, Lookup, NewestArticles, ReadModel, WholeList};
use madang_board::{ArticleId, BoardId};
use madang_event::BoardCount;
use madang_kernel::{Id, ManualClock, Timestamp};
use madang_redis::RedisReadModel;
use tokio::time::Instant;

use crate::support::{OneServer, TestRedis, ThreeNodes, Topology};

async fn two_processes<T: Topology>() -> (TestRedis, RedisReadModel, RedisReadModel) {
    let test = TestRedis::fresh::<T>().await;
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_800_000_000_000)));
    let one = RedisReadModel::new(test.redis.clone(), clock.clone());
    let other = RedisReadModel::new(test.another().await, clock);
    (test, one, other)
}

fn newest(ids: &[i64]) -> NewestArticles {
    let ids: Vec<_> = ids.iter().copied().map(ArticleId::from_raw).collect();
    let count = BoardCount { article_count: ids.len() as u64, version: 7 };
    NewestArticles { ids, is_all: true, count }
}

async fn one_of_two_rebuilds<T: Topology>() {
    let (_test, one, other) = two_processes::<T>().await;
    let articles: Vec<_> = (1..=20).map(ArticleId::from_raw).collect();
    let first = one.lease(&articles[..10]).await.unwrap();
    assert_eq!(first.elsewhere, []);
    let second = other.lease(&articles).await.unwrap();
    let mut elsewhere = second.elsewhere;
    elsewhere.sort_unstable();
    assert_eq!(elsewhere, articles[..10], "the rest is for the other");
    let told = articles.iter().map(|article| (*article, None)).collect();
    let filled = other.fill(second.reservation, told).await.unwrap();
    assert_eq!(filled[0], Filled::Retry, "nobody fills what another has the lease of");
    assert_eq!(filled[10], Filled::Stored(None));
    // Filled is free again.
    let told = articles[..10].iter().map(|article| (*article, None)).collect();
    assert!(one.fill(first.reservation, told).await.unwrap().iter().all(|filled| *filled == Filled::Stored(None)));
    assert_eq!(other.lease(&articles).await.unwrap().elsewhere, []);
}

#[tokio::test]
async fn one_of_two_processes_rebuilds_an_article() {
    one_of_two_rebuilds::<OneServer>().await;
    one_of_two_rebuilds::<ThreeNodes>().await;
}

#[tokio::test]
async fn a_lease_whose_holder_died_is_given_to_the_next_and_the_dead_fills_nothing() {
    let (_test, dead, next) = two_processes::<OneServer>().await;
    let (article, board) = (ArticleId::from_raw(5), BoardId::from_raw(1));
    let leased = dead.lease(&[article]).await.unwrap().reservation;
    let list = dead.lease_list(board).await.unwrap().unwrap();
    assert_eq!(next.lease(&[article]).await.unwrap().elsewhere, [article]);
    assert_eq!(next.lease_list(board).await.unwrap(), None);
    let since = Instant::now();
    let taken = loop {
        let lease = next.lease(&[article]).await.unwrap();
        if lease.elsewhere.is_empty() {
            break lease.reservation;
        }
        assert!(since.elapsed() < Duration::from_secs(30), "the lease ends");
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert!(since.elapsed() > Duration::from_millis(LEASE_MS as u64 / 2), "not before its time");
    // That of the list began after it, and ends by itself too.
    let list_taken = loop {
        if let Some(lease) = next.lease_list(board).await.unwrap() {
            break lease;
        }
        assert!(since.elapsed() < Duration::from_secs(30), "the lease of the list ends");
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert_eq!(dead.fill(leased, vec![(article, None)]).await.unwrap(), [Filled::Retry]);
    assert_eq!(dead.fill_list(list, board, Some(newest(&[1]))).await.unwrap(), Filled::Retry);
    assert_eq!(next.fill(taken, vec![(article, None)]).await.unwrap(), [Filled::Stored(None)]);
    assert!(matches!(next.fill_list(list_taken, board, Some(newest(&[2]))).await.unwrap(), Filled::Stored(Some(_))));
    assert_eq!(dead.find(&[article]).await.unwrap(), [Lookup::Absent]);
    let told = WholeList::Found { newest: newest(&[2]), is_stale: false };
    assert_eq!(dead.whole_list(board).await.unwrap(), told);
}
