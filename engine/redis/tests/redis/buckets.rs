//! Token buckets that processes share.

use std::sync::Arc;
use std::time::Duration;

use madang_engine_redis::{Bucket, RedisBuckets, Taken};
use madang_kernel::{ManualClock, Timestamp};
use tokio::task::JoinSet;

use crate::support::{OneServer, TestRedis, ThreeNodes, Topology, eventually};

const TEN: Bucket = Bucket { per_second: 2.0, burst: 10 };

async fn fresh<T: Topology>() -> (TestRedis, Arc<ManualClock>, RedisBuckets) {
    let test = TestRedis::fresh::<T>().await;
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_800_000_000_000)));
    let buckets = RedisBuckets::filled_by(test.redis.clone(), clock.clone());
    (test, clock, buckets)
}

fn allowed(remaining: u64) -> Taken {
    Taken { is_allowed: true, remaining, retry_after_ms: 0 }
}

fn refused(remaining: u64, retry_after_ms: u64) -> Taken {
    Taken { is_allowed: false, remaining, retry_after_ms }
}

#[tokio::test]
async fn a_bucket_empties_and_fills_again() {
    for (_test, clock, buckets) in [fresh::<OneServer>().await, fresh::<ThreeNodes>().await] {
        assert_eq!(buckets.take("a", TEN, 7).await.unwrap(), allowed(3));
        assert_eq!(buckets.take("a", TEN, 4).await.unwrap(), refused(3, 500));
        assert_eq!(buckets.take("a", TEN, 3).await.unwrap(), allowed(0));
        assert_eq!(buckets.take("a", TEN, 1).await.unwrap(), refused(0, 500));
        clock.advance(Duration::from_millis(499));
        assert_eq!(buckets.take("a", TEN, 1).await.unwrap(), refused(0, 1));
        clock.advance(Duration::from_millis(1));
        assert_eq!(buckets.take("a", TEN, 1).await.unwrap(), allowed(0));
        clock.advance(Duration::from_secs(1_000));
        assert_eq!(buckets.take("a", TEN, 0).await.unwrap(), allowed(10), "it holds no more");
        assert_eq!(buckets.take("b", TEN, 11).await.unwrap(), refused(10, 500));
    }
}

#[tokio::test]
async fn who_takes_what_is_there_gets_less_than_asked_and_then_nothing() {
    for (_test, clock, buckets) in [fresh::<OneServer>().await, fresh::<ThreeNodes>().await] {
        assert_eq!(buckets.take_up_to("a", TEN, 7).await.unwrap(), (7, 0));
        assert_eq!(buckets.take_up_to("a", TEN, 7).await.unwrap(), (3, 0));
        assert_eq!(buckets.take_up_to("a", TEN, 7).await.unwrap(), (0, 500), "told when there is one, not seven");
        clock.advance(Duration::from_millis(1_700));
        assert_eq!(buckets.take_up_to("a", TEN, 7).await.unwrap(), (3, 0), "whole ones");
    }
}

#[tokio::test]
async fn what_is_asked_often_in_small_steps_still_fills() {
    let (_test, clock, buckets) = fresh::<OneServer>().await;
    assert_eq!(buckets.take("a", TEN, 10).await.unwrap(), allowed(0));
    for _ in 0..499 {
        clock.advance(Duration::from_millis(1));
        assert!(!buckets.take("a", TEN, 1).await.unwrap().is_allowed);
    }
    clock.advance(Duration::from_millis(2));
    assert!(buckets.take("a", TEN, 1).await.unwrap().is_allowed);
}

#[tokio::test]
async fn a_clock_that_steps_back_gives_nothing_and_takes_nothing() {
    let (_test, clock, buckets) = fresh::<OneServer>().await;
    assert_eq!(buckets.take("a", TEN, 9).await.unwrap(), allowed(1));
    clock.set(Timestamp::from_millis(1_700_000_000_000));
    assert_eq!(buckets.take("a", TEN, 1).await.unwrap(), allowed(0));
    clock.advance(Duration::from_secs(1));
    assert_eq!(buckets.take("a", TEN, 1).await.unwrap(), allowed(1));
}

#[tokio::test]
async fn names_do_not_mix_whatever_they_hold() {
    let (test, _clock, buckets) = fresh::<ThreeNodes>().await;
    let long = "x".repeat(1_000);
    for name in ["", "{", "}", "{a}", "{a}b", "마당", "\0", " ", &long] {
        assert_eq!(buckets.take(name, TEN, 10).await.unwrap(), allowed(0), "{name}");
        assert!(!buckets.take(name, TEN, 1).await.unwrap().is_allowed, "{name}");
    }
    assert!(test.keys().await.iter().all(|(key, ttl)| key.len() < 200 && (1..120_000).contains(ttl)));
}

#[tokio::test]
async fn limits_that_make_no_sense_are_no_trouble() {
    let (_test, _clock, buckets) = fresh::<OneServer>().await;
    for per_second in [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE] {
        for burst in [0, 1, u32::MAX] {
            let name = format!("{per_second:e} {burst}");
            let bucket = Bucket { per_second, burst };
            assert!(buckets.take(&name, bucket, 1).await.unwrap().is_allowed, "{name}");
            buckets.take(&name, bucket, u32::MAX).await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_in_several_processes_takes_what_there_is() {
    let (test, clock, _) = fresh::<ThreeNodes>().await;
    let mut crowd = JoinSet::new();
    for _ in 0..4 {
        let buckets = RedisBuckets::filled_by(test.another().await, clock.clone());
        for _ in 0..50 {
            let buckets = buckets.clone();
            let bucket = Bucket { per_second: 1.0, burst: 77 };
            crowd.spawn(async move { buckets.take("a", bucket, 1).await.unwrap().is_allowed });
        }
    }
    assert_eq!(crowd.join_all().await.into_iter().filter(|is_allowed| *is_allowed).count(), 77);
}

#[tokio::test]
async fn by_the_clock_of_the_server_tokens_come_back() {
    let test = TestRedis::fresh::<OneServer>().await;
    let buckets = RedisBuckets::new(test.redis.clone());
    let bucket = Bucket { per_second: 20.0, burst: 1 };
    assert_eq!(buckets.take("a", bucket, 1).await.unwrap(), allowed(0));
    eventually("a token comes", || async { buckets.take("a", bucket, 1).await.unwrap().is_allowed }).await;
}
