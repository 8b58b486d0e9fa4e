//! The Reliability Lab: accounts and a ledger over MySQL, Kafka and Redis, in which each protection of an outbox system is
//! switched off on purpose, on real servers, and what it protected is counted.
//!
//! An [`Experiment`] asks one question and runs two wirings, a naive one and a protected one; its [`Finding`] holds what was
//! counted on both sides, and its verdict can fail: the naive way must be seen to break, the protected way must not.

pub mod checker;
pub mod children;
pub mod domain;
pub mod durations;
pub mod experiment;
pub mod experiments;
pub mod finding;
pub mod naive;
pub mod programs;
pub mod report;
pub mod run;
pub mod runner;
pub mod scratch;
pub mod stack;
pub mod write;

pub use experiment::{Experiment, Lab, Scale};
pub use finding::{Bar, Chart, Finding, Mark, Series, Side, Span, Variant, Verdict, Wiring};
pub use stack::{BorrowedStack, Stack, StackOptions};
