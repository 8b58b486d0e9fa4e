//! A query model behind a near cache keeps the port's promises, as the model itself does.

use std::sync::Arc;
use std::time::Duration;

use madang_article_read::ReadModel;
use madang_conformance::read_model::ReadModelHarness;
use madang_kernel::{ManualClock, Timestamp};
use madang_memory::{Announce, MemoryReadModel, NearReadModel};

struct NobodyElse;

#[async_trait::async_trait]
impl Announce for NobodyElse {
    async fn cleared(&self) {}
}

struct Near {
    model: Arc<NearReadModel>,
    clock: Arc<ManualClock>,
}

impl ReadModelHarness for Near {
    async fn fresh() -> Self {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_750_000_000_000)));
        let far = MemoryReadModel::new(64 * 1024 * 1024, Arc::clone(&clock) as _);
        let model = NearReadModel::new(Arc::new(far), 64 * 1024 * 1024, Arc::clone(&clock) as _, Arc::new(NobodyElse));
        model.connected();
        Self { model: Arc::new(model), clock }
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

madang_conformance::read_model_suite!(Near);
