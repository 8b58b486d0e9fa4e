//! The results: every figure beside its limit, as a table for people, as JSON for machines, and as docs/benchmarks.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::ValueEnum as _;
use madang_kernel::{Clock, SystemClock, Timestamp};
use serde::Serialize;

use crate::cli::Options;
use crate::load::Turns;
use crate::machine::Machine;
use crate::samples::Samples;
use crate::scenario::Scenario;

/// What is asked of the ratio of figure to limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Goal {
    /// Rates.
    AtLeast(f64),
    /// Times and sizes.
    AtMost(f64),
    /// Shown for comparison only.
    None,
}

/// One side of a comparison.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Figure {
    what: String,
    value: f64,
    p50_ms: Option<f64>,
    p99_ms: Option<f64>,
    distribution: Option<Distribution>,
    errors: BTreeMap<String, u64>,
}

/// How long some calls took, where the tail is the question.
#[derive(Debug, Clone, Serialize)]
struct Distribution {
    calls: u64,
    p50_ms: f64,
    p90_ms: f64,
    p99_ms: f64,
    max_ms: f64,
}

/// A figure, its limit, and what is asked of their ratio.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Row {
    scenario: String,
    unit: &'static str,
    figure: Figure,
    limit: Figure,
    ratio: f64,
    goal: Goal,
    met: bool,
}

impl Figure {
    /// Successes per second over some turns.
    pub(crate) fn rate(what: &str, turns: &Turns) -> Self {
        Self::median_ms(what, &turns.samples).with_value(turns.rate())
    }

    /// The median duration of some calls.
    pub(crate) fn median_ms(what: &str, samples: &Samples) -> Self {
        let ms = |share| samples.quantile(share).as_secs_f64() * 1_000.0;
        let errors = samples.errors().clone();
        let (p50_ms, p99_ms) = (Some(ms(0.5)), Some(ms(0.99)));
        Self { what: what.into(), value: ms(0.5), p50_ms, p99_ms, distribution: None, errors }
    }

    /// The duration within which this share of some calls succeeded; the table shows the whole distribution.
    pub(crate) fn tail_ms(what: &str, samples: &Samples, share: f64) -> Self {
        let ms = |share| samples.quantile(share).as_secs_f64() * 1_000.0;
        let calls = samples.count();
        let (p50_ms, p90_ms, p99_ms, max_ms) = (ms(0.5), ms(0.9), ms(0.99), ms(1.0));
        let distribution = Some(Distribution { calls, p50_ms, p90_ms, p99_ms, max_ms });
        Self { distribution, ..Self::median_ms(what, samples).with_value(ms(share)) }
    }

    /// The same calls with another value in front.
    pub(crate) fn with_value(self, value: f64) -> Self {
        Self { value, ..self }
    }

    /// A plain number, measured or given.
    pub(crate) fn plain(what: &str, value: f64) -> Self {
        Self { what: what.into(), value, p50_ms: None, p99_ms: None, distribution: None, errors: BTreeMap::new() }
    }
}

impl Row {
    /// Compares a figure with its limit.
    pub(crate) fn compare(scenario: Scenario, unit: &'static str, figure: Figure, limit: Figure, goal: Goal) -> Self {
        let ratio = if limit.value > 0.0 { figure.value / limit.value } else { 0.0 };
        let within = match goal {
            Goal::AtLeast(least) => ratio >= least,
            // Nothing measured is no success.
            Goal::AtMost(most) => ratio <= most && figure.value > 0.0,
            Goal::None => true,
        };
        let met = within && figure.errors.is_empty() && limit.errors.is_empty();
        Self { scenario: scenario.to_string(), unit, figure, limit, ratio, goal, met }
    }

