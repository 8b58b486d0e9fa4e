//! Deliveries in flight at one level, in the order polled, and how far each has come; and how far each partition is done.
//!
//! Every method is one pass over what is in flight, which is a batch at most: what is done without a gap is kept as one
//! position a partition, however long it waits to be stored.

use std::collections::VecDeque;

use madang_kernel::Timestamp;

use crate::{Delivery, HandlerError, Position};

/// How far a delivery has come.
#[derive(Debug, Clone)]
pub(super) enum State {
    /// To be handed in, not before its moment.
    Waiting { not_before_ms: u64 },
    /// With the handler.
    Handling,
    /// To be published on the ladder.
    Leaving { reason: String, exit: Exit },
    /// Not started before the end; it is delivered again.
    Abandoned,
    /// Nothing left to do but to pass it; `stored` when its offset is stored already.
    Done { stored: bool },
}

/// Where a delivery leaves to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    /// The next rung, or the dead letters after the last.
    Rung,
    /// The dead letters, as it is.
    Letter,
    /// The dead letters, of which only the beginning fits.
    Excerpt,
}

/// A delivery with its state.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    pub(super) delivery: Delivery,
    pub(super) attempts: u32,
    pub(super) state: State,
    /// Its place among the partitions.
    partition: usize,
}

/// A partition from which something was polled.
#[derive(Debug)]
struct Partition {
    topic: String,
    number: u32,
    /// The last offset done without a gap, while it is not stored.
    unstored: Option<i64>,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    slots: VecDeque<Slot>,
    partitions: Vec<Partition>,
}

