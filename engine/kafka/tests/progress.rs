//! How far a group has come, by what it has stored as done.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

mod support;

use std::time::Duration;

use madang_messaging::{EventLog, GroupId, Polled, Subscription};
use support::{TOPIC, eventually, fresh, message};

async fn take_and_store(reader: &mut dyn Subscription, count: usize) {
    let mut taken = 0;
    while taken < count {
        let Polled::Deliveries(deliveries) = reader.poll(count - taken, Duration::from_secs(1)).await.unwrap() else {
            continue;
        };
        taken += deliveries.len();
        for delivery in deliveries {
            reader.commit(&[delivery.position]).await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_has_passed_an_end_once_everything_before_it_is_stored() {
    let (log, _) = fresh().await;
    let (group, topics) = (GroupId::new("readers"), vec![TOPIC.to_owned()]);
    let batch = |first: i64| (first..first + 10).map(|n| message(n, &n.to_string(), "x")).collect::<Vec<_>>();
    log.publish(&batch(1)).await.unwrap();
    let ends = log.ends(&topics).await.unwrap();
    assert_eq!(ends.iter().map(|end| end.offset).sum::<i64>(), 10);
    assert!(!log.has_passed(&group, &topics, &ends).await.unwrap());
    assert_eq!(log.lag(&group, &topics).await.unwrap(), 10);

    let mut reader = log.subscribe(&group, &topics).await.unwrap();
    take_and_store(reader.as_mut(), 10).await;
    eventually("the offsets are stored", || async { log.has_passed(&group, &topics, &ends).await.unwrap() }).await;
    assert_eq!(log.lag(&group, &topics).await.unwrap(), 0);

    // What comes later is past the end that was asked about, and before the one of now.
    log.publish(&batch(11)).await.unwrap();
    assert!(log.has_passed(&group, &topics, &ends).await.unwrap());
    let later = log.ends(&topics).await.unwrap();
    assert!(!log.has_passed(&group, &topics, &later).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_is_opened_without_a_broker_and_says_that_none_answers() {
    let options = madang_engine_kafka::KafkaOptions::new("test", "127.0.0.1:1");
    let log = madang_engine_kafka::KafkaLog::open(options).unwrap();
    assert!(log.ping().await.is_err());
    assert!(log.publish(&[message(1, "k", "x")]).await.is_err());
}
