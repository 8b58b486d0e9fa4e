//! What a metric is: its type, where it is told, which series it has from the start, and what it means.

use metrics::{Label, Unit, describe_counter, describe_gauge, describe_histogram};

/// A metric that a process tells.
pub(crate) struct Metric {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) told: Told,
    pub(crate) series: Series,
    /// A sentence for `# HELP` and docs/metrics.md.
    pub(crate) help: &'static str,
}

/// How a metric moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Counter,
    Gauge,
    Histogram,
}

/// Which processes tell a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    Everywhere,
    Embedded,
    Cluster,
    /// Processes of a cluster that ask others for what they do not have themselves.
    Peers,
}

/// The series of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Series {
    /// One without labels, there from the start: growth is seen only from a value before it.
    One,
    /// One for each of these values of a label, there from the start.
    Each(&'static str, &'static [&'static str]),
    /// With these labels, from their first use on.
    Later(&'static [&'static str]),
}

impl Told {
    /// Whether a process of this kind tells it from the start.
    pub(crate) fn is_told(self, is_cluster: bool) -> bool {
        match self {
            Self::Everywhere => true,
            Self::Embedded => !is_cluster,
            Self::Cluster | Self::Peers => is_cluster,
        }
    }

    /// As docs/metrics.md says it.
    #[cfg(test)]
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Everywhere => "everywhere",
            Self::Embedded => "embedded",
            Self::Cluster => "cluster",
            Self::Peers => "cluster, with peers",
        }
    }
}

impl Metric {
    /// Tells what it means, and begins the series that are there from the start.
    pub(crate) fn begin(&self) {
        let unit = self.unit();
        match self.kind {
            Kind::Counter => describe_counter!(self.name, unit, self.help),
            Kind::Gauge => describe_gauge!(self.name, unit, self.help),
            Kind::Histogram => describe_histogram!(self.name, unit, self.help),
        }
        match self.series {
            Series::One => self.touch(Vec::new()),
            Series::Each(label, values) => values.iter().for_each(|value| self.touch(vec![Label::new(label, *value)])),
            Series::Later(_) => {}
        }
    }

    fn touch(&self, labels: Vec<Label>) {
        match self.kind {
            Kind::Counter => metrics::counter!(self.name, labels).increment(0),
            Kind::Gauge => metrics::gauge!(self.name, labels).increment(0.0),
            Kind::Histogram => drop(metrics::histogram!(self.name, labels)),
        }
    }

    /// By the suffix: names say their base unit.
    fn unit(&self) -> Unit {
        if self.name.contains("_seconds") {
            Unit::Seconds
        } else if self.name.ends_with("_bytes") {
            Unit::Bytes
        } else {
            Unit::Count
        }
    }

    /// The names of its labels.
    #[cfg(test)]
    pub(crate) fn labels(&self) -> Vec<&'static str> {
        match self.series {
            Series::One => Vec::new(),
            Series::Each(label, _) => vec![label],
            Series::Later(labels) => labels.to_vec(),
        }
    }
}
