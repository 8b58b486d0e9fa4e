//! Membership on Redis keeps the port's promises.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use madang_conformance::membership::MembershipHarness;
use madang_engine_redis::RedisMembership;
use madang_kernel::{ManualClock, Timestamp};
use madang_messaging::{InstanceId, Membership};

use crate::support::{OneServer, TestRedis, Topology};

struct Harness<T> {
    _test: TestRedis,
    membership: RedisMembership,
    clock: Arc<ManualClock>,
    topology: PhantomData<T>,
}

#[async_trait::async_trait]
impl<T: Topology> MembershipHarness for Harness<T> {
    async fn fresh() -> Self {
        let test = TestRedis::fresh::<T>().await;
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_800_000_000_000)));
        let membership = RedisMembership::aged_by(test.redis.clone(), clock.clone());
        Self { _test: test, membership, clock, topology: PhantomData }
    }

    fn membership(&self) -> &dyn Membership {
        &self.membership
    }

    async fn pass(&self, span: Duration) {
        self.clock.advance(span);
    }
}

on_one_server_and_on_a_cluster!(madang_conformance::membership_suite, Harness);

#[tokio::test]
async fn by_the_clock_of_the_server_who_beats_lives_and_who_is_silent_does_not() {
    let test = TestRedis::fresh::<OneServer>().await;
    let membership = RedisMembership::new(test.redis.clone());
    let (loud, silent) = (InstanceId::new("loud"), InstanceId::new("silent"));
    membership.beat("article", &silent, Duration::from_secs(60)).await.unwrap();
    let living = membership.beat("article", &loud, Duration::from_secs(60)).await.unwrap();
    assert_eq!(living, [loud.clone(), silent.clone()]);
    crate::support::eventually("the silent die", || async {
        let living = membership.beat("article", &loud, Duration::from_millis(50)).await.unwrap();
        living == [loud.clone()]
    })
    .await;
    assert!(test.keys().await.iter().all(|(_, ttl)| *ttl > 0), "every key expires");
}
