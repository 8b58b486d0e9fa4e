//! Both ends of the internal protocol against each other, over real listeners on loopback.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod failures;
mod lookups;
mod moderation;
mod protocol;
mod support;
