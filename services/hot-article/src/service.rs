//! What others ask: the list of a day, and the lists of the last days.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use madang_kernel::{Clock, StoreError};

use crate::{Day, HotList, HotStore, Progress, SiteDays};

/// The hot articles of a site.
pub struct HotService {
    pub(crate) store: Arc<dyn HotStore>,
    pub(crate) clock: Arc<dyn Clock>,
    /// By which days end and are forgotten, which nobody takes back.
    pub(crate) ending: Arc<dyn Clock>,
    pub(crate) days: SiteDays,
    pub(crate) progress: Arc<dyn Progress>,
    /// The number of the oldest day that this process has left when it last forgot.
    pub(crate) forgotten_before: AtomicI64,
}

impl HotService {
    /// A service over its store; `days` are the site's, `progress` says how far the events are consumed.
    pub fn new(store: Arc<dyn HotStore>, clock: Arc<dyn Clock>, days: SiteDays, progress: Arc<dyn Progress>) -> Self {
        let ending = clock.clone();
        Self { store, clock, ending, days, progress, forgotten_before: AtomicI64::new(i64::MIN) }
    }

    /// The same, with days that end by another clock: one that does not follow the host's when it jumps ahead.
    #[must_use]
    pub fn ending_days_by(self, ending: Arc<dyn Clock>) -> Self {
        Self { ending, ..self }
    }

    /// The list of a day with all candidates; `None` outside today and the six days before.
    pub async fn day(&self, date: Day) -> Result<Option<HotList>, StoreError> {
        if !self.days.shown(self.clock.now()).contains(&date) {
            return Ok(None);
        }
        Ok(self.store.lists(vec![date]).await?.pop())
    }

    /// The lists of today and the six days before with all candidates, newest first, of one moment.
    pub async fn days(&self) -> Result<Vec<HotList>, StoreError> {
        self.store.lists(self.days.shown(self.clock.now())).await
    }
}
