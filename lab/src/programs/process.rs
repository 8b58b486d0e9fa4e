//! What every program does as a process: says in its log what happens, and ends with whoever started it.

use std::future::Future;

use anyhow::Context as _;
use rustix::process::{Signal, set_parent_process_death_signal};
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

/// Set by the runner: the process must not outlive it, however that ends.
pub const BOUND_TO_PARENT: &str = "LAB_BOUND_TO_PARENT";

/// Runs a program on a runtime of its own.
pub fn run(program: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<()> {
    if std::env::var_os(BOUND_TO_PARENT).is_some() {
        // A stopped process dies of this as well.
        set_parent_process_death_signal(Some(Signal::KILL))
            .context("could not be bound to the process that started it")?;
    }
    let filter = EnvFilter::try_from_env("LAB_LOG").unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(false).init();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(program)
}

/// Returns when the process is asked to end.
pub async fn asked_to_end() {
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return std::future::pending().await };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}
