//! Carries committed messages from the outbox to the log: at once by direct hand-over, and by polling what was missed.
//!
//! Every message handed over has its row in the outbox, so the hand-over may be dropped anywhere (queue full, log away,
//! crash): polling finds the row by its state. Publishing twice is harmless and counted; publishing never is impossible.

mod config;
mod in_flight;
mod machine;
mod run;
mod step;
#[cfg(test)]
mod tests;

pub use config::RelayConfig;
pub use machine::Machine;
pub use run::{HandOver, Relay};
pub use step::{Effect, Input, Note, Write};
