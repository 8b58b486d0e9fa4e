//! What librdkafka tells about itself, passed on to our log.

use rdkafka::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::KafkaError;

/// A client that only logs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Connection;

impl ClientContext for Connection {
    fn log(&self, level: RDKafkaLogLevel, fac: &str, log_message: &str) {
        pass_on(level, fac, log_message);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        note(&error, reason);
    }
}

/// A line of librdkafka's own log. Its errors are mostly attempts to reconnect, and whoever waits for the answer reports
/// the outage once; so nothing here is louder than a warning.
pub(crate) fn pass_on(level: RDKafkaLogLevel, fac: &str, line: &str) {
    match level {
        RDKafkaLogLevel::Emerg | RDKafkaLogLevel::Alert | RDKafkaLogLevel::Critical => {
            tracing::warn!(target: "librdkafka", fac, "{line}");
        }
        RDKafkaLogLevel::Error | RDKafkaLogLevel::Warning => tracing::info!(target: "librdkafka", fac, "{line}"),
        _ => tracing::debug!(target: "librdkafka", fac, "{line}"),
    }
}

/// An error that belongs to no request.
pub(crate) fn note(error: &KafkaError, reason: &str) {
    tracing::debug!(target: "librdkafka", "{error}: {reason}");
}
