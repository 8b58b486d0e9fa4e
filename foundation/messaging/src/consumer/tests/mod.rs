//! What a level does with each answer, step by step, and one message all the way up the ladder through the loop.

mod outage;
mod storing;
mod stuck;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use madang_kernel::{Clock, EventId, Id, ShardId, SystemClock, Timestamp};

use super::*;
use crate::{
    Chance, Delivery, EventLog, GroupId, HandlerError, Message, Moment, OnError, Outage, Polled, Position,
    PublishOutcome, Subscription, Supervisor, header,
};

fn at(ms: u64) -> Moment {
    Moment::new(ms, Timestamp::from_millis(ms as i64))
}

fn message(number: i64, topic: &str) -> Message {
    Message {
        event_id: EventId::from_raw(number),
        topic: topic.into(),
        key: format!("k{number}"),
        shard: ShardId::HOME,
        occurred_at: Timestamp::from_millis(0),
        headers: Vec::new(),
        payload: Bytes::from_static(b"\xfe raw"),
    }
}

fn delivery(number: i64) -> Delivery {
    let position = Position { topic: "t".into(), partition: 0, offset: number };
    Delivery { position, message: message(number, "t") }
}

/// Stores after every batch.
fn config() -> ConsumerConfig {
    ConsumerConfig { commit_interval_ms: 0, ..ConsumerConfig::new(GroupId::new("g"), vec!["t".into()]) }
}

/// A level that has polled deliveries with these numbers and handed them in.
fn handling(numbers: &[i64]) -> Machine {
    handling_with(config(), numbers)
}

fn handling_with(config: ConsumerConfig, numbers: &[i64]) -> Machine {
    let mut machine = Machine::new(config, None, Chance::seeded(3));
    assert!(matches!(machine.step(Input::Tick, at(0))[..], [Effect::Subscribe]));
    assert!(matches!(machine.step(Input::Subscribed(Ok(())), at(0))[..], [Effect::Poll { max: 256, .. }]));
    let deliveries = numbers.iter().copied().map(delivery).collect();
    let effects = machine.step(Input::Polled(Ok(Polled::Deliveries(deliveries))), at(0));
    assert!(matches!(&effects[..], [Effect::Handle(handed)] if handed.len() == numbers.len()), "{effects:?}");
    machine
}

fn failed() -> Result<Handled, HandlerError> {
    Err(HandlerError::Failed("no".into()))
}

fn wanted(effects: &[Effect]) -> Option<&Effect> {
    effects.iter().find(|effect| !matches!(effect, Effect::Note(_)))
}

