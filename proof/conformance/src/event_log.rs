//! The event log: nothing is lost, each group reads everything in the order of its key, and goes on where it stored.

use std::time::Duration;

use bytes::Bytes;
use madang_messaging::{
    DeadLetters, Delivery, EventLog, GroupId, Message, Polled, Position, PublishOutcome, Subscription, header,
};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use crate::sample::{TOPIC, delivered, message, message_on};

/// A log with nothing in it.
#[async_trait::async_trait]
pub trait EventLogHarness: Send + Sync + Sized {
    /// A fresh log.
    async fn fresh() -> Self;
    /// The same log after the process was started anew.
    async fn restarted(self) -> Self;
    /// The log, to be shared with tasks.
    fn log(&self) -> std::sync::Arc<dyn EventLog>;
    /// Where its dead letters are found.
    fn dead_letters(&self) -> &dyn DeadLetters;
}

const PATIENCE: Duration = Duration::from_secs(20);
const AT_ONCE: Duration = Duration::from_millis(1);

fn group(name: &str) -> GroupId {
    GroupId::new(name)
}

async fn publish(log: &dyn EventLog, messages: &[Message]) {
    let outcomes = log.publish(messages).await.unwrap();
    assert_eq!(outcomes, vec![PublishOutcome::Published; messages.len()]);
}

async fn subscribe(log: &dyn EventLog, name: &str) -> Box<dyn Subscription> {
    log.subscribe(&group(name), &[TOPIC.to_owned()]).await.unwrap()
}

/// Polls until `count` deliveries have come.
async fn take(subscription: &mut dyn Subscription, count: usize) -> Vec<Delivery> {
    let deadline = Instant::now() + PATIENCE;
    let mut taken = Vec::new();
    while taken.len() < count {
        assert!(Instant::now() < deadline, "{} of {count} messages came", taken.len());
        if let Polled::Deliveries(more) = subscription.poll(count - taken.len(), Duration::from_secs(1)).await.unwrap()
        {
            taken.extend(more);
        }
    }
    taken
}

async fn nothing_waits(subscription: &mut dyn Subscription) {
    assert_eq!(subscription.poll(10, Duration::from_millis(50)).await.unwrap(), Polled::Deliveries(Vec::new()));
}

/// The last position of each topic and partition.
fn last(deliveries: &[Delivery]) -> Vec<Position> {
    let mut last: Vec<Position> = Vec::new();
    for Delivery { position, .. } in deliveries {
        match last.iter_mut().find(|known| known.topic == position.topic && known.partition == position.partition) {
            Some(known) => known.offset = known.offset.max(position.offset),
            None => last.push(position.clone()),
        }
    }
    last
}