    fn cells(&self) -> [String; COLUMNS] {
        let side = |figure: &Figure| format!("{}: {} {}", figure.what, grouped(figure.value), self.unit);
        let quantiles = |of: fn(&Figure) -> Option<f64>| match (of(&self.figure), of(&self.limit)) {
            (None, None) => "–".into(),
            (figure, limit) => [figure, limit].map(|ms| ms.map_or("–".into(), |ms| format!("{ms:.2}"))).join(" / "),
        };
        let goal = match self.goal {
            Goal::AtLeast(least) => format!("≥ {least:.2}"),
            Goal::AtMost(most) => format!("≤ {most:.2}"),
            Goal::None => "–".into(),
        };
        let met = match (self.met, self.goal) {
            (false, _) => "MISSED",
            (true, Goal::None) => "",
            (true, _) => "met",
        };
        let errors = self.figure.errors.values().chain(self.limit.errors.values()).sum::<u64>().to_string();
        let ratio = if self.ratio < 0.01 { format!("{:.4}", self.ratio) } else { format!("{:.2}", self.ratio) };
        [
            self.scenario.clone(),
            side(&self.figure),
            side(&self.limit),
            ratio,
            goal,
            quantiles(|figure| figure.p50_ms),
            quantiles(|figure| figure.p99_ms),
            errors,
            met.into(),
        ]
    }

    fn distribution_lines(&self) -> impl Iterator<Item = String> {
        [&self.figure, &self.limit].into_iter().filter_map(|side| {
            let Distribution { calls, p50_ms, p90_ms, p99_ms, max_ms } = side.distribution.as_ref()?;
            let what = &side.what;
            Some(format!(
                "{what}: {calls} calls, p50 {p50_ms:.2}, p90 {p90_ms:.2}, p99 {p99_ms:.2}, max {max_ms:.2} ms"
            ))
        })
    }

    fn error_lines(&self) -> impl Iterator<Item = String> {
        let sides = [&self.figure, &self.limit].into_iter();
        sides.flat_map(|side| side.errors.iter().map(|(how, times)| format!("{}: {times} × {how}", side.what)))
    }
}

/// How the page begins.
const PREFACE: &str = "\
# Benchmarks

Written by `cargo xtask bench --write`; change the bench, not this page. Every figure stands beside a limit that was measured in
the same run, by turns; the load generator shares the machine. Believe the ratios: two runs differ by a quarter in the rates.
`cargo xtask bench SCENARIO` measures one of them again. What was tried on the way, with its figures, is on the pages of
[docs/design](design).
";

const COLUMNS: usize = 9;
const HEADER: [&str; COLUMNS] =
    ["scenario", "figure", "limit", "ratio", "goal", "p50 ms (limit's)", "p99 ms (limit's)", "errors", ""];

/// All rows of one run, and the circumstances.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    measured_at: Timestamp,
    version: &'static str,
    optimized: bool,
    machine: Machine,
    connections: u16,
    rounds: u32,
    seconds_a_turn: f64,
    articles: u32,
    rows: Vec<Row>,
    /// Scenarios that could not be measured, and why.
    failures: BTreeMap<String, String>,
}

/// The page of all figures, from the folder of this crate.
const PAGE: &str = "../../docs/benchmarks.md";
/// How the measurement of the lag on servers is called, which is a part of its own.
const LAG_ON_CLUSTER: &str = "read-lag --cluster";

impl Report {
    /// A report without rows.
    pub(crate) fn begin(options: &Options) -> Self {
        Self {
            measured_at: SystemClock.now(),
            version: env!("CARGO_PKG_VERSION"),
            optimized: !cfg!(debug_assertions),
            machine: Machine::here(&options.scratch.clone().unwrap_or_else(std::env::temp_dir)),
            connections: options.connections,
            rounds: options.rounds,
            seconds_a_turn: options.turn().as_secs_f64(),
            articles: options.articles,
            rows: Vec::new(),
            failures: BTreeMap::new(),
        }
    }

