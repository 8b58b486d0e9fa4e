//! Why an attempt brought no answer, and what that says about the peer and about trying again.

use std::time::Duration;

/// The outcome of an attempt that failed. All calls are questions, so each may be tried again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// No connection, or no answer in time.
    Away(String),
    /// The peer does not know our secret.
    Refused,
    /// The peer is there, and cannot answer now: it is full, or its store is away.
    Busy { reason: String, retry_after: Duration },
    /// The peer has not the part that was asked for.
    NotServed,
    /// Too many calls to the peer are under way here.
    Full,
    /// An answer that makes no sense, or a question that the peer does not understand. Nobody else would do better.
    Defect(String),
}

impl Failure {
    /// Whether it speaks against the instance itself. A peer that says it cannot answer is alive: what is wrong may be one
    /// shard of its store, and the others must not notice.
    pub(crate) fn counts_against_instance(&self) -> bool {
        matches!(self, Self::Away(_) | Self::Refused)
    }

    /// Whether the same instance may do better a moment later; otherwise only another one is tried.
    pub(crate) fn may_pass_at_once(&self) -> bool {
        matches!(self, Self::Away(_))
    }

    /// When a later call is worth making.
    pub(crate) fn retry_after(&self) -> Duration {
        match self {
            Self::Busy { retry_after, .. } => *retry_after,
            Self::Away(_) | Self::Refused | Self::NotServed | Self::Full | Self::Defect(_) => Duration::from_secs(1),
        }
    }

    /// Its name among the metrics.
    pub(crate) fn label(&self) -> &'static str {
        match self {
            Self::Away(_) => "away",
            Self::Refused => "refused",
            Self::Busy { .. } => "busy",
            Self::NotServed => "not_served",
            Self::Full => "full",
            Self::Defect(_) => "defect",
        }
    }

    /// What happened, for the log.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Away(reason) | Self::Busy { reason, .. } | Self::Defect(reason) => reason.clone(),
            Self::Refused => "refused our secret: do all processes have the same?".to_owned(),
            Self::NotServed => "does not serve this: is its role right?".to_owned(),
            Self::Full => "too many calls to it are under way".to_owned(),
        }
    }
}
