//! When offsets are stored: seldom while it goes on, at once when somebody else or nobody goes on; and how a level rests.

use super::*;

const INTERVAL_MS: u64 = 100;

fn patient() -> ConsumerConfig {
    ConsumerConfig { commit_interval_ms: INTERVAL_MS, ..config() }
}

fn done(count: usize) -> Input {
    Input::Handled(vec![Ok(Handled::Done); count])
}

fn came(numbers: &[i64]) -> Input {
    Input::Polled(Ok(Polled::Deliveries(numbers.iter().copied().map(delivery).collect())))
}

#[test]
fn what_is_done_is_stored_when_the_interval_is_over_and_reading_goes_on_meanwhile() {
    let mut machine = handling_with(patient(), &[1, 2]);
    let effects = machine.step(done(2), at(10));
    assert!(matches!(wanted(&effects), Some(Effect::Poll { max: 256, max_wait_ms: INTERVAL_MS })), "{effects:?}");
    let effects = machine.step(came(&[3, 4, 5]), at(70));
    assert!(matches!(wanted(&effects), Some(Effect::Handle(new)) if new.len() == 3), "handed in once: {effects:?}");
    let effects = machine.step(done(3), at(80));
    assert!(matches!(wanted(&effects), Some(Effect::Poll { max: 256, max_wait_ms: 30 })), "{effects:?}");
    assert!(!machine.is_idle(), "not before it is stored");
    assert_eq!(committed_offsets(&machine.step(came(&[]), at(110))), [5]);
    let effects = machine.step(Input::Committed(Ok(())), at(111));
    assert!(matches!(wanted(&effects), Some(Effect::Poll { max_wait_ms: 500, .. })), "{effects:?}");
    assert!(machine.is_idle());
}

#[test]
fn a_steady_stream_does_not_put_off_the_storing() {
    let mut machine = handling_with(patient(), &[1]);
    let (mut now, mut stored, mut number) = (0, Vec::new(), 1);
    while now < 10 * INTERVAL_MS {
        let mut effects = machine.step(done(1), at(now));
        let offsets = committed_offsets(&effects);
        if !offsets.is_empty() {
            stored.extend(offsets);
            effects = machine.step(Input::Committed(Ok(())), at(now));
        }
        assert!(matches!(wanted(&effects), Some(Effect::Poll { .. })), "{effects:?}");
        (now, number) = (now + 5, number + 1);
        let effects = machine.step(came(&[number]), at(now));
        assert!(matches!(wanted(&effects), Some(Effect::Handle(_))), "{effects:?}");
    }
    assert!((9..=10).contains(&stored.len()), "{stored:?}");
}

#[test]
fn an_offset_that_could_not_be_stored_is_stored_after_the_pause() {
    let mut machine = handling_with(patient(), &[1]);
    machine.step(done(1), at(0));
    assert_eq!(committed_offsets(&machine.step(came(&[]), at(INTERVAL_MS))), [1]);
    machine.step(Input::Committed(Err(Outage::new("log", "away"))), at(INTERVAL_MS));
    let wake = machine.next_wake_ms().unwrap();
    assert_eq!(committed_offsets(&machine.step(Input::Tick, at(wake))), [1]);
}

#[test]
fn the_end_stores_what_is_done_at_once() {
    let mut machine = handling_with(patient(), &[1, 2]);
    machine.step(done(2), at(0));
    assert!(machine.step(Input::Stop, at(1)).is_empty(), "the poll is still under way");
    assert_eq!(committed_offsets(&machine.step(came(&[]), at(1))), [2]);
    assert!(matches!(machine.step(Input::Committed(Ok(())), at(2))[..], [Effect::Stopped]));
}

#[test]
fn a_partition_that_goes_to_somebody_else_is_stored_at_once() {
    let mut machine = handling_with(patient(), &[1, 2]);
    machine.step(done(2), at(0));
    let effects = machine.step(Input::Polled(Ok(Polled::Revoked(vec![("t".into(), 0)]))), at(1));
    assert_eq!(committed_offsets(&effects), [2]);
}

#[test]
fn a_gap_is_not_passed_when_the_interval_is_over() {
    let mut machine = handling_with(patient(), &[1, 2, 3]);
    let answers = vec![Ok(Handled::Done), failed(), Ok(Handled::Done)];
    machine.step(Input::Handled(answers), at(0));
    machine.step(came(&[]), at(60));
    machine.step(Input::Handled(vec![failed()]), at(60));
    let effects = machine.step(came(&[]), at(INTERVAL_MS));
    assert_eq!(committed_offsets(&effects), [1], "{effects:?}");
}

