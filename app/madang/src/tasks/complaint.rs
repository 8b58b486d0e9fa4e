//! A complaint about background work that fails: made once, and taken back when the work succeeds again, so that an outage
//! of hours is two lines in the log.

use std::fmt::Display;

use tracing::{info, warn};

/// What is complained about, and whether that was said.
pub(crate) struct Complaint {
    what: &'static str,
    said: bool,
}

impl Complaint {
    /// About work that is called `what`, as in "cannot read revocations".
    pub(crate) fn about(what: &'static str) -> Self {
        Self { what, said: false }
    }

    /// Hears how the work went this time; gives back what it brought.
    pub(crate) fn hear<T, E: Display>(&mut self, outcome: Result<T, E>) -> Option<T> {
        match outcome {
            Ok(done) => {
                if std::mem::take(&mut self.said) {
                    info!("can {} again", self.what);
                }
                Some(done)
            }
            Err(error) => {
                if !std::mem::replace(&mut self.said, true) {
                    warn!("cannot {}, trying on: {error}", self.what);
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
    fn what_fails_again_is_not_said_again() {
        let mut complaint = Complaint::about("count sheep");
        assert_eq!(complaint.hear::<u32, _>(Err("no sheep")), None);
        assert!(complaint.said);
        assert_eq!(complaint.hear::<u32, _>(Err("no sheep")), None);
        assert_eq!(complaint.hear(Ok::<_, &str>(3)), Some(3));
        assert!(!complaint.said);
    }
}
