//! A moderator's deletion while it can still be taken back: who removed something, when and why, and for how long.

use std::time::Duration;

use madang_kernel::{StoreError, Timestamp};

use crate::{Act, MemberId};

/// For how many days what a moderator removed can be restored. What its writer removed is gone at once.
pub const RESTORABLE_DAYS: u64 = 30;
const RESTORABLE_FOR: Duration = Duration::from_secs(RESTORABLE_DAYS * 24 * 3_600);

/// How something was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    /// When.
    pub removed_at: Timestamp,
    /// By whom.
    pub moderator_id: MemberId,
    /// The name they had.
    pub moderator_name: String,
    /// Why, in their words; may be empty.
    pub reason: String,
}

impl Removal {
    /// The removal that an act tells of, committed at `removed_at`.
    pub fn of(act: &Act, removed_at: Timestamp) -> Self {
        Self {
            removed_at,
            moderator_id: act.moderator_id,
            moderator_name: act.moderator_name.clone(),
            reason: act.reason.clone(),
        }
    }

    /// From when on it cannot be taken back any more.
    pub fn is_final_at(&self) -> Timestamp {
        self.removed_at.plus(RESTORABLE_FOR)
    }

    /// Whether it can be taken back at `now`, whether it was purged yet or not.
    pub fn is_restorable(&self, now: Timestamp) -> bool {
        now < self.is_final_at()
    }

    /// What was removed before this moment is to be purged at `now`.
    pub fn purged_before(now: Timestamp) -> Timestamp {
        let for_ms = i64::try_from(RESTORABLE_FOR.as_millis()).unwrap_or(i64::MAX);
        Timestamp::from_millis(now.as_millis().saturating_sub(for_ms))
    }
}

/// What is looked for at once when its time is over.
const PURGE_SLICE: usize = 100;

/// Destroys what was removed for longer than it can be restored: asks for a slice of what is due, purges one after another, and
/// goes on until nothing more is due. Returns how much was purged.
pub async fn purge_due<Id, Due, Purged>(
    due: impl Fn(usize) -> Due,
    purge: impl Fn(Id) -> Purged,
) -> Result<u64, StoreError>
where
    Due: Future<Output = Result<Vec<Id>, StoreError>>,
    Purged: Future<Output = Result<bool, StoreError>>,
{
    let mut all = 0;
    loop {
        let slice = due(PURGE_SLICE).await?;
        let (is_last, before) = (slice.len() < PURGE_SLICE, all);
        for id in slice {
            all += u64::from(purge(id).await?);
        }
        // What somebody else purged meanwhile is no longer found; what cannot be purged is not tried for ever.
        if is_last || all == before {
            return Ok(all);
        }
    }
}

#[cfg(test)]
mod tests {
    use madang_kernel::Id;

    use super::*;

    #[test]
    fn what_can_be_restored_is_not_purged_and_the_other_way_round() {
        let removed_at = Timestamp::from_millis(1_800_000_000_000);
        let removal = Removal {
            removed_at,
            moderator_id: MemberId::from_raw(1),
            moderator_name: "anna".into(),
            reason: "".into(),
        };
        for after_ms in [0, 1, 30 * 86_400_000 - 1, 30 * 86_400_000, 30 * 86_400_000 + 1, i64::MAX / 4] {
            let now = Timestamp::from_millis(removed_at.as_millis() + after_ms);
            let is_purged = removed_at <= Removal::purged_before(now);
            assert_eq!(removal.is_restorable(now), !is_purged, "after {after_ms} ms");
        }
    }
}
