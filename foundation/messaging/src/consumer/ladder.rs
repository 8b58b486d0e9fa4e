//! The retry ladder of a topic and group: names of its topics, and what is written on a message that climbs it.

use super::config::ConsumerConfig;
use crate::{GroupId, Message, Moment, Position, header};

/// The longest reason written into a header, in bytes: a message that was accepted once must not grow past the limit.
pub const REASON_BYTES_MAX: usize = 500;

/// What a dead letter keeps of a payload that the log does not take whole, in bytes.
pub const EXCERPT_BYTES_MAX: usize = 4_096;
/// What it keeps of a key, in bytes.
const EXCERPT_KEY_BYTES_MAX: usize = 512;

/// One step of the ladder: wait, then try again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rung {
    /// Its part of the topic's name.
    pub name: &'static str,
    /// How long a message waits on it, in milliseconds.
    pub delay_ms: u64,
}

/// The rungs in order; after the last come the dead letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ladder(pub Vec<Rung>);

impl Default for Ladder {
    fn default() -> Self {
        Self(vec![Rung { name: "5s", delay_ms: 5_000 }, Rung { name: "1m", delay_ms: 60_000 }])
    }
}

/// The ladder of each group, by which its dead letters are replayed.
#[derive(Debug, Clone, Default)]
pub struct Ladders(Vec<(GroupId, Ladder)>);

impl Ladders {
    /// Those of these groups.
    pub fn of(groups: &[ConsumerConfig]) -> Self {
        Self(groups.iter().map(|config| (config.group.clone(), config.ladder.clone())).collect())
    }

    /// The ladder of a group, where there is such a group.
    pub fn find(&self, group: &GroupId) -> Option<&Ladder> {
        self.0.iter().find(|(known, _)| known == group).map(|(_, ladder)| ladder)
    }
}

/// The topic of a rung: one per topic and group, so that one group's failure is never replayed to another.
pub fn rung_topic(topic: &str, group: &GroupId, rung: &Rung) -> String {
    format!("{topic}.{group}.retry.{}", rung.name)
}

/// Whether `name` is a rung of the group's ladder for `topic`, whatever the rung is called.
pub fn is_rung_of(name: &str, topic: &str, group: &GroupId) -> bool {
    name.strip_prefix(topic).is_some_and(|rest| rest.starts_with(&rung_mark(group)))
}

/// Whether `name` is a rung of the group's ladder for any topic.
pub fn is_rung(name: &str, group: &GroupId) -> bool {
    name.contains(&rung_mark(group))
}

fn rung_mark(group: &GroupId) -> String {
    format!(".{group}.retry.")
}

/// The topic of the dead letters of a topic and group.
pub fn dlq_topic(topic: &str, group: &GroupId) -> String {
    format!("{topic}.{group}.dlq")
}

/// The topic to which the message was first published.
pub fn original_topic(message: &Message) -> &str {
    message.header(header::ORIGINAL_TOPIC).unwrap_or(&message.topic)
}

/// The message as it goes onto `rung`: same id, key and payload.
pub fn onto_rung(message: &Message, group: &GroupId, rung: &Rung, attempts: u32, reason: &str, now: Moment) -> Message {
    let mut climbing = marked(message, group, attempts, reason);
    climbing.topic = rung_topic(original_topic(message), group, rung);
    let not_before = now.wall.as_millis().saturating_add(i64::try_from(rung.delay_ms).unwrap_or(i64::MAX));
    climbing.set_header(header::NOT_BEFORE_MS, not_before.to_string());
    climbing
}

/// The message as it goes to the dead letters: the same raw bytes.
pub fn into_dead_letters(message: &Message, group: &GroupId, attempts: u32, reason: &str) -> Message {
    let mut dead = marked(message, group, attempts, reason);
    dead.topic = dlq_topic(original_topic(message), group);
    dead.headers.retain(|(name, _)| name != header::NOT_BEFORE_MS);
    dead
}

/// What is kept of a message that even the dead letters do not take whole: the beginning of its bytes, and where the record
/// lies for as long as the log keeps it. Headers that are not the ladder's stay behind; they may be what is too large.
pub fn excerpt(message: &Message, group: &GroupId, attempts: u32, reason: &str, record: &Position) -> Message {
    let mut dead = into_dead_letters(message, group, attempts, reason);
    let ours = [header::ORIGINAL_TOPIC, header::GROUP, header::ATTEMPTS, header::REASON];
    dead.headers.retain(|(name, _)| ours.contains(&name.as_str()));
    dead.set_header(header::CUT_FROM_BYTES, message.payload.len().to_string());
    dead.set_header(header::RECORD, record.to_string());
    dead.payload.truncate(EXCERPT_BYTES_MAX);
    dead.key.truncate(dead.key.floor_char_boundary(EXCERPT_KEY_BYTES_MAX));
    dead
}

