//! Log lines on standard error and metrics in memory; standard output belongs to what was asked for.

use std::io::IsTerminal as _;

use anyhow::Context as _;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, Registry};

use crate::config::{Config, LogFilter, LogFormat};

/// Commands are quiet unless the operator asks otherwise.
const COMMAND_LEVEL: &str = "warn";

/// Seconds; from a cached read to a request that is about to time out.
const LATENCY_BUCKETS_S: [f64; 14] =
    [0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

/// Starts the log.
pub(crate) fn start_log(config: &Config, serving: bool) -> anyhow::Result<()> {
    let quiet = !serving && config.is_default("log_level");
    let level = if quiet { COMMAND_LEVEL } else { &config.settings.log_level };
    let filter = level.parse::<LogFilter>().context("setting `log_level`")?.into_targets();
    let log = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let log = match config.settings.log_format {
        LogFormat::Human => log.with_ansi(std::io::stderr().is_terminal()).boxed(),
        LogFormat::Json => log.json().flatten_event(true).boxed(),
    };
    Registry::default().with(filter).with(log).try_init().context("cannot start the log")
}

/// Starts collecting metrics; the handle renders them.
pub(crate) fn start_metrics() -> anyhow::Result<PrometheusHandle> {
    let builder = PrometheusBuilder::new().set_buckets_for_metric(
        metrics_exporter_prometheus::Matcher::Suffix("seconds".to_owned()),
        &LATENCY_BUCKETS_S,
    )?;
    Ok(builder.install_recorder()?)
}
