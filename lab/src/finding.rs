//! What an experiment found: counts of both sides, pictures, and a verdict that follows from the counts alone.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Whether the question was answered as claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// Every naive wiring was seen to break, and no protected one was.
    #[serde(rename = "shown")]
    Shown,
    /// Some naive wiring held this time, or a protected one broke.
    #[serde(rename = "not shown")]
    NotShown,
}

/// One of several wirings of a side, counted by itself: a side that is broken by one of them says nothing of the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// What it is called.
    pub name: String,
    /// How often it could have broken.
    pub trials: u64,
    /// How often it did.
    pub violations: u64,
}

impl Variant {
    /// A variant with its two counts.
    #[must_use]
    pub fn new(name: &str, trials: u64, violations: u64) -> Self {
        Self { name: name.to_owned(), trials, violations }
    }
}

/// What was counted with one wiring.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// How often it could have broken: commands, deliveries, reads; the experiment says which.
    pub trials: u64,
    /// How often it did.
    pub violations: u64,
    /// The same of each of its wirings, where it has several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<Variant>,
    /// Everything else that was measured, by a name that ends in its unit (`lost`, `stale_ms_max`, `p99_ms`, `per_s`).
    #[serde(flatten)]
    pub figures: BTreeMap<String, f64>,
}

impl Side {
    /// A side with its two counts.
    #[must_use]
    pub fn new(trials: u64, violations: u64) -> Self {
        Self { trials, violations, variants: Vec::new(), figures: BTreeMap::new() }
    }

    /// A side of several wirings: their counts together.
    #[must_use]
    pub fn of(variants: Vec<Variant>) -> Self {
        let sum = |count: fn(&Variant) -> u64| variants.iter().map(count).sum();
        Self { trials: sum(|one| one.trials), violations: sum(|one| one.violations), variants, ..Self::default() }
    }

    /// The same with one more figure.
    #[must_use]
    pub fn with(mut self, name: &str, value: f64) -> Self {
        self.figures.insert(name.to_owned(), value);
        self
    }

    /// The 95 % upper bound of the rate of violations where none was seen: 3/n.
    #[must_use]
    pub fn bound(&self) -> Option<f64> {
        #[allow(clippy::cast_precision_loss, reason = "a bound of three digits")]
        (self.violations == 0 && self.trials > 0).then(|| 3.0 / self.trials as f64)
    }
}

/// One of the two ways to wire the parts, as the report draws and links it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wiring {
    /// What it is called: "direct produce", "outbox".
    pub name: &'static str,
    /// The steps in order, each a box of the drawing: "COMMIT", "send", "✗ crash".
    pub steps: &'static [&'static str],
    /// Where its code is, from the root of the repository.
    pub code: &'static str,
}

/// A labelled value of a bar chart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bar {
    /// What it is.
    pub label: String,
    /// Its value.
    pub value: f64,
    /// Whether it belongs to the protected wiring, which is drawn in another colour.
    pub protected: bool,
}

/// A line of a chart: points in the order of x.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// What it is.
    pub label: String,
    /// The points.
    pub points: Vec<(f64, f64)>,
    /// Whether it belongs to the protected wiring.
    pub protected: bool,
}

/// A stretch of time in a row of a timeline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Span {
    /// The row: a process, a server, a shard.
    pub row: String,
    /// What happened.
    pub label: String,
    /// From when, in milliseconds since the trial began.
    pub from_ms: f64,
    /// Until when.
    pub until_ms: f64,
    /// Whether it shows harm: blocked, stale, without an owner.
    pub harm: bool,
}

/// A moment in a timeline: a crash, an acknowledgement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mark {
    /// The row it stands in.
    pub row: String,
    /// What happened.
    pub label: String,
    /// When, in milliseconds since the trial began.
    pub at_ms: f64,
}

/// A picture. The report draws it as SVG; an experiment only fills in values that it measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Chart {
    /// Values side by side.
    Bars {
        /// Its heading.
        title: String,
        /// The unit of all values.
        unit: &'static str,
        /// Whether values differ by orders of magnitude.
        logarithmic: bool,
        /// The bars.
        bars: Vec<Bar>,
    },
    /// Values over time, or over another variable.
    Lines {
        /// Its heading.
        title: String,
        /// What x is, with its unit.
        x: &'static str,
        /// What y is, with its unit.
        y: &'static str,
        /// Whether y differs by orders of magnitude.
        logarithmic: bool,
        /// The lines.
        series: Vec<Series>,
    },
    /// What happened when.
    Timeline {
        /// Its heading.
        title: String,
        /// Stretches of time.
        spans: Vec<Span>,
        /// Moments.
        marks: Vec<Mark>,
    },
}

impl Chart {
    /// Its heading.
    #[must_use]
    pub fn title(&self) -> &str {
        match self {
            Self::Bars { title, .. } | Self::Lines { title, .. } | Self::Timeline { title, .. } => title,
        }
    }
}

/// What one experiment found.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The naive wiring.
    pub off: Side,
    /// The protected wiring.
    pub on: Side,
    /// Real faults injected while every protection was on, by kind (`crash point`, `SIGKILL`, `SIGSTOP`, `broker restart`, …).
    pub faults: BTreeMap<String, u64>,
    /// The pictures.
    pub charts: Vec<Chart>,
    /// Sentences a reader should know: what a trial was, what surprised.
    pub notes: Vec<String>,
    /// Why the counts alone must not be believed: something else broke under every protection, or what was to happen did not.
    pub objections: Vec<String>,
}

