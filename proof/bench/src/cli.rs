//! The command line: what to measure, for how long, and where the answer goes.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::scenario::Scenario;

/// Measures Madang beside the limits it is compared with, in one run.
///
/// Figure and limit are measured by turns (A B A B …), because machines are noisy; rates are medians of the turns,
/// p50 and p99 are taken over all of them. Answers other than 2xx are errors, and counted.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench", version, subcommand_negates_reqs = true, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) options: Options,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serves a constant body by bare axum: a limit, started by the bench itself.
    #[command(hide = true)]
    Bare(BareOptions),
}

#[derive(Debug, Args)]
pub(crate) struct BareOptions {
    /// Where to listen; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// How long the body is.
    #[arg(long)]
    pub(crate) body_bytes: usize,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Options {
    /// What to measure; everything if none is named.
    #[arg(value_enum)]
    scenarios: Vec<Scenario>,
    /// Length of one turn of a load.
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0, value_parser = positive_seconds)]
    seconds: f64,
    /// How often figure and limit take turns.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) rounds: u32,
    /// Connections of a load over HTTP, and callers of one without.
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub(crate) connections: u16,
    /// Articles on the board of `deep-pages`, `cluster-pages`, `get-zipf` and `startup`.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(6_000..))]
    pub(crate) articles: u32,
    /// Entries of the log that `catch-up` applies.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1_000..))]
    pub(crate) entries: u32,
    /// A first look: one turn of 1 second, 20,000 articles and entries.
    #[arg(long)]
    quick: bool,
    /// Also writes the results as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Writes docs/benchmarks.md: date, commit, machine, and every row of this run. With `--cluster` everything else is
    /// measured first, in the same run.
    #[arg(long)]
    pub(crate) write: bool,
    /// Fails (code 1) when a ratio is missed or an answer was an error.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Measures this binary instead of building one.
    #[arg(long, value_name = "FILE")]
    pub(crate) binary: Option<PathBuf>,
    /// Keeps the databases of the run below this folder; should be a real disk. The system's temporary folder if not given.
    #[arg(long, value_name = "DIR")]
    pub(crate) scratch: Option<PathBuf>,
    /// Measures a site on the servers of this configuration (`cargo xtask stack config`), under a name of its own, which
    /// stays there; for `read-lag`, `cluster-rates` and `staleness`.
    #[arg(long, value_name = "FILE")]
    pub(crate) cluster: Option<PathBuf>,
}

impl Options {
    /// The options with `--quick` worked in.
    pub(crate) fn settled(mut self) -> Self {
        if self.quick {
            self.seconds = self.seconds.min(1.0);
            self.rounds = 1;
            self.articles = self.articles.min(20_000);
            self.entries = self.entries.min(20_000);
        }
        self
    }

    /// What to measure, in a fixed order.
    pub(crate) fn scenarios(&self) -> Vec<Scenario> {
        let on_cluster = self.cluster.is_some();
        let all = |scenario: &Scenario| {
            scenario.is_for_cluster() == on_cluster || (on_cluster && *scenario == Scenario::ReadLag)
        };
        let wanted = |scenario: &Scenario| {
            if self.scenarios.is_empty() { all(scenario) } else { self.scenarios.contains(scenario) }
        };
        Scenario::value_variants().iter().copied().filter(wanted).collect()
    }

    /// The parts of this run: a page of all figures has those of an embedded site and of a cluster.
    pub(crate) fn parts(&self) -> Vec<Self> {
        let embedded = (self.write && self.cluster.is_some()).then(|| Self { cluster: None, ..self.clone() });
        embedded.into_iter().chain([self.clone()]).collect()
    }

    /// The length of one turn.
    pub(crate) fn turn(&self) -> Duration {
        Duration::from_secs_f64(self.seconds)
    }

    /// The length of the warm-up before the first turn.
    pub(crate) fn warm_up(&self) -> Duration {
        self.turn().min(Duration::from_secs(2))
    }
}

fn positive_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.1..=3_600.0).contains(&seconds) => Ok(seconds),
        _ => Err("must be from 0.1 to 3600".into()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn options(args: &[&str]) -> Options {
        Cli::parse_from([&["bench"], args].concat()).options.settled()
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    fn without_cluster() -> usize {
        Scenario::value_variants().iter().filter(|scenario| !scenario.is_for_cluster()).count()
    }

    #[test]
    fn everything_is_measured_unless_something_is_named() {
        assert_eq!(options(&[]).scenarios().len(), without_cluster());
        assert_eq!(options(&["startup", "get-article"]).scenarios(), [Scenario::GetArticle, Scenario::Startup]);
    }

    #[test]
    fn on_a_cluster_only_what_goes_through_its_servers_is_measured() {
        let on_cluster = [Scenario::ReadLag, Scenario::ClusterRates, Scenario::Staleness];
        assert_eq!(options(&["--cluster", "cluster.toml"]).scenarios(), on_cluster);
        assert!(options(&[]).scenarios().iter().all(|scenario| !scenario.is_for_cluster()));
        let parts = options(&["--cluster", "cluster.toml", "--write"]).parts();
        assert_eq!(parts[0].scenarios().len(), without_cluster());
        assert_eq!(parts[1].scenarios(), on_cluster);
    }

    #[test]
    fn quick_shortens_what_was_not_shorter_already() {
        let quick = options(&["--quick", "--articles", "7000"]);
        assert_eq!((quick.rounds, quick.articles, quick.turn()), (1, 7_000, Duration::from_secs(1)));
        assert!(Cli::try_parse_from(["bench", "--seconds", "0"]).is_err());
    }
}
