//! What an operator can ask for: the command line, what each command does, and how it reaches a server that runs.
//!
//! `run` parses and decides who does the work; `operations` does it, in this process or, through `control`, in the server that
//! holds the data directory; `output` carries what a command prints back to `console`. The other files are the commands.

pub(crate) mod backup;
mod check;
pub(crate) mod cli;
pub(crate) mod console;
pub(crate) mod control;
pub(crate) mod copy;
mod dlq;
pub(crate) mod doctor;
mod groups;
mod manual;
mod member;
mod migration_cost;
pub(crate) mod operations;
pub(crate) mod output;
mod rebuild;
mod run;
mod seed;
mod seed_text;
pub(crate) mod shards;
pub(crate) mod upgrade;

pub use self::run::run;
