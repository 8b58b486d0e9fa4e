//! Names on the broker: topics and groups with their prefix, and which topics are whose.

use madang_messaging::GroupId;

use crate::KafkaOptions;

/// Ends the name of every topic of dead letters.
const DEAD_LETTERS_END: &str = ".dlq";

/// The longest name of a topic, in bytes.
const TOPIC_NAME_MAX_BYTES: usize = 249;

/// Turns our names into those of the broker, and back.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    prefix: String,
    program: String,
}

impl Names {
    pub(crate) fn new(options: &KafkaOptions) -> Self {
        Self { prefix: options.prefix.clone(), program: options.program.clone() }
    }

    /// The topic as the broker knows it.
    pub(crate) fn topic(&self, ours: &str) -> String {
        format!("{}{ours}", self.prefix)
    }

    /// The topic as we know it; `None` when it is not ours.
    pub(crate) fn ours<'a>(&self, topic: &'a str) -> Option<&'a str> {
        topic.strip_prefix(&self.prefix)
    }

    /// The group as the broker knows it. A rung is read by a group of its own: its members all read the same topics, so
    /// that a level that comes or goes disturbs no other level, and adding a topic moves no stored offset.
    pub(crate) fn group(&self, group: &GroupId, topics: &[String]) -> String {
        let rung_start = format!(".{group}.retry.");
        let rung = |topic: &String| topic.rsplit_once(&rung_start).map(|(_, rung)| rung.to_owned());
        let first = topics.first().and_then(rung);
        match first {
            Some(first) if topics.iter().all(|topic| rung(topic).as_ref() == Some(&first)) => {
                format!("{}{}.{group}.retry.{first}", self.prefix, self.program)
            }
            _ => format!("{}{}.{group}", self.prefix, self.program),
        }
    }

    /// Readers of dead letters; they join nothing and store nothing.
    pub(crate) fn dead_letter_reader(&self) -> String {
        format!("{}{}.dead-letters", self.prefix, self.program)
    }

    /// Who asks where topics end; joins nothing and stores nothing. librdkafka's consumers must have a name.
    pub(crate) fn end_reader(&self) -> String {
        format!("{}{}.ends", self.prefix, self.program)
    }
}

/// Whether a broker can have a topic of this name.
pub(crate) fn is_topic(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=TOPIC_NAME_MAX_BYTES).contains(&name.len()) && name.bytes().all(plain) && name != "." && name != ".."
}

/// Whether a topic holds dead letters.
pub(crate) fn holds_dead_letters(topic: &str) -> bool {
    topic.ends_with(DEAD_LETTERS_END)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        Names { prefix: "t-".to_owned(), program: "shop".to_owned() }
    }

    #[test]
    fn each_rung_is_read_by_a_group_of_its_own() {
        let (names, group) = (names(), GroupId::new("hot"));
        let of =
            |topics: &[&str]| names.group(&group, &topics.iter().map(|&topic| topic.to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["a", "b"]), "t-shop.hot");
        assert_eq!(of(&["a.hot.retry.5s", "b.hot.retry.5s"]), "t-shop.hot.retry.5s");
        assert_eq!(of(&["a", "b.hot.retry.5s"]), "t-shop.hot");
        assert_eq!(of(&["a.cold.retry.5s"]), "t-shop.hot");
        assert_eq!(of(&[]), "t-shop.hot");
    }

    #[test]
    fn what_no_broker_takes_is_no_name_of_a_topic() {
        assert!(is_topic("shop.order.v1.stock-keeper.retry.5s") && is_topic(&"x".repeat(249)));
        for name in ["", ".", "..", "a b", "a/b", "토픽", "nul\0", &"x".repeat(250)] {
            assert!(!is_topic(name), "{name}");
        }
    }

    #[test]
    fn a_name_comes_back_without_the_prefix() {
        let names = names();
        assert_eq!(names.ours(&names.topic("shop.order.v1")), Some("shop.order.v1"));
        assert_eq!(names.ours("somebody.else"), None);
    }
}
