//! The cache on a real Redis: what a slow reader may not do, and whose a lease is.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

use std::time::Duration;

use madang_engine_redis::{Redis, RedisOptions};
use madang_lab::domain::AccountId;
use madang_lab::programs::cache::{BalanceCache, Shown, Ttl};

const LONG: Ttl = Ttl { logical: Duration::from_secs(60), physical: Duration::from_secs(60) };

async fn cache() -> BalanceCache {
    let prefix = format!("lab-test-{:08x}", rand::random::<u32>());
    BalanceCache::new(Redis::connect(&RedisOptions::single(prefix, madang_test_servers::redis())).await.unwrap())
}

fn account() -> AccountId {
    AccountId::new(7).unwrap()
}

fn shown(version: u64) -> Shown {
    Shown { balance: -1, version }
}

#[tokio::test]
async fn a_slow_reader_cannot_bring_back_what_was_invalidated_while_it_read() {
    let cache = cache().await;
    assert!(cache.fill(account(), shown(1), LONG).await.unwrap());
    cache.invalidate(account(), 2).await.unwrap();
    assert_eq!(cache.get(account()).await.unwrap(), None);
    assert!(!cache.fill(account(), shown(1), LONG).await.unwrap(), "version 2 was announced");
    assert_eq!(cache.get(account()).await.unwrap(), None);
    assert!(cache.fill(account(), shown(2), LONG).await.unwrap());
    assert!(!cache.fill(account(), shown(1), LONG).await.unwrap(), "version 2 is cached");
    assert_eq!(cache.get(account()).await.unwrap().unwrap().shown, shown(2));
}

#[tokio::test]
async fn a_late_invalidation_takes_nothing_newer_away() {
    let cache = cache().await;
    cache.fill(account(), shown(3), LONG).await.unwrap();
    cache.invalidate(account(), 2).await.unwrap();
    cache.invalidate(account(), 3).await.unwrap();
    assert_eq!(cache.get(account()).await.unwrap().unwrap().shown, shown(3));
    cache.invalidate(account(), 4).await.unwrap();
    cache.invalidate(account(), 3).await.unwrap();
    assert!(!cache.fill(account(), shown(3), LONG).await.unwrap(), "an older announcement takes back no newer one");
}

#[tokio::test]
async fn an_entry_past_its_logical_ttl_is_there_and_not_fresh() {
    let cache = cache().await;
    let ttl = Ttl { logical: Duration::from_millis(1), ..LONG };
    cache.fill(account(), shown(1), LONG).await.unwrap();
    assert!(cache.get(account()).await.unwrap().unwrap().is_fresh);
    cache.fill(account(), shown(1), ttl).await.unwrap();
    // The server's clock decides; a millisecond passes within a few questions.
    for _ in 0..1_000 {
        if !cache.get(account()).await.unwrap().unwrap().is_fresh {
            return;
        }
    }
    panic!("it stayed fresh");
}

#[tokio::test]
async fn a_lease_is_given_back_by_its_owner_only() {
    let cache = cache().await;
    let held = Duration::from_secs(60);
    assert!(cache.lease(account(), "mine", held).await.unwrap());
    assert!(!cache.lease(account(), "yours", held).await.unwrap());
    cache.release(account(), "yours").await.unwrap();
    assert!(!cache.lease(account(), "yours", held).await.unwrap(), "it was not yours to give back");
    cache.release(account(), "mine").await.unwrap();
    assert!(cache.lease(account(), "yours", held).await.unwrap());
}
