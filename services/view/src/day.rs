//! The site's day: views of a day belong into an event of that day, so all of them are written back as it ends.

use jiff::tz::TimeZone;
use madang_kernel::Timestamp;

/// Everything is written back, step by step, in this last part of a day.
const DAY_END_MS: i64 = 1_000;

const _: () =
    assert!(DAY_END_MS >= 2 * crate::FLUSH_STEP_MS.cast_signed(), "a step must fall into the last part of a day");

/// Tells when the day of a time zone ends; days of 23 or 25 hours included.
pub struct SiteDay {
    zone: TimeZone,
    /// The end of the day of the last moment asked about.
    ends_at: Option<Timestamp>,
}

impl SiteDay {
    /// Days in a time zone.
    pub fn new(zone: TimeZone) -> Self {
        Self { zone, ends_at: None }
    }

    /// Whether the day is about to end, or has ended since the last call.
    pub fn is_ending(&mut self, now: Timestamp) -> bool {
        let has_ended = self.ends_at.is_some_and(|end| now >= end);
        self.ends_at = end_of_day(&self.zone, now);
        let is_about_to = self.ends_at.is_some_and(|end| end.as_millis().saturating_sub(now.as_millis()) <= DAY_END_MS);
        has_ended || is_about_to
    }
}

/// The first moment of the next day; `None` only past the years that have dates.
fn end_of_day(zone: &TimeZone, now: Timestamp) -> Option<Timestamp> {
    let here = jiff::Timestamp::from_millisecond(now.as_millis()).ok()?.to_zoned(zone.clone());
    let tomorrow = here.tomorrow().ok()?.start_of_day().ok()?;
    Some(Timestamp::from_millis(tomorrow.timestamp().as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_MS: i64 = 3_600_000;

    fn at(text: &str) -> Timestamp {
        Timestamp::from_millis(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
    }

    fn plus(moment: Timestamp, ms: i64) -> Timestamp {
        Timestamp::from_millis(moment.as_millis() + ms)
    }

    #[test]
    fn a_day_ends_at_midnight_of_the_site() {
        let mut day = SiteDay::new(TimeZone::get("Asia/Seoul").unwrap());
        assert!(!day.is_ending(at("2026-03-01T14:59:58Z")));
        assert!(day.is_ending(at("2026-03-01T14:59:59Z")), "the last second");
        assert!(day.is_ending(at("2026-03-01T15:00:00Z")), "what came in the last moment");
        assert!(!day.is_ending(at("2026-03-01T15:00:00.250Z")), "once");
        assert!(!day.is_ending(at("2026-03-02T00:00:00Z")), "midnight elsewhere");
    }

    #[test]
    fn a_pause_over_midnight_is_noticed() {
        let mut day = SiteDay::new(TimeZone::UTC);
        assert!(!day.is_ending(at("2026-03-01T23:00:00Z")));
        assert!(day.is_ending(at("2026-03-02T00:30:00Z")));
        assert!(!day.is_ending(at("2026-03-02T00:30:01Z")));
    }

    #[test]
    fn days_have_23_or_25_hours_where_clocks_change() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        for (start, hours) in [("2026-03-28T23:00:00Z", 23), ("2026-10-24T22:00:00Z", 25), ("2026-06-01T22:00:00Z", 24)]
        {
            let start = at(start);
            assert_eq!(end_of_day(&zone, start), Some(plus(start, hours * HOUR_MS)), "{start}");
            assert_eq!(end_of_day(&zone, plus(start, hours * HOUR_MS - 1)), Some(plus(start, hours * HOUR_MS)));
        }
    }

    #[test]
    fn a_day_may_start_after_midnight() {
        // In Cairo the clocks went from 00:00 to 01:00 on 2023-04-28.
        let zone = TimeZone::get("Africa/Cairo").unwrap();
        assert_eq!(end_of_day(&zone, at("2023-04-27T12:00:00Z")), Some(at("2023-04-27T22:00:00Z")));
    }

    #[test]
    fn no_moment_is_too_far() {
        let mut day = SiteDay::new(TimeZone::UTC);
        for ms in [i64::MIN, i64::MAX, 253_402_300_799_999, 0] {
            day.is_ending(Timestamp::from_millis(ms));
        }
    }
}