/// Attempts made on earlier rungs.
pub fn attempts_before(message: &Message) -> u32 {
    message.header(header::ATTEMPTS).and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// How long the message still waits: never longer than its rung's delay, whatever clock wrote it.
pub fn wait_ms(message: &Message, delay_ms: u64, now: Moment) -> u64 {
    let not_before: i64 = message.header(header::NOT_BEFORE_MS).and_then(|text| text.parse().ok()).unwrap_or(0);
    let left = not_before.saturating_sub(now.wall.as_millis());
    u64::try_from(left).unwrap_or(0).min(delay_ms)
}

fn marked(message: &Message, group: &GroupId, attempts: u32, reason: &str) -> Message {
    let mut marked = message.clone();
    marked.set_header(header::ORIGINAL_TOPIC, original_topic(message).to_owned());
    marked.set_header(header::GROUP, group.as_str());
    marked.set_header(header::ATTEMPTS, attempts.to_string());
    marked.set_header(header::REASON, shortened(reason));
    marked
}

fn shortened(reason: &str) -> &str {
    &reason[..reason.floor_char_boundary(REASON_BYTES_MAX)]
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use madang_kernel::{EventId, Id, ShardId, Timestamp};
    use proptest::prelude::*;

    use super::*;

    fn message() -> Message {
        Message {
            event_id: EventId::from_raw(1),
            topic: "madang.article.v1".into(),
            key: "7".into(),
            shard: ShardId::HOME,
            occurred_at: Timestamp::from_millis(0),
            headers: vec![("traceparent".into(), "00-1-1-01".into())],
            payload: Bytes::from_static(b"\xff\x00"),
        }
    }

    #[test]
    fn an_excerpt_is_small_whatever_was_large_and_tells_where_the_whole_lies() {
        let mut large = message();
        large.payload = Bytes::from(vec![b'x'; 5 << 20]);
        large.key = "열".repeat(1_000);
        large.headers.push(("filler".into(), "y".repeat(200_000)));
        let record = Position { topic: "t".into(), partition: 1, offset: 42 };
        let dead = excerpt(&large, &GroupId::new("hot"), 3, "no", &record);
        assert_eq!(dead.payload.len(), EXCERPT_BYTES_MAX);
        assert!(dead.key.len() <= EXCERPT_KEY_BYTES_MAX && dead.header("filler").is_none());
        assert_eq!(dead.header(header::CUT_FROM_BYTES), Some("5242880"));
        assert_eq!(dead.header(header::RECORD), Some("t/1/42"));
        assert_eq!((dead.event_id, dead.header(header::REASON)), (large.event_id, Some("no")));
    }

    #[test]
    fn a_rung_is_known_by_its_name() {
        let (group, rung) = (GroupId::new("hot"), &Ladder::default().0[0]);
        let name = rung_topic("a", &group, rung);
        assert!(is_rung(&name, &group) && is_rung_of(&name, "a", &group));
        assert!(!is_rung_of(&name, "b", &group) && !is_rung(&name, &GroupId::new("ot")));
        assert!(!is_rung("a", &group) && !is_rung_of("a", "a", &group) && !is_rung(&dlq_topic("a", &group), &group));
    }

    #[test]
    fn a_message_keeps_itself_and_its_first_topic_all_the_way_up() {
        let (group, rungs) = (GroupId::new("hot"), Ladder::default().0);
        let now = Moment::new(0, Timestamp::from_millis(1_000));
        let first = onto_rung(&message(), &group, &rungs[0], 3, "no", now);
        assert_eq!(first.topic, "madang.article.v1.hot.retry.5s");
        assert_eq!(first.header(header::NOT_BEFORE_MS), Some("6000"));
        let second = onto_rung(&first, &group, &rungs[1], 6, "still no", now);
        assert_eq!(second.topic, "madang.article.v1.hot.retry.1m");
        let dead = into_dead_letters(&second, &group, 9, "never");
        assert_eq!(dead.topic, "madang.article.v1.hot.dlq");
        assert_eq!((dead.event_id, &dead.key, &dead.payload), (message().event_id, &message().key, &message().payload));
        let headers = [header::ORIGINAL_TOPIC, header::GROUP, header::ATTEMPTS, header::REASON, "traceparent"];
        let values: Vec<_> = headers.iter().map(|name| dead.header(name).unwrap()).collect();
        assert_eq!(values, ["madang.article.v1", "hot", "9", "never", "00-1-1-01"]);
        assert_eq!(dead.header(header::NOT_BEFORE_MS), None);
    }

    proptest! {
        #[test]
        fn no_clock_makes_a_message_wait_longer_than_its_rung(written: i64, read: i64) {
            let mut message = message();
            message.set_header(header::NOT_BEFORE_MS, written.to_string());
            prop_assert!(wait_ms(&message, 5_000, Moment::new(0, Timestamp::from_millis(read))) <= 5_000);
        }

        #[test]
        fn a_reason_of_any_length_is_cut_at_a_character(reason in "\\PC{0,400}") {
            let dead = into_dead_letters(&message(), &GroupId::new("g"), 1, &reason);
            prop_assert!(reason.starts_with(dead.header(header::REASON).unwrap()));
            prop_assert!(dead.header(header::REASON).unwrap().len() <= REASON_BYTES_MAX);
        }
    }
}
