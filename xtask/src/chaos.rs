//! `cargo xtask chaos`: faults over every server and process of a site at work, on servers of the run's own.

use std::path::PathBuf;

use anyhow::Result;

use crate::interrupt::Interrupt;
use crate::{lab, workspace};

/// Kills and freezes servers and processes of a site at work, at random, and looks for everything that was acknowledged.
///
/// Starts two MariaDB servers, each with a semi-synchronous replica and a tool that fails over, three Kafka brokers, a Redis
/// Cluster of three masters and three replicas, and three processes; people write all the time. Fails when an acknowledged write
/// is not there in the end, when writes do not come back, or when `madang check` finds a difference. What it needs is installed
/// by `cargo xtask stack up`. docs/reliability.md has a run. Ctrl-C ends everything it started.
#[derive(clap::Args)]
pub(crate) struct Chaos {
    /// How long faults are drawn.
    #[arg(long, value_name = "N", default_value_t = 5)]
    minutes: u64,
    /// Where chance begins: the same seed draws the same faults.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Each fault once, in order, on one MariaDB server that holds every shard: what each costs.
    #[arg(long, conflicts_with = "minutes")]
    each: bool,
    /// Only faults whose names, as the report has them, hold this text.
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Where the report goes (default: target/chaos.md).
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

impl Chaos {
    /// Builds and runs it.
    pub(crate) fn run(&self) -> Result<()> {
        let interrupt = Interrupt::listen()?;
        let report = self.report.clone().unwrap_or_else(|| workspace::target().join("chaos.md"));
        let report = std::path::absolute(report)?;
        let mut cargo = workspace::cargo();
        // The features of the whole workspace, as its tests have them, so that nothing is built twice.
        cargo.args(["test", "--workspace", "--test", "faults", "--", "--ignored", "--nocapture", "chaos"]);
        cargo.env("MADANG_CHAOS_MINUTES", self.minutes.to_string()).env("MADANG_CHAOS_SEED", self.seed.to_string());
        cargo.env("MADANG_CHAOS_REPORT", &report).env("MADANG_CHAOS_EACH", if self.each { "1" } else { "" });
        cargo.env("MADANG_CHAOS_ONLY", &self.only);
        let status = lab::watched(&mut cargo, &interrupt)?;
        interrupt.check()?;
        workspace::succeeded(&cargo, status)?;
        println!("the report is in {}", report.display());
        Ok(())
    }
}
