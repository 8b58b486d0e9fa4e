//! What somebody with access to the broker can do to the topics of a site: write a record, forge an event, move a group.

use std::time::Duration;

use bytes::Bytes;
use madang_board::{ArticleId, BoardId, MemberId};
use madang_engine_kafka::{KafkaLog, KafkaOptions};
use madang_event::{ArticleDeleted, ArticleLikes, BoardCount, Envelope, Event};
use madang_kernel::{EventId, Id as _, ShardId, Timestamp};
use madang_messaging::{EventLog as _, Message, PublishOutcome};
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer as _};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer as _};
use rdkafka::{ClientConfig, Offset, TopicPartitionList};

use crate::cluster::Cluster;
use crate::servers::Servers;

pub(crate) const LIKES: &str = "madang.like.v1";
/// Every topic of the site.
const TOPICS: [&str; 4] = ["madang.article.v1", "madang.comment.v1", LIKES, "madang.view.v1"];
/// As the processes are configured.
const PARTITIONS: u32 = 2;
const PATIENCE: Duration = Duration::from_secs(30);

/// Publishes a message as a process of the cluster would.
pub(crate) fn publish(servers: &Servers, cluster: &Cluster, message: Message) {
    let options = KafkaOptions {
        prefix: format!("{}.", cluster.name),
        partitions: PARTITIONS,
        ..KafkaOptions::new("madang", servers.kafka.clone())
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let outcome = runtime.block_on(async {
        let log = KafkaLog::open(options).unwrap();
        log.publish(&[message]).await.unwrap()
    });
    assert_eq!(outcome, [PublishOutcome::Published]);
}

/// A message of these bytes about an article.
pub(crate) fn message(article: &str, topic: &str, payload: Bytes) -> Message {
    let occurred_at =
        Timestamp::from_millis(i64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap());
    let event_id = EventId::from_raw(rand::random_range(1..i64::MAX));
    Message {
        event_id,
        topic: topic.to_owned(),
        key: article.to_owned(),
        shard: ShardId::HOME,
        occurred_at,
        headers: Vec::new(),
        payload,
    }
}

/// An event that nobody of the site reported.
pub(crate) fn forged(article: &str, version: u64, event: Event) -> Message {
    let mut message = message(article, event.topic().name(), Bytes::new());
    let key = article.parse().unwrap();
    message.payload =
        Envelope { event_id: message.event_id, occurred_at: message.occurred_at, key, version, event }.encode();
    message
}

/// Likes as an event reports them.
pub(crate) fn likes(article: &str, like_count: u64) -> Event {
    let article_id: ArticleId = article.parse().unwrap();
    let liked = (1..=i64::try_from(like_count).unwrap()).map(MemberId::from_raw).collect();
    Event::ArticleLikesChanged(ArticleLikes { article_id, liked, unliked: Vec::new(), like_count })
}

/// The end of an article as an event reports it.
pub(crate) fn deletion(article: &str, board: &str, board_version: u64) -> Event {
    let (article_id, board_id): (ArticleId, BoardId) = (article.parse().unwrap(), board.parse().unwrap());
    let board_count = BoardCount { article_count: 0, version: board_version };
    Event::ArticleDeleted(ArticleDeleted { article_id, board_id, board_count, restorable: false })
}

/// Writes bytes of its own as a record of likes.
pub(crate) fn write(servers: &Servers, cluster: &Cluster, key: &str, payload: &[u8]) {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", &servers.kafka).set("message.max.bytes", "5000000");
    // As the processes choose the partition of a key.
    config.set("partitioner", "murmur2_random");
    let producer: BaseProducer = config.create().unwrap();
    let topic = format!("{}.{LIKES}", cluster.name);
    producer.send(BaseRecord::to(&topic).key(key).payload(payload)).map_err(|(error, _)| error).unwrap();
    producer.flush(PATIENCE).unwrap();
}

/// Sets the offsets of a group to the ends of its topics, as tools of the broker do while nobody is in the group; tells how
/// many records it will never read.
pub(crate) fn reset_to_latest(servers: &Servers, cluster: &Cluster, group: &str) -> i64 {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", &servers.kafka);
    config.set("group.id", format!("{}.madang.{group}", cluster.name));
    let consumer: BaseConsumer = config.create().unwrap();
    let mut ends = TopicPartitionList::new();
    for topic in TOPICS.map(|topic| format!("{}.{topic}", cluster.name)) {
        for partition in 0..i32::try_from(PARTITIONS).unwrap() {
            let (_, end) = consumer.fetch_watermarks(&topic, partition, PATIENCE).unwrap();
            ends.add_partition_offset(&topic, partition, Offset::Offset(end)).unwrap();
        }
    }
    let stored = consumer.committed_offsets(ends.clone(), PATIENCE).unwrap();
    consumer.commit(&ends, CommitMode::Sync).unwrap();
    let at = |list: &TopicPartitionList| -> i64 {
        list.elements().iter().filter_map(|element| element.offset().to_raw()).filter(|offset| *offset > 0).sum()
    };
    at(&ends) - at(&stored)
}
