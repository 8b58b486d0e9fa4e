//! Log lines on standard error and metrics in memory, each with its meaning; standard output belongs to what was asked for.

mod catalog;
#[cfg(test)]
mod documented;
pub(crate) mod gauges;
mod history;
mod log_line;
mod metric;
mod process;

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use madang_kernel::Timestamp;
use madang_server::HealthSlot;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tracing_subscriber::fmt::format::Format;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, Registry};

use self::history::DayHistory;
use self::log_line::WithRequestId;
use self::metric::Metric;
use crate::config::{Config, LogFilter, LogFormat};

/// Commands are quiet unless the operator asks otherwise.
const COMMAND_LEVEL: &str = "warn";

/// Seconds; from a cached read to a request that is about to time out.
const LATENCY_BUCKETS_S: [f64; 14] =
    [0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

/// Calls in a batch; from one to more than a batch takes.
const BATCH_BUCKETS: [f64; 11] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1_024.0];

/// Starts the log.
pub(crate) fn start_log(config: &Config, serving: bool) -> anyhow::Result<()> {
    let quiet = !serving && config.is_default("log_level");
    let level = if quiet { COMMAND_LEVEL } else { &config.settings.log_level };
    let filter = level.parse::<LogFilter>().context("setting `log_level`")?.into_targets();
    let log = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let log = match config.settings.log_format {
        LogFormat::Human => {
            let in_colour = std::io::stderr().is_terminal();
            let with_id = |format: Format| WithRequestId::human(format.with_ansi(in_colour));
            log.with_ansi(in_colour).map_event_format(with_id).boxed()
        }
        LogFormat::Json => log.json().flatten_event(true).map_event_format(WithRequestId::json).boxed(),
    };
    Registry::default().with(filter).with(log).try_init().context("cannot start the log")
}

/// The metrics of a process, and what became of them over the last day.
#[derive(Clone)]
pub(crate) struct Metrics {
    recorder: PrometheusHandle,
    day: Arc<DayHistory>,
    /// The history goes by the time since: a host's clock that is set back would leave it without its last hours.
    started: Instant,
}

impl Metrics {
    /// Starts collecting. Every metric that a process of this composition tells has its meaning, and its value before anything
    /// happened, from here on.
    pub(crate) fn start(is_cluster: bool) -> anyhow::Result<Self> {
        let suffix = |suffix: &str| Matcher::Suffix(suffix.to_owned());
        let builder = PrometheusBuilder::new()
            .set_buckets_for_metric(suffix("_seconds"), &LATENCY_BUCKETS_S)?
            .set_buckets_for_metric(suffix("_calls"), &BATCH_BUCKETS)?;
        let recorder = builder.install_recorder()?;
        catalog::all().filter(|metric| metric.told.is_told(is_cluster)).for_each(Metric::begin);
        Ok(Self { recorder, day: Arc::default(), started: Instant::now() })
    }

    /// All of them in Prometheus' text format, those of the process as they are now.
    pub(crate) fn render(&self) -> String {
        process::show();
        self.recorder.render()
    }

    /// Folds what was recorded since the last time, so that it does not pile up while nobody asks.
    pub(crate) fn fold(&self) {
        self.recorder.run_upkeep();
    }

    /// Notes the figures of this moment in the history of the day.
    pub(crate) fn note(&self) {
        self.day.note(Timestamp::from_millis(0).plus(self.started.elapsed()), &self.render());
    }

    /// The history, up to this moment.
    pub(crate) fn last_day(&self) -> Vec<HealthSlot> {
        self.note();
        self.day.slots()
    }
}
