//! A Redis that is away costs nobody time, and is found again when it is back.

use std::time::Duration;

use madang_engine_redis::{Bucket, OptionsError, Redis, RedisBuckets, RedisMembership, RedisOptions};
use madang_messaging::{InstanceId, Membership};
use tokio::time::Instant;

use crate::own_server::{OwnCluster, OwnServer};
use crate::support::{OneServer, TestRedis, ThreeNodes, Topology, eventually};

const DEAD_AFTER: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_server_that_is_away_at_the_start_is_found_later() {
    let mut server = OwnServer::not_running();
    let redis = Redis::connect(&server.options()).await.unwrap();
    assert!(redis.ping().await.is_err());
    server.start().await;
    eventually("it is found", || async { redis.ping().await.is_ok() }).await;
}

#[tokio::test]
async fn while_it_is_away_calls_fail_at_once_and_afterwards_they_work() {
    let mut server = OwnServer::not_running();
    server.start().await;
    let redis = Redis::connect(&server.options()).await.unwrap();
    let membership = RedisMembership::new(redis.clone());
    membership.beat("a", &InstanceId::new("i"), DEAD_AFTER).await.unwrap();
    server.kill();
    assert!(redis.ping().await.is_err());
    let started = Instant::now();
    for _ in 0..1_000 {
        assert!(redis.ping().await.is_err());
    }
    let each = started.elapsed() / 1_000;
    assert!(each < Duration::from_millis(20), "{each:?}");
    server.start().await;
    eventually("it is found again", || async { redis.ping().await.is_ok() }).await;
    // It has lost its scripts, and all else.
    let living = membership.beat("a", &InstanceId::new("j"), DEAD_AFTER).await.unwrap();
    assert_eq!(living, [InstanceId::new("j")]);
}

#[tokio::test]
async fn a_connection_that_is_cut_costs_the_calls_on_it_and_no_other() {
    let mut server = OwnServer::not_running();
    server.start().await;
    let redis = Redis::connect(&server.options()).await.unwrap();
    for _ in 0..5 {
        redis.ping().await.unwrap();
        server.kill();
        server.start().await;
        eventually("the loss is noticed", || async { redis.ping().await.is_err() }).await;
        redis.ping().await.unwrap();
    }
}

#[tokio::test]
async fn a_server_that_hangs_is_given_up_in_time() {
    // A port that takes connections and says nothing.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("redis://{}", listener.local_addr().unwrap());
    let options = RedisOptions { response_timeout_ms: 100, connect_timeout_ms: 100, ..RedisOptions::single("t", url) };
    let redis = tokio::time::timeout(Duration::from_secs(20), Redis::connect(&options)).await.unwrap().unwrap();
    let answered = tokio::time::timeout(Duration::from_secs(20), redis.ping()).await.unwrap();
    assert!(answered.is_err());
}

#[tokio::test]
async fn a_script_that_a_server_does_not_know_is_sent_again() {
    for test in [TestRedis::fresh::<OneServer>().await, TestRedis::fresh::<ThreeNodes>().await] {
        let membership = RedisMembership::new(test.redis.clone());
        for _ in 0..3 {
            membership.beat("a", &InstanceId::new("i"), DEAD_AFTER).await.unwrap();
            test.forget_scripts().await;
        }
    }
}

#[tokio::test]
async fn an_address_that_is_none_is_refused_without_being_repeated() {
    let options = RedisOptions::single("t", "redis://:secret@host:port");
    let error = Redis::connect(&options).await.unwrap_err();
    assert!(matches!(error, OptionsError::Url { number: 1, .. }));
    assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
    let options = RedisOptions { prefix: "{x}".into(), ..OneServer::options() };
    assert_eq!(Redis::connect(&options).await.unwrap_err(), OptionsError::Prefix);
}

/// Takes a token from many buckets, which are spread over all slots; tells how many answered.
async fn answering(redis: &Redis) -> usize {
    let buckets = RedisBuckets::new(redis.clone());
    let bucket = Bucket { per_second: 1.0, burst: 1_000 };
    let mut answering = 0;
    for name in 0..40 {
        answering += usize::from(buckets.take(&name.to_string(), bucket, 1).await.is_ok());
    }
    answering
}

#[tokio::test]
async fn a_node_that_is_away_keeps_nobody_from_the_others_and_is_found_again() {
    let mut cluster = OwnCluster::running().await;
    let redis = Redis::connect(&cluster.options()).await.unwrap();
    assert_eq!(answering(&redis).await, 40);
    cluster.nodes[1].kill();
    eventually("the rest of the cluster answers, and fails quickly where it does not", || async {
        let started = Instant::now();
        let answering = answering(&redis).await;
        (5..40).contains(&answering) && started.elapsed() < Duration::from_secs(5)
    })
    .await;
    cluster.nodes[1].start().await;
    eventually("the node is found again", || async { answering(&redis).await == 40 }).await;
}

#[tokio::test]
async fn a_cluster_that_was_away_is_found_again() {
    let mut cluster = OwnCluster::running().await;
    let redis = Redis::connect(&cluster.options()).await.unwrap();
    assert_eq!(answering(&redis).await, 40);
    cluster.nodes.iter_mut().for_each(OwnServer::kill);
    eventually("nothing answers", || async { answering(&redis).await == 0 }).await;
    let late = Redis::connect(&cluster.options()).await.unwrap();
    assert_eq!(answering(&late).await, 0);
    for node in &mut cluster.nodes {
        node.start().await;
    }
    eventually("it is found again", || async { answering(&redis).await == 40 }).await;
    eventually("also by who came when it was away", || async { answering(&late).await == 40 }).await;
}
