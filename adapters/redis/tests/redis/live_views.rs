//! Live counts on Redis keep the port's promises.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use madang_board::{ArticleId, MemberId};
use madang_conformance::live_views::LiveViewsHarness;
use madang_engine_redis::Redis;
use madang_kernel::{Clock, Id, ManualClock, Timestamp};
use madang_redis::RedisLiveViews;
use madang_view::{GuestKey, LiveLimits, LiveView, LiveViews, Viewer};

use crate::support::{OneServer, TestRedis, Topology};

const NOW_MS: i64 = 1_800_000_000_000;

fn live(redis: &Redis) -> RedisLiveViews {
    RedisLiveViews::new(redis.clone(), GuestKey::new([1; 32]), LiveLimits::default())
}

fn id(raw: i64) -> ArticleId {
    ArticleId::from_raw(raw)
}

fn viewer(raw: i64) -> Viewer {
    Viewer::member(MemberId::from_raw(raw))
}

struct Harness<T> {
    _test: TestRedis,
    live: Arc<RedisLiveViews>,
    clock: ManualClock,
    topology: PhantomData<T>,
}

impl<T: Topology> LiveViewsHarness for Harness<T> {
    async fn fresh() -> Self {
        let test = TestRedis::fresh::<T>().await;
        let live = Arc::new(live(&test.redis));
        let clock = ManualClock::at(Timestamp::from_millis(NOW_MS));
        Self { _test: test, live, clock, topology: PhantomData }
    }

    fn live(&self) -> Arc<dyn LiveViews> {
        Arc::clone(&self.live) as _
    }

    async fn pass(&self, span: Duration) {
        self.clock.advance(span);
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

on_one_server_and_on_a_cluster!(madang_conformance::live_views_suite, Harness);

#[tokio::test]
async fn every_key_expires_and_none_tells_of_its_viewer() {
    let test = TestRedis::fresh::<OneServer>().await;
    let live = live(&test.redis);
    let now = Timestamp::from_millis(NOW_MS);
    let member = 0x6162_6364_6566_6768;
    live.insert(&[(id(1), 0)], now).await.unwrap();
    for by in [member, 2, 3] {
        assert!(matches!(live.view(id(1), viewer(by), now).await.unwrap(), LiveView::Counted { .. }));
    }
    let keys = test.keys().await;
    assert_eq!(keys.len(), 5, "{keys:?}");
    assert!(keys.iter().all(|(_, ttl)| *ttl > 0), "{keys:?}");
    assert!(keys.iter().all(|(key, _)| !key.contains("abcdefgh") && !key.contains(&member.to_string())), "{keys:?}");
    let windows = keys.iter().filter(|(key, _)| key.contains(":s:"));
    assert!(windows.map(|(_, ttl)| *ttl).all(|ttl| ttl <= 600_000));
}