#[test]
fn a_level_that_rests_finishes_and_stores_and_polls_nothing() {
    let mut machine = handling_with(patient(), &[1, 2]);
    assert!(machine.step(Input::Rest, at(0)).is_empty(), "the handler is at work");
    assert_eq!(committed_offsets(&machine.step(done(2), at(1))), [2]);
    assert!(machine.step(Input::Committed(Ok(())), at(2)).is_empty());
    assert!(machine.step(Input::Tick, at(60_000)).is_empty());
    assert_eq!(machine.next_wake_ms(), None);
    assert!(matches!(wanted(&machine.step(Input::GoOn, at(60_001))), Some(Effect::Poll { .. })));
}

#[test]
fn a_level_that_rests_still_retries_what_it_has_and_stops_when_told() {
    let mut machine = handling_with(patient(), &[1]);
    machine.step(Input::Rest, at(0));
    assert!(machine.step(Input::Handled(vec![failed()]), at(0)).iter().all(|effect| matches!(effect, Effect::Note(_))));
    let wake = machine.next_wake_ms().unwrap();
    assert!(matches!(wanted(&machine.step(Input::Tick, at(wake))), Some(Effect::Handle(_))));
    assert_eq!(committed_offsets(&machine.step(done(1), at(wake))), [1]);
    machine.step(Input::Committed(Ok(())), at(wake));
    assert!(matches!(machine.step(Input::Stop, at(wake))[..], [Effect::Stopped]));
}

#[test]
fn the_work_grows_with_the_deliveries_and_not_with_their_square() {
    // At 65,536 in flight a square would take minutes; a batch in use is a thirtieth of that.
    const BATCH: usize = 65_536;
    let config = ConsumerConfig { batch_max: BATCH, ..patient() };
    let mut machine = Machine::new(config, None, Chance::seeded(3));
    machine.step(Input::Tick, at(0));
    machine.step(Input::Subscribed(Ok(())), at(0));
    let started = tokio::time::Instant::now();
    for batch in 0..4 {
        let numbers: Vec<i64> = (0..BATCH as i64).map(|number| batch * BATCH as i64 + number).collect();
        let effects = machine.step(came(&numbers), at(0));
        assert!(matches!(wanted(&effects), Some(Effect::Handle(all)) if all.len() == BATCH));
        // The first fails, so that all the others are done behind a gap.
        let answers = std::iter::once(failed()).chain(vec![Ok(Handled::Done); BATCH - 1]).collect();
        machine.step(Input::Handled(answers), at(0));
        let effects = machine.step(Input::Tick, at(1_000));
        assert!(matches!(wanted(&effects), Some(Effect::Handle(one)) if one.len() == 1), "{:?}", effects.len());
        machine.step(done(1), at(0));
    }
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

/// Notes what it is handed.
#[derive(Default)]
struct Noting(Mutex<Vec<i64>>);

#[async_trait]
impl Handler for Noting {
    async fn handle(&self, deliveries: &[Delivery]) -> Vec<Result<Handled, HandlerError>> {
        self.0.lock().unwrap().extend(deliveries.iter().map(|delivery| delivery.message.event_id.raw()));
        vec![Ok(Handled::Done); deliveries.len()]
    }
}

async fn eventually(what: &str, holds: impl Fn() -> bool) {
    let started = tokio::time::Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(600), "never: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_paused_consumer_reads_on_when_it_is_resumed_and_stops_while_paused() {
    let (log, handler) = (MemoryLog::default(), Arc::new(Noting::default()));
    let clock = Arc::new(TokioClock(tokio::time::Instant::now()));
    let consumer = Consumer::new(patient(), Arc::new(log.clone()), handler.clone(), clock);
    let pause = consumer.pause_handle();
    let supervisor = Supervisor::new("test");
    supervisor.spawn("consumer", OnError::Restart, move |stop| consumer.clone().run(stop));
    let stored = || log.0.lock().unwrap().stored.get("t").copied();
    log.publish(&[message(1, "t")]).await.unwrap();
    eventually("the first is stored", || stored() == Some(0)).await;

    pause.pause();
    assert!(pause.is_paused());
    log.publish(&[message(2, "t")]).await.unwrap();
    // Time stands still until everybody waits, so this is a fact and not a guess.
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(*handler.0.lock().unwrap(), [1]);

    pause.resume();
    eventually("the second is stored", || stored() == Some(1)).await;
    assert_eq!(*handler.0.lock().unwrap(), [1, 2], "each once");
    pause.pause();
    assert!(supervisor.shutdown(Duration::from_secs(10)).await.aborted.is_empty());
}
