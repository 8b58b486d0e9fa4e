//! The program as a library: the command line is its only way in.
//!
//! [`commands`] are what an operator asks for, and [`serve`] is the first of them: a site behind HTTP. [`composition`] is the
//! composition root and says what a site is; [`tasks`] run beside requests; [`config`] is what a process is told.

mod commands;
mod composition;
mod config;
mod serve;
mod tasks;
mod telemetry;

pub use commands::run;
pub use config::roles::Role;