suite! { $ event_log_suite, event_log, EventLogHarness;
    /// What is published comes back as it was, whatever bytes and characters it holds.
    async fn a_message_comes_back_unchanged(harness) {
        let log = harness.log();
        let mut sent = message(i64::MAX, "열쇠 🗝 \" \\ '");
        sent.headers = vec![("a".into(), "\u{10ffff}\0\n".into()), (String::new(), String::new())];
        sent.payload = Bytes::from((0..=255).cycle().take(300_000).collect::<Vec<u8>>());
        publish(&*log, std::slice::from_ref(&sent)).await;
        let mut reader = subscribe(&*log, "readers").await;
        assert_eq!(take(&mut *reader, 1).await[0].message, sent);
    }

    /// Messages of one key come in the order in which they were published.
    async fn a_key_keeps_its_order(harness) {
        let log = harness.log();
        let sent: Vec<_> = (1..=300).map(|number| message(number, &format!("key-{}", number % 7))).collect();
        for batch in sent.chunks(31) {
            publish(&*log, batch).await;
        }
        let mut reader = subscribe(&*log, "readers").await;
        let came = take(&mut *reader, sent.len()).await;
        for key in 0..7 {
            let of_key = |message: &&Message| message.key == format!("key-{key}");
            let came: Vec<_> = came.iter().map(|delivery| &delivery.message).filter(of_key).collect();
            assert_eq!(came, sent.iter().filter(of_key).collect::<Vec<_>>());
        }
        nothing_waits(&mut *reader).await;
    }

    /// Positions of one topic and partition grow.
    async fn positions_grow(harness) {
        let log = harness.log();
        publish(&*log, &(1..=50).map(|number| message(number, "one")).collect::<Vec<_>>()).await;
        let came = take(&mut *subscribe(&*log, "readers").await, 50).await;
        assert!(came.windows(2).all(|pair| pair[0].position.offset < pair[1].position.offset));
    }

    /// What one group has done says nothing about another.
    async fn groups_read_apart(harness) {
        let log = harness.log();
        publish(&*log, &[message(1, "a"), message(2, "a")]).await;
        let mut first = subscribe(&*log, "first").await;
        let came = take(&mut *first, 2).await;
        first.commit(&last(&came)).await.unwrap();
        let mut second = subscribe(&*log, "second").await;
        assert_eq!(delivered(&take(&mut *second, 2).await), [1, 2]);
    }

    /// A group that subscribes again goes on after what it stored, and sees again what it did not.
    async fn a_group_goes_on_after_what_it_stored(harness) {
        let log = harness.log();
        publish(&*log, &[message(1, "a"), message(2, "a"), message(3, "a")]).await;
        let mut before = subscribe(&*log, "readers").await;
        let came = take(&mut *before, 3).await;
        before.commit(&last(&came[..2])).await.unwrap();
        drop(before);
        assert_eq!(delivered(&take(&mut *subscribe(&*log, "readers").await, 1).await), [3]);
    }

    /// Messages and offsets outlive the process.
    async fn a_group_goes_on_after_a_restart(harness) {
        let log = harness.log();
        publish(&*log, &[message(1, "a"), message(2, "a")]).await;
        let mut before = subscribe(&*log, "readers").await;
        let came = take(&mut *before, 2).await;
        before.commit(&last(&came[..1])).await.unwrap();
        drop((before, log));
        let harness = harness.restarted().await;
        let log = harness.log();
        publish(&*log, &[message(3, "a")]).await;
        assert_eq!(delivered(&take(&mut *subscribe(&*log, "readers").await, 2).await), [2, 3]);
    }

    /// Polls go on after what was polled, stored or not.
    async fn polls_go_on_without_a_commit(harness) {
        let log = harness.log();
        publish(&*log, &(1..=5).map(|number| message(number, "a")).collect::<Vec<_>>()).await;
        let mut reader = subscribe(&*log, "readers").await;
        assert_eq!(delivered(&take(&mut *reader, 2).await), [1, 2]);
        assert_eq!(delivered(&take(&mut *reader, 3).await), [3, 4, 5]);
    }

    /// A commit that comes late, with less, takes nothing back.
    async fn a_late_commit_takes_nothing_back(harness) {
        let log = harness.log();
        publish(&*log, &(1..=3).map(|number| message(number, "a")).collect::<Vec<_>>()).await;
        let mut reader = subscribe(&*log, "readers").await;
        let came = take(&mut *reader, 3).await;
        reader.commit(&last(&came)).await.unwrap();
        reader.commit(&last(&came[..1])).await.unwrap();
        drop(reader);
        nothing_waits(&mut *subscribe(&*log, "readers").await).await;
    }

    /// A poll brings no more than was asked.
    async fn a_poll_brings_no_more_than_asked(harness) {
        let log = harness.log();
        publish(&*log, &(1..=10).map(|number| message(number, "a")).collect::<Vec<_>>()).await;
        let mut reader = subscribe(&*log, "readers").await;
        let Polled::Deliveries(came) = reader.poll(3, PATIENCE).await.unwrap() else { panic!("deliveries were due") };
        assert!((1..=3).contains(&came.len()));
    }

    /// A poll that finds nothing comes back empty when its time is over.
    async fn an_empty_poll_ends_in_time(harness) {
        let mut reader = subscribe(&*harness.log(), "readers").await;
        let polled = timeout(PATIENCE, reader.poll(10, Duration::from_millis(30))).await.unwrap();
        assert_eq!(polled.unwrap(), Polled::Deliveries(Vec::new()));
    }

    /// A poll that waits is woken by what is published, long before its time is over.
    async fn a_waiting_poll_is_woken(harness) {
        let log = harness.log();
        let mut reader = subscribe(&*log, "readers").await;
        for number in 1..=20 {
            let publisher = harness.log();
            let mut tasks = JoinSet::new();
            tasks.spawn(async move { publish(&*publisher, &[message(number, "a")]).await });
            let polled = timeout(PATIENCE, reader.poll(1, Duration::from_secs(3_600))).await.expect("woken in time");
            let Polled::Deliveries(came) = polled.unwrap() else { panic!("a delivery was due") };
            assert_eq!(delivered(&came), [number]);
            while let Some(published) = tasks.join_next().await {
                published.unwrap();
            }
        }
    }

    /// A poll that is dropped half-way loses nothing.
    async fn a_cancelled_poll_loses_nothing(harness) {
        let log = harness.log();
        let sent: Vec<_> = (1..=200).map(|number| message(number, "a")).collect();
        publish(&*log, &sent).await;
        let mut reader = subscribe(&*log, "readers").await;
        let deadline = Instant::now() + PATIENCE;
        let mut came = Vec::new();
        while came.len() < sent.len() {
            assert!(Instant::now() < deadline, "{} of {} messages came", came.len(), sent.len());
            let wait = if came.len() % 2 == 0 { AT_ONCE } else { PATIENCE };
            match timeout(wait, reader.poll(7, PATIENCE)).await {
                Ok(Ok(Polled::Deliveries(more))) => came.extend(delivered(&more)),
                Ok(other) => panic!("{other:?}"),
                Err(_) => came.extend(delivered(&take(&mut *reader, 1).await)),
            }
        }
        assert_eq!(came, (1..=200).collect::<Vec<_>>());
    }

    /// A message published twice comes twice, under one event id: the reader knows how to tell.
    async fn a_duplicate_keeps_its_event_id(harness) {
        let log = harness.log();
        publish(&*log, &[message(1, "a")]).await;
        publish(&*log, &[message(1, "a")]).await;
        let came = take(&mut *subscribe(&*log, "readers").await, 2).await;
        assert_eq!(delivered(&came), [1, 1]);
        assert_ne!(came[0].position, came[1].position);
    }

    /// A group reads the topics it asked for, each to its own offset.
    async fn topics_are_read_apart(harness) {
        let log = harness.log();
        let rung = format!("{TOPIC}.readers.retry.5s");
        publish(&*log, &[message(1, "a"), message_on(&rung, 2, "a"), message_on("elsewhere", 3, "a"), message(4, "a")])
            .await;
        let mut both = log.subscribe(&group("readers"), &[TOPIC.to_owned(), rung.clone()]).await.unwrap();
        let came = take(&mut *both, 3).await;
        let mut numbers = delivered(&came);
        numbers.sort_unstable();
        assert_eq!(numbers, [1, 2, 4]);
        let of_topic: Vec<_> = came.into_iter().filter(|delivery| delivery.position.topic == TOPIC).collect();
        both.commit(&last(&of_topic)).await.unwrap();
        drop(both);
        let mut both = log.subscribe(&group("readers"), &[TOPIC.to_owned(), rung.clone()]).await.unwrap();
        let again = take(&mut *both, 1).await;
        assert_eq!((delivered(&again), again[0].position.topic.as_str()), (vec![2], rung.as_str()));
    }

    /// What many publish at once all arrives, each publisher's in its order.
    async fn many_publishers_lose_nothing(harness) {
        let mut publishers = JoinSet::new();
        for publisher in 0..16_i64 {
            let log = harness.log();
            publishers.spawn(async move {
                for number in 0..20 {
                    publish(&*log, &[message(publisher * 100 + number, &publisher.to_string())]).await;
                }
            });
        }
        while let Some(published) = publishers.join_next().await {
            published.unwrap();
        }
        let came = delivered(&take(&mut *subscribe(&*harness.log(), "readers").await, 320).await);
        for publisher in 0..16 {
            let own: Vec<_> = came.iter().copied().filter(|number| number / 100 == publisher).collect();
            assert_eq!(own, (publisher * 100..publisher * 100 + 20).collect::<Vec<_>>());
        }
    }

    /// Who reads while many publish misses nothing and sees nothing twice, also when it stores how far it is now and then.
    async fn who_reads_along_misses_nothing(harness) {
        let mut reader = subscribe(&*harness.log(), "readers").await;
        let mut publishers = JoinSet::new();
        for publisher in 0..8_i64 {
            let log = harness.log();
            publishers.spawn(async move {
                for number in 0..25 {
                    publish(&*log, &[message(publisher * 100 + number, &publisher.to_string())]).await;
                }
            });
        }
        let (mut came, mut polls) = (Vec::new(), 0);
        while came.len() < 200 {
            came.extend(take(&mut *reader, 1).await);
            polls += 1;
            if polls % 10 == 0 {
                reader.commit(&last(&came)).await.unwrap();
            }
        }
        nothing_waits(&mut *reader).await;
        for publisher in 0..8 {
            let own: Vec<_> = delivered(&came).into_iter().filter(|number| number / 100 == publisher).collect();
            assert_eq!(own, (publisher * 100..publisher * 100 + 25).collect::<Vec<_>>());
        }
        while let Some(published) = publishers.join_next().await {
            published.unwrap();
        }
    }

    /// What is published to a dead-letter topic is kept there as it came, and no group reads it.
    async fn dead_letters_are_kept_apart(harness) {
        let log = harness.log();
        let topic = format!("{TOPIC}.readers.dlq");
        let mut dead = message_on(&topic, 9, "a");
        dead.payload = Bytes::from_static(b"\xff\xfe not JSON");
        dead.set_header(header::REASON, "undecodable");
        publish(&*log, &[message(1, "a"), dead.clone()]).await;
        let letters = harness.dead_letters().list(None, 10).await.unwrap();
        assert_eq!(letters.iter().map(|letter| &letter.message).collect::<Vec<_>>(), [&dead]);
        let mut reader = subscribe(&*log, "readers").await;
        assert_eq!(delivered(&take(&mut *reader, 1).await), [1]);
        nothing_waits(&mut *reader).await;
    }
}
