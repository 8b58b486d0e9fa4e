//! Days of a site as a test needs them: a time zone in which no midnight is near, and the date there.

use std::time::{Duration, Instant};

use jiff::civil::Date;
use jiff::tz::TimeZone;
use madang_kernel::{Clock as _, SystemClock};
use serde_json::Value;

use crate::server::TestServer;

/// How long derived data may take to follow: far longer than it does, also on a busy machine.
const FOLLOWS_WITHIN: Duration = Duration::from_secs(30);

/// A time zone in which it is about noon now: what is written during a test stays on one day.
pub(crate) fn noon_zone() -> String {
    let hour = (SystemClock.now().as_millis() / 3_600_000).rem_euclid(24);
    // In these names the sign is the other way round: Etc/GMT-5 is five hours ahead of UTC.
    match 12 - hour {
        0 => "Etc/UTC".to_owned(),
        ahead if ahead > 0 => format!("Etc/GMT-{ahead}"),
        behind => format!("Etc/GMT+{}", -behind),
    }
}

/// The date in a time zone now.
pub(crate) fn today(zone: &str) -> Date {
    date_of(zone, SystemClock.now().as_millis())
}

/// The date of a moment in a time zone.
pub(crate) fn date_of(zone: &str, unix_ms: i64) -> Date {
    let moment = jiff::Timestamp::from_millisecond(unix_ms).unwrap();
    TimeZone::get(zone).unwrap().to_datetime(moment).date()
}

/// The hot articles of a day.
pub(crate) fn hot_items(server: &TestServer, date: Date) -> Value {
    let day = server.get(&format!("/api/v1/hot-articles/{date}")).json(200);
    assert_eq!((&day["date"], &day["final"]), (&Value::from(date.to_string()), &Value::from(false)));
    day["items"].clone()
}

/// Waits until something that follows the events is as it should be, and shows how it is when it never is.
#[track_caller]
pub(crate) fn becomes(expected: &Value, mut look: impl FnMut() -> Value) {
    let deadline = Instant::now() + FOLLOWS_WITHIN;
    loop {
        let seen = look();
        if seen == *expected {
            return;
        }
        assert!(
            Instant::now() < deadline,
            "not within {FOLLOWS_WITHIN:?}\n     seen: {seen:#}\n expected: {expected:#}"
        );
        // Between two looks at the observable, not instead of one.
        std::thread::park_timeout(Duration::from_millis(20));
    }
}
