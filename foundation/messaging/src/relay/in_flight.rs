//! What the relay holds: rows to publish in two queues, and what it owes the outbox about rows already decided.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use madang_kernel::EventId;

use super::step::Write;
use crate::{Failed, Message};

/// A row to publish.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) message: Message,
    /// Claims so far; 0 when it was handed over directly.
    pub(super) attempts: u32,
    /// Not published at or after this moment.
    pub(super) deadline_ms: u64,
}

impl Row {
    pub(super) fn is_claimed(&self) -> bool {
        self.attempts > 0
    }
}

/// Two queues: what was handed over, in commit order, and what polling found. They take turns, so that neither a busy
/// board nor a backlog starves the other.
#[derive(Debug, Default)]
pub(super) struct Ready {
    pub(super) direct: VecDeque<Row>,
    pub(super) claimed: VecDeque<Row>,
    direct_last: bool,
}

impl Ready {
    pub(super) fn next_batch(&mut self, max: usize) -> Vec<Row> {
        let direct = !self.direct.is_empty() && (self.claimed.is_empty() || !self.direct_last);
        self.direct_last = direct;
        let queue = if direct { &mut self.direct } else { &mut self.claimed };
        queue.drain(..queue.len().min(max)).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.direct.is_empty() && self.claimed.is_empty()
    }
}

/// Writes that the outbox has not acknowledged yet. They outlive its outage, so that nothing is counted or published
/// again because of it.
#[derive(Debug, Default)]
pub(super) struct Owed {
    deletes: Vec<EventId>,
    /// When the first of them is due.
    deletes_due_ms: u64,
    releases: Vec<EventId>,
    parks: Vec<Failed>,
    buries: VecDeque<(EventId, String)>,
    under_way: Option<Write>,
}

impl Owed {
    /// Owes a delete, due at this moment or with one that is due before.
    pub(super) fn delete(&mut self, row: EventId, due_ms: u64) {
        if self.deletes.is_empty() {
            self.deletes_due_ms = due_ms;
        }
        self.deletes.push(row);
    }

    /// When the next write is due; `None` when there is none, or one is under way.
    pub(super) fn due_ms(&self) -> Option<u64> {
        if self.under_way.is_some() {
            return None;
        }
        let at_once = !self.releases.is_empty() || !self.parks.is_empty() || !self.buries.is_empty();
        if at_once { Some(0) } else { (!self.deletes.is_empty()).then_some(self.deletes_due_ms) }
    }

    /// Whether claims are still to be taken back.
    pub(super) fn has_releases(&self) -> bool {
        !self.releases.is_empty() || matches!(self.under_way, Some(Write::Release(_)))
    }

    pub(super) fn release(&mut self, row: EventId) {
        self.releases.push(row);
    }

    pub(super) fn park(&mut self, row: EventId, park_for_ms: u64, reason: String) {
        self.parks.push(Failed { event_id: row, park_for: Duration::from_millis(park_for_ms), reason });
    }

    pub(super) fn bury(&mut self, row: EventId, reason: String) {
        self.buries.push_back((row, reason));
    }

    /// The next write, if none is under way.
    pub(super) fn begin(&mut self, max: usize) -> Option<Write> {
        if self.under_way.is_some() {
            return None;
        }
        let next = if !self.deletes.is_empty() {
            Write::Delete(take(&mut self.deletes, max))
        } else if !self.parks.is_empty() {
            Write::Park(take(&mut self.parks, max))
        } else if let Some((row, reason)) = self.buries.pop_front() {
            Write::Bury(row, reason)
        } else if !self.releases.is_empty() {
            Write::Release(take(&mut self.releases, max))
        } else {
            return None;
        };
        self.under_way = Some(next.clone());
        Some(next)
    }

    /// The write under way reached the outbox; the rows it settled.
    pub(super) fn settled(&mut self) -> Vec<EventId> {
        match self.under_way.take() {
            Some(Write::Delete(rows) | Write::Release(rows)) => rows,
            Some(Write::Park(rows)) => rows.into_iter().map(|row| row.event_id).collect(),
            Some(Write::Bury(row, _)) => vec![row],
            None => Vec::new(),
        }
    }

    /// The write under way is not known to have arrived: it is owed again.
    pub(super) fn put_back(&mut self) {
        match self.under_way.take() {
            Some(Write::Delete(rows)) => self.deletes.extend(rows),
            Some(Write::Release(rows)) => self.releases.extend(rows),
            Some(Write::Park(rows)) => self.parks.extend(rows),
            Some(Write::Bury(row, reason)) => self.buries.push_front((row, reason)),
            None => {}
        }
    }

    pub(super) fn len(&self) -> usize {
        self.deletes.len() + self.releases.len() + self.parks.len() + self.buries.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0 && self.under_way.is_none()
    }
}

/// Event ids kept up to a bound, the oldest forgotten first.
#[derive(Debug)]
pub(super) struct Recent {
    ids: HashSet<EventId>,
    order: VecDeque<EventId>,
    max: usize,
}

impl Recent {
    pub(super) fn up_to(max: usize) -> Self {
        Self { ids: HashSet::new(), order: VecDeque::new(), max }
    }

    pub(super) fn insert(&mut self, id: EventId) {
        if self.ids.insert(id) {
            self.order.push_back(id);
            if self.order.len() > self.max
                && let Some(oldest) = self.order.pop_front()
            {
                self.ids.remove(&oldest);
            }
        }
    }

    pub(super) fn contains(&self, id: EventId) -> bool {
        self.ids.contains(&id)
    }
}

fn take<T>(from: &mut Vec<T>, max: usize) -> Vec<T> {
    from.drain(..from.len().min(max)).collect()
}
