//! Deterministic simulation of relay, coordinator and consumer: the same step machines that run in production, over a
//! simulated store, log, membership and clock, with every fault drawn from one seed.
//!
//! [`run`] plays one seed: several processes commit messages, relay them and consume them in two groups while processes
//! crash at effect boundaries, acknowledgements get lost, messages are doubled and delayed, parts go away and processes
//! sleep past their lease; some wake up without hearing that their shards have another owner, and go on beside it. One
//! group makes a projection, which readers, slow ones among them, see through a cache that is invalidated after each
//! change. Then the faults end, everything runs until it is at rest, and the checker says what was broken. Each
//! protection can be switched off, to see that the checker notices.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::cast_lossless,
    reason = "a simulated world counts to thousands, with numbers of its own"
)]

mod cache;
mod checker;
mod content;
mod faults;
mod log;
mod membership;
mod parts;
mod process;
mod report;
mod requests;
mod store;
mod trace;
mod world;

pub use checker::{Kind, Violation};
pub use faults::{Protection, Protections};
pub use report::{Sweep, sweep, sweep_watched};
pub use world::{Outcome, run, run_recorded};