    /// Notes that a scenario could not be measured.
    pub(crate) fn fail(&mut self, scenario: Scenario, error: &anyhow::Error) {
        eprintln!("`{scenario}` could not be measured: {error:#}");
        self.failures.insert(scenario.to_string(), format!("{error:#}"));
    }

    /// Whether everything asked for was measured.
    pub(crate) fn is_complete(&self) -> bool {
        self.failures.is_empty()
    }

    /// Adds what a scenario showed.
    pub(crate) fn add(&mut self, rows: Vec<Row>, on_cluster: bool) {
        let named = |row: Row| match on_cluster && row.scenario == Scenario::ReadLag.to_string() {
            true => Row { scenario: LAG_ON_CLUSTER.into(), ..row },
            false => row,
        };
        self.rows.extend(rows.into_iter().map(named));
    }

    /// Whether every goal is met, without errors.
    pub(crate) fn is_met(&self) -> bool {
        self.rows.iter().all(|row| row.met)
    }

    /// The rows for people.
    pub(crate) fn table(&self) -> String {
        format!("{}\n{}", self.lines(&[]).join("\n"), self.circumstances())
    }

    fn circumstances(&self) -> String {
        format!(
            "{}; {} connections, {} × {} s a side, {} articles{}",
            self.machine,
            self.connections,
            self.rounds,
            self.seconds_a_turn,
            grouped(f64::from(self.articles)),
            if self.optimized { "" } else { ", DEBUG BUILD" }
        )
    }

    /// The rows with those that were not measured, and what is to be said of them below.
    fn lines(&self, not_measured: &[[String; COLUMNS]]) -> Vec<String> {
        let rows = std::iter::once(HEADER.map(String::from)).chain(self.rows.iter().map(Row::cells));
        let rows: Vec<_> = rows.chain(not_measured.iter().cloned()).collect();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: [usize; COLUMNS] = std::array::from_fn(width);
        let line = |row: &[String; COLUMNS]| {
            let cells: Vec<_> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
            format!("| {} |", cells.join(" | "))
        };
        let mut lines: Vec<_> = rows.iter().map(line).collect();
        lines.insert(1, format!("|{}|", widths.map(|width| "-".repeat(width + 2)).join("|")));
        lines.push(String::new());
        lines.extend(self.rows.iter().flat_map(Row::distribution_lines).map(|line| format!("- {line}")));
        let failures = self.failures.iter();
        lines.extend(failures.map(|(scenario, why)| format!("- `{scenario}` could not be measured: {why}")));
        // A side that stands in several rows says what went wrong once.
        let errors: BTreeSet<_> = self.rows.iter().flat_map(Row::error_lines).collect();
        lines.extend(errors.iter().map(|error| format!("- error: {error}")));
        lines
    }

    /// Writes the page of all figures.
    pub(crate) fn write_page(&self) -> Result<PathBuf> {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
        fs::write(&file, self.page()).with_context(|| format!("cannot write {}", file.display()))?;
        Ok(file)
    }

    fn page(&self) -> String {
        let all = Scenario::value_variants().iter().map(ToString::to_string);
        let missing = all.chain([LAG_ON_CLUSTER.to_owned()]);
        let missing = missing.filter(|name| !self.rows.iter().any(|row| row.scenario == *name));
        let not_measured: Vec<_> = missing
            .map(|name| {
                std::array::from_fn(|column| match column {
                    0 => name.clone(),
                    1 => "not measured in this run".to_owned(),
                    _ => String::new(),
                })
            })
            .collect();
        let day = jiff::Timestamp::from_millisecond(self.measured_at.as_millis()).unwrap_or_default();
        format!(
            "{PREFACE}\nMeasured on {} at commit `{}`: {}.\n\n{}\n",
            day.strftime("%Y-%m-%d"),
            self.machine.commit,
            self.circumstances(),
            self.lines(&not_measured).join("\n")
        )
    }

