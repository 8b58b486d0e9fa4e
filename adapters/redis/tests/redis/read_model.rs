//! The query model on Redis keeps the port's promises.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use madang_article_read::ReadModel;
use madang_conformance::read_model::ReadModelHarness;
use madang_kernel::{ManualClock, Timestamp};
use madang_redis::RedisReadModel;

use crate::support::{TestRedis, Topology};

struct Harness<T> {
    _test: TestRedis,
    model: Arc<RedisReadModel>,
    clock: Arc<ManualClock>,
    topology: PhantomData<T>,
}

impl<T: Topology> ReadModelHarness for Harness<T> {
    async fn fresh() -> Self {
        let test = TestRedis::fresh::<T>().await;
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_750_000_000_000)));
        let model = Arc::new(RedisReadModel::new(test.redis.clone(), clock.clone()));
        Self { _test: test, model, clock, topology: PhantomData }
    }

    fn model(&self) -> Arc<dyn ReadModel> {
        Arc::clone(&self.model) as _
    }

    async fn pass(&self, span: Duration) {
        self.clock.advance(span);
    }
}

on_one_server_and_on_a_cluster!(madang_conformance::read_model_suite, Harness);
