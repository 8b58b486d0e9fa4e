//! `cargo xtask alerts`: brings every alert of deploy/prometheus about on real servers, and has it go quiet again.

mod hosts;
mod scenario;
mod servers;

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::interrupt::Interrupt;
use crate::observed::ObservedSite;
use scenario::{Scenario, Seen};

/// Brings every alert about on real servers, and has it go quiet again.
///
/// Starts a stack of its own (`cargo xtask stack up --observe`, with replicas) and a site on it: a process on the servers, one
/// on a data directory, and one by TLS on a small disk, with people who use them. Then each alert's cause is brought about and
/// taken away: a process, broker, database or Redis is killed, a group paused, a disk filled, a clock set, and so on.
///
/// Prometheus' times are divided by 15: it scrapes and evaluates every second instead of every 15 s, and every `for:` and every
/// range of a rate is a fifteenth. Thresholds are as deployed. Prints a table of the seconds to fire and to end, and fails
/// unless every alert was seen to do both. Needs root (a small disk is mounted) and about ten minutes on 2 cores.
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Alerts {
    /// Only the scenarios that bring these alerts about.
    #[arg(value_name = "ALERT")]
    only: Vec<String>,
    /// Uses the binary as it was built last.
    #[arg(long)]
    no_build: bool,
}

/// By what every time of Prometheus is divided.
pub(crate) const SPEED: u32 = 15;
/// How long an alert may take to fire, and to end.
const FIRE_MAX: Duration = Duration::from_secs(240);

impl Alerts {
    /// Runs it.
    pub(crate) fn run(&self) -> Result<()> {
        let wanted = |scenario: &Scenario| {
            self.only.is_empty() || scenario.alerts.iter().any(|alert| self.only.iter().any(|only| only == alert))
        };
        let tracks = [servers::ALL, hosts::ALL].map(|track| track.iter().filter(|one| wanted(one)).collect::<Vec<_>>());
        ensure!(tracks.iter().any(|track| !track.is_empty()), "no alert has that name");
        let interrupt = Interrupt::listen()?;
        let began = Instant::now();
        let site = ObservedSite::up(SPEED, !self.no_build, &interrupt)?;
        eprintln!("\n[{:>5.0} s] the site is up; alerts are brought about", began.elapsed().as_secs_f64());
        // What is done to servers, and what is done to hosts, does not touch: side by side.
        let seen: Vec<Seen> = std::thread::scope(|scope| {
            let (site, interrupt) = (&site, &interrupt);
            let running = tracks.map(|track| scope.spawn(move || run_track(&track, site, interrupt)));
            running.into_iter().flat_map(|track| track.join().unwrap_or_default()).collect()
        });
        interrupt.check()?;
        print!("{}", table(&seen));
        let missed: Vec<_> = seen.iter().filter(|seen| seen.failure.is_some()).map(|seen| seen.alert).collect();
        ensure!(missed.is_empty(), "not seen to fire and to end: {}", missed.join(", "));
        Ok(())
    }
}

fn run_track(track: &[&'static Scenario], site: &ObservedSite, interrupt: &Interrupt) -> Vec<Seen> {
    track.iter().take_while(|_| interrupt.check().is_ok()).flat_map(|scenario| scenario.run(site)).collect()
}

fn table(seen: &[Seen]) -> String {
    let mut text =
        "\n| alert | how it was brought about | fired after | ended after |\n|---|---|---:|---:|\n".to_owned();
    for seen in seen {
        let (fired, ended) = (shown(seen.fired), shown(seen.ended));
        let failure = seen.failure.as_ref().map(|why| format!(" (FAILED: {why})")).unwrap_or_default();
        text += &format!("| {} | {}{failure} | {fired} | {ended} |\n", seen.alert, seen.how);
    }
    text
}

fn shown(after: Option<Duration>) -> String {
    after.map_or_else(|| "–".to_owned(), |after| format!("{:.0} s", after.as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const RULES: &str = include_str!("../../../deploy/prometheus/rules/alerts.yml");

    #[test]
    fn every_alert_is_brought_about() {
        let alerts: BTreeSet<_> = RULES.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
        let scenarios = servers::ALL.iter().chain(hosts::ALL);
        let brought: Vec<_> = scenarios.flat_map(|scenario| scenario.alerts.iter().copied()).collect();
        assert_eq!(brought.iter().copied().collect::<BTreeSet<_>>(), alerts);
        assert_eq!(brought.len(), alerts.len(), "one is brought about twice");
    }
}
