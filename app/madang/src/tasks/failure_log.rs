//! Logs a failure of repeated work once, and once that it works again, so that an outage of hours is two lines in the log.

use std::fmt::Display;

use tracing::{info, warn};

/// The failures of one kind of work, and whether the present one was logged.
pub(crate) struct FailureLog {
    work: &'static str,
    consequence: Option<&'static str>,
    is_logged: bool,
}

impl FailureLog {
    /// Failures of `work`, as in "cannot read revocations".
    pub(crate) fn of(work: &'static str) -> Self {
        Self { work, consequence: None, is_logged: false }
    }

    /// The same, with what it means while they go on.
    pub(crate) fn meaning(self, consequence: &'static str) -> Self {
        Self { consequence: Some(consequence), ..self }
    }

    /// Notes how the work went this time; gives back its result.
    pub(crate) fn note<T, E: Display>(&mut self, outcome: Result<T, E>) -> Option<T> {
        match outcome {
            Ok(done) => {
                if std::mem::take(&mut self.is_logged) {
                    info!("can {} again", self.work);
                }
                Some(done)
            }
            Err(error) => {
                if !std::mem::replace(&mut self.is_logged, true) {
                    let consequence = self.consequence.map(|text| format!("; {text}")).unwrap_or_default();
                    warn!("cannot {}, retrying until it succeeds{consequence}: {error}", self.work);
                }
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_that_goes_on_is_logged_once() {
        let mut failures = FailureLog::of("count sheep");
        assert_eq!(failures.note::<u32, _>(Err("no sheep")), None);
        assert!(failures.is_logged);
        assert_eq!(failures.note::<u32, _>(Err("no sheep")), None);
        assert_eq!(failures.note(Ok::<_, &str>(3)), Some(3));
        assert!(!failures.is_logged);
    }
}
