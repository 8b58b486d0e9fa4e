//! The pages as browsers meet them, sent straight into the router over a store of their own.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod boards;
mod health;
mod hostile;
mod large;
mod live;
mod moderating;
mod operators;
mod people;
mod pins_and_locks;
mod protocol;
mod reading;
mod recovery;
mod removed;
mod search;
mod support;
mod writing;
