//! A circuit breaker: after enough failures in a row a peer is left alone, then tried by one call at a time until one is
//! answered. Pure: whoever calls tells it the time and the outcome.

use std::time::Duration;

use madang_kernel::Timestamp;

/// The state of one circuit.
#[derive(Debug, Clone)]
pub(crate) struct Breaker {
    failures_max: u32,
    open_for: Duration,
    failures: u32,
    /// When it opened, or when the last call was let through to try. `None` while all calls pass.
    open_since: Option<Timestamp>,
}

/// What an outcome changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turned {
    /// Calls no longer pass.
    Open,
    /// Calls pass again.
    Closed,
}

impl Breaker {
    /// A closed circuit that opens after `failures_max` failures in a row and lets one call try after each `open_for`.
    pub(crate) fn new(failures_max: u32, open_for: Duration) -> Self {
        Self { failures_max: failures_max.max(1), open_for, failures: 0, open_since: None }
    }

    /// Whether a call may pass at `now`. An open circuit lets one through after each wait: should that one be cancelled and
    /// never tell its outcome, the next wait brings another.
    pub(crate) fn admits(&mut self, now: Timestamp) -> bool {
        let Some(since) = self.open_since else { return true };
        // A clock that stepped back must not keep a circuit open.
        let waits = since <= now && now.since(since) < self.open_for;
        if !waits {
            self.open_since = Some(now);
        }
        !waits
    }

    /// The peer answered.
    pub(crate) fn succeeded(&mut self) -> Option<Turned> {
        self.failures = 0;
        self.open_since.take().map(|_| Turned::Closed)
    }

    /// The peer did not answer, at `now`.
    pub(crate) fn failed(&mut self, now: Timestamp) -> Option<Turned> {
        self.failures = self.failures.saturating_add(1);
        if self.failures < self.failures_max {
            return None;
        }
        let opens = self.open_since.is_none();
        self.open_since = Some(now);
        opens.then_some(Turned::Open)
    }

    /// Whether calls are held back.
    pub(crate) fn is_open(&self) -> bool {
        self.open_since.is_some()
    }

    /// Failures since the last answer.
    pub(crate) fn failures(&self) -> u32 {
        self.failures
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(1_000_000 + ms)
    }

    fn breaker() -> Breaker {
        Breaker::new(3, Duration::from_millis(1_000))
    }

    #[test]
    fn it_opens_after_failures_in_a_row_only() {
        let mut breaker = breaker();
        assert_eq!((breaker.failed(at(0)), breaker.failed(at(0))), (None, None));
        assert_eq!(breaker.succeeded(), None);
        assert_eq!((breaker.failed(at(0)), breaker.failed(at(0))), (None, None));
        assert!(breaker.admits(at(0)) && !breaker.is_open());
        assert_eq!(breaker.failed(at(0)), Some(Turned::Open));
        assert!(!breaker.admits(at(999)) && breaker.is_open());
    }

    #[test]
    fn one_call_tries_after_each_wait_and_an_answer_closes_it() {
        let mut breaker = breaker();
        let _ = [0; 3].map(|_| breaker.failed(at(0)));
        assert!(breaker.admits(at(1_000)) && !breaker.admits(at(1_000)), "one at a time");
        assert_eq!(breaker.failed(at(1_100)), None, "it was open before");
        assert!(!breaker.admits(at(2_099)));
        assert!(breaker.admits(at(2_100)));
        // The call that was let through is cancelled and tells nothing.
        assert!(!breaker.admits(at(3_099)));
        assert!(breaker.admits(at(3_100)));
        assert_eq!(breaker.succeeded(), Some(Turned::Closed));
        assert!(breaker.admits(at(3_100)) && breaker.admits(at(3_100)));
    }

    #[test]
    fn a_clock_that_steps_back_does_not_keep_it_open() {
        let mut breaker = breaker();
        let _ = [0; 3].map(|_| breaker.failed(at(0)));
        assert!(breaker.admits(at(-500_000)));
    }

    proptest! {
        #[test]
        fn a_closed_circuit_admits_and_an_open_one_at_most_once_a_wait(
            steps in prop::collection::vec((0i64..700, 0u8..3), 1..200),
        ) {
            let (mut breaker, mut now, mut last) = (breaker(), 0, None);
            for (passed, step) in steps {
                now += passed;
                let was_open = breaker.is_open();
                match step {
                    0 => _ = breaker.failed(at(now)),
                    1 => _ = breaker.succeeded(),
                    _ => {
                        let admitted = breaker.admits(at(now));
                        prop_assert!(admitted || was_open);
                        if admitted && was_open {
                            prop_assert!(last.is_none_or(|last| now - last >= 1_000));
                            last = Some(now);
                        }
                    }
                }
                if !breaker.is_open() {
                    last = None;
                }
            }
        }
    }
}
