//! A reader as most clients configure one: it is given every record as soon as the broker has it.

use rdkafka::ClientConfig;

/// The default of Kafka's own client, written out.
pub(super) fn reader(brokers: &str) -> ClientConfig {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", brokers);
    config.set("group.id", "lab-naive-reader");
    config.set("enable.auto.commit", "false");
    config.set("isolation.level", "read_uncommitted");
    config
}