impl InFlight {
    pub(super) fn push(&mut self, delivery: Delivery, not_before_ms: u64) {
        let partition = self.partition_of(&delivery.position);
        self.slots.push_back(Slot { delivery, attempts: 0, state: State::Waiting { not_before_ms }, partition });
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// When the oldest change happened of those that are not done.
    pub(super) fn oldest(&self) -> Option<Timestamp> {
        let open = self.slots.iter().filter(|slot| !matches!(slot.state, State::Done { .. }));
        open.map(|slot| slot.delivery.message.occurred_at).min()
    }

    /// Nothing is in flight, though what is done may still have to be stored.
    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Something is done and not stored.
    pub(super) fn has_unstored(&self) -> bool {
        self.partitions.iter().any(|partition| partition.unstored.is_some())
    }

    /// When the next delivery may be handed in. The head of a partition comes first: its successors wait behind it.
    pub(super) fn next_due_ms(&self) -> Option<u64> {
        let mut seen = vec![false; self.partitions.len()];
        let mut next_ms = None;
        for slot in &self.slots {
            if let State::Waiting { not_before_ms } = slot.state
                && !std::mem::replace(&mut seen[slot.partition], true)
            {
                next_ms = Some(next_ms.map_or(not_before_ms, |known: u64| known.min(not_before_ms)));
            }
        }
        next_ms
    }

    /// Marks up to `max` due deliveries as being handled and returns them. Within a partition, one that waits holds back
    /// those behind it.
    pub(super) fn take_due(&mut self, now_ms: u64, max: usize) -> Vec<Delivery> {
        let mut held_back = vec![false; self.partitions.len()];
        let mut taken = Vec::new();
        for slot in &mut self.slots {
            let State::Waiting { not_before_ms } = slot.state else { continue };
            if taken.len() >= max {
                break;
            }
            if not_before_ms > now_ms || held_back[slot.partition] {
                held_back[slot.partition] = true;
                continue;
            }
            slot.state = State::Handling;
            taken.push(slot.delivery.clone());
        }
        taken
    }

    /// The deliveries with the handler, in order.
    pub(super) fn handling(&mut self) -> impl Iterator<Item = &mut Slot> {
        self.slots.iter_mut().filter(|slot| matches!(slot.state, State::Handling))
    }

    /// The deliveries on their way to the ladder, in order.
    pub(super) fn leaving(&mut self) -> impl Iterator<Item = &mut Slot> {
        self.slots.iter_mut().filter(|slot| matches!(slot.state, State::Leaving { .. }))
    }

    /// Passes over the records at these positions that are with nobody now; returns those it found.
    pub(super) fn skip(&mut self, positions: &[Position]) -> Vec<Delivery> {
        let mut skipped = Vec::new();
        for slot in &mut self.slots {
            let is_free = matches!(slot.state, State::Waiting { .. } | State::Leaving { .. });
            if is_free && positions.contains(&slot.delivery.position) {
                slot.state = State::Done { stored: false };
                skipped.push(slot.delivery.clone());
            }
        }
        skipped
    }

    /// Lets go of what is done without a gap; of each partition the last offset is remembered until it is stored.
    pub(super) fn pass_done(&mut self) {
        let Self { slots, partitions } = self;
        let mut open = vec![false; partitions.len()];
        slots.retain(|slot| {
            let passes = matches!(slot.state, State::Done { .. }) && !open[slot.partition];
            if let State::Done { stored } = slot.state
                && passes
            {
                let offset = slot.delivery.position.offset;
                partitions[slot.partition].unstored = (!stored).then_some(offset);
            } else {
                open[slot.partition] = true;
            }
            !passes
        });
    }

    /// What may be stored: per partition, the last offset done without a gap, unless it is stored already.
    pub(super) fn committable(&self) -> Vec<Position> {
        let unstored = self.partitions.iter().filter_map(|partition| {
            let Partition { topic, number, unstored } = partition;
            unstored.map(|offset| Position { topic: topic.clone(), partition: *number, offset })
        });
        unstored.collect()
    }

    /// Everything that was committable is stored.
    pub(super) fn stored(&mut self) {
        self.partitions.iter_mut().for_each(|partition| partition.unstored = None);
    }

    /// Forgets, in partitions that went to somebody else, the first delivery not started and everything behind it: what
    /// is done behind a gap must not be stored, or the gap would never be delivered again.
    pub(super) fn drop_from_first_waiting(&mut self, revoked: &[(String, u32)]) {
        let Self { slots, partitions } = self;
        let gone: Vec<bool> = partitions
            .iter()
            .map(|one| revoked.iter().any(|(topic, number)| *topic == one.topic && *number == one.number))
            .collect();
        let mut cut = vec![false; partitions.len()];
        slots.retain(|slot| {
            if matches!(slot.state, State::Waiting { .. }) && gone[slot.partition] {
                cut[slot.partition] = true;
            }
            !cut[slot.partition]
        });
    }

    /// Starts nothing more. What is given up stays as a gap, so that nothing behind it is stored.
    pub(super) fn abandon_waiting(&mut self) {
        for slot in &mut self.slots {
            if matches!(slot.state, State::Waiting { .. }) {
                slot.state = State::Abandoned;
            }
        }
    }

    pub(super) fn clear(&mut self) {
        self.slots.clear();
        self.partitions.clear();
    }

    fn partition_of(&mut self, position: &Position) -> usize {
        let is_it = |one: &Partition| one.number == position.partition && one.topic == position.topic;
        // Deliveries come in runs of one partition, so it is mostly that of the last.
        if let Some(last) = self.slots.back()
            && is_it(&self.partitions[last.partition])
        {
            return last.partition;
        }
        if let Some(place) = self.partitions.iter().position(is_it) {
            return place;
        }
        self.partitions.push(Partition { topic: position.topic.clone(), number: position.partition, unstored: None });
        self.partitions.len() - 1
    }
}

impl Slot {
    /// What a handler's own error makes of the delivery.
    pub(super) fn failed(&mut self, error: HandlerError, attempts_max: u32, retry_at_ms: u64) {
        match error {
            HandlerError::Outage(_) => self.state = State::Waiting { not_before_ms: 0 },
            HandlerError::Undecodable(reason) => {
                self.attempts += 1;
                self.state = State::Leaving { reason, exit: Exit::Letter };
            }
            HandlerError::Failed(reason) => {
                self.attempts += 1;
                self.state = if self.attempts >= attempts_max {
                    State::Leaving { reason, exit: Exit::Rung }
                } else {
                    State::Waiting { not_before_ms: retry_at_ms }
                };
            }
        }
    }
}
