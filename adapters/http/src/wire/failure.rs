//! What comes back instead of an answer.

use serde::{Deserialize, Serialize};

/// Why there is no answer, for the log of whoever asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FailureBody {
    pub(crate) error: String,
    /// When it is worth asking again, where that helps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) retry_after_ms: Option<u64>,
}
