//! What is paused is paused for every process, until it is resumed or a day is over.

use madang_engine_redis::RedisPauses;

use crate::support::{OneServer, TestRedis, Topology};

async fn a_pause_is_known_to_all_until_it_ends<T: Topology>() {
    let test = TestRedis::fresh::<T>().await;
    let (one, other) = (RedisPauses::new(test.redis.clone()), RedisPauses::new(test.redis.clone()));
    let groups = ["comment", "hot-article", "like"];
    assert_eq!(other.are_paused(&groups).await.unwrap(), [false, false, false]);
    // Twice is once.
    one.pause("hot-article").await.unwrap();
    one.pause("hot-article").await.unwrap();
    assert_eq!(other.are_paused(&groups).await.unwrap(), [false, true, false]);
    assert!(test.keys().await.iter().all(|(_, ttl)| *ttl > 0), "a pause that was forgotten ends by itself");
    other.resume("hot-article").await.unwrap();
    assert_eq!(one.are_paused(&groups).await.unwrap(), [false, false, false]);
    assert_eq!(one.are_paused(&[]).await.unwrap(), Vec::<bool>::new());
}

#[tokio::test]
async fn a_pause_is_known_to_all_until_it_ends_on_one_server() {
    a_pause_is_known_to_all_until_it_ends::<OneServer>().await;
}

#[tokio::test]
async fn a_pause_is_known_to_all_until_it_ends_on_a_cluster() {
    a_pause_is_known_to_all_until_it_ends::<crate::support::ThreeNodes>().await;
}
