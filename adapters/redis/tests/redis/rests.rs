//! What was told to rest rests for every process, until it is told to go on or a day is over.

use madang_redis::RedisRests;

use crate::support::{OneServer, TestRedis, Topology};

async fn a_rest_is_known_to_all_until_it_ends<T: Topology>() {
    let test = TestRedis::fresh::<T>().await;
    let (one, other) = (RedisRests::new(test.redis.clone()), RedisRests::new(test.redis.clone()));
    let groups = ["comment", "hot-article", "like"];
    assert_eq!(other.are_resting(&groups).await.unwrap(), [false, false, false]);
    // Twice is once.
    one.rest("hot-article").await.unwrap();
    one.rest("hot-article").await.unwrap();
    assert_eq!(other.are_resting(&groups).await.unwrap(), [false, true, false]);
    assert!(test.keys().await.iter().all(|(_, ttl)| *ttl > 0), "a rest that was forgotten ends by itself");
    other.go_on("hot-article").await.unwrap();
    assert_eq!(one.are_resting(&groups).await.unwrap(), [false, false, false]);
    assert_eq!(one.are_resting(&[]).await.unwrap(), Vec::<bool>::new());
}

#[tokio::test]
async fn a_rest_is_known_to_all_until_it_ends_on_one_server() {
    a_rest_is_known_to_all_until_it_ends::<OneServer>().await;
}

#[tokio::test]
async fn a_rest_is_known_to_all_until_it_ends_on_a_cluster() {
    a_rest_is_known_to_all_until_it_ends::<crate::support::ThreeNodes>().await;
}
