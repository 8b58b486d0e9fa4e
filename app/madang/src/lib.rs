//! The program as a library: configuration, command line and the composition of services, adapters and fronts.
//!
//! [`composition`] is the composition root, [`site`] what comes out of it. [`serve`] runs it behind HTTP, [`operations`] are the commands, and [`control`] lets
//! a command reach a server that already holds the data directory.

pub mod cli;
mod complaint;
pub mod composition;
pub mod config;
mod console;
mod consumers;
pub mod control;
pub mod data_directory;
mod door;
mod first_steps;
pub mod groups;
mod hot;
pub mod keys;
mod lag;
mod lease;
pub mod operations;
mod pages;
mod public;
mod readiness;
pub mod report;
pub mod roles;
mod run;
pub mod serve;
mod signals;
pub mod site;
mod telemetry;
mod upkeep;
mod write_back;

pub use run::run;
