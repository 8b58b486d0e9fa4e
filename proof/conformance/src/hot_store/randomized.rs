//! The real consumer and service over the store under test, fed a week of events in random order, with duplicates, garbage,
//! restarts and days that become final meanwhile, and compared with the recount at several points.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use jiff::tz::TimeZone;
use madang_event::Topic;
use madang_hot_article::{HotConsumer, HotItem, HotService, Progress, SiteDays, TOP_MAX};
use madang_kernel::{EventId, Id, ManualClock, ShardId, StoreError, Timestamp};
use madang_messaging::{Delivery, Handled, Handler, HandlerError, Message, Position};

use super::HotStoreHarness;
use super::recount::{Line, Recount, truth};
use super::site::group;
use super::traffic::{DAYS, Dice, Fact, HOUR_MS, MIDNIGHTS_MS, Week, ZONE};

const SEED: u64 = 0x6d61_6461_6e67;
const EVENTS: usize = 100_000;
const BATCH_MAX: u64 = 900;
/// One message in so many is garbage.
const GARBAGE_EVERY: u64 = 5_000;
/// After so many deliveries the store is restarted, and some are delivered again.
const RESTART_EVERY: usize = 17_000;
const REPEATED_MAX: u64 = 400;
/// Comparisons, spread over all deliveries.
const COMPARISONS: usize = 8;
/// Days that become final on the way; the others stay live to the end.
const FINAL_DAYS: usize = 4;

/// A message that arrives: a fact, or bytes that mean nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arrival {
    Fact(usize),
    Garbage,
}

/// Lets so many days of the table be over.
struct Gate(AtomicUsize);

#[async_trait]
impl Progress for Gate {
    async fn caught_up(&self, before: Timestamp) -> Result<bool, StoreError> {
        let days = self.0.load(Ordering::SeqCst);
        Ok(before.as_millis() <= MIDNIGHTS_MS[days] + HOUR_MS)
    }
}

pub(super) async fn lists_agree_with_a_recount_of_a_hundred_thousand_events<H: HotStoreHarness>(harness: H) {
    let mut dice = Dice::seeded(SEED);
    let week = Week::of(EVENTS, &mut dice);
    let arrivals = arrivals(&week, &mut dice);
    let topics = Topic::ALL.map(|topic| topic.name().to_owned());
    harness.join(&group(), &topics).await;
    let mut run = Run::start(harness, &week);
    let (mut next, mut restarted, mut compared) = (0, 0, 0);
    while next < arrivals.len() {
        let end = arrivals.len().min(next + 1 + dice.below(BATCH_MAX) as usize);
        next += run.deliver(&arrivals, next, end).await;
        if next >= restarted + RESTART_EVERY {
            restarted = next;
            run.restart().await;
            next -= (dice.below(REPEATED_MAX) as usize).min(next);
        }
        if next >= (compared + 1) * arrivals.len() / COMPARISONS {
            compared += 1;
            run.compare().await;
            run.end_days(compared.saturating_sub(1).min(FINAL_DAYS)).await;
        }
    }
    run.restart().await;
    run.compare().await;
    assert!((0..DAYS.len()).all(|day| run.recount.is_final(day) == (day < FINAL_DAYS)));
    run.compare_with_truth().await;
    assert_eq!(run.harness.differences().await, Vec::<String>::new());
}

/// Every fact once, every fifth twice, in any order.
fn arrivals(week: &Week, dice: &mut Dice) -> Vec<Arrival> {
    let once = (0..week.facts.len()).map(Arrival::Fact);
    let mut arrivals: Vec<_> = once.collect();
    for _ in 0..week.facts.len() / 5 {
        arrivals.push(Arrival::Fact(dice.below(week.facts.len() as u64) as usize));
    }
    let garbage = arrivals.len() as u64 / GARBAGE_EVERY;
    arrivals.extend((0..garbage).map(|_| Arrival::Garbage));
    dice.shuffle(&mut arrivals);
    arrivals
}

struct Run<'a, H> {
    harness: H,
    week: &'a Week,
    recount: Recount,
    gate: Arc<Gate>,
    clock: Arc<ManualClock>,
    consumer: HotConsumer,
    service: HotService,
    /// The last offset applied in each topic.
    applied: HashMap<String, i64>,
}

