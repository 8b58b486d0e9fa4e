//! Deliveries in hand on one lane, in the order polled, and how far each has come.

use std::collections::{BTreeMap, HashSet, VecDeque};

use crate::{Delivery, HandlerError, Position};

/// How far a delivery has come.
#[derive(Debug, Clone)]
pub(super) enum State {
    /// To be handed in, not before its moment.
    Waiting { not_before_ms: u64 },
    /// With the handler.
    Handling,
    /// To be published to the next rung, or to the dead letters as they are.
    Leaving { reason: String, undecodable: bool },
    /// Not started before the end; it is delivered again.
    Abandoned,
    /// Nothing left to do but to pass it; `stored` when its offset is stored already.
    Done { stored: bool },
}

/// A delivery with its state.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    pub(super) delivery: Delivery,
    pub(super) attempts: u32,
    pub(super) state: State,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct InHand {
    slots: VecDeque<Slot>,
}

impl InHand {
    pub(super) fn push(&mut self, delivery: Delivery, not_before_ms: u64) {
        self.slots.push_back(Slot { delivery, attempts: 0, state: State::Waiting { not_before_ms } });
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// When the next delivery may be handed in. The head of a partition comes first: its successors wait behind it.
    pub(super) fn next_due_ms(&self) -> Option<u64> {
        self.heads().map(|(_, due)| due).min()
    }

    /// Marks up to `max` due deliveries as being handled and returns them. Within a partition, one that waits holds back
    /// those behind it.
    pub(super) fn take_due(&mut self, now_ms: u64, max: usize) -> Vec<Delivery> {
        let mut held_back: HashSet<(String, u32)> = HashSet::new();
        let mut taken = Vec::new();
        for slot in &mut self.slots {
            let State::Waiting { not_before_ms } = slot.state else { continue };
            let partition = partition(&slot.delivery.position);
            if taken.len() >= max {
                break;
            }
            if not_before_ms > now_ms || held_back.contains(&partition) {
                held_back.insert(partition);
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

    /// What may be stored: per partition, the last of the deliveries done without a gap, unless that is stored already.
    pub(super) fn committable(&self) -> Vec<Position> {
        let mut open: HashSet<(String, u32)> = HashSet::new();
        let mut last: BTreeMap<(String, u32), (&Position, bool)> = BTreeMap::new();
        for slot in &self.slots {
            let partition = partition(&slot.delivery.position);
            match slot.state {
                State::Done { stored } if !open.contains(&partition) => {
                    last.insert(partition, (&slot.delivery.position, stored));
                }
                _ => {
                    open.insert(partition);
                }
            }
        }
        last.into_values().filter(|(_, stored)| !stored).map(|(position, _)| position.clone()).collect()
    }

    /// Forgets what is done without a gap: it is stored.
    pub(super) fn forget_stored(&mut self) {
        let mut open: HashSet<(String, u32)> = HashSet::new();
        self.slots.retain(|slot| {
            let partition = partition(&slot.delivery.position);
            let done = matches!(slot.state, State::Done { .. }) && !open.contains(&partition);
            if !done {
                open.insert(partition);
            }
            !done
        });
    }

    /// Forgets, in partitions that went to somebody else, the first delivery not started and everything behind it: what
    /// is done behind a gap must not be stored, or the gap would never be delivered again.
    pub(super) fn drop_from_first_waiting(&mut self, partitions: &[(String, u32)]) {
        let mut cut: HashSet<(String, u32)> = HashSet::new();
        self.slots.retain(|slot| {
            let partition = partition(&slot.delivery.position);
            if matches!(slot.state, State::Waiting { .. }) && partitions.contains(&partition) {
                cut.insert(partition.clone());
            }
            !cut.contains(&partition)
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
    }

    fn heads(&self) -> impl Iterator<Item = ((String, u32), u64)> {
        let mut heads: BTreeMap<(String, u32), u64> = BTreeMap::new();
        for slot in &self.slots {
            if let State::Waiting { not_before_ms } = slot.state {
                heads.entry(partition(&slot.delivery.position)).or_insert(not_before_ms);
            }
        }
        heads.into_iter()
    }
}

impl Slot {
    /// What a handler's own error makes of the delivery.
    pub(super) fn failed(&mut self, error: HandlerError, attempts_max: u32, retry_at_ms: u64) {
        match error {
            HandlerError::Outage(_) => self.state = State::Waiting { not_before_ms: 0 },
            HandlerError::Undecodable(reason) => {
                self.attempts += 1;
                self.state = State::Leaving { reason, undecodable: true };
            }
            HandlerError::Failed(reason) => {
                self.attempts += 1;
                self.state = if self.attempts >= attempts_max {
                    State::Leaving { reason, undecodable: false }
                } else {
                    State::Waiting { not_before_ms: retry_at_ms }
                };
            }
        }
    }
}

fn partition(position: &Position) -> (String, u32) {
    (position.topic.clone(), position.partition)
}
