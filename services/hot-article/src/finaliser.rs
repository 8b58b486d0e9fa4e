//! The end of a day: its list becomes final when it is due and everything before that moment is consumed, and what is too
//! old to be shown is forgotten.

use std::sync::atomic::Ordering;

use async_trait::async_trait;
use madang_kernel::{StoreError, Timestamp};

use crate::{Day, HotService};

/// Articles forgotten in one transaction, so that nobody waits long behind it.
pub const FORGET_SLICE_ROWS: usize = 500;

/// How far the events are consumed.
#[async_trait]
pub trait Progress: Send + Sync {
    /// Whether every event that occurred before a moment, and has been written to the log, is consumed by the group that
    /// keeps the scores.
    async fn caught_up(&self, before: Timestamp) -> Result<bool, StoreError>;
}

/// What a look at the days did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Finished {
    /// Days whose lists became final, oldest first.
    pub finalised: Vec<Day>,
    /// Rows of old days that were forgotten.
    pub forgotten: u64,
}

impl HotService {
    /// Makes the lists final that are due, and forgets what is old. Meant to be called every few seconds; a call with
    /// nothing to do costs a few look-ups. After a long stop several days may be due.
    pub async fn finalise_due(&self) -> Result<Finished, StoreError> {
        let finalised = self.finalise_days().await?;
        Ok(Finished { finalised, forgotten: self.forget_old().await? })
    }

    async fn finalise_days(&self) -> Result<Vec<Day>, StoreError> {
        let now = self.ending.now();
        let mut finalised = Vec::new();
        for day in self.days.shown(now).into_iter().rev() {
            let due_at = self.days.final_at(day);
            if now < due_at {
                break;
            }
            if self.store.is_final(day).await? {
                continue;
            }
            // A later day waits for even more events.
            if !self.progress.caught_up(due_at).await? {
                break;
            }
            if self.store.finalise(day).await? {
                finalised.push(day);
            }
        }
        Ok(finalised)
    }

    /// Once a day, and once after a start.
    async fn forget_old(&self) -> Result<u64, StoreError> {
        let oldest_kept = self.days.oldest_kept(self.ending.now());
        if self.forgotten_before.load(Ordering::Relaxed) == oldest_kept.number() {
            return Ok(0);
        }
        let mut forgotten = 0;
        loop {
            let slice = self.store.forget_before(oldest_kept, FORGET_SLICE_ROWS).await?;
            forgotten += slice.removed;
            if slice.done {
                self.forgotten_before.store(oldest_kept.number(), Ordering::Relaxed);
                return Ok(forgotten);
            }
        }
    }
}
