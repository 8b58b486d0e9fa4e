//! What several experiments share: the load, a side from a report, and the picture of what was done to the system.

use std::time::Duration;

use crate::checker::Report;
use crate::runner::clients::PATIENCE;
use crate::runner::{Clients, Faults, History, Storm, System};
use crate::{Bar, Chart, Lab, Side};

/// Clients as most experiments have them.
pub(super) fn clients(lab: &Lab) -> Clients {
    Clients {
        targets: Vec::new(),
        count: 4,
        accounts: 40,
        pause: Duration::from_millis(5),
        patience: PATIENCE,
        withdrawal_every: 4,
        seed: lab.seed,
    }
}

/// A count as a figure.
#[allow(clippy::cast_precision_loss, reason = "counts of an experiment are far below 2^52")]
pub(super) fn float(count: u64) -> f64 {
    count as f64
}

/// A storm that adds nothing to the crash points.
pub(super) fn calm_storm(system: &System, seed: u64) -> Storm<'_> {
    Storm { fleet: &system.fleet, hits: &[], proxies: &[], pause_ms: (20, 20), frozen_ms: (0, 0), seed }
}

/// Drives clients until a storm has blown over.
pub(super) async fn under(
    storm: &Storm<'_>,
    clients: &Clients,
    faults: u64,
    at_most_s: u64,
    mut each: impl FnMut(u64, u64),
) -> anyhow::Result<History> {
    let working = clients.start();
    storm.blow(faults, Duration::from_secs(at_most_s), |faults| each(faults, working.told())).await?;
    working.stop().await
}

/// A side: every acknowledged command is a trial, an event that was lost, or applied twice, a violation.
pub(super) fn side(history: &History, report: &Report) -> Side {
    Side::new(history.acknowledged.len() as u64, report.harm())
        .with("lost", float(report.lost()))
        .with("doubled", float(report.doubled))
        .with("accounts_shown_wrong", float(report.shown_wrong))
        .with("accounts_added_up_wrong", float(report.added_up_wrong))
        .with("sent_again", float(history.retried))
}

/// Fails unless a process crashed at one of these points, the ones that the protection is for: a run in which none did tried
/// nothing. How often each was met is among the faults of the report.
pub(super) fn ensure_crashed_at(faults: &Faults, points: &[&str]) -> anyhow::Result<()> {
    let crashes = faults.crashes();
    let is_met = points.iter().any(|point| crashes.contains_key(*point));
    anyhow::ensure!(is_met, "no process crashed at any of {points:?}, only at {crashes:?}");
    Ok(())
}

/// What was done to a system while it had to hold.
pub(super) fn faults_chart(faults: &Faults) -> Chart {
    let crashes = faults.crashes().into_iter().map(|(point, count)| (format!("crash {point}"), count));
    let others = faults.by_kind().into_iter().filter(|(kind, _)| kind != crate::runner::faults::CRASH_POINT);
    let bar = |(label, count)| Bar { label, value: float(count), protected: true };
    Chart::Bars {
        title: "Faults while every protection was on".to_owned(),
        unit: "faults",
        logarithmic: false,
        bars: crashes.chain(others).map(bar).collect(),
    }
}

/// A sentence about processes that ended though nobody ended them, if there were any.
pub(super) fn unexpected(system: &System) -> Option<String> {
    let ends = system.fleet.unexpected();
    (!ends.is_empty()).then(|| format!("{} ends that nobody ordered: {}", ends.len(), ends.join("; ")))
}

/// A percentile of measurements; 0 where there are none.
pub(super) fn percentile(values: &mut [f64], percent: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    values.get(last * percent / 100).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_did_not_crash_where_it_was_to_crash_was_not_tried() {
        let dir = tempfile::tempdir().unwrap();
        let faults = Faults::new(dir.path());
        assert!(ensure_crashed_at(&faults, &["before-commit"]).is_err());
        std::fs::write(faults.crash_log(), "before-commit\nafter-commit-before-send\n").unwrap();
        assert!(ensure_crashed_at(&faults, &["before-commit", "after-commit-before-send"]).is_ok());
        assert!(ensure_crashed_at(&faults, &["before-effect", "before-commit"]).is_ok());
        assert!(ensure_crashed_at(&faults, &["before-effect"]).is_err());
    }

    #[test]
    fn a_percentile_is_one_of_the_values() {
        let mut values: Vec<f64> = (1..=101).rev().map(f64::from).collect();
        assert_eq!((percentile(&mut values, 50), percentile(&mut values, 99)), (51.0, 100.0));
        assert_eq!(percentile(&mut [7.0], 99), 7.0);
        assert_eq!(percentile(&mut [], 99), 0.0);
    }
}