impl<'a, H: HotStoreHarness> Run<'a, H> {
    fn start(harness: H, week: &'a Week) -> Self {
        let gate = Arc::new(Gate(AtomicUsize::new(0)));
        // Half an hour before midnight, so that all seven days are shown.
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(MIDNIGHTS_MS[7] - HOUR_MS / 2)));
        let (consumer, service) = open(&harness, &clock, &gate);
        let (recount, applied) = (Recount::default(), HashMap::new());
        Self { harness, week, recount, gate, clock, consumer, service, applied }
    }

    async fn restart(&mut self) {
        self.harness.restart().await;
        (self.consumer, self.service) = open(&self.harness, &self.clock, &self.gate);
        for (topic, offset) in &self.applied {
            let stored = self.harness.stored_offset(&group(), topic).await;
            assert!(stored.is_none_or(|stored| stored == *offset), "{topic}: {stored:?} instead of {offset}");
        }
    }

    /// Hands in a batch and returns how many of it were answered.
    async fn deliver(&mut self, arrivals: &[Arrival], first: usize, end: usize) -> usize {
        let batch: Vec<_> = (first..end).map(|place| delivery(arrivals[place], place, self.week)).collect();
        let answers = self.consumer.handle(&batch).await;
        assert!(!answers.is_empty());
        for (answer, place) in answers.iter().zip(first..) {
            match (arrivals[place], answer) {
                (Arrival::Fact(fact), Ok(handled)) => {
                    self.recount.deliver(fact);
                    if *handled == Handled::DoneWithOffset {
                        let position = &batch[place - first].position;
                        let applied = self.applied.entry(position.topic.clone()).or_insert(0);
                        *applied = position.offset.max(*applied);
                    }
                }
                (Arrival::Garbage, Err(HandlerError::Undecodable(_))) => {}
                (_, answer) => panic!("delivery {place} was answered with {answer:?}"),
            }
        }
        answers.len()
    }

    /// Lets the first days be over, and with them their lists final.
    async fn end_days(&mut self, over: usize) {
        self.gate.0.store(over, Ordering::SeqCst);
        for day in self.service.finalise_due().await.unwrap().finalised {
            let day = DAYS.iter().position(|date| *date == day.to_string()).unwrap();
            assert!(day < over, "day {day} was over too early");
            self.recount.finalise(day, self.week);
        }
        assert!((0..over).all(|day| self.recount.is_final(day)));
    }

    /// Compares what people see, and behind it the whole ranking of each day.
    async fn compare(&self) {
        let counted = self.recount.count(self.week);
        let lists = self.service.days().await.unwrap();
        assert!(lists.iter().map(|list| list.date.to_string()).eq(DAYS.iter().rev().copied()));
        for (day, list) in lists.into_iter().rev().enumerate() {
            assert_eq!(list.is_final, self.recount.is_final(day), "{}", list.date);
            assert_eq!(lines(&list.items), counted.lists[day], "{}", list.date);
            let ranking = self.harness.store().top(list.date, TOP_MAX).await.unwrap();
            assert_eq!(lines(&ranking), counted.rankings[day], "{}", list.date);
        }
    }

    /// With everything delivered, the days that are not final show what people really did.
    async fn compare_with_truth(&self) {
        for (day, date) in DAYS.iter().enumerate().skip(FINAL_DAYS) {
            let ranking = self.harness.store().top(date.parse().unwrap(), TOP_MAX).await.unwrap();
            let truth = truth(day, self.week);
            assert!(truth.len() > 50, "{date} has something to compare");
            assert_eq!(lines(&ranking), truth, "{date}");
        }
    }
}

fn open<H: HotStoreHarness>(harness: &H, clock: &Arc<ManualClock>, gate: &Arc<Gate>) -> (HotConsumer, HotService) {
    let days = SiteDays::new(TimeZone::get(ZONE).unwrap());
    let store = harness.store();
    let consumer = HotConsumer::new(store.clone(), clock.clone(), days.clone(), group());
    (consumer, HotService::new(store, clock.clone(), days, gate.clone()))
}

fn delivery(arrival: Arrival, place: usize, week: &Week) -> Delivery {
    let (topic, key, payload, occurred_ms) = match arrival {
        Arrival::Fact(fact) => {
            let Fact { topic, article, payload, occurred_ms, .. } = &week.facts[fact];
            (*topic, article.to_string(), payload.clone(), *occurred_ms)
        }
        Arrival::Garbage => (Topic::Like.name(), "?".to_owned(), Bytes::from_static(b"{\"event_id\":"), 0),
    };
    let message = Message {
        event_id: EventId::from_raw(place as i64 + 1),
        topic: topic.to_owned(),
        key,
        shard: ShardId::HOME,
        occurred_at: Timestamp::from_millis(occurred_ms),
        headers: Vec::new(),
        payload,
    };
    let position = Position { topic: topic.to_owned(), partition: 0, offset: place as i64 + 1 };
    Delivery { position, message }
}

fn lines(items: &[HotItem]) -> Vec<Line> {
    let line =
        |item: &HotItem| (item.article_id.raw(), item.score, [item.like_count, item.comment_count, item.view_count]);
    items.iter().map(line).collect()
}
