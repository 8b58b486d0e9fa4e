//! Followers miss nothing and see nothing twice or out of order, wherever each poll is answered from.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use madang_messaging::{Delivery, EventLog, Polled, Position};
use proptest::prelude::*;
use tokio::task::JoinSet;

use super::*;
use crate::RetentionOptions;
use crate::log::tail::{Cursor, Tail, Taken};

const TOPICS: [&str; 4] = ["a", "b", "c", "d"];
const PATIENCE: Duration = Duration::from_secs(60);
/// Far less than is appended, so that a follower that dawdles falls out of it.
const SHORT_TAIL: usize = 16;

fn numbers(deliveries: &[Delivery]) -> Vec<i64> {
    deliveries.iter().map(|delivery| delivery.message.event_id.raw()).collect()
}

async fn poll(follower: &mut dyn Subscription, max: usize, wait: Duration) -> Vec<Delivery> {
    match follower.poll(max, wait).await.unwrap() {
        Polled::Deliveries(found) => found,
        other => panic!("{other:?}"),
    }
}

/// The last position of each topic.
fn last(deliveries: &[Delivery]) -> Vec<Position> {
    let by_topic: BTreeMap<_, _> = deliveries.iter().map(|one| (one.position.topic.clone(), one)).collect();
    by_topic.into_values().map(|one| one.position.clone()).collect()
}

/// A sequence of pseudo-random numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

async fn write_at_random(site: Arc<Site>, writer: i64, written: Arc<AtomicUsize>) {
    let mut dice = Dice(writer as u64 + 1);
    for call in 0..150 {
        let topic = TOPICS[dice.roll(4) as usize];
        let end = [End::Well, End::Well, End::Well, End::Failing][dice.roll(4) as usize];
        let count = dice.roll(6) as i64;
        let first = (writer * 1_000 + call) * 10;
        // What fails is told by its sign.
        let sign = if end == End::Well { 1 } else { -1 };
        let messages = (0..count).map(|number| message(topic, (first + number + 1) * sign)).collect();
        let outcome = site.append(messages, end).await;
        assert_eq!(outcome.is_ok(), end == End::Well);
        if end == End::Well {
            written.fetch_add(count as usize, Ordering::SeqCst);
        }
    }
}

