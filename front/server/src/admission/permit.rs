//! Permits for requests in flight, some of which only reads may take.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::http::Method;

use super::timed_body::Load;

/// Of so many permits, one is for reads alone.
const READS_SHARE: usize = 4;

/// The right to be in flight; given back however the request ends, also when its client goes away.
pub(super) struct Permit(Arc<Load>);

impl Permit {
    /// A permit, if fewer than `max` are out.
    pub(super) fn acquire(load: &Arc<Load>, in_flight_max: usize, method: &Method) -> Option<Self> {
        let permit = Self(load.clone());
        let max = if method.is_safe() { in_flight_max } else { writes_max(in_flight_max) };
        // The count may pass the bound for an instant; the refused give theirs back by dropping the permit.
        (load.in_flight.fetch_add(1, Ordering::Relaxed) < max).then_some(permit)
    }
}

/// How many may be in flight for a write to be admitted: when a disk stalls, writes wait for it, and whoever reads what is
/// in memory anyway must still be admitted.
fn writes_max(in_flight_max: usize) -> usize {
    in_flight_max - in_flight_max / READS_SHARE
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}
