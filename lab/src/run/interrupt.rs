//! Ctrl-C and its relatives: a run stops where it is, in order, instead of dying with its children alive.

use anyhow::Context as _;
use tokio::signal::unix::{SignalKind, signal};

/// Takes SIGINT, SIGTERM and SIGHUP over from their default; ready when the first of them comes.
pub(super) fn listen() -> anyhow::Result<impl Future<Output = ()>> {
    let take = |kind| signal(kind).context("could not listen for Ctrl-C");
    let mut interrupt = take(SignalKind::interrupt())?;
    let mut terminate = take(SignalKind::terminate())?;
    let mut hang_up = take(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hang_up.recv() => {}
        }
    })
}
