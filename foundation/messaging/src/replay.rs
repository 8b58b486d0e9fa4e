//! Replay of a dead letter: back onto the first rung of its own group, so it takes the way of any other message.

use crate::consumer::ladder::{self, Ladder, Ladders};
use crate::{
    DeadLetter, DeadLetterId, DeadLetters, EventLog, GroupId, Message, Moment, Outage, PublishOutcome, header,
};

/// What became of a replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replayed {
    /// It would be published to this topic; nothing was done.
    WouldPublish(String),
    /// It was published to this topic and removed from the dead letters.
    Published(String),
}

/// Why a letter was not replayed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// No such letter; perhaps somebody replayed it already.
    #[error("there is no dead letter {0}")]
    NotFound(DeadLetterId),
    /// No group of this name reads anything any more; the letter stays.
    #[error("there is no consumer group {0}")]
    NoGroup(GroupId),
    /// Only its beginning was kept: the whole was too large for the dead letters.
    #[error("only the beginning of this message was kept; the whole record is at {0} for as long as the log keeps it")]
    Cut(String),
    /// The log will not take it; the letter stays.
    #[error("the log does not take it: {0}")]
    Refused(String),
    /// A part is away; the letter stays, ask again later.
    #[error(transparent)]
    Outage(#[from] Outage),
}

/// Publishes a dead letter again with its own id, key and bytes, then removes it. `dry_run` only says what would happen.
/// Published and then not removed means that it may be replayed twice; the inbox absorbs that.
pub async fn replay(
    letters: &dyn DeadLetters,
    log: &dyn EventLog,
    ladders: &Ladders,
    id: &DeadLetterId,
    dry_run: bool,
    now: Moment,
) -> Result<Replayed, ReplayError> {
    let letter = letters.find(id).await?.ok_or_else(|| ReplayError::NotFound(id.clone()))?;
    if let Some(record) = letter.message.header(header::RECORD) {
        return Err(ReplayError::Cut(record.to_owned()));
    }
    let message = revived(&letter, ladders, now)?;
    let topic = message.topic.clone();
    if dry_run {
        return Ok(Replayed::WouldPublish(topic));
    }
    match log.publish(std::slice::from_ref(&message)).await?.into_iter().next() {
        Some(PublishOutcome::Published) => {}
        Some(PublishOutcome::Rejected(reason)) => return Err(ReplayError::Refused(reason)),
        None => return Err(Outage::new("log", "no answer for the message").into()),
    }
    letters.remove(id).await?;
    tracing::info!(audit = true, letter = %id, event_id = %message.event_id, topic, "sent dead letter {id} to {topic} again");
    Ok(Replayed::Published(topic))
}

/// The message as it is published again.
fn revived(letter: &DeadLetter, ladders: &Ladders, now: Moment) -> Result<Message, ReplayError> {
    let mut message = letter.message.clone();
    let original = ladder::original_topic(&letter.message).to_owned();
    message.headers.retain(|(name, _)| name != header::ATTEMPTS && name != header::REASON);
    let Some(group) = letter.message.header(header::GROUP).map(GroupId::new) else {
        // Given up by a relay: nobody has seen it yet, so everybody gets it.
        message.topic = original;
        return Ok(message);
    };
    match ladders.find(&group).map(|Ladder(rungs)| rungs.first()) {
        None => return Err(ReplayError::NoGroup(group)),
        Some(None) => message.topic = original,
        Some(Some(first)) => {
            message.topic = ladder::rung_topic(&original, &group, first);
            message.set_header(header::ORIGINAL_TOPIC, original);
            message.set_header(header::NOT_BEFORE_MS, now.wall.as_millis().to_string());
        }
    }
    Ok(message)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use madang_kernel::{EventId, Id, ShardId, Timestamp};

    use super::*;
    use crate::ConsumerConfig;
    use crate::consumer::Rung;

    fn letter(headers: &[(&str, &str)]) -> DeadLetter {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let message = Message {
            event_id: EventId::from_raw(5),
            topic: "t.g.dlq".into(),
            key: "k".into(),
            shard: ShardId::HOME,
            occurred_at: Timestamp::from_millis(1),
            headers,
            payload: Bytes::from_static(b"raw"),
        };
        DeadLetter { id: DeadLetterId("1".into()), message, died_at: Timestamp::from_millis(2) }
    }

    #[test]
    fn a_letter_of_a_group_goes_to_the_first_rung_of_that_groups_own_ladder() {
        let letter = letter(&[("original-topic", "t"), ("group", "g"), ("attempts", "9"), ("reason", "no")]);
        let now = Moment::new(0, Timestamp::from_millis(77));
        let ladder = Ladder(vec![Rung { name: "7s", delay_ms: 7_000 }]);
        let group = ConsumerConfig { ladder, ..ConsumerConfig::new(GroupId::new("g"), vec!["t".into()]) };
        let other = ConsumerConfig::new(GroupId::new("h"), vec!["t".into()]);
        let revived = revived(&letter, &Ladders::of(&[other.clone(), group]), now).unwrap();
        assert_eq!(revived.topic, "t.g.retry.7s");
        assert_eq!(revived.header(header::NOT_BEFORE_MS), Some("77"));
        assert_eq!(revived.header(header::ATTEMPTS), None);
        assert_eq!((revived.event_id, &revived.payload), (EventId::from_raw(5), &letter.message.payload));
        let unknown = super::revived(&letter, &Ladders::of(&[other]), now);
        assert_eq!(unknown, Err(ReplayError::NoGroup(GroupId::new("g"))), "nobody reads its ladder");
    }

    #[test]
    fn a_letter_of_a_relay_goes_to_its_topic() {
        let mut letter = letter(&[("original-topic", "t"), ("reason", "too large")]);
        let revived =
            |letter: &DeadLetter| revived(letter, &Ladders::default(), Moment::new(0, Timestamp::from_millis(0)));
        assert_eq!(revived(&letter).unwrap().topic, "t");
        letter.message.headers.clear();
        letter.message.topic = "t2".into();
        assert_eq!(revived(&letter).unwrap().topic, "t2");
    }
}
