//! What the relay does with each answer, step by step.

mod whole_loop;

use bytes::Bytes;
use madang_kernel::{EventId, Id, ShardId, Timestamp};

use super::*;
use crate::{Assignment, Chance, Message, Moment, Outage, OutboxRow, PublishOutcome};

fn at(ms: u64) -> Moment {
    Moment::new(ms, Timestamp::from_millis(0))
}

fn message(number: i64) -> Message {
    Message {
        event_id: EventId::from_raw(number),
        topic: "t".into(),
        key: format!("k{number}"),
        shard: ShardId::new((number % 64) as u8).unwrap(),
        occurred_at: Timestamp::from_millis(0),
        headers: Vec::new(),
        payload: Bytes::new(),
    }
}

fn row(number: i64, attempts: u32) -> OutboxRow {
    OutboxRow { message: message(number), attempts }
}

fn ids(numbers: &[i64]) -> Vec<EventId> {
    numbers.iter().copied().map(EventId::from_raw).collect()
}

fn away() -> Outage {
    Outage::new("log", "refused")
}

fn relay() -> Machine {
    let config = RelayConfig { claim_shards_max: 64, delete_after_ms: 0, ..RelayConfig::default() };
    Machine::new(config, Chance::seeded(7))
}

fn serving() -> Machine {
    let mut machine = relay();
    let effects = machine.step(Input::Assigned(Assignment::ALL), at(0));
    assert!(matches!(&effects[..], [Effect::Claim { limit: 256, .. }]), "{effects:?}");
    machine
}

fn claimed(machine: &mut Machine, rows: Vec<OutboxRow>, ms: u64) -> Vec<Effect> {
    machine.step(Input::Claimed(Ok(rows)), at(ms))
}

fn published(count: usize) -> Input {
    Input::Published(Ok(vec![PublishOutcome::Published; count]))
}

fn publishes(effects: &[Effect]) -> Vec<EventId> {
    let batches = effects.iter().filter_map(|effect| match effect {
        Effect::Publish(messages) => Some(messages.iter().map(|message| message.event_id)),
        _ => None,
    });
    batches.flatten().collect()
}

fn write(effects: &[Effect]) -> Option<&Write> {
    effects.iter().find_map(|effect| if let Effect::Write(write) = effect { Some(write) } else { None })
}

fn notes(effects: &[Effect]) -> Vec<&Note> {
    effects.iter().filter_map(|effect| if let Effect::Note(note) = effect { Some(note) } else { None }).collect()
}

#[test]
fn what_is_handed_over_is_published_at_once_in_commit_order_and_deleted_in_one_statement() {
    let mut machine = relay();
    let effects = machine.step(Input::HandedOver(vec![message(3), message(1), message(2)]), at(0));
    assert_eq!(publishes(&effects), ids(&[3, 1, 2]));
    let later = machine.step(Input::HandedOver(vec![message(9)]), at(1));
    assert!(later.is_empty(), "one batch at a time keeps the order");
    let effects = machine.step(published(3), at(5));
    assert!(matches!(write(&effects), Some(Write::Delete(rows)) if *rows == ids(&[3, 1, 2])), "{effects:?}");
    assert_eq!(publishes(&effects), ids(&[9]), "the next batch does not wait for the delete");
}

#[test]
fn deletes_wait_for_company_and_not_for_long() {
    let config = RelayConfig { delete_after_ms: 50, batch_max: 4, ..RelayConfig::default() };
    let mut machine = Machine::new(config, Chance::seeded(7));
    machine.step(Input::HandedOver(vec![message(1)]), at(0));
    assert!(write(&machine.step(published(1), at(10))).is_none());
    machine.step(Input::HandedOver(vec![message(2)]), at(20));
    assert!(write(&machine.step(published(1), at(30))).is_none());
    assert_eq!(machine.next_wake_ms(), Some(60));
    let effects = machine.step(Input::Tick, at(60));
    assert!(matches!(write(&effects), Some(Write::Delete(rows)) if *rows == ids(&[1, 2])), "{effects:?}");
    assert_eq!(machine.next_wake_ms(), None, "nothing is due while a write is under way");
    machine.step(Input::Written(Ok(())), at(61));
    // A full statement has company enough.
    machine.step(Input::HandedOver((3..=6).map(message).collect()), at(70));
    assert!(write(&machine.step(published(4), at(75))).is_some());
    machine.step(Input::Written(Ok(())), at(76));
    // And the end waits for nobody.
    machine.step(Input::HandedOver(vec![message(7)]), at(80));
    machine.step(published(1), at(85));
    assert!(write(&machine.step(Input::Stop, at(86))).is_some());
}

