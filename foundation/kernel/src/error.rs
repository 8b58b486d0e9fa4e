//! The shapes of failure that every service shares; each says what the caller can do about it.

use std::error::Error;
use std::time::Duration;

/// One thing wrong with one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// The field as the caller spelled it.
    pub field: &'static str,
    /// What is wrong, for a person.
    pub message: String,
}

/// Input that is well-formed and still not acceptable; lists everything that is wrong at once.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(|e| format!("{} {}", e.field, e.message)).collect::<Vec<_>>().join("; "))]
pub struct Invalid(pub Vec<FieldError>);

impl Invalid {
    /// A single wrong field.
    pub fn field(field: &'static str, message: impl Into<String>) -> Self {
        Self(vec![FieldError { field, message: message.into() }])
    }
}

/// Why a store could not answer. Outcomes that belong to the domain are not errors of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Full or away; nothing was changed. Ask again after `retry_after`.
    #[error("{what} is not available: {reason}")]
    Unavailable {
        /// Which part.
        what: &'static str,
        /// Why, for the log.
        reason: String,
        /// When it is worth asking again.
        retry_after: Duration,
    },
    /// A defect: data or a statement that should not exist. Asking again will not help.
    #[error("{what} failed")]
    Broken {
        /// Which part.
        what: &'static str,
        /// The cause, for the log.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}

impl StoreError {
    /// A part that is away or overloaded, worth asking again in a second.
    pub fn unavailable(what: &'static str, reason: impl Into<String>) -> Self {
        Self::Unavailable { what, reason: reason.into(), retry_after: Duration::from_secs(1) }
    }

    /// A defect with its cause.
    pub fn broken(what: &'static str, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Broken { what, source: source.into() }
    }
}

impl From<crate::LeaseEnded> for StoreError {
    fn from(ended: crate::LeaseEnded) -> Self {
        Self::unavailable("id generator", ended.to_string())
    }
}
