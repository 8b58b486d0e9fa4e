//! The system under test: four programs, each an operating-system process of this one binary, and what they share.

pub mod cache;
pub mod command;
pub mod consumer;
pub mod crash;
pub mod database;
pub mod http;
pub mod pause;
pub mod problem;
pub mod process;
pub mod query;
pub mod relay;
pub(crate) mod request;
pub mod secret;
pub mod server;
pub mod settings;

use clap::Subcommand;

use crate::naive::NaiveProgram;

/// A program of the system under test, protected or naive.
#[derive(Debug, Subcommand)]
pub enum SystemProgram {
    /// Takes deposits and withdrawals over HTTP: account, ledger and outbox in one transaction.
    Command(command::CommandSettings),
    /// Publishes what waits in the outbox, at once when told and by polling.
    Relay(relay::RelaySettings),
    /// Applies events to the projection, each once, and invalidates the cache.
    Consumer(consumer::ConsumerSettings),
    /// Shows balances over HTTP from the cache or the projection.
    Query(query::QuerySettings),
    /// The naive twins, each wired as it is often done.
    #[command(subcommand)]
    Naive(NaiveProgram),
}

impl SystemProgram {
    /// Runs it until it is told to end.
    pub fn run(self) -> anyhow::Result<()> {
        process::run(async move {
            match self {
                Self::Command(settings) => command::run(settings).await,
                Self::Relay(settings) => relay::run(settings).await,
                Self::Consumer(settings) => consumer::run(settings).await,
                Self::Query(settings) => query::run(settings).await,
                Self::Naive(program) => program.run().await,
            }
        })
    }
}
