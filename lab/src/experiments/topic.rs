//! Topics that experiments about the log itself make and remove: one partition, so that there is one order.

use rdkafka::ClientConfig;
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;

/// Makes a topic of one partition on one broker.
pub(super) async fn make(brokers: &str, topic: &str) -> anyhow::Result<()> {
    let wanted = [NewTopic::new(topic, 1, TopicReplication::Fixed(1)).set("min.insync.replicas", "1")];
    for made in admin(brokers)?.create_topics(&wanted, &AdminOptions::new()).await? {
        made.map_err(|(topic, error)| anyhow::anyhow!("{topic} was not made: {error}"))?;
    }
    Ok(())
}

/// Removes it.
pub(super) async fn delete(brokers: &str, topic: &str) -> anyhow::Result<()> {
    admin(brokers)?.delete_topics(&[topic], &AdminOptions::new()).await?;
    Ok(())
}

fn admin(brokers: &str) -> anyhow::Result<AdminClient<DefaultClientContext>> {
    Ok(ClientConfig::new().set("bootstrap.servers", brokers).create()?)
}