impl Finding {
    /// A finding with its counts, without faults, pictures and notes yet.
    #[must_use]
    pub fn new(off: Side, on: Side) -> Self {
        Self { off, on, faults: BTreeMap::new(), charts: Vec::new(), notes: Vec::new(), objections: Vec::new() }
    }

    /// Objects if there is any of what no trial is and the protections must prevent all the same: an account that is wrong at
    /// the end, a record that is there twice.
    pub fn must_be_none(&mut self, what: &str, count: u64) {
        if count > 0 {
            self.objections.push(format!("With every protection on: {count} {what}."));
        }
    }

    /// Objects if there is none of what the claim is about.
    pub fn must_be_some(&mut self, what: &str, count: u64) {
        if count == 0 {
            self.objections.push(format!("There were no {what}, so nothing was shown."));
        }
    }

    /// Objects if faults of a kind that the experiment names did not happen while every protection was on.
    pub fn must_have_faults(&mut self, kinds: &[&str]) {
        for kind in kinds {
            self.must_be_some(&format!("faults of the kind {kind}"), self.faults.get(*kind).copied().unwrap_or(0));
        }
    }

    /// Everything that speaks against the claim beside the counts of both sides: what the experiment objects to, each naive
    /// variant that was not seen to break, and each protected one that was not tried.
    #[must_use]
    pub fn all_objections(&self) -> Vec<String> {
        let whole = self.off.variants.iter().filter(|one| one.violations == 0);
        let whole = whole.map(|one| format!("{} was not seen to break in {} trials.", one.name, one.trials));
        let untried = self.on.variants.iter().filter(|one| one.trials == 0);
        let untried = untried.map(|one| format!("{} was not tried.", one.name));
        self.objections.iter().cloned().chain(whole).chain(untried).collect()
    }

    /// What follows from the counts, if nothing objects.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let both_tried = self.off.trials > 0 && self.on.trials > 0;
        let is_whole = self.all_objections().is_empty();
        if both_tried && is_whole && self.off.violations > 0 && self.on.violations == 0 {
            Verdict::Shown
        } else {
            Verdict::NotShown
        }
    }

    /// How many faults were injected, of all kinds.
    #[must_use]
    pub fn fault_count(&self) -> u64 {
        self.faults.values().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_needs_a_broken_naive_side_and_a_whole_protected_one() {
        let verdict =
            |off: (u64, u64), on: (u64, u64)| Finding::new(Side::new(off.0, off.1), Side::new(on.0, on.1)).verdict();
        assert_eq!(verdict((10, 1), (10, 0)), Verdict::Shown);
        assert_eq!(verdict((10, 0), (10, 0)), Verdict::NotShown);
        assert_eq!(verdict((10, 1), (10, 1)), Verdict::NotShown);
        assert_eq!(verdict((10, 1), (0, 0)), Verdict::NotShown);
        assert_eq!(verdict((0, 0), (10, 0)), Verdict::NotShown);
    }

    #[test]
    fn every_naive_variant_has_to_break_and_every_protected_one_to_be_tried() {
        let verdict = |off: [(u64, u64); 2], on: [(u64, u64); 2]| {
            let side =
                |of: [(u64, u64); 2]| Side::of(of.map(|(trials, broken)| Variant::new("v", trials, broken)).into());
            Finding::new(side(off), side(on)).verdict()
        };
        assert_eq!(verdict([(10, 1), (5, 2)], [(10, 0), (4, 0)]), Verdict::Shown);
        assert_eq!(verdict([(10, 9), (5, 0)], [(10, 0), (4, 0)]), Verdict::NotShown, "one of two held");
        assert_eq!(verdict([(10, 1), (5, 2)], [(10, 0), (0, 0)]), Verdict::NotShown, "one of two was not tried");
        assert_eq!(verdict([(10, 1), (5, 2)], [(10, 0), (4, 1)]), Verdict::NotShown);
        let sum = Side::of(vec![Variant::new("a", 10, 1), Variant::new("b", 5, 2)]);
        assert_eq!((sum.trials, sum.violations), (15, 3));
    }

    #[test]
    fn what_else_broke_or_never_happened_spoils_the_verdict() {
        let verdict = |how: &dyn Fn(&mut Finding)| {
            let mut finding = Finding::new(Side::new(10, 1), Side::new(10, 0));
            finding.faults = BTreeMap::from([("SIGKILL".to_owned(), 2), ("SIGSTOP".to_owned(), 0)]);
            how(&mut finding);
            finding.verdict()
        };
        assert_eq!(verdict(&|finding| finding.must_be_none("wrong accounts", 0)), Verdict::Shown);
        assert_eq!(verdict(&|finding| finding.must_be_none("wrong accounts", 1)), Verdict::NotShown);
        assert_eq!(verdict(&|finding| finding.must_be_some("poisonous events", 1)), Verdict::Shown);
        assert_eq!(verdict(&|finding| finding.must_be_some("poisonous events", 0)), Verdict::NotShown);
        assert_eq!(verdict(&|finding| finding.must_have_faults(&["SIGKILL"])), Verdict::Shown);
        assert_eq!(verdict(&|finding| finding.must_have_faults(&["SIGKILL", "SIGSTOP"])), Verdict::NotShown);
        assert_eq!(verdict(&|finding| finding.must_have_faults(&["broker restart"])), Verdict::NotShown);
    }

    #[test]
    fn without_a_violation_three_in_n_bounds_the_rate() {
        assert_eq!(Side::new(300, 0).bound(), Some(0.01));
        assert_eq!(Side::new(300, 1).bound(), None);
        assert_eq!(Side::new(0, 0).bound(), None);
    }
}
