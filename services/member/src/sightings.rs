//! Which sessions were used lately: noted in memory, stored from time to time, so that a request asks no database for it.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use madang_board::SessionId;
use madang_kernel::Timestamp;

/// Sessions that are noted between two times of storing; more are not.
const SIGHTINGS_MAX: usize = 100_000;

/// Sessions used since they were stored last.
#[derive(Default)]
pub(crate) struct Sightings(RwLock<HashMap<SessionId, Timestamp>>);

impl Sightings {
    /// Notes that a session was used. Most are noted already, which takes a look.
    pub(crate) fn note(&self, session: SessionId, now: Timestamp) {
        if self.0.read().unwrap_or_else(PoisonError::into_inner).contains_key(&session) {
            return;
        }
        let mut seen = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if seen.len() < SIGHTINGS_MAX {
            seen.insert(session, now);
        }
    }

    /// Those to store; from here on they are noted anew.
    pub(crate) fn take(&self) -> Vec<(SessionId, Timestamp)> {
        std::mem::take(&mut *self.0.write().unwrap_or_else(PoisonError::into_inner)).into_iter().collect()
    }
}
