//! Every metric that a process tells, in the order of docs/metrics.md: a name that is not here is not told, and a test of the
//! real binary finds one that was forgotten.

mod messaging;
mod site;
mod stores;

use super::metric::{Kind, Metric, Series, Told};

/// Every metric.
pub(super) fn all() -> impl Iterator<Item = &'static Metric> {
    [site::ALL, messaging::ALL, stores::ALL].into_iter().flatten()
}

const fn metric(name: &'static str, kind: Kind, told: Told, series: Series, help: &'static str) -> Metric {
    Metric { name, kind, told, series, help }
}
