//! The query model on Redis behind a near cache, as a process of a cluster has it, keeps the port's promises.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use madang_article_read::ReadModel;
use madang_conformance::read_model::ReadModelHarness;
use madang_kernel::{ManualClock, Timestamp};
use madang_memory::{Announce, NearReadModel};
use madang_messaging::{OnError, Supervisor};
use madang_redis::RedisReadModel;

use crate::support::{TestRedis, Topology};

struct NobodyElse;

#[async_trait::async_trait]
impl Announce for NobodyElse {
    async fn cleared(&self) {}
}

struct Harness<T> {
    _test: TestRedis,
    _loads: Supervisor,
    model: Arc<NearReadModel>,
    clock: Arc<ManualClock>,
    topology: PhantomData<T>,
}

impl<T: Topology> ReadModelHarness for Harness<T> {
    async fn fresh() -> Self {
        let test = TestRedis::fresh::<T>().await;
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_750_000_000_000)));
        let far = Arc::new(RedisReadModel::new(test.redis.clone(), clock.clone()));
        let model = Arc::new(NearReadModel::new(far, 64 * 1024 * 1024, clock.clone(), Arc::new(NobodyElse)));
        model.connected();
        let loads = Supervisor::new("near loads");
        let running = Arc::clone(&model);
        loads.spawn("near", OnError::Restart, move |stop| {
            let running = Arc::clone(&running);
            async move {
                running.run(&stop).await;
                Ok::<_, std::convert::Infallible>(())
            }
        });
        Self { _test: test, _loads: loads, model, clock, topology: PhantomData }
    }

    fn model(&self) -> Arc<dyn ReadModel> {
        Arc::clone(&self.model) as _
    }

    /// What is cached near may outlast its time in the model by a moment, which is tested by itself.
    async fn pass(&self, span: Duration) {
        self.clock.advance(span);
        self.model.connected();
    }
}

on_one_server_and_on_a_cluster!(madang_conformance::read_model_suite, Harness);
