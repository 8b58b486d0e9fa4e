//! What the brokers and topics are set to: for whoever tells an operator what is wrong.

use std::collections::BTreeMap;
use std::time::Duration;

use madang_messaging::Outage;
use rdkafka::admin::{AdminOptions, OwnedResourceSpecifier, ResourceSpecifier};

use crate::KafkaLog;
use crate::errors::{away, blocking};

const ANSWER_TIMEOUT_MS: u64 = 5_000;

/// The log as it is on the brokers.
#[derive(Debug, Clone)]
pub struct LogInspection {
    /// Brokers that are there.
    pub brokers: usize,
    /// The topics of the program that are there, by the brokers' names.
    pub topics: BTreeMap<String, TopicInspection>,
}

/// A topic as it is.
#[derive(Debug, Clone, Default)]
pub struct TopicInspection {
    /// Its partitions.
    pub partitions: usize,
    /// Copies of the partition that has fewest.
    pub replicas: usize,
    /// Partitions of which a copy is behind, or away.
    pub under_replicated: usize,
    /// Its settings, by the brokers' names.
    pub settings: BTreeMap<String, String>,
}

impl KafkaLog {
    /// Looks at the program's topics. Changes nothing, and makes none.
    pub async fn inspect(&self) -> Result<LogInspection, Outage> {
        let (names, admin) = (self.inner.names.clone(), self.inner.topics.admin());
        let programs = self.inner.options.topics.clone();
        let mut found = blocking(move || {
            let timeout = Duration::from_millis(ANSWER_TIMEOUT_MS);
            let metadata = admin.inner().fetch_metadata(None, timeout).map_err(away)?;
            // A site without a prefix shares the names of the broker with whoever else is there.
            let is_ours = |name: &str| {
                let ours = names.ours(name).unwrap_or_default();
                programs
                    .iter()
                    .any(|topic| ours.strip_prefix(topic).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
            };
            let ours = metadata.topics().iter().filter(|topic| is_ours(topic.name()));
            let topics = ours.map(|topic| {
                let partitions = topic.partitions();
                let state = TopicInspection {
                    partitions: partitions.len(),
                    replicas: partitions.iter().map(|partition| partition.replicas().len()).min().unwrap_or(0),
                    under_replicated: partitions.iter().filter(|part| part.isr().len() < part.replicas().len()).count(),
                    settings: BTreeMap::new(),
                };
                (topic.name().to_owned(), state)
            });
            Ok(LogInspection { brokers: metadata.brokers().len(), topics: topics.collect() })
        })
        .await?;
        self.read_settings(&mut found).await?;
        Ok(found)
    }

    async fn read_settings(&self, found: &mut LogInspection) -> Result<(), Outage> {
        let names: Vec<String> = found.topics.keys().cloned().collect();
        if names.is_empty() {
            // A question about nothing is an error to librdkafka.
            return Ok(());
        }
        let wanted: Vec<ResourceSpecifier<'_>> = names.iter().map(|name| ResourceSpecifier::Topic(name)).collect();
        let options = AdminOptions::new().request_timeout(Some(Duration::from_millis(ANSWER_TIMEOUT_MS)));
        let admin = self.inner.topics.admin();
        for told in admin.describe_configs(&wanted, &options).await.map_err(away)?.into_iter().flatten() {
            let OwnedResourceSpecifier::Topic(name) = &told.specifier else { continue };
            let Some(topic) = found.topics.get_mut(name) else { continue };
            let settings = told.entries.into_iter().filter_map(|entry| Some((entry.name, entry.value?)));
            topic.settings = settings.collect();
        }
        Ok(())
    }
}
