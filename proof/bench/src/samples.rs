//! Durations of many calls, and what went wrong with the others.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;

/// Durations above this count as this long.
const LONGEST_NS: u64 = 60_000_000_000;
/// Precision of 1 %, so that 64 histograms fit the cache beside what is measured.
const SIGNIFICANT_DIGITS: u8 = 2;

/// The durations of calls that succeeded, and the errors of those that did not.
#[derive(Debug, Clone)]
pub(crate) struct Samples {
    durations: Histogram<u32>,
    errors: BTreeMap<String, u64>,
}

impl Samples {
    /// Nothing yet.
    pub(crate) fn new() -> Self {
        let durations =
            Histogram::new_with_bounds(1, LONGEST_NS, SIGNIFICANT_DIGITS).expect("the bounds are constants");
        Self { durations, errors: BTreeMap::new() }
    }

    /// A call that succeeded.
    pub(crate) fn succeeded(&mut self, took: Duration) {
        self.durations.saturating_record(u64::try_from(took.as_nanos()).unwrap_or(LONGEST_NS).clamp(1, LONGEST_NS));
    }

    /// A call that failed, and how.
    pub(crate) fn failed(&mut self, how: impl Into<String>) {
        *self.errors.entry(how.into()).or_default() += 1;
    }

    /// Takes in another's calls.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.durations.add(&other.durations).expect("every histogram has the same bounds");
        for (how, times) in &other.errors {
            *self.errors.entry(how.clone()).or_default() += times;
        }
    }

    /// Calls that succeeded.
    pub(crate) fn count(&self) -> u64 {
        self.durations.len()
    }

    /// The duration within which this share of the calls succeeded.
    pub(crate) fn quantile(&self, share: f64) -> Duration {
        Duration::from_nanos(self.durations.value_at_quantile(share))
    }

    /// How often each error occurred.
    pub(crate) fn errors(&self) -> &BTreeMap<String, u64> {
        &self.errors
    }
}

/// The middle one of some figures; 0 of none.
pub(crate) fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        odd if odd % 2 == 1 => sorted[odd / 2],
        even => (sorted[even / 2 - 1] + sorted[even / 2]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_successes_and_within_a_percent() {
        let mut samples = Samples::new();
        for micros in 1..=1_000 {
            samples.succeeded(Duration::from_micros(micros));
        }
        samples.failed("503");
        assert_eq!(samples.count(), 1_000);
        let p50 = samples.quantile(0.5).as_secs_f64();
        assert!((p50 - 500e-6).abs() < 6e-6, "{p50}");
    }

    #[test]
    fn merging_adds_calls_and_errors() {
        let mut one = Samples::new();
        one.succeeded(Duration::from_millis(1));
        one.failed("503");
        let mut sum = one.clone();
        sum.merge(&one);
        assert_eq!((sum.count(), sum.errors()["503"]), (2, 2));
    }

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!([median(&[]), median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0])], [0.0, 2.0, 2.5]);
    }
}
