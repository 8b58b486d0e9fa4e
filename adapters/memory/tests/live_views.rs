//! Live counts in memory keep the port's promises.

use std::sync::Arc;
use std::time::Duration;

use madang_conformance::live_views::LiveViewsHarness;
use madang_kernel::{Clock, ManualClock, Timestamp};
use madang_view::{GuestKey, LiveViews, MemoryLiveViews, ViewConfig};

struct InMemory {
    live: Arc<MemoryLiveViews>,
    clock: ManualClock,
}

impl LiveViewsHarness for InMemory {
    async fn fresh() -> Self {
        let live = Arc::new(MemoryLiveViews::new(&ViewConfig::default(), &GuestKey::new([1; 32])));
        Self { live, clock: ManualClock::at(Timestamp::from_millis(1_800_000_000_000)) }
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

madang_conformance::live_views_suite!(InMemory);