    /// The whole report for machines.
    pub(crate) fn write_json(&self, file: &Path) -> Result<()> {
        let json = serde_json::to_vec_pretty(self).context("the report is no JSON")?;
        fs::write(file, json).with_context(|| format!("cannot write {}", file.display()))
    }
}

/// A number with as many digits as it deserves, thousands apart.
fn grouped(value: f64) -> String {
    if value < 100.0 {
        return format!("{value:.2}");
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::Parser as _;

    use super::*;

    fn row(figure: f64, limit: f64, goal: Goal) -> Row {
        let (figure, limit) = (Figure::plain("ours", figure), Figure::plain("theirs", limit));
        Row::compare(Scenario::Startup, "ms", figure, limit, goal)
    }

    #[test]
    fn goals_are_asked_of_the_ratio() {
        assert!(row(50.0, 100.0, Goal::AtLeast(0.5)).met);
        assert!(!row(49.0, 100.0, Goal::AtLeast(0.5)).met);
        assert!(row(300.0, 100.0, Goal::AtMost(3.0)).met);
        assert!(!row(301.0, 100.0, Goal::AtMost(3.0)).met);
        assert!(row(1_000.0, 1.0, Goal::None).met);
    }

    #[test]
    fn nothing_measured_meets_no_goal() {
        assert!(!row(0.0, 100.0, Goal::AtMost(3.0)).met);
        assert!(!row(0.0, 0.0, Goal::AtLeast(0.5)).met);
    }

    #[test]
    fn an_error_on_either_side_misses_the_goal_and_is_printed() {
        let mut samples = Samples::new();
        samples.succeeded(Duration::from_millis(2));
        samples.failed("status 503");
        let figure = || Figure::median_ms("ours", &samples);
        let row = Row::compare(Scenario::DeepPages, "ms", Figure::plain("a", 1.0), figure(), Goal::None);
        assert!(!row.met);
        assert_eq!(row.error_lines().collect::<Vec<_>>(), ["ours: 1 × status 503"]);
        assert_eq!(row.cells()[7], "1");
    }

    #[test]
    fn a_tail_shows_its_distribution() {
        let mut samples = Samples::new();
        for millis in 1..=100 {
            samples.succeeded(Duration::from_millis(millis));
        }
        let figure = Figure::tail_ms("lag", &samples, 0.99);
        assert!((figure.value - 99.0).abs() < 1.0, "{}", figure.value);
        let row = Row::compare(Scenario::Startup, "ms", figure, Figure::plain("limit", 50.0), Goal::AtMost(1.0));
        assert!(!row.met);
        let lines: Vec<_> = row.distribution_lines().collect();
        assert!(lines.len() == 1 && lines[0].starts_with("lag: 100 calls, p50 "), "{lines:?}");
    }

    #[test]
    fn the_page_names_commit_and_machine_and_says_of_each_scenario_whether_it_was_measured() {
        let options = crate::cli::Cli::parse_from(["bench"]).options;
        let mut report = Report::begin(&options);
        report.add(vec![row(1.0, 2.0, Goal::None)], false);
        report.fail(Scenario::Folding, &anyhow::anyhow!("no server"));
        let page = report.page();
        let line = |name: &str| page.lines().find(|line| line.starts_with(&format!("| {name} "))).unwrap().to_owned();
        assert!(line("startup").contains("ours: 1.00 ms"), "{page}");
        assert!(line("get-article").contains("not measured in this run"), "{page}");
        assert!(line("folding").contains("not measured in this run"), "{page}");
        assert!(line("read-lag --cluster").contains("not measured in this run"), "{page}");
        assert!(page.contains("- `folding` could not be measured: no server"), "{page}");
        assert!(page.contains(" at commit `") && page.contains(" cores ("), "{page}");
    }

    #[test]
    fn thousands_stand_apart() {
        assert_eq!([1_234_567.0, 999.6, 100.0, 0.256].map(grouped), ["1,234,567", "1,000", "100", "0.26"]);
    }
}