fn committed_offsets(effects: &[Effect]) -> Vec<i64> {
    match wanted(effects) {
        Some(Effect::Commit(positions)) => positions.iter().map(|position| position.offset).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn the_offset_is_stored_after_the_work() {
    let mut machine = handling(&[1, 2]);
    let effects = machine.step(Input::Handled(vec![Ok(Handled::Done), Ok(Handled::Done)]), at(1));
    assert_eq!(committed_offsets(&effects), [2]);
    assert!(matches!(wanted(&machine.step(Input::Committed(Ok(())), at(2))), Some(Effect::Poll { .. })));
}

#[test]
fn what_follows_a_batch_gathers_for_a_moment() {
    let gathers = || ConsumerConfig { gather_ms: 20, ..config() };
    let done = |count: usize| Input::Handled((0..count).map(|_| Ok(Handled::DoneWithOffset)).collect());
    let mut machine = handling_with(gathers(), &[1]);
    assert!(wanted(&machine.step(done(1), at(5))).is_none(), "not full, and handed in at 0");
    assert_eq!(machine.next_wake_ms(), Some(20));
    assert!(matches!(wanted(&machine.step(Input::Tick, at(20))), Some(Effect::Poll { .. })));
    // What comes alone waits for nothing, and a full batch is followed by the next.
    let polled = Input::Polled(Ok(Polled::Deliveries((2..258).map(delivery).collect())));
    assert!(matches!(wanted(&machine.step(polled, at(400))), Some(Effect::Handle(_))));
    assert!(matches!(wanted(&machine.step(done(256), at(401))), Some(Effect::Poll { .. })));
    // Whoever stops meanwhile is not held up.
    let mut machine = handling_with(gathers(), &[1]);
    machine.step(done(1), at(5));
    assert!(matches!(wanted(&machine.step(Input::Stop, at(6))), Some(Effect::Stopped)));
}

#[test]
fn an_offset_stored_with_the_effect_is_not_stored_again() {
    let mut machine = handling(&[1]);
    let effects = machine.step(Input::Handled(vec![Ok(Handled::DoneWithOffset)]), at(1));
    assert!(matches!(wanted(&effects), Some(Effect::Poll { .. })), "{effects:?}");
}

#[test]
fn a_failing_message_is_tried_in_place_then_published_and_only_then_passed() {
    let mut machine = handling(&[1, 2]);
    let mut effects = machine.step(Input::Handled(vec![failed(), Ok(Handled::Done)]), at(0));
    assert!(committed_offsets(&effects).is_empty(), "nothing is stored past it");
    for ms in [1_000, 2_000] {
        assert!(matches!(wanted(&effects), Some(Effect::Poll { .. })));
        let effects_then = machine.step(Input::Polled(Ok(Polled::Deliveries(vec![]))), at(ms));
        assert!(matches!(wanted(&effects_then), Some(Effect::Handle(again)) if again.len() == 1), "{effects_then:?}");
        effects = machine.step(Input::Handled(vec![failed()]), at(ms));
    }
    let Some(Effect::Publish(messages)) = wanted(&effects) else { panic!("{effects:?}") };
    assert_eq!(messages[0].topic, "t.g.retry.5s");
    assert_eq!(messages[0].header(header::ATTEMPTS), Some("3"));
    let effects = machine.step(Input::Published(Err(Outage::new("log", "away"))), at(2_001));
    assert!(wanted(&effects).is_none(), "paused, and not passed: {effects:?}");
    let wake = machine.next_wake_ms().unwrap();
    assert!(matches!(wanted(&machine.step(Input::Tick, at(wake))), Some(Effect::Publish(_))));
    let effects = machine.step(Input::Published(Ok(vec![PublishOutcome::Published])), at(wake));
    assert_eq!(committed_offsets(&effects), [2]);
}

#[test]
fn bytes_that_nobody_can_read_go_to_the_dead_letters_at_once_as_they_are() {
    let mut machine = handling(&[1]);
    let effects = machine.step(Input::Handled(vec![Err(HandlerError::Undecodable("not json".into()))]), at(0));
    let Some(Effect::Publish(messages)) = wanted(&effects) else { panic!("{effects:?}") };
    assert_eq!((messages[0].topic.as_str(), &messages[0].payload), ("t.g.dlq", &delivery(1).message.payload));
}

#[test]
fn an_outage_counts_nothing_for_as_long_as_it_lasts() {
    let mut machine = handling(&[1]);
    let mut now = 0;
    for _ in 0..500 {
        let effects = machine.step(Input::Handled(vec![Err(Outage::new("store", "away").into())]), at(now));
        assert!(wanted(&effects).is_none(), "{effects:?}");
        now = machine.next_wake_ms().unwrap();
        assert!(matches!(wanted(&machine.step(Input::Tick, at(now))), Some(Effect::Handle(_))));
    }
    assert!(now > 600_000);
    assert_eq!(committed_offsets(&machine.step(Input::Handled(vec![Ok(Handled::Done)]), at(now))), [1]);
}

#[test]
fn a_short_answer_is_no_failure_and_no_answer_is() {
    let mut machine = handling(&[1, 2]);
    let effects = machine.step(Input::Handled(vec![Ok(Handled::DoneWithOffset)]), at(0));
    assert!(matches!(wanted(&effects), Some(Effect::Handle(rest)) if rest[0] == delivery(2)), "{effects:?}");
    machine.step(Input::Handled(vec![]), at(0));
    machine.step(Input::Handled(vec![]), at(0));
    let effects = machine.step(Input::Handled(vec![]), at(0));
    assert!(matches!(wanted(&effects), Some(Effect::Publish(_))), "{effects:?}");
}

#[test]
fn after_a_panic_each_is_tried_alone_so_that_only_the_culprit_counts() {
    let mut machine = handling(&[1, 2]);
    let effects = machine.step(Input::Panicked("boom".into()), at(0));
    assert!(matches!(wanted(&effects), Some(Effect::Handle(one)) if one[..] == [delivery(1)]), "{effects:?}");
    let effects = machine.step(Input::Panicked("boom".into()), at(0));
    assert!(matches!(&effects[0], Effect::Note(Note::RetriedInPlace(1))), "{effects:?}");
}

#[test]
fn a_rung_waits_for_its_head_and_goes_on_polling_meanwhile() {
    let mut machine = Machine::new(config(), Some(0), Chance::seeded(3));
    machine.step(Input::Tick, at(0));
    machine.step(Input::Subscribed(Ok(())), at(0));
    let mut waiting = delivery(1);
    waiting.message.set_header(header::NOT_BEFORE_MS, "5000");
    let effects = machine.step(Input::Polled(Ok(Polled::Deliveries(vec![waiting]))), at(0));
    assert!(matches!(wanted(&effects), Some(Effect::Poll { .. })));
    let effects = machine.step(Input::Polled(Ok(Polled::Deliveries(vec![]))), at(4_999));
    assert!(matches!(wanted(&effects), Some(Effect::Poll { max_wait_ms: 1, .. })), "{effects:?}");
    let effects = machine.step(Input::Polled(Ok(Polled::Deliveries(vec![]))), at(5_000));
    assert!(matches!(wanted(&effects), Some(Effect::Handle(_))));
}

#[test]
fn nothing_behind_a_dropped_delivery_is_stored() {
    // Revoked while the first waits for another attempt and the second is done.
    let mut machine = handling(&[1, 2]);
    machine.step(Input::Handled(vec![failed(), Ok(Handled::Done)]), at(0));
    let effects = machine.step(Input::Polled(Ok(Polled::Revoked(vec![("t".into(), 0)]))), at(1));
    assert!(matches!(wanted(&effects), Some(Effect::Poll { .. })), "{effects:?}");
    assert!(machine.is_idle());
    // The same at the end.
    let mut machine = handling(&[1, 2, 3]);
    machine.step(Input::Stop, at(0));
    let effects = machine.step(Input::Handled(vec![Ok(Handled::Done), failed(), Ok(Handled::Done)]), at(1));
    assert_eq!(committed_offsets(&effects), [1]);
    assert!(matches!(machine.step(Input::Committed(Ok(())), at(2))[..], [Effect::Stopped]));
}

#[test]
fn a_group_that_fell_behind_rebuilds_before_it_goes_on() {
    let mut machine = Machine::new(config(), None, Chance::seeded(3));
    machine.step(Input::Tick, at(0));
    machine.step(Input::Subscribed(Ok(())), at(0));
    assert!(matches!(wanted(&machine.step(Input::Polled(Ok(Polled::FellBehind)), at(0))), Some(Effect::Rebuild)));
    machine.step(Input::Rebuilt(Err(Outage::new("owner", "away"))), at(0));
    let wake = machine.next_wake_ms().unwrap();
    assert!(matches!(wanted(&machine.step(Input::Tick, at(wake))), Some(Effect::Rebuild)));
    assert!(matches!(wanted(&machine.step(Input::Rebuilt(Ok(())), at(wake))), Some(Effect::Poll { .. })));
}

/// A log in memory with one partition a topic; enough to run the loop.
#[derive(Default, Clone)]
struct MemoryLog(Arc<Mutex<Topics>>);

#[derive(Default)]
struct Topics {
    messages: BTreeMap<String, Vec<Message>>,
    stored: BTreeMap<String, i64>,
    is_away: bool,
}

impl Topics {
    fn is_there(&self) -> Result<(), Outage> {
        if self.is_away { Err(Outage::new("log", "away")) } else { Ok(()) }
    }
}

struct Reader {
    log: MemoryLog,
    next: BTreeMap<String, usize>,
}

#[async_trait]
impl EventLog for MemoryLog {
    async fn publish(&self, messages: &[Message]) -> Result<Vec<PublishOutcome>, Outage> {
        let mut topics = self.0.lock().unwrap();
        topics.is_there()?;
        for message in messages {
            topics.messages.entry(message.topic.clone()).or_default().push(message.clone());
        }
        Ok(vec![PublishOutcome::Published; messages.len()])
    }
    async fn subscribe(&self, _: &GroupId, topics: &[String]) -> Result<Box<dyn Subscription>, Outage> {
        self.0.lock().unwrap().is_there()?;
        Ok(Box::new(Reader { log: self.clone(), next: topics.iter().map(|topic| (topic.clone(), 0)).collect() }))
    }
}

#[async_trait]
impl Subscription for Reader {
    async fn poll(&mut self, max: usize, max_wait: Duration) -> Result<Polled, Outage> {
        let read = |next: &mut BTreeMap<String, usize>, topics: &Topics| {
            let mut deliveries = Vec::new();
            for (topic, next) in next {
                for message in topics.messages.get(topic).into_iter().flatten().skip(*next).take(max) {
                    let position = Position { topic: topic.clone(), partition: 0, offset: *next as i64 };
                    deliveries.push(Delivery { position, message: message.clone() });
                    *next += 1;
                }
            }
            deliveries
        };
        self.log.0.lock().unwrap().is_there()?;
        let at_once = read(&mut self.next, &self.log.0.lock().unwrap());
        if !at_once.is_empty() {
            return Ok(Polled::Deliveries(at_once));
        }
        tokio::time::sleep(max_wait).await;
        Ok(Polled::Deliveries(read(&mut self.next, &self.log.0.lock().unwrap())))
    }
    async fn commit(&mut self, done: &[Position]) -> Result<(), Outage> {
        let mut topics = self.log.0.lock().unwrap();
        topics.is_there()?;
        for position in done {
            topics.stored.insert(position.topic.clone(), position.offset);
        }
        Ok(())
    }
}

/// Applies everything but number 2, over which it panics.
#[derive(Default)]
struct Picky(Mutex<Vec<i64>>);

#[async_trait]
impl Handler for Picky {
    async fn handle(&self, deliveries: &[Delivery]) -> Vec<Result<Handled, HandlerError>> {
        assert!(deliveries.iter().all(|delivery| delivery.message.event_id.raw() != 2), "cannot stand two");
        self.0.lock().unwrap().extend(deliveries.iter().map(|delivery| delivery.message.event_id.raw()));
        deliveries.iter().map(|_| Ok(Handled::Done)).collect()
    }
}

/// The wall clock of a test whose time is paused: it moves with tokio's.
struct TokioClock(tokio::time::Instant);

impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        SystemClock.now().plus(self.0.elapsed())
    }
}

