//! The last day of this process in bounded memory, for the page on which administrators see how it fares.

mod figures;

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use madang_kernel::Timestamp;
use madang_server::{HEALTH_SLOTS, HealthSlot};

use figures::Figures;

/// The slots of the last day. At most [`HEALTH_SLOTS`] of them, so about 25 KB.
#[derive(Default)]
pub(crate) struct DayHistory(Mutex<Slots>);

#[derive(Default)]
struct Slots {
    over: VecDeque<HealthSlot>,
    present: Option<Present>,
}

/// The slot that is not over yet.
struct Present {
    slot: HealthSlot,
    began: Timestamp,
    /// As it began.
    first: Figures,
    latest: Figures,
}

impl DayHistory {
    /// Notes what `/metrics` tells at a moment of a clock that does not jump.
    pub(super) fn note(&self, now: Timestamp, text: &str) {
        let figures = Figures::read(text);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).note(now, figures);
    }

    /// What was noted, oldest first.
    pub(super) fn slots(&self) -> Vec<HealthSlot> {
        let slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slots.over.iter().copied().chain(slots.present.as_ref().map(|present| present.slot)).collect()
    }
}

impl Slots {
    fn note(&mut self, now: Timestamp, figures: Figures) {
        let number = HealthSlot::number_at(now);
        // A clock that went back does not bring a slot back that is over.
        let is_over = self.present.as_ref().is_none_or(|present| number > present.slot.number);
        if is_over {
            let slot = HealthSlot { number, ..HealthSlot::default() };
            let first = self.present.as_ref().map_or(figures, |present| present.latest);
            let began = self.present.as_ref().map_or(now, |present| present.seen_last());
            if let Some(over) = self.present.replace(Present { slot, began, first, latest: figures }) {
                self.over.push_back(over.slot);
            }
        }
        if let Some(present) = &mut self.present {
            present.note(now, figures);
        }
        let oldest = number.saturating_sub_unsigned(HEALTH_SLOTS as u64);
        while self.over.front().is_some_and(|slot| slot.number <= oldest) || self.over.len() >= HEALTH_SLOTS {
            self.over.pop_front();
        }
    }
}

impl Present {
    fn note(&mut self, now: Timestamp, figures: Figures) {
        let first = &self.first;
        let worst = |before: Option<f64>, now: Option<f64>| before.into_iter().chain(now).reduce(f64::max);
        self.slot = HealthSlot {
            number: self.slot.number,
            seen: now.since(self.began),
            requests: figures.requests.saturating_sub(first.requests),
            errors: figures.errors.saturating_sub(first.errors),
            shed: figures.shed.saturating_sub(first.shed),
            median_s: figures.quantile_since(first, 0.5),
            slow_s: figures.quantile_since(first, 0.99),
            lag_s: worst(self.slot.lag_s, figures.lag_s),
            memory_bytes: self.slot.memory_bytes.max(figures.memory_bytes),
            disk_available_bytes: self.slot.disk_available_bytes.into_iter().chain(figures.disk_available_bytes).min(),
        };
        self.latest = figures;
    }

    /// When it was last looked at.
    fn seen_last(&self) -> Timestamp {
        self.began.plus(self.slot.seen)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use madang_server::HEALTH_SLOT;

    use super::*;

    fn text(requests: u64, memory: u64, disk: u64) -> String {
        format!(
            "madang_http_requests_total{{route=\"/\",method=\"GET\",status=\"2xx\"}} {requests}\n\
             process_resident_memory_bytes {memory}\nmadang_disk_available_bytes {disk}\nmadang_disk_size_bytes 100\n"
        )
    }

    fn at(minutes: u64) -> Timestamp {
        Timestamp::from_millis(0).plus(Duration::from_secs(60 * minutes))
    }

    #[test]
    fn a_slot_counts_what_came_since_the_one_before_and_keeps_the_worst() {
        let history = DayHistory::default();
        history.note(at(3), &text(1_000, 10, 90));
        history.note(at(4), &text(1_060, 30, 70));
        history.note(at(5), &text(1_120, 20, 80));
        history.note(at(9), &text(1_180, 20, 80));
        let slots = history.slots();
        let told = |slot: &HealthSlot| (slot.number, slot.requests, slot.seen.as_secs() / 60);
        assert_eq!(slots.iter().map(told).collect::<Vec<_>>(), [(0, 60, 1), (1, 120, 5)]);
        assert_eq!((slots[0].memory_bytes, slots[0].disk_available_bytes), (Some(30), Some(70)));
        assert_eq!(slots[0].rate(), Some(1.0));
    }

    #[test]
    fn a_day_is_kept_and_no_more_and_a_clock_that_goes_back_changes_no_slot() {
        let history = DayHistory::default();
        let slot_minutes = HEALTH_SLOT.as_secs() / 60;
        for slot in 0..2 * HEALTH_SLOTS as u64 {
            history.note(at(slot * slot_minutes), &text(slot, 1, 1));
        }
        let slots = history.slots();
        assert_eq!(slots.len(), HEALTH_SLOTS);
        assert!(slots.windows(2).all(|pair| pair[0].number + 1 == pair[1].number));
        history.note(at(0), &text(9_999, 1, 1));
        assert_eq!(history.slots().len(), HEALTH_SLOTS);
        assert_eq!(history.slots()[0], slots[0]);

        history.note(at(100_000), &text(10_000, 1, 1));
        assert_eq!(history.slots().len(), 1, "what was before a long pause is older than a day");
    }
}
