//! What the log refuses: the dead letters get its beginning, and where they refuse even that, the level waits longer and longer,
//! says so once, and passes over the record when an operator says so. And the lag, which grows while nothing is done.

use super::*;

fn rejected() -> Input {
    Input::Published(Ok(vec![PublishOutcome::Rejected("larger than 5 bytes".into())]))
}

fn published(effects: &[Effect]) -> &Message {
    let Some(Effect::Publish(messages)) = wanted(effects) else { panic!("{effects:?}") };
    &messages[0]
}

fn notes(effects: &[Effect]) -> Vec<&Note> {
    effects.iter().filter_map(|effect| if let Effect::Note(note) = effect { Some(note) } else { None }).collect()
}

fn undecodable() -> Input {
    Input::Handled(vec![Err(HandlerError::Undecodable("no event".into()))])
}

/// A level whose first record the dead letters refuse, in every form.
fn stuck() -> Machine {
    let mut machine = handling(&[1]);
    machine.step(undecodable(), at(0));
    machine.step(rejected(), at(0));
    let effects = machine.step(rejected(), at(0));
    let record = Position { topic: "t".into(), partition: 0, offset: 1 };
    assert!(matches!(notes(&effects)[..], [Note::Stuck { record: at, .. }] if *at == record), "{effects:?}");
    machine
}

#[test]
fn what_the_dead_letters_refuse_whole_they_get_by_its_beginning() {
    let mut machine = handling(&[1, 2]);
    let both = vec![Err(HandlerError::Undecodable("no event".into())), Ok(Handled::Done)];
    assert_eq!(published(&machine.step(Input::Handled(both), at(0))).payload, message(1, "t").payload);
    let effects = machine.step(rejected(), at(1));
    let letter = published(&effects);
    assert_eq!((letter.topic.as_str(), letter.header(header::RECORD)), ("t.g.dlq", Some("t/0/1")));
    let effects = machine.step(Input::Published(Ok(vec![PublishOutcome::Published])), at(2));
    assert!(matches!(notes(&effects)[..], [Note::DeadLettered { .. }]), "{effects:?}");
    assert_eq!(committed_offsets(&effects), [2], "and nobody waits behind it");
}

#[test]
fn where_a_record_was_read_says_where_it_belongs_and_not_what_its_writer_put_on_it() {
    let mut machine = Machine::new(config(), None, Chance::seeded(3));
    machine.step(Input::Tick, at(0));
    machine.step(Input::Subscribed(Ok(())), at(0));
    let mut forged = delivery(1);
    forged.message.set_header(header::ORIGINAL_TOPIC, "no topic at all");
    machine.step(Input::Polled(Ok(Polled::Deliveries(vec![forged]))), at(0));
    assert_eq!(published(&machine.step(undecodable(), at(0))).topic, "t.g.dlq");
}

#[test]
fn a_level_that_is_stuck_says_so_once_and_asks_less_and_less_often() {
    let mut machine = stuck();
    let (mut now_ms, mut asked, mut waits) = (0, 0, Vec::new());
    while now_ms < 193_000 {
        let wake_ms = machine.next_wake_ms().unwrap();
        waits.push(wake_ms - now_ms);
        now_ms = wake_ms;
        let effects = machine.step(Input::Tick, at(now_ms));
        assert!(notes(&effects).is_empty() && wanted(&effects).is_some(), "{effects:?}");
        let effects = machine.step(rejected(), at(now_ms));
        assert!(notes(&effects).is_empty(), "said before: {effects:?}");
        asked += 1;
    }
    println!("in 193 s it asked {asked} times, and said once that it is stuck");
    assert!(asked < 60, "{asked}");
    assert!(waits[0] <= 100 && *waits.last().unwrap() >= 5_000, "{waits:?}");
}

#[test]
fn a_record_that_an_operator_gave_up_is_passed_over() {
    let mut machine = stuck();
    let record = Position { topic: "t".into(), partition: 0, offset: 1 };
    let effects = machine.step(Input::Skip(vec![record.clone()]), at(10));
    assert_eq!(notes(&effects), [&Note::Unstuck, &Note::Skipped { record, key: "k1".into() }]);
    assert_eq!(committed_offsets(&effects), [1]);
    assert!(matches!(wanted(&machine.step(Input::Committed(Ok(())), at(11))), Some(Effect::Poll { .. })));
    // One that comes later is not even handed in.
    let later = Position { topic: "t".into(), partition: 0, offset: 3 };
    machine.step(Input::Skip(vec![later]), at(12));
    let effects = machine.step(Input::Polled(Ok(Polled::Deliveries(vec![delivery(2), delivery(3)]))), at(13));
    assert!(matches!(wanted(&effects), Some(Effect::Handle(handed)) if handed.len() == 1), "{effects:?}");
}

#[test]
fn a_record_is_not_passed_over_while_it_is_being_published() {
    let mut machine = handling(&[1]);
    machine.step(undecodable(), at(0));
    let record = Position { topic: "t".into(), partition: 0, offset: 1 };
    assert!(machine.step(Input::Skip(vec![record]), at(1)).is_empty());
    let effects = machine.step(rejected(), at(2));
    assert!(notes(&effects).iter().any(|note| matches!(note, Note::Skipped { .. })), "{effects:?}");
}

#[test]
fn the_lag_grows_while_nothing_is_applied_and_is_gone_with_what_caused_it() {
    let mut machine = handling(&[1]);
    assert_eq!(machine.lag_ms(at(7_000)), 7_000, "the handler has not answered");
    let outage = || Input::Handled(vec![Err(Outage::new("database", "gone").into())]);
    machine.step(outage(), at(8_000));
    assert_eq!(machine.lag_ms(at(20_000)), 20_000, "nothing was applied, and that is what it says");
    machine.step(Input::Tick, at(20_000));
    machine.step(Input::Handled(vec![Ok(Handled::Done)]), at(21_000));
    assert_eq!(machine.lag_ms(at(21_000)), 0);
    machine.step(Input::Committed(Ok(())), at(21_000));
    machine.step(Input::Polled(Err(Outage::new("log", "gone"))), at(22_000));
    assert_eq!(machine.lag_ms(at(30_000)), 8_000, "nobody can tell what the log has");
    machine.step(Input::Tick, at(30_000));
    machine.step(Input::Polled(Ok(Polled::Deliveries(Vec::new()))), at(31_000));
    assert_eq!(machine.lag_ms(at(31_400)), 0);
    machine.step(Input::Rest, at(32_000));
    machine.step(Input::Polled(Ok(Polled::Deliveries(Vec::new()))), at(32_000));
    assert_eq!(machine.lag_ms(at(40_000)), 8_000, "nor while it rests");
}