/// Reads with polls of any size, dawdles, stores some of it and joins again now and then.
async fn follow_at_random(site: Arc<Site>, number: u64, all: Arc<AtomicUsize>) -> Vec<(i64, String, i64)> {
    let mut dice = Dice(number + 100);
    let topics: &[&str] = if number.is_multiple_of(2) { &TOPICS } else { &TOPICS[..1] };
    let mut follower = site.follow(&format!("follower-{number}"), topics).await;
    let (mut seen, mut stored) = (Vec::new(), 0);
    let started = Instant::now();
    loop {
        assert!(started.elapsed() < PATIENCE, "follower {number} has seen {}", seen.len());
        // Looked at before the poll: what is written between the two must still be polled.
        let all_written = all.load(Ordering::SeqCst) == usize::MAX;
        let found = poll(&mut *follower, dice.roll(40) as usize + 1, Duration::from_millis(20)).await;
        if found.is_empty() && all_written {
            return seen;
        }
        let keep = |one: Delivery| (one.position.offset, one.position.topic, one.message.event_id.raw());
        let positions = last(&found);
        seen.extend(found.into_iter().map(keep));
        match dice.roll(12) {
            0 => {
                follower.commit(&positions).await.unwrap();
                stored = if positions.is_empty() { stored } else { seen.len() };
                // Topics that are not in the last poll may be stored less far: only a whole group goes back.
                if topics.len() == 1 {
                    follower = site.follow(&format!("follower-{number}"), topics).await;
                    seen.truncate(stored);
                }
            }
            1..=3 => tokio::time::sleep(Duration::from_millis(dice.roll(30))).await,
            _ => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_missed_or_doubled_while_polls_switch_between_memory_and_table() {
    let site = Arc::new(Site::with(|options| options.tail_entries = SHORT_TAIL));
    let written = Arc::new(AtomicUsize::new(0));
    let done = Arc::new(AtomicUsize::new(0));
    let (mut writers, mut followers) = (JoinSet::new(), JoinSet::new());
    for number in 0..4 {
        let (site, done) = (Arc::clone(&site), Arc::clone(&done));
        followers.spawn(async move { (number, follow_at_random(site, number, done).await) });
    }
    for writer in 0..6 {
        writers.spawn(write_at_random(Arc::clone(&site), writer, Arc::clone(&written)));
    }
    while let Some(writer) = writers.join_next().await {
        writer.unwrap();
    }
    done.store(usize::MAX, Ordering::SeqCst);
    let table = site.db.read(|snapshot| {
        let sql = "SELECT position, topic, event_id FROM event_log ORDER BY position";
        let mut all = snapshot.prepare(sql).map_err(sql_error)?;
        let rows = all.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).map_err(sql_error)?;
        rows.collect::<Result<Vec<(i64, String, i64)>, _>>().map_err(sql_error)
    });
    let table = table.await.unwrap();
    assert_eq!(table.len(), written.load(Ordering::SeqCst));
    assert!(table.iter().all(|(_, _, event)| *event > 0), "a failed call left something in the table");
    while let Some(follower) = followers.join_next().await {
        let (number, seen) = follower.unwrap();
        let own: Vec<_> =
            table.iter().filter(|(_, topic, _)| number.is_multiple_of(2) || topic == "a").cloned().collect();
        assert_eq!(seen, own, "follower {number}");
    }
}

#[derive(Debug, Clone)]
enum Act {
    Append { topic: usize, count: i64, end: End },
    Poll { max: usize },
    Store,
    Rejoin,
    Trim,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let end = prop_oneof![4 => Just(End::Well), 1 => Just(End::Failing), 1 => Just(End::Losing)];
    let append = (0..3_usize, 0..12_i64, end).prop_map(|(topic, count, end)| Act::Append { topic, count, end });
    let poll = (1..12_usize).prop_map(|max| Act::Poll { max });
    prop::collection::vec(
        prop_oneof![4 => append, 5 => poll, 1 => Just(Act::Store), 1 => Just(Act::Rejoin), 1 => Just(Act::Trim)],
        1..60,
    )
}

/// What is in the log, and how far one follower of the first two topics has come.
#[derive(Default)]
struct Model {
    entries: Vec<(usize, i64)>,
    polled: usize,
    stored: usize,
}

impl Model {
    fn next(&self, max: usize) -> (Vec<i64>, usize) {
        let of_follower = self.entries.iter().enumerate().skip(self.polled).filter(|(_, (topic, _))| *topic < 2);
        let found: Vec<_> = of_follower.take(max).map(|(place, (_, number))| (place, *number)).collect();
        let polled = found.last().map_or(self.polled, |(place, _)| place + 1);
        (found.into_iter().map(|(_, number)| number).collect(), polled)
    }
}

async fn act_out(acts: Vec<Act>) {
    let site = Site::with(|options| options.tail_entries = 8);
    let mut follower = site.follow("followers", &TOPICS[..2]).await;
    let (mut model, mut next, mut polled) = (Model::default(), 0, Vec::new());
    for act in acts {
        match act {
            Act::Append { topic, count, end } => {
                let first = next;
                next += count;
                let messages = (first..next).map(|number| message(TOPICS[topic], number)).collect();
                let outcome = site.append(messages, end).await;
                if outcome.is_ok() {
                    model.entries.extend((first..next).map(|number| (topic, number)));
                }
                assert_eq!(outcome.is_ok(), end == End::Well);
            }
            Act::Poll { max } => {
                let found = poll(&mut *follower, max, Duration::ZERO).await;
                let (expected, place) = model.next(max);
                assert_eq!(numbers(&found), expected);
                model.polled = place;
                polled.extend(found);
            }
            Act::Store => {
                follower.commit(&last(&polled)).await.unwrap();
                model.stored = model.polled;
            }
            Act::Rejoin => {
                follower = site.follow("followers", &TOPICS[..2]).await;
                model.polled = model.stored;
                polled.clear();
            }
            Act::Trim => {
                let options = RetentionOptions { keep_rows: 0, ..RetentionOptions::default() };
                site.log.trim(options, site.log.db.clock().now()).await.unwrap();
            }
        }
    }
    let rest = poll(&mut *follower, 1_000, Duration::ZERO).await;
    assert_eq!(numbers(&rest), model.next(1_000).0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]
    #[test]
    fn each_poll_brings_exactly_what_comes_next(acts in acts()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(act_out(acts));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_keeps_up_needs_no_reader() {
    let site = Site::with(|options| options.readers = 1);
    let mut follower = site.follow("followers", &["a", "b"]).await;
    assert!(poll(&mut *follower, 10, Duration::ZERO).await.is_empty());
    let (release, held) = mpsc::channel::<()>();
    let (busy, started) = tokio::sync::oneshot::channel();
    let db = site.db.clone();
    let mut reads = JoinSet::new();
    reads.spawn(async move {
        let hold = db.read(move |_| {
            let _ = busy.send(());
            let _ = held.recv_timeout(PATIENCE);
            Ok(())
        });
        hold.await.unwrap();
    });
    started.await.unwrap();
    for number in 1..=20 {
        site.log.publish(&[message("b", number)]).await.unwrap();
        let found = tokio::time::timeout(PATIENCE / 2, poll(&mut *follower, 10, PATIENCE)).await.expect("no reader");
        assert_eq!(numbers(&found), [number]);
    }
    drop(release);
    reads.join_next().await.unwrap().unwrap();
}

#[tokio::test]
async fn entries_that_came_in_by_another_way_are_found_in_the_table() {
    let site = Site::with(|_| {});
    let mut follower = site.follow("followers", &["a"]).await;
    site.log.publish(&[message("a", 1)]).await.unwrap();
    assert_eq!(numbers(&poll(&mut *follower, 10, PATIENCE).await), [1]);
    let copy = "INSERT INTO event_log (event_id, topic, key, shard, occurred_at, headers, payload)
                SELECT 2, topic, key, shard, occurred_at, headers, payload FROM event_log";
    site.db.write(Priority::Foreground, move |tx| tx.execute_batch(copy).map_err(sql_error)).await.unwrap();
    site.log.publish(&[message("a", 3)]).await.unwrap();
    let mut found = numbers(&poll(&mut *follower, 1, PATIENCE).await);
    found.extend(numbers(&poll(&mut *follower, 10, PATIENCE).await));
    assert_eq!(found, [2, 3]);
}

#[test]
fn only_the_topics_that_got_something_wake_their_followers() {
    let tail = Arc::new(Tail::after(0, 8, 1 << 20));
    let (busy, quiet) = (tail.follow(&["a".to_owned()]), tail.follow(&["b".to_owned(), "c".to_owned()]));
    let is_woken = |follower: &crate::log::tail::Follower| {
        let mut woken = std::pin::pin!(follower.woken());
        woken.as_mut().poll(&mut Context::from_waker(Waker::noop())) == Poll::Ready(())
    };
    for position in 1..=100 {
        tail.push(vec![(position, message("a", position))], position);
        assert!(is_woken(&busy) && !is_woken(&quiet));
    }
    // However much the others got, a quiet topic stays in reach.
    let cursor = |topic: &str, polled| [Cursor { topic: topic.to_owned(), polled }];
    assert!(matches!(tail.take(&cursor("b", 0), 10, 1), Taken::Entries(found) if found.is_empty()));
    assert!(matches!(tail.take(&cursor("a", 91), 10, 1 << 20), Taken::OutOfReach));
    assert!(matches!(tail.take(&cursor("a", 92), 10, 1 << 20), Taken::Entries(found) if found.len() == 8));
}

#[test]
fn the_tail_keeps_to_its_bytes() {
    let tail = Arc::new(Tail::after(0, 1_000, 10_000));
    let _follower = tail.follow(&["a".to_owned()]);
    for position in 1..=100 {
        let large = Message { payload: Bytes::from(vec![0; 1_000]), ..message("a", position) };
        tail.push(vec![(position, large)], position);
    }
    let after = |polled| tail.take(&[Cursor { topic: "a".to_owned(), polled }], 1_000, 1 << 20);
    assert!(matches!(after(92), Taken::OutOfReach));
    assert!(matches!(after(93), Taken::Entries(found) if found.len() == 7));
}
