//! What operators ask a process, as far as both fronts know it: where, and how its parts are.

use async_trait::async_trait;
use serde::Serialize;
use utoipa::ToSchema;

/// Addresses for whoever watches over a process. They are answered however much there is to do.
pub const OPERATIONS_PATHS: [&str; 3] = ["/healthz", "/readyz", "/metrics"];

/// Knows whether the parts a process depends on are there.
#[async_trait]
pub trait Readiness: Send + Sync {
    /// Each part, with its state at this moment.
    async fn parts(&self) -> Vec<PartState>;

    /// Whether a process whose parts are in this state should be sent requests. Unless told otherwise it needs them all.
    fn can_serve(&self, parts: &[PartState]) -> bool {
        parts.iter().all(|part| part.ok)
    }
}

/// One part a process depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PartState {
    /// Which part.
    #[schema(example = "article store")]
    pub name: String,
    /// Whether it does its work.
    #[schema(example = true)]
    pub ok: bool,
    /// What an operator should know.
    #[schema(example = "takes writes")]
    pub detail: String,
}
