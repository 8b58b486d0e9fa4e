//! What the history keeps of `/metrics`: read from the same text that Prometheus reads, so that the two cannot differ and no
//! request pays for it.

use madang_server::OPERATIONS_PATHS;

use crate::telemetry::LATENCY_BUCKETS_S;

/// Buckets, and one for what is past the last.
const BUCKETS: usize = LATENCY_BUCKETS_S.len() + 1;

/// The figures of a process at one moment. Counters tell all since its start.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Figures {
    pub(super) requests: u64,
    pub(super) errors: u64,
    pub(super) shed: u64,
    /// Requests that took no longer than each bound.
    within: [u64; BUCKETS],
    pub(super) lag_s: Option<f64>,
    pub(super) memory_bytes: Option<u64>,
    pub(super) disk_available_bytes: Option<u64>,
}

impl Figures {
    /// Reads Prometheus' text format. Requests of whoever watches the process are not among those that are counted.
    pub(super) fn read(text: &str) -> Self {
        let mut figures = Self::default();
        let mut disk_is_known = false;
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let Some((series, value)) = line.rsplit_once(' ') else { continue };
            let (name, labels) = series.split_once('{').unwrap_or((series, ""));
            let Ok(value) = value.parse::<f64>() else { continue };
            match name {
                "madang_http_requests_total" if !is_of_operators(labels) => {
                    figures.requests += whole(value);
                    if label(labels, "status") == Some("5xx") {
                        figures.errors += whole(value);
                    }
                }
                "madang_http_request_seconds_bucket" if !is_of_operators(labels) => {
                    if let Some(bucket) = label(labels, "le").and_then(bucket) {
                        figures.within[bucket] += whole(value);
                    }
                }
                // Refused before they were routed, so that no request counts them.
                "madang_http_shed_total" => {
                    figures.shed += whole(value);
                    figures.errors += whole(value);
                    figures.requests += whole(value);
                }
                "messaging_consumer_lag_seconds" => figures.lag_s = Some(figures.lag_s.unwrap_or(0.0).max(value)),
                "process_resident_memory_bytes" => figures.memory_bytes = Some(whole(value)).filter(|bytes| *bytes > 0),
                "madang_disk_available_bytes" => figures.disk_available_bytes = Some(whole(value)),
                // Both begin at 0, and no disk has this size.
                "madang_disk_size_bytes" => disk_is_known = value > 0.0,
                _ => {}
            }
        }
        figures.disk_available_bytes = figures.disk_available_bytes.filter(|_| disk_is_known);
        figures
    }

    /// How long a share of the requests since `earlier` took at most, in seconds: between the bounds of its bucket, as
    /// Prometheus reckons. `None` if there were none.
    pub(super) fn quantile_since(&self, earlier: &Self, share: f64) -> Option<f64> {
        let within = |bucket: usize| self.within[bucket].saturating_sub(earlier.within[bucket]) as f64;
        let all = within(BUCKETS - 1);
        if all == 0.0 {
            return None;
        }
        let rank = all * share;
        let bucket = (0..BUCKETS).find(|bucket| within(*bucket) >= rank)?;
        let Some(upper) = LATENCY_BUCKETS_S.get(bucket) else { return LATENCY_BUCKETS_S.last().copied() };
        let (lower, before) = match bucket.checked_sub(1) {
            Some(previous) => (LATENCY_BUCKETS_S[previous], within(previous)),
            None => (0.0, 0.0),
        };
        Some(lower + (upper - lower) * (rank - before) / (within(bucket) - before).max(1.0))
    }
}

fn is_of_operators(labels: &str) -> bool {
    label(labels, "route").is_some_and(|route| OPERATIONS_PATHS.contains(&route))
}

/// The value of a label; those of ours hold no quotes.
fn label<'a>(labels: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = labels.split_once(&format!("{name}=\""))?;
    rest.split_once('"').map(|(value, _)| value)
}

fn bucket(bound: &str) -> Option<usize> {
    if bound == "+Inf" {
        return Some(BUCKETS - 1);
    }
    let bound: f64 = bound.parse().ok()?;
    LATENCY_BUCKETS_S.iter().position(|known| (known - bound).abs() < f64::EPSILON)
}

/// A count or a size as the text of metrics has it.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "as saturates, and neither a count nor a size is below 0"
)]
fn whole(value: f64) -> u64 {
    value as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
# HELP madang_http_requests_total Answers.
# TYPE madang_http_requests_total counter
madang_http_requests_total{route="/b/{slug}",method="GET",status="2xx"} 90
madang_http_requests_total{route="/b/{slug}",method="GET",status="5xx"} 6
madang_http_requests_total{route="other",method="GET",status="4xx"} 4
madang_http_requests_total{route="/metrics",method="GET",status="5xx"} 7000
madang_http_request_seconds_bucket{route="/b/{slug}",method="GET",le="0.00025"} 50
madang_http_request_seconds_bucket{route="/b/{slug}",method="GET",le="0.0005"} 90
madang_http_request_seconds_bucket{route="/b/{slug}",method="GET",le="10"} 96
madang_http_request_seconds_bucket{route="/b/{slug}",method="GET",le="+Inf"} 100
madang_http_request_seconds_bucket{route="/metrics",method="GET",le="+Inf"} 7000
messaging_consumer_lag_seconds{group="like"} 0.5
messaging_consumer_lag_seconds{group="view"} 12
process_resident_memory_bytes 52428800
madang_http_shed_total 11
nonsense
"#;

    #[test]
    fn figures_are_those_of_people_and_the_worst_group_counts() {
        let figures = Figures::read(TEXT);
        assert_eq!((figures.requests, figures.errors, figures.shed), (111, 17, 11));
        assert_eq!((figures.lag_s, figures.memory_bytes), (Some(12.0), Some(52_428_800)));
        assert_eq!(figures.disk_available_bytes, None, "nobody told");
        assert_eq!(Figures::read(""), Figures::default());
        let disk = |size: u64| {
            let text = format!("madang_disk_available_bytes 0\nmadang_disk_size_bytes {size}\n");
            Figures::read(&text).disk_available_bytes
        };
        assert_eq!((disk(0), disk(1_000)), (None, Some(0)), "not looked at yet, and full");
    }

    #[test]
    fn a_quantile_lies_within_its_bucket_and_past_the_last_at_its_bound() {
        let (none, figures) = (Figures::default(), Figures::read(TEXT));
        let near = |share: f64, expected: f64| {
            let found = figures.quantile_since(&none, share).unwrap();
            assert!((found - expected).abs() < 1e-9, "{share}: {found}");
        };
        near(0.5, 0.000_25);
        near(0.25, 0.000_125);
        near(0.7, 0.000_375);
        near(0.99, 10.0);
        assert_eq!(figures.quantile_since(&figures, 0.5), None, "no requests since");
        assert_eq!(none.quantile_since(&none, 0.5), None);
    }
}
