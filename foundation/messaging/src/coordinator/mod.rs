//! Divides the 64 shards among the living instances of a service: heartbeats, an assignment that is a pure function of
//! who lives, and a loop that keeps both going.

mod assignment;
mod machine;
mod run;

pub use assignment::{Assignment, shards_for};
pub use machine::{Effect, Input, Machine};
pub use run::Coordinator;

/// How the coordinator keeps time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoordinatorConfig {
    /// Between two signs of life, in milliseconds.
    pub heartbeat_ms: u64,
    /// An instance silent for so long is dead, by the store's clock, in milliseconds.
    pub dead_after_ms: u64,
    /// Between two looks at who lives, in milliseconds.
    pub reread_ms: u64,
    /// How long leaving may take at the end, in milliseconds.
    pub leave_timeout_ms: u64,
}

impl Default for CoordinatorConfig {
    fn default() -> Self {
        Self { heartbeat_ms: 3_000, dead_after_ms: 9_000, reread_ms: 500, leave_timeout_ms: 2_000 }
    }
}