#[test]
fn a_full_queue_leaves_the_rest_to_polling() {
    let mut machine = Machine::new(RelayConfig { hand_over_max: 2, ..RelayConfig::default() }, Chance::seeded(1));
    let effects = machine.step(Input::HandedOver((1..=5).map(message).collect()), at(0));
    assert_eq!(notes(&effects), [&Note::LeftToPolling(3)]);
    assert_eq!(publishes(&effects), ids(&[1, 2]));
}

#[test]
fn a_full_claim_is_followed_by_the_next_without_waiting() {
    let mut machine = serving();
    claimed(&mut machine, (1..=256).map(|number| row(number, 1)).collect(), 1);
    machine.step(published(256), at(2));
    let effects = machine.step(Input::Written(Ok(())), at(3));
    assert!(matches!(&effects[..], [Effect::Claim { .. }]), "{effects:?}");
    assert!(claimed(&mut machine, vec![], 4).iter().all(|effect| matches!(effect, Effect::Claim { .. })));
}

#[test]
fn a_claim_that_is_not_full_ends_the_round() {
    let mut machine = serving();
    assert!(claimed(&mut machine, vec![], 1).is_empty());
    assert_eq!(machine.next_wake_ms(), Some(1_000));
    assert!(matches!(&machine.step(Input::Tick, at(1_000))[..], [Effect::Claim { .. }]));
}

#[test]
fn a_row_claimed_again_while_it_is_in_flight_is_released_before_anything_else_is_claimed() {
    let claims = |effects: &[Effect]| effects.iter().any(|effect| matches!(effect, Effect::Claim { .. }));
    let mut machine = serving();
    assert_eq!(publishes(&machine.step(Input::HandedOver(vec![message(1)]), at(1))), ids(&[1]));
    let effects = claimed(&mut machine, vec![row(1, 1)], 2);
    assert!(matches!(write(&effects), Some(Write::Release(rows)) if *rows == ids(&[1])), "{effects:?}");
    assert!(!claims(&machine.step(Input::Tick, at(5_000))), "each claim counts, and one release would take back one");
    assert_eq!(machine.next_wake_ms(), None, "there is nothing to be woken for");
    assert!(claims(&machine.step(Input::Written(Ok(())), at(5_001))));
}

#[test]
fn a_full_claim_of_nothing_but_rows_in_flight_ends_the_round() {
    let mut machine = serving();
    let handed_over: Vec<_> = (0..256).map(message).collect();
    machine.step(Input::HandedOver(handed_over), at(1));
    let mut effects = claimed(&mut machine, (0..256).map(|number| row(number, 1)).collect(), 2);
    effects.extend(machine.step(Input::Written(Ok(())), at(3)));
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Claim { .. })), "{effects:?}");
}

#[test]
fn a_refused_message_parks_its_key_and_the_others_go_on() {
    let mut machine = serving();
    claimed(&mut machine, vec![row(1, 1), row(2, 1)], 1);
    let outcomes = vec![PublishOutcome::Rejected("too large".into()), PublishOutcome::Published];
    let effects = machine.step(Input::Published(Ok(outcomes)), at(2));
    assert!(matches!(notes(&effects)[0], Note::Parked { key, attempts: 1, .. } if key == "k1"));
    assert!(matches!(write(&effects), Some(Write::Delete(rows)) if *rows == ids(&[2])));
    let effects = machine.step(Input::Written(Ok(())), at(3));
    assert!(matches!(write(&effects), Some(Write::Park(rows)) if rows[0].event_id == EventId::from_raw(1)));
    // A later message of the parked key is not published past it; one of another key is.
    let mut same_key = message(65);
    same_key.key = "k1".into();
    let effects = machine.step(Input::HandedOver(vec![same_key, message(66)]), at(4));
    assert_eq!(publishes(&effects), ids(&[66]));
}

#[test]
fn the_last_attempt_buries() {
    let mut machine = serving();
    claimed(&mut machine, vec![row(1, 10)], 1);
    let effects = machine.step(Input::Published(Ok(vec![PublishOutcome::Rejected("no".into())])), at(2));
    assert!(matches!(write(&effects), Some(Write::Bury(row, reason)) if row.raw() == 1 && reason == "no"));
}

#[test]
fn a_row_that_kills_its_relay_each_time_is_buried_untried() {
    let mut machine = serving();
    let effects = claimed(&mut machine, vec![row(1, 101), row(2, 1)], 1);
    assert_eq!(publishes(&effects), ids(&[2]));
    assert!(matches!(write(&effects), Some(Write::Bury(row, _)) if row.raw() == 1));
}

