//! How often, and after which pause, a whole transaction runs again.

use std::time::Duration;

use madang_messaging::{Backoff, Chance};

use crate::errors::SqlError;

/// Times that a transaction runs again because another was in the way.
const CONFLICTS_MAX: u32 = 10;
/// Times that it runs again because it waited in vain for a lock: each has cost the whole wait already.
const LOCK_WAITS_MAX: u32 = 1;
/// Times that it runs again because its connection was lost, or a row was there that it had not seen.
const OTHERS_MAX: u32 = 2;
/// Times that it runs again because its shard had moved.
pub(crate) const MOVES_MAX: u32 = 2;
/// Short: whoever was in the way is usually done by then.
const PAUSE: Backoff = Backoff { base_ms: 2, cap_ms: 100 };

/// The attempts of one transaction.
#[doc(hidden)]
pub struct Retry {
    conflicts: u32,
    lock_waits: u32,
    others: u32,
    moves: u32,
    chance: Chance,
}

impl Retry {
    /// None yet.
    #[expect(clippy::new_without_default, reason = "nobody needs one by default")]
    pub fn new() -> Self {
        Self { conflicts: 0, lock_waits: 0, others: 0, moves: 0, chance: Chance::seeded(rand::random()) }
    }

    /// Whether to run it again because its server took no writes for the shard.
    pub fn after_move(&mut self, error: &SqlError) -> bool {
        let is_move = matches!(error, SqlError::NotHere(_));
        self.moves += u32::from(is_move);
        is_move && self.moves <= MOVES_MAX
    }

    /// Whether to run it again; waits a little before it says so.
    pub async fn again(&mut self, error: &SqlError) -> bool {
        let (count, max) = match error {
            SqlError::Conflict(_) if error.is_lock_wait() => (&mut self.lock_waits, LOCK_WAITS_MAX),
            SqlError::Conflict(_) => (&mut self.conflicts, CONFLICTS_MAX),
            SqlError::Unavailable(_) | SqlError::ReadOnly(_) | SqlError::Duplicate(_) => (&mut self.others, OTHERS_MAX),
            SqlError::Full(_) | SqlError::NotHere(_) | SqlError::Defect(_) => return false,
        };
        *count += 1;
        if *count > max {
            return false;
        }
        let pause_ms = PAUSE.delay_ms(*count, &mut self.chance);
        tokio::time::sleep(Duration::from_millis(pause_ms)).await;
        true
    }
}
