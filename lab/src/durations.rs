//! Durations that were measured, and what is said of them: how many, median, 99th percentile, longest.

use std::time::Duration;

use hdrhistogram::Histogram;

/// An hour in microseconds; what takes longer is counted as that.
const LONGEST_US: u64 = 3_600_000_000;

/// Measured durations, to three digits.
#[derive(Debug, Clone)]
pub struct Durations(Histogram<u64>);

impl Default for Durations {
    fn default() -> Self {
        #[allow(clippy::expect_used, reason = "bounds that are constants either work or never do")]
        Self(Histogram::new_with_bounds(1, LONGEST_US, 3).expect("fixed bounds"))
    }
}

impl Durations {
    /// Notes one more.
    pub fn note(&mut self, duration: Duration) {
        let us = u64::try_from(duration.as_micros()).unwrap_or(LONGEST_US);
        self.0.saturating_record(us.clamp(1, LONGEST_US));
    }

    /// Notes all of another measurement.
    pub fn add(&mut self, other: &Self) {
        // Both have the same bounds.
        let _ = self.0.add(&other.0);
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The duration below which this share of all lies, in milliseconds; 0 of none.
    #[must_use]
    pub fn quantile_ms(&self, share: f64) -> f64 {
        #[allow(clippy::cast_precision_loss, reason = "three digits")]
        let ms = self.0.value_at_quantile(share) as f64 / 1_000.0;
        ms
    }

    /// The median, in milliseconds.
    #[must_use]
    pub fn median_ms(&self) -> f64 {
        self.quantile_ms(0.5)
    }

    /// The 99th percentile, in milliseconds.
    #[must_use]
    pub fn p99_ms(&self) -> f64 {
        self.quantile_ms(0.99)
    }

    /// The longest, in milliseconds.
    #[must_use]
    pub fn max_ms(&self) -> f64 {
        #[allow(clippy::cast_precision_loss, reason = "three digits")]
        let ms = self.0.max() as f64 / 1_000.0;
        ms
    }
}

/// A duration in milliseconds, for charts and figures.
#[must_use]
pub fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

/// A count as a value of a chart or a figure.
#[must_use]
pub fn number(count: u64) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "no experiment counts to 2^53")]
    let number = count as f64;
    number
}

/// How many in a second.
#[must_use]
pub fn per_second(count: u64, within: Duration) -> f64 {
    number(count) / within.as_secs_f64().max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_a_hundred() {
        let (mut odd, mut even) = (Durations::default(), Durations::default());
        for number in 1..=100 {
            let half = if number % 2 == 0 { &mut even } else { &mut odd };
            half.note(Duration::from_millis(number));
        }
        odd.add(&even);
        assert_eq!(odd.count(), 100);
        assert!((odd.median_ms() - 50.0).abs() < 1.0, "{}", odd.median_ms());
        assert!((odd.p99_ms() - 99.0).abs() < 1.0, "{}", odd.p99_ms());
        assert!((odd.max_ms() - 100.0).abs() < 1.0, "{}", odd.max_ms());
        assert!(Durations::default().median_ms() < 1e-9);
    }
}