#[tokio::test(start_paused = true)]
async fn one_message_climbs_the_whole_ladder_while_the_others_pass() {
    let (log, handler) = (MemoryLog::default(), Arc::new(Picky::default()));
    log.publish(&[message(1, "t"), message(2, "t"), message(3, "t")]).await.unwrap();
    let clock = Arc::new(TokioClock(tokio::time::Instant::now()));
    let config = ConsumerConfig::new(GroupId::new("g"), vec!["t".into()]);
    let consumer = Consumer::new(config, Arc::new(log.clone()), handler.clone(), clock);
    let supervisor = Supervisor::new("test");
    supervisor.spawn("consumer", OnError::Restart, move |stop| consumer.clone().run(stop));
    let started = tokio::time::Instant::now();
    let dead = loop {
        if let Some(dead) = log.0.lock().unwrap().messages.get("t.g.dlq") {
            break dead.clone();
        }
        assert!(started.elapsed() < Duration::from_secs(600), "it never reached the dead letters");
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    assert!(started.elapsed() >= Duration::from_secs(65), "5 s on the first rung, 1 min on the second");
    assert_eq!((dead.len(), dead[0].event_id.raw(), dead[0].header(header::ATTEMPTS)), (1, 2, Some("9")));
    assert_eq!(*handler.0.lock().unwrap(), [1, 3]);
    assert!(supervisor.shutdown(Duration::from_secs(10)).await.aborted.is_empty());
    assert_eq!(log.0.lock().unwrap().stored["t"], 2);
}
