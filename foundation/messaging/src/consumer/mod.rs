//! Hands the messages of a consumer group to a handler: offsets after the work, failing messages on a retry ladder of
//! their own, dead letters at its end.
//!
//! A group reads at several levels: one for its topics and one for each rung of its ladder. A rung's head may have to
//! wait a minute; at a level of its own that delays nobody else.

mod config;
mod handler;
mod in_flight;
pub mod ladder;
mod machine;
mod pause;
mod run;
mod step;
mod stuck;
#[cfg(test)]
mod tests;

pub use config::{ConsumerConfig, Level};
pub use handler::{Handled, Handler};
pub use ladder::{Ladder, Ladders, Rung};
pub use machine::Machine;
pub use pause::ConsumerPause;
pub use run::Consumer;
pub use step::{Effect, Input, Note};
pub use stuck::ConsumerStuck;
