//! What the administration page asks the process: whether its parts do their work. The composition root answers.

use async_trait::async_trait;

/// Knows whether the parts a process depends on are there.
#[async_trait]
pub trait Health: Send + Sync {
    /// Each part, with its state at this moment.
    async fn parts(&self) -> Vec<PartHealth>;
}

/// One part a process depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartHealth {
    /// Which part.
    pub name: String,
    /// Whether it does its work.
    pub ok: bool,
    /// What an operator should know.
    pub detail: String,
}
