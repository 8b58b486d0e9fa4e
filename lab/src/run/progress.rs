//! How far a run is: a line that moves on a terminal, and plain lines now and then where there is none.

use std::convert::Infallible;
use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use tokio::sync::watch;

use crate::report::{self, Entry, Report, count, seconds};
use crate::{Experiment, Side, Verdict};

/// Between two plain lines of one experiment.
const PLAIN_EVERY: Duration = Duration::from_secs(5);
const SPIN_EVERY: Duration = Duration::from_millis(120);

/// Where progress is shown.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    begun: AtomicUsize,
    total: usize,
}

impl Progress {
    /// Of a run of so many experiments, on standard error.
    pub(super) fn of(total: usize) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            let look = "{spinner} [{elapsed}] {prefix:.bold}  {wide_msg}";
            bar.set_style(ProgressStyle::with_template(look).unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.enable_steady_tick(SPIN_EVERY);
            bar
        });
        Self { bar, begun: AtomicUsize::new(0), total }
    }

    /// An experiment begins.
    pub(super) fn begin(&self, experiment: &dyn Experiment) {
        let number = 1 + self.begun.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("{number}/{} {}", self.total, experiment.id());
        match &self.bar {
            Some(bar) => {
                bar.reset_elapsed();
                bar.set_prefix(prefix);
                bar.set_message(experiment.question());
            }
            None => eprintln!("[{prefix}] {}", experiment.question()),
        }
    }

    /// Shows what the experiment says of itself, for as long as it is asked to.
    pub(super) async fn watch(&self, mut watched: watch::Receiver<String>) -> Infallible {
        loop {
            if watched.changed().await.is_err() {
                // Nothing more will be said; whoever waits beside this ends it.
                std::future::pending::<()>().await;
            }
            let words = watched.borrow_and_update().clone();
            if let Some(bar) = &self.bar {
                bar.set_message(words);
            } else {
                eprintln!("    {words}");
                tokio::time::sleep(PLAIN_EVERY).await;
            }
        }
    }

    /// An experiment has ended.
    pub(super) fn end(&self, entry: &Entry) {
        self.say(&line(entry));
        if let Some(error) = &entry.error {
            self.say(&format!("    it could not be carried out: {error}"));
        }
    }

    /// The run has ended.
    pub(super) fn finish(&self, report: &Report, page: &Path, was_interrupted: bool) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        let (shown, asked) = (report.shown(), self.total);
        eprintln!(
            "\n{shown} of {asked} shown, {} real faults with every protection on, {}",
            count(report.faults()),
            seconds(report.seconds)
        );
        if was_interrupted {
            eprintln!("interrupted after {} of {asked}", report.experiments.len());
        }
        if !report.experiments.is_empty() {
            eprintln!("the report is {}", page.display());
        }
    }

    fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(line),
            None => eprintln!("{line}"),
        }
    }
}

/// What came out, in one line.
fn line(entry: &Entry) -> String {
    let side = |side: &Side| format!("{} of {}", count(side.violations), count(side.trials));
    let bound = entry.bound.map(|bound| format!(" (below {})", report::bound(bound))).unwrap_or_default();
    let verdict = match (entry.verdict, &entry.error) {
        (Verdict::Shown, _) => "shown",
        (Verdict::NotShown, None) => "NOT SHOWN",
        (Verdict::NotShown, Some(_)) => "ERROR",
    };
    format!(
        "{verdict:<9} {:<24} naive {}, protected {}{bound}, {} faults, {}",
        entry.id,
        side(&entry.off),
        side(&entry.on),
        count(entry.faults),
        seconds(entry.seconds)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn a_line_tells_counts_bound_and_verdict() {
        let entries = sample::report().experiments;
        let told = line(&entries[0]);
        assert!(told.starts_with("shown     direct-produce "), "{told}");
        assert!(
            told.contains("naive 190 of 1,840, protected 0 of 12,400 (below 0.025 %), 165 faults, 61.2 s"),
            "{told}"
        );
        assert!(line(&entries[3]).starts_with("NOT SHOWN"));
        assert!(line(&entries[4]).starts_with("ERROR"));
    }
}