#[test]
fn an_outage_of_the_log_releases_pauses_and_goes_on_by_itself() {
    let mut machine = serving();
    claimed(&mut machine, vec![row(1, 1)], 1);
    let effects = machine.step(Input::Published(Err(away())), at(2));
    assert!(matches!(notes(&effects)[0], Note::Paused(_)));
    assert!(matches!(write(&effects), Some(Write::Release(rows)) if *rows == ids(&[1])));
    machine.step(Input::Written(Ok(())), at(3));
    let mut now = 3;
    for _ in 0..1_000 {
        now = machine.next_wake_ms().unwrap().max(now + 1);
        for effect in machine.step(Input::Tick, at(now)) {
            let Effect::Claim { limit, .. } = effect else { continue };
            assert_eq!(limit, 1, "one row finds out whether the log is back");
            claimed(&mut machine, vec![row(1, 1)], now);
            let effects = machine.step(Input::Published(Err(away())), at(now));
            assert!(matches!(write(&effects), Some(Write::Release(_))), "never parked, never buried: {effects:?}");
            machine.step(Input::Written(Ok(())), at(now));
        }
    }
    assert!(now > 1_000_000, "pauses grow to their cap");
    let effects = loop {
        now = machine.next_wake_ms().unwrap().max(now);
        if machine.step(Input::Tick, at(now)).iter().any(|effect| matches!(effect, Effect::Claim { .. })) {
            claimed(&mut machine, vec![row(1, 1)], now);
            break machine.step(published(1), at(now));
        }
    };
    assert!(notes(&effects).contains(&&Note::Duplicates(1)), "its first sending is unknown: {effects:?}");
    assert!(notes(&effects).contains(&&Note::Resumed("log")));
}

#[test]
fn a_paused_relay_is_not_woken_before_its_pause_ends() {
    let mut machine = serving();
    machine.step(Input::Claimed(Err(Outage::new("outbox", "gone"))), at(5_000));
    assert!(machine.next_wake_ms().unwrap() > 5_000, "the round that is overdue does not make it spin");
}

#[test]
fn an_outage_of_the_outbox_keeps_what_is_owed() {
    let mut machine = relay();
    machine.step(Input::HandedOver(vec![message(1)]), at(0));
    machine.step(published(1), at(1));
    let effects = machine.step(Input::Written(Err(Outage::new("outbox", "gone"))), at(2));
    assert!(write(&effects).is_none(), "paused");
    let wake = machine.next_wake_ms().unwrap();
    let effects = machine.step(Input::Tick, at(wake));
    assert!(matches!(write(&effects), Some(Write::Delete(rows)) if *rows == ids(&[1])), "deleted, not published again");
}

#[test]
fn a_batch_whose_shards_moved_or_whose_deadline_passed_is_dropped_and_released() {
    for (assignment, published_at) in [(Assignment::of(0..1), 10), (Assignment::ALL, 4_001)] {
        let mut machine = serving();
        machine.step(Input::HandedOver(vec![message(64)]), at(1));
        let effects = claimed(&mut machine, vec![row(5, 1)], 2);
        assert!(publishes(&effects).is_empty(), "waits for the batch before it");
        machine.step(Input::Assigned(assignment), at(3));
        let effects = machine.step(published(1), at(published_at));
        assert!(publishes(&effects).is_empty(), "{effects:?}");
        assert!(notes(&effects).contains(&&Note::Dropped(1)));
        let effects = machine.step(Input::Written(Ok(())), at(published_at));
        assert!(matches!(write(&effects), Some(Write::Release(rows)) if *rows == ids(&[5])), "{effects:?}");
    }
}

#[test]
fn a_drain_publishes_what_is_in_hand_and_then_stops() {
    let mut machine = serving();
    claimed(&mut machine, vec![row(1, 1)], 1);
    machine.step(Input::HandedOver(vec![message(2)]), at(2));
    assert!(machine.step(Input::Stop, at(3)).is_empty());
    assert_eq!(publishes(&machine.step(published(1), at(4))), ids(&[2]));
    machine.step(published(1), at(5));
    let mut effects = machine.step(Input::Written(Ok(())), at(6));
    while write(&effects).is_some() {
        effects = machine.step(Input::Written(Ok(())), at(7));
    }
    assert!(matches!(effects[..], [Effect::Stopped]), "{effects:?}");
}

#[test]
fn a_drain_past_its_time_releases_the_rest() {
    let mut machine = serving();
    machine.step(Input::HandedOver(vec![message(2)]), at(1));
    claimed(&mut machine, vec![row(1, 1)], 2);
    machine.step(Input::Stop, at(3));
    let effects = machine.step(Input::Tick, at(5_003));
    assert!(matches!(write(&effects), Some(Write::Release(rows)) if *rows == ids(&[1])), "{effects:?}");
    machine.step(Input::Written(Ok(())), at(5_004));
    machine.step(Input::Published(Err(away())), at(5_005));
    assert!(machine.is_idle() && machine.next_wake_ms().is_none());
}
