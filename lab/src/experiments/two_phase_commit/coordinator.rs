//! Who joins the two halves of a transfer, as a process of its own that is killed where it hurts.

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use super::bank::{Banks, Conns};
use super::protected::Step;
use super::{naive, protected};
use crate::Lab;
use crate::scratch::connect;

/// How long a child may take until it waits to be killed.
const READY_MAX: Duration = Duration::from_secs(60);
/// What a child says then.
const READY: &str = "between";

/// Where a process stands still and is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum KillPoint {
    /// Two-phase commit: both servers have promised, neither has committed.
    Prepared,
    /// Outbox: the first server has committed, and nobody has sent anything.
    Committed,
    /// Outbox: the relay has sent everything, and the second server has not committed.
    Sent,
    /// Outbox: the second server has committed, and the row is still in the outbox.
    Delivered,
}

impl KillPoint {
    /// Those of the outbox.
    pub(super) const OUTBOX: [Self; 3] = [Self::Committed, Self::Sent, Self::Delivered];

    /// Its name on the command line and in names of transfers.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Prepared => "prepared",
            Self::Committed => "committed",
            Self::Sent => "sent",
            Self::Delivered => "delivered",
        }
    }

    /// What the report calls it.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Prepared => "XA, killed between PREPARE and COMMIT",
            Self::Committed => "outbox, killed after COMMIT, before anything is sent",
            Self::Sent => "outbox, relay killed after sending, before the second COMMIT",
            Self::Delivered => "outbox, relay killed after the second COMMIT, before DELETE",
        }
    }
}

/// Begins transfers of some accounts, and stops in the middle.
#[derive(clap::Args)]
pub struct XaCoordinator {
    #[arg(long)]
    first: String,
    #[arg(long)]
    second: String,
    /// Starts the names of its transfers.
    #[arg(long)]
    transfer: String,
    /// The accounts; with two-phase commit, one.
    #[arg(long, value_delimiter = ',')]
    accounts: Vec<u32>,
    #[arg(long)]
    point: KillPoint,
}

impl XaCoordinator {
    /// Never returns.
    pub async fn run(self) -> anyhow::Result<()> {
        let mut conns = Conns { first: connect(&self.first).await?, second: connect(&self.second).await? };
        for account in &self.accounts {
            let name = format!("{}-{account}", self.transfer);
            match self.point {
                KillPoint::Prepared => naive::prepare(&mut conns, &name, *account).await?,
                _ => protected::transfer(&mut conns.first, &name, *account).await?,
            }
        }
        let reached = |step: Step| match self.point {
            KillPoint::Sent => step == Step::BeforeCommit,
            KillPoint::Delivered => step == Step::BeforeDelete,
            KillPoint::Prepared | KillPoint::Committed => false,
        };
        if matches!(self.point, KillPoint::Sent | KillPoint::Delivered) {
            protected::relay_with(&mut conns, async |step| {
                if reached(step) {
                    stand_still().await;
                }
            })
            .await?;
        }
        stand_still().await;
        Ok(())
    }
}

/// Killed here.
async fn stand_still() {
    println!("{READY}");
    std::future::pending::<()>().await;
}

/// Starts a process, and returns once it stands where it is to be killed.
pub(super) async fn start(
    lab: &Lab,
    banks: &Banks,
    point: KillPoint,
    transfer: &str,
    accounts: &[u32],
) -> anyhow::Result<Child> {
    let accounts = accounts.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let mut command = Command::new(&lab.programs);
    command.arg("xa-coordinator").args(["--transfer", transfer, "--accounts", &accounts, "--point", point.name()]);
    command.args(["--first", &banks.first.url(), "--second", &banks.second.url()]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
    let mut lines = BufReader::new(child.stdout.take().context("a pipe")?).lines();
    let said =
        tokio::time::timeout(READY_MAX, lines.next_line()).await.context("the coordinator did not come so far")??;
    ensure!(said.as_deref() == Some(READY), "the coordinator said {said:?}");
    Ok(child)
}
