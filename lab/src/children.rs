//! Programs that experiments about servers start as processes of their own, because they are there to be killed.

use clap::Subcommand;

use crate::experiments::log_tailing::{LogReader, LogWriter};
use crate::experiments::transaction_abort::OpenTransaction;
use crate::experiments::two_phase_commit::XaCoordinator;

/// A program that an experiment starts; people start none of them.
#[derive(Subcommand)]
pub enum Child {
    /// Begins a transaction in Kafka, writes into it, and never ends it.
    #[command(hide = true)]
    OpenTransaction(OpenTransaction),
    /// Begins a transfer between two servers, and stops in the middle.
    #[command(hide = true)]
    XaCoordinator(XaCoordinator),
    /// Publishes what an outbox holds.
    #[command(hide = true)]
    LogReader(LogReader),
    /// Writes an outbox, and publishes what it wrote.
    #[command(hide = true)]
    LogWriter(LogWriter),
}

impl Child {
    /// Runs it until it is done, or killed.
    pub fn run(self) -> anyhow::Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(async {
            match self {
                Self::XaCoordinator(program) => program.run().await,
                Self::LogReader(program) => program.run().await,
                Self::LogWriter(program) => program.run().await,
                Self::OpenTransaction(program) => tokio::task::spawn_blocking(move || program.run()).await?,
            }
        })
    }
}
