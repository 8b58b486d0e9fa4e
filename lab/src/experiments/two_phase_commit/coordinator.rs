//! The coordinator as a process of its own, which is killed where it hurts: after the promises, before the commits.

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use super::bank::{Banks, Conns};
use super::{Way, naive, protected};
use crate::Lab;
use crate::scratch::connect;

/// How long a child may take until it waits to be killed.
const READY_MAX: Duration = Duration::from_secs(60);
/// What a child says then.
const READY: &str = "between";

/// Begins a transfer, and stops between its two halves.
#[derive(clap::Args)]
pub struct XaCoordinator {
    #[arg(long)]
    first: String,
    #[arg(long)]
    second: String,
    #[arg(long)]
    transfer: String,
    #[arg(long)]
    account: u32,
    /// Whether the two halves are joined by an outbox instead of two-phase commit.
    #[arg(long)]
    outbox: bool,
}

impl XaCoordinator {
    /// Never returns.
    pub async fn run(self) -> anyhow::Result<()> {
        let mut conns = Conns { first: connect(&self.first).await?, second: connect(&self.second).await? };
        if self.outbox {
            protected::transfer(&mut conns.first, &self.transfer, self.account).await?;
        } else {
            naive::prepare(&mut conns, &self.transfer, self.account).await?;
        }
        println!("{READY}");
        // Killed here.
        std::future::pending().await
    }
}

/// Starts a coordinator, and returns once it stands between the two halves of its transfer.
pub(super) async fn start(lab: &Lab, banks: &Banks, way: Way, transfer: &str, account: u32) -> anyhow::Result<Child> {
    let mut command = Command::new(&lab.programs);
    command.arg("xa-coordinator").args(["--transfer", transfer, "--account", &account.to_string()]);
    command.args(["--first", &banks.first.url(), "--second", &banks.second.url()]);
    if way == Way::Outbox {
        command.arg("--outbox");
    }
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
    let mut lines = BufReader::new(child.stdout.take().context("a pipe")?).lines();
    let said =
        tokio::time::timeout(READY_MAX, lines.next_line()).await.context("the coordinator did not come so far")??;
    ensure!(said.as_deref() == Some(READY), "the coordinator said {said:?}");
    Ok(child)
}
