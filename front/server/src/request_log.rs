//! One line of the log for each request that the setting asks for: what was asked, what the answer was, how long it took, who
//! asked and from where. Nothing that a client wrote is in it but its method: the route is a pattern of ours.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::{Method, StatusCode};
use serde::{Deserialize, Serialize};

/// Requests slower than this are worth a line.
const SLOW: Duration = Duration::from_secs(1);
/// Statuses of who is not known or may not. Who asks too often is counted and gets no line.
const REFUSED: [StatusCode; 2] = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN];
/// Lines a second while only failures are logged: a flood must not fill a disk.
const FAILURES_PER_S_MAX: u32 = 100;
const METHOD_BYTES_MAX: usize = 16;

/// Which requests are logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RequestLog {
    /// None.
    Off,
    /// Those that failed by us (5xx), were refused to who asked (401, 403), or took longer than a second; no more than a
    /// hundred a second.
    #[default]
    Errors,
    /// Every one that was admitted, or refused by a rate limit.
    All,
}

/// A request that was answered.
pub(crate) struct Answered<'a> {
    pub(crate) method: &'a Method,
    pub(crate) route: &'a str,
    pub(crate) status: StatusCode,
    pub(crate) took: Duration,
    pub(crate) address: Option<IpAddr>,
    /// Whether it was refused because there is too much to do.
    pub(crate) is_shed: bool,
}

/// Writes the lines.
#[derive(Default)]
pub(crate) struct RequestLogger {
    which: RequestLog,
    budget: Mutex<Budget>,
}

impl RequestLogger {
    pub(crate) fn new(which: RequestLog) -> Self {
        Self { which, budget: Mutex::default() }
    }

    /// Whether any line may be written.
    pub(crate) fn is_on(&self) -> bool {
        self.which != RequestLog::Off
    }

    /// Writes the line of a request, if it is to have one.
    pub(crate) fn answered(&self, answered: &Answered<'_>) {
        let is_slow = answered.took >= SLOW;
        match self.which {
            RequestLog::Off => return,
            RequestLog::Errors if !is_slow && !is_failure(answered) => return,
            RequestLog::Errors if !self.has_budget() => return,
            RequestLog::Errors | RequestLog::All => {}
        }
        let Answered { method, route, status, took, address, .. } = answered;
        // A method is whatever token a client makes up.
        let method = method.as_str().get(..METHOD_BYTES_MAX).unwrap_or(method.as_str());
        let (status, took_ms) = (status.as_u16(), (took.as_secs_f64() * 1e6).round() / 1e3);
        let address = address.as_ref().map(tracing::field::display);
        let member = madang_kernel::current_caller();
        if is_slow {
            tracing::warn!(method, route, status, took_ms, address, member, "slow request");
        } else {
            tracing::info!(method, route, status, took_ms, address, member, "request");
        }
    }

    fn has_budget(&self) -> bool {
        let (allowed, left_out) = self.budget.lock().unwrap_or_else(PoisonError::into_inner).take(Instant::now());
        if left_out > 0 {
            tracing::warn!(
                "left {left_out} requests out of the log: more than {FAILURES_PER_S_MAX} a second failed or were refused"
            );
        }
        allowed
    }
}

fn is_failure(answered: &Answered<'_>) -> bool {
    !answered.is_shed && (answered.status.is_server_error() || REFUSED.contains(&answered.status))
}

/// Lines that this second still has.
#[derive(Default)]
struct Budget {
    began: Option<Instant>,
    used: u32,
    left_out: u64,
}

impl Budget {
    /// Whether there may be a line now, and how many were left out in a second that has just ended.
    fn take(&mut self, now: Instant) -> (bool, u64) {
        let mut left_out = 0;
        if self.began.is_none_or(|began| now.saturating_duration_since(began) >= Duration::from_secs(1)) {
            left_out = std::mem::take(&mut self.left_out);
            *self = Self { began: Some(now), used: 0, left_out: 0 };
        }
        let allowed = self.used < FAILURES_PER_S_MAX;
        if allowed {
            self.used += 1;
        } else {
            self.left_out += 1;
        }
        (allowed, left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(status: u16, is_shed: bool) -> Answered<'static> {
        let status = StatusCode::from_u16(status).unwrap();
        Answered { method: &Method::GET, route: "/", status, took: Duration::ZERO, address: None, is_shed }
    }

    #[test]
    fn what_we_fail_at_and_who_may_not_is_a_failure_and_what_is_shed_is_none() {
        for (status, is_shed, expected) in [
            (500, false, true),
            (503, false, true),
            (503, true, false),
            (401, false, true),
            (403, false, true),
            (404, false, false),
            (429, false, false),
            (200, false, false),
        ] {
            assert_eq!(is_failure(&answered(status, is_shed)), expected, "{status} {is_shed}");
        }
    }

    #[test]
    fn a_flood_has_its_lines_counted_and_the_next_second_has_lines_again() {
        let (mut budget, start) = (Budget::default(), Instant::now());
        let taken = (0..FAILURES_PER_S_MAX + 5).filter(|_| budget.take(start).0).count();
        assert_eq!(taken, FAILURES_PER_S_MAX as usize);
        assert_eq!(budget.take(start + Duration::from_millis(999)), (false, 0));
        assert_eq!(budget.take(start + Duration::from_secs(1)), (true, 6));
        assert_eq!(budget.take(start + Duration::from_secs(2)), (true, 0));
    }
}
