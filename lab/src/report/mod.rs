//! The report of a run: for machines as JSON, for people as one page that needs nothing else, and each chart as a file.

mod number;
mod page;
#[cfg(test)]
pub(crate) mod sample;
mod svg;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Context as _;
use madang_kernel::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Chart, Experiment, Finding, Side, Verdict};

pub(crate) use number::{bound, count, percent, seconds, value};

/// The file for machines.
pub const JSON: &str = "report.json";
/// The page for people.
pub const PAGE: &str = "report.html";
/// The folder of the charts, each a file of its own.
pub const PICTURES: &str = "pictures";

/// Everything that one run found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The commit of the sources, and whether they differ from it.
    pub commit: String,
    /// When the run began.
    pub started_at: Timestamp,
    /// Whether it was a quick run, with fewer trials.
    pub quick: bool,
    /// What was found, in the order in which it was asked.
    pub experiments: Vec<Entry>,
    /// Where chance began.
    pub seed: u64,
    /// What it was measured on.
    pub machine: String,
    /// How long it took.
    pub seconds: f64,
}

/// What one experiment found, as the files tell it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The name of the experiment.
    pub id: String,
    /// What it asks.
    pub question: String,
    /// Whether every naive wiring broke and no protected one did.
    pub verdict: Verdict,
    /// The naive wiring.
    pub off: Side,
    /// The protected wiring.
    pub on: Side,
    /// Real faults injected while every protection was on.
    pub faults: u64,
    /// How long it took.
    pub seconds: f64,
    /// What counts as a trial and as a violation.
    pub counted: String,
    /// The faults by kind.
    pub fault_kinds: BTreeMap<String, u64>,
    /// With 95 % confidence the protected wiring breaks in a smaller share of trials than this; where none broke.
    pub bound: Option<f64>,
    /// The naive wiring and the protected one.
    pub wirings: Vec<WiringEntry>,
    /// Files with the charts.
    pub pictures: Vec<Picture>,
    /// What a reader should know.
    pub notes: Vec<String>,
    /// Why it could not be carried out, if it could not.
    pub error: Option<String>,
    /// The charts as values; drawn here, read by others.
    #[serde(skip_deserializing)]
    pub charts: Vec<Chart>,
}

/// How the parts are wired, and where the code of it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WiringEntry {
    /// What it is called.
    pub name: String,
    /// What happens, in order.
    pub steps: Vec<String>,
    /// Where its code is, from the root of the repository.
    pub code: String,
}

/// A chart in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Picture {
    /// The name of the file.
    pub file: String,
    /// Its heading.
    pub title: String,
    /// What it shows, in words.
    pub description: String,
}

impl Entry {
    /// What an experiment found, or why it could not be carried out.
    pub fn of(experiment: &dyn Experiment, found: anyhow::Result<Finding>, seconds: f64) -> Self {
        let (finding, error) = match found {
            Ok(finding) => (finding, None),
            Err(error) => (Finding::new(Side::default(), Side::default()), Some(format!("{error:#}"))),
        };
        let objections = finding.all_objections();
        let (verdict, faults, bound) = (finding.verdict(), finding.fault_count(), finding.on.bound());
        let wirings = experiment.wirings().map(|wiring| WiringEntry {
            name: wiring.name.to_owned(),
            steps: wiring.steps.iter().map(|step| (*step).to_owned()).collect(),
            code: wiring.code.to_owned(),
        });
        let picture = |(number, chart): (usize, &Chart)| Picture {
            file: format!("{}-{}.svg", experiment.id(), number + 1),
            title: chart.title().to_owned(),
            description: svg::described(chart),
        };
        Self {
            id: experiment.id().to_owned(),
            question: experiment.question().to_owned(),
            verdict,
            off: finite(finding.off),
            on: finite(finding.on),
            faults,
            seconds,
            counted: experiment.counted().to_owned(),
            fault_kinds: finding.faults,
            bound,
            wirings: wirings.into(),
            pictures: finding.charts.iter().enumerate().map(picture).collect(),
            notes: objections.into_iter().chain(finding.notes).collect(),
            error,
            charts: finding.charts,
        }
    }
}

/// The share of trials that broke, or its bound where none did.
pub(crate) fn rate(side: &Side) -> String {
    rate_of(side.trials, side.violations)
}

/// As [`rate`], of counts alone.
pub(crate) fn rate_of(trials: u64, violations: u64) -> String {
    match Side::new(trials, violations).bound() {
        Some(share) => format!("below {}", bound(share)),
        None if trials == 0 => "not tried".to_owned(),
        None => percent(violations as f64 / trials as f64),
    }
}

/// JSON has no way to write what is not a number.
fn finite(mut side: Side) -> Side {
    side.figures.retain(|_, value| value.is_finite());
    side
}

impl Report {
    /// Whether every experiment showed what it claims, and there was one.
    #[must_use]
    pub fn all_shown(&self) -> bool {
        !self.experiments.is_empty() && self.shown() == self.experiments.len()
    }

    /// How many showed what they claim.
    #[must_use]
    pub fn shown(&self) -> usize {
        self.experiments.iter().filter(|entry| entry.verdict == Verdict::Shown).count()
    }

    /// Real faults of all experiments, while every protection was on.
    #[must_use]
    pub fn faults(&self) -> u64 {
        self.experiments.iter().map(|entry| entry.faults).sum()
    }

    /// Reads a report that a run left.
    pub fn read(file: &Path) -> anyhow::Result<Self> {
        let text = fs::read(file).with_context(|| format!("could not read {}", file.display()))?;
        serde_json::from_slice(&text).with_context(|| format!("{} is no report of the Lab", file.display()))
    }

    /// Writes the page, the JSON and the pictures. `root` is the repository, for links to the code.
    pub fn write(&self, dir: &Path, root: &Path) -> anyhow::Result<()> {
        let pictures = dir.join(PICTURES);
        fs::create_dir_all(&pictures).with_context(|| format!("could not make {}", pictures.display()))?;
        let put = |file: std::path::PathBuf, text: String| {
            fs::write(&file, text).with_context(|| format!("could not write {}", file.display()))
        };
        for entry in &self.experiments {
            for (picture, chart) in entry.pictures.iter().zip(&entry.charts) {
                let drawing = svg::draw(chart, svg::WIDE);
                put(pictures.join(&picture.file), drawing.file(&picture.title, &picture.description))?;
            }
        }
        put(dir.join(JSON), serde_json::to_string_pretty(self)? + "\n")?;
        put(dir.join(PAGE), page::render(self, way_to(root, dir).as_deref()))
    }
}

/// The way from one folder to another as a link has it; nothing where there is none.
fn way_to(root: &Path, from: &Path) -> Option<String> {
    let (root, from) = (root.canonicalize().ok()?, from.canonicalize().ok()?);
    let shared = root.components().zip(from.components()).take_while(|(one, other)| one == other).count();
    let up = from.components().skip(shared).map(|_| "..".to_owned());
    let down = root.components().skip(shared).map(|part| part.as_os_str().to_string_lossy().into_owned());
    Some(up.chain(down).map(|part| part + "/").collect())
}

#[cfg(test)]
mod tests;
