//! The program as a library: configuration, command line and the composition of services, adapters and fronts.
//!
//! [`site`] is the composition root. [`serve`] runs it behind HTTP, [`operations`] are the commands, and [`control`] lets
//! a command reach a server that already holds the data directory.

pub mod cli;
pub mod config;
mod console;
mod consumers;
pub mod control;
pub mod data_directory;
pub mod groups;
mod hot;
pub mod keys;
mod lag;
mod lease;
pub mod operations;
mod pages;
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
