//! A reader that is given records of transactions only once these are committed, and nothing behind an open one.

use rdkafka::ClientConfig;

/// Waits at the last stable offset.
pub(super) fn reader(brokers: &str) -> ClientConfig {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", brokers);
    config.set("group.id", "lab-protected-reader");
    config.set("enable.auto.commit", "false");
    config.set("isolation.level", "read_committed");
    config
}
