//! Days of the site: which day a moment belongs to in the site's time zone, when a day ends and when its list is final.

use std::fmt;
use std::str::FromStr;

use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use madang_kernel::Timestamp;

/// A list becomes final this long after its day has ended.
pub const FINAL_AFTER_MS: i64 = 60 * 60 * 1_000;
/// Days with a list: today and the six before.
pub const DAYS_SHOWN: u32 = 7;
/// Days whose scores are kept: one more than is shown, so that nothing vanishes while somebody looks.
pub const DAYS_KEPT: u32 = 8;

const _: () = assert!(DAYS_KEPT > DAYS_SHOWN);

/// A date of the site's calendar, spelled `yyyy-mm-dd`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(Date);

/// Text that is no day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a day must be written as yyyy-mm-dd")]
pub struct DayParseError;

impl Day {
    /// The date in digits, 20261115: grows with time, fits a column, and a person can read it.
    pub fn number(self) -> i64 {
        i64::from(self.0.year()) * 10_000 + i64::from(self.0.month()) * 100 + i64::from(self.0.day())
    }

    /// The day that a number names; `None` when it names none.
    pub fn from_number(number: i64) -> Option<Self> {
        let (year, month, day) = (number / 10_000, number / 100 % 100, number % 100);
        Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?).ok().map(Self)
    }

    /// So many days earlier.
    pub fn minus(self, days: u32) -> Self {
        Self(self.0.saturating_sub(i64::from(days).days()))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Day {
    type Err = DayParseError;

    fn from_str(text: &str) -> Result<Self, DayParseError> {
        // One spelling only: the calendar library would also take "20261115" and a time behind the date.
        let digits =
            |(place, byte): (usize, u8)| if matches!(place, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
        if text.len() != 10 || !text.bytes().enumerate().all(digits) {
            return Err(DayParseError);
        }
        text.parse().map(Self).map_err(|_| DayParseError)
    }
}

/// The days of a time zone; those of 23 and 25 hours included.
#[derive(Debug, Clone)]
pub struct SiteDays {
    zone: TimeZone,
}

impl SiteDays {
    /// Days in a time zone.
    pub fn new(zone: TimeZone) -> Self {
        Self { zone }
    }

    /// The day of a moment.
    pub fn day_of(&self, moment: Timestamp) -> Day {
        let nearest = if moment.as_millis() < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
        let moment = jiff::Timestamp::from_millisecond(moment.as_millis()).unwrap_or(nearest);
        Day(self.zone.to_datetime(moment).date())
    }

    /// The first moment of a day.
    pub fn start_of(&self, day: Day) -> Timestamp {
        let start = day.0.to_zoned(self.zone.clone()).map(|start| start.timestamp().as_millisecond());
        Timestamp::from_millis(start.unwrap_or(if day.0.year() < 0 { i64::MIN } else { i64::MAX }))
    }

    /// The first moment after a day.
    pub fn end_of(&self, day: Day) -> Timestamp {
        day.0.tomorrow().map_or(Timestamp::from_millis(i64::MAX), |tomorrow| self.start_of(Day(tomorrow)))
    }

    /// From this moment on the list of a day may become final.
    pub fn final_at(&self, day: Day) -> Timestamp {
        Timestamp::from_millis(self.end_of(day).as_millis().saturating_add(FINAL_AFTER_MS))
    }

    /// The days that have a list at `now`, newest first.
    pub fn shown(&self, now: Timestamp) -> Vec<Day> {
        let today = self.day_of(now);
        (0..DAYS_SHOWN).map(|back| today.minus(back)).collect()
    }

    /// The days of which anything is kept at `now`, newest first.
    pub fn kept(&self, now: Timestamp) -> Vec<Day> {
        let today = self.day_of(now);
        (0..DAYS_KEPT).map(|back| today.minus(back)).collect()
    }

    /// The oldest day of which anything is kept at `now`.
    pub fn oldest_kept(&self, now: Timestamp) -> Day {
        self.day_of(now).minus(DAYS_KEPT - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_MS: i64 = 3_600_000;

    fn at(text: &str) -> Timestamp {
        Timestamp::from_millis(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
    }

    fn day(text: &str) -> Day {
        text.parse().unwrap()
    }

    fn zone(name: &str) -> SiteDays {
        SiteDays::new(TimeZone::get(name).unwrap())
    }

    #[test]
    fn a_day_starts_at_midnight_of_the_site() {
        let seoul = zone("Asia/Seoul");
        assert_eq!(seoul.day_of(at("2026-03-01T14:59:59.999Z")), day("2026-03-01"));
        assert_eq!(seoul.day_of(at("2026-03-01T15:00:00Z")), day("2026-03-02"));
        assert_eq!(seoul.start_of(day("2026-03-02")), at("2026-03-01T15:00:00Z"));
        assert_eq!(seoul.end_of(day("2026-03-02")), at("2026-03-02T15:00:00Z"));
        assert_eq!(seoul.final_at(day("2026-03-02")), at("2026-03-02T16:00:00Z"));
    }

    #[test]
    fn every_moment_of_a_long_or_short_day_belongs_to_it() {
        for (name, date, start, hours) in [
            ("Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00Z", 23),
            ("Europe/Berlin", "2026-10-25", "2026-10-24T22:00:00Z", 25),
            ("America/New_York", "2026-03-08", "2026-03-08T05:00:00Z", 23),
            ("America/New_York", "2026-11-01", "2026-11-01T04:00:00Z", 25),
            // The clocks go back from 01:00 to 00:00, so that midnight comes twice: the first one counts.
            ("America/Havana", "2026-11-01", "2026-11-01T04:00:00Z", 25),
            // They go forward from 00:00 to 01:00, so that the day has no midnight.
            ("Africa/Cairo", "2023-04-28", "2023-04-27T22:00:00Z", 23),
            ("Australia/Lord_Howe", "2026-04-05", "2026-04-04T13:00:00Z", 24),
            ("UTC", "2026-03-29", "2026-03-29T00:00:00Z", 24),
        ] {
            let (days, date, start) = (zone(name), day(date), at(start));
            assert_eq!(days.start_of(date), start, "{name}");
            let end = days.end_of(date);
            assert_eq!((end.as_millis() - start.as_millis()) / HOUR_MS, hours, "{name}");
            let mut moment = start.as_millis();
            while moment < end.as_millis() {
                assert_eq!(days.day_of(Timestamp::from_millis(moment)), date, "{name}: {moment}");
                moment += HOUR_MS / 4;
            }
            assert_eq!(days.day_of(Timestamp::from_millis(end.as_millis() - 1)), date, "{name}");
            assert_eq!(days.day_of(Timestamp::from_millis(start.as_millis() - 1)), date.minus(1), "{name}");
            assert_eq!(days.day_of(end).minus(1), date, "{name}");
            assert_eq!(days.final_at(date).as_millis(), end.as_millis() + HOUR_MS, "an hour of time, not of the clock");
        }
    }

    #[test]
    fn a_date_that_was_left_out_is_empty() {
        let apia = zone("Pacific/Apia");
        assert_eq!(apia.start_of(day("2011-12-30")), apia.end_of(day("2011-12-30")));
    }

    #[test]
    fn seven_days_are_shown_and_eight_kept() {
        let shown = zone("UTC").shown(at("2026-03-03T10:00:00Z"));
        let spelled: Vec<_> = shown.iter().map(Day::to_string).collect();
        assert_eq!(
            spelled,
            ["2026-03-03", "2026-03-02", "2026-03-01", "2026-02-28", "2026-02-27", "2026-02-26", "2026-02-25"]
        );
        assert_eq!(zone("UTC").oldest_kept(at("2026-03-03T10:00:00Z")), day("2026-02-24"));
    }

    #[test]
    fn a_day_is_its_number() {
        assert_eq!(day("2026-11-05").number(), 20_261_105);
        for text in ["2024-01-01", "2024-02-29", "2026-12-31", "2093-09-06"] {
            assert_eq!(Day::from_number(day(text).number()), Some(day(text)));
        }
        for number in [0, -1, 20_260_230, 20_261_301, 20_260_100, i64::MIN, i64::MAX] {
            assert_eq!(Day::from_number(number), None, "{number}");
        }
    }

    #[test]
    fn a_day_has_one_spelling() {
        for text in
            ["", "20260301", "2026-3-1", "2026-02-30", "2026-03-01T00:00:00", "2026-03-0١", "+026-03-01", "2026/03/01"]
        {
            assert_eq!(text.parse::<Day>(), Err(DayParseError), "{text:?}");
        }
        assert_eq!(day("2026-03-01").to_string(), "2026-03-01");
    }

    #[test]
    fn no_moment_is_too_far() {
        let days = zone("Asia/Seoul");
        for ms in [i64::MIN, i64::MAX, 253_402_300_799_999, 0, -1] {
            let day = days.day_of(Timestamp::from_millis(ms));
            let _ = (days.start_of(day), days.final_at(day), days.shown(Timestamp::from_millis(ms)));
        }
    }
}
