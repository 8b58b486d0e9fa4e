//! How far the group of the hot scores has come on Kafka: it has consumed everything before a moment once no outbox holds
//! anything of that time, and it has passed what was the end of its topics afterwards.

use std::sync::Arc;

use async_trait::async_trait;
use madang_engine_kafka::KafkaLog;
use madang_hot_article::Progress;
use madang_kernel::{StoreError, Timestamp};
use madang_messaging::{ConsumerConfig, Outage, Position, UnsentMessages};
use tokio::sync::Mutex;

/// The progress of one group, its rungs included.
pub(super) struct KafkaProgress {
    log: KafkaLog,
    group: ConsumerConfig,
    /// Where events wait to be sent, of every service.
    outboxes: Vec<Arc<dyn UnsentMessages>>,
    /// The moment that was asked about last, with the ends of every level seen after no outbox held anything older.
    ends: Mutex<Option<(Timestamp, Vec<Vec<Position>>)>>,
}

impl KafkaProgress {
    /// The progress of `group`.
    pub(super) fn new(log: KafkaLog, group: ConsumerConfig, outboxes: Vec<Arc<dyn UnsentMessages>>) -> Self {
        Self { log, group, outboxes, ends: Mutex::default() }
    }

    async fn is_unsent(&self, before: Timestamp) -> Result<bool, Outage> {
        for outbox in &self.outboxes {
            if outbox.has_unsent_before(before).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn has_passed(&self, before: Timestamp) -> Result<bool, Outage> {
        let mut known = self.ends.lock().await;
        let ends = match known.take() {
            Some((moment, ends)) if moment >= before => ends,
            _ if self.is_unsent(before).await? => return Ok(false),
            _ => {
                let mut ends = Vec::new();
                for level in self.group.levels() {
                    ends.push(self.log.ends(&level.topics).await?);
                }
                ends
            }
        };
        let mut passed = true;
        for (level, ends) in self.group.levels().iter().zip(&ends) {
            passed = passed && self.log.has_passed(&self.group.group, &level.topics, ends).await?;
        }
        if !passed {
            *known = Some((before, ends));
        }
        Ok(passed)
    }
}

#[async_trait]
impl Progress for KafkaProgress {
    /// Asked about a moment that is over, as the end of a day is.
    async fn caught_up(&self, before: Timestamp) -> Result<bool, StoreError> {
        self.has_passed(before).await.map_err(|outage| StoreError::unavailable("log", outage.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;
    use madang_engine_kafka::KafkaOptions;
    use madang_kernel::{Clock as _, EventId, Id as _, ManualClock, ShardId};
    use madang_messaging::{EventLog as _, GroupId, Message, Outbox as _, Polled};
    use madang_mysql::{AgesBy, Mysql, MysqlOptions, MysqlOutbox, ServerOptions, Service};

    use super::*;

    const TOPIC: &str = "likes";
    const PATIENCE: Duration = Duration::from_secs(60);

    fn like(occurred_at: Timestamp) -> Message {
        Message {
            event_id: EventId::from_raw(7),
            topic: TOPIC.to_owned(),
            key: "article".to_owned(),
            shard: ShardId::HOME,
            occurred_at,
            headers: Vec::new(),
            payload: Bytes::from_static(b"a like of the day that ends"),
        }
    }

    async fn kafka(name: &str, group: &ConsumerConfig) -> KafkaLog {
        let options = KafkaOptions {
            prefix: format!("{name}."),
            partitions: 1,
            topics: vec![TOPIC.to_owned()],
            ..KafkaOptions::new("test", madang_test_servers::kafka())
        };
        let log = KafkaLog::connect(options).await.unwrap();
        log.prepare(std::slice::from_ref(group)).await.unwrap();
        log
    }

    /// Ages are told by a clock that is turned, so that a day passes in no time.
    async fn likes(name: &str, clock: &Arc<ManualClock>) -> Mysql {
        let url = madang_test_servers::mysql().swap_remove(0);
        let servers = vec![ServerOptions { url, shards: "0-63".to_owned() }];
        let options =
            MysqlOptions { database_prefix: name.to_owned(), ages_by: AgesBy::Clock, ..MysqlOptions::new(servers) };
        Mysql::open(&options, Service::Like, clock.clone()).await.unwrap()
    }

    #[tokio::test]
    async fn a_day_is_not_over_while_an_outbox_holds_what_was_acknowledged_on_it() {
        let name = format!("t{:08x}", rand::random::<u32>());
        let group = ConsumerConfig::new(GroupId::new("hot"), vec![TOPIC.to_owned()]);
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_800_000_000_000)));
        let (log, likes) = (kafka(&name, &group).await, likes(&name, &clock).await);
        let outbox = MysqlOutbox::new(&likes);
        let progress = KafkaProgress::new(log.clone(), group.clone(), vec![Arc::new(outbox.clone())]);
        let over = async |moment| progress.caught_up(moment).await.unwrap();

        // Acknowledged while the writers were cut off from the log: the topic is empty, and so the group is at its end.
        let message = like(clock.now());
        outbox.insert(std::slice::from_ref(&message)).await.unwrap();
        let end_of_day = clock.now().plus(Duration::from_secs(60));
        clock.advance(Duration::from_secs(7_200));
        let unasked = KafkaProgress::new(log.clone(), group.clone(), Vec::new());
        assert!(unasked.caught_up(end_of_day).await.unwrap(), "the log alone does not know of it");
        assert!(!over(end_of_day).await, "the outbox holds a like of that day");

        log.publish(std::slice::from_ref(&message)).await.unwrap();
        outbox.delete(&[message.event_id]).await.unwrap();
        assert!(!over(end_of_day).await, "it is sent, and nobody has scored it");

        let mut subscription = log.subscribe(&group.group, &group.topics).await.unwrap();
        let end = tokio::time::Instant::now() + PATIENCE;
        let position = loop {
            assert!(tokio::time::Instant::now() < end, "it is delivered");
            if let Polled::Deliveries(deliveries) = subscription.poll(1, Duration::from_secs(1)).await.unwrap()
                && let [delivery] = &deliveries[..]
            {
                break delivery.position.clone();
            }
        };
        subscription.commit(&[position]).await.unwrap();
        assert!(over(end_of_day).await, "it is scored");
        assert!(!over(clock.now()).await, "by the clock of the database this moment may still get more");
        drop(subscription);
        assert!(log.close(PATIENCE).await);
        likes.close().await;
    }
}
