//! The query model in memory keeps the port's promises.

use std::sync::Arc;
use std::time::Duration;

use madang_article_read::ReadModel;
use madang_conformance::read_model::ReadModelHarness;
use madang_kernel::{ManualClock, Timestamp};
use madang_memory::MemoryReadModel;

struct InMemory {
    model: Arc<MemoryReadModel>,
    clock: Arc<ManualClock>,
}

impl ReadModelHarness for InMemory {
    async fn fresh() -> Self {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_750_000_000_000)));
        let model = MemoryReadModel::new(64 * 1024 * 1024, Arc::clone(&clock) as _);
        Self { model: Arc::new(model), clock }
    }

    fn model(&self) -> Arc<dyn ReadModel> {
        Arc::clone(&self.model) as _
    }

    async fn pass(&self, span: Duration) {
        self.clock.advance(span);
    }
}

madang_conformance::read_model_suite!(InMemory);
