//! The two kinds of failure that messaging must never confuse: a part that is away, and a message that fails by itself.

use madang_kernel::StoreError;

/// A part (broker, database, membership store) could not be reached. Pauses the work; never counts against a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{part} is not available: {reason}")]
pub struct Outage {
    /// Which part.
    pub part: &'static str,
    /// Why, for the log.
    pub reason: String,
}

impl Outage {
    /// An outage of `part`.
    pub fn new(part: &'static str, reason: impl Into<String>) -> Self {
        Self { part, reason: reason.into() }
    }
}

/// Why a handler did not apply a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HandlerError {
    /// Something the handler needs is away: wait and hand the same message in again, without counting.
    #[error(transparent)]
    Outage(#[from] Outage),
    /// The message itself cannot be applied now; worth trying again, a limited number of times.
    #[error("{0}")]
    Failed(String),
    /// The bytes are not a message this handler understands: straight to the dead letters, as they are.
    #[error("cannot be decoded: {0}")]
    Undecodable(String),
}

/// A store that cannot be reached pauses the work; a defect is the message's own failure, and ends with the dead letters.
impl From<StoreError> for HandlerError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable { what, reason, .. } => Outage::new(what, reason).into(),
            StoreError::Broken { what, source } => Self::Failed(format!("{what}: {source}")),
        }
    }
}
