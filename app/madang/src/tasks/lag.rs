//! How far a consumer group is behind, as operators read it.

use std::time::Duration;

use madang_sqlite::{Backlog, GroupLag};

/// The lag of a group that has consumed everything.
pub(crate) const UP_TO_DATE: &str = "up to date";

/// Messages of its topics that a group has not consumed.
const LAG: &str = "madang_group_lag_messages";
/// The same of its retry topics.
const RETRIES: &str = "madang_group_retries_waiting";

/// Shows the lag of a group as it is, whether or not the group does anything.
pub(crate) fn show(group: &str, messages: u64, retries: u64) {
    metrics::gauge!(LAG, "group" => group.to_owned()).set(messages as f64);
    metrics::gauge!(RETRIES, "group" => group.to_owned()).set(retries as f64);
}

/// `up to date`, or how much is before the group and how old it is.
pub(crate) fn describe(lag: &GroupLag) -> String {
    let mut text = match backlog(lag.topics) {
        None => UP_TO_DATE.to_owned(),
        Some(behind) => format!("{behind} behind"),
    };
    if let Some(waiting) = backlog(lag.rungs) {
        text.push_str(&format!(", {waiting} waiting to be retried"));
    }
    if lag.fell_behind {
        text.push_str(", lost entries to retention and is being rebuilt");
    }
    text
}

fn backlog(backlog: Backlog) -> Option<String> {
    let age = backlog.oldest_age?;
    let at_most = if backlog.is_exact { "" } else { "at most " };
    let entries = if backlog.entries == 1 { "entry" } else { "entries" };
    Some(format!("{at_most}{} {entries} and {}", backlog.entries, seconds(age)))
}

fn seconds(age: Duration) -> String {
    format!("{:.1} s", age.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use madang_messaging::GroupId;

    use super::*;

    const NOTHING: Backlog = Backlog { entries: 0, is_exact: true, oldest_age: None };

    #[test]
    fn a_lag_reads_as_a_phrase() {
        let lag = |topics, rungs| GroupLag { group: GroupId::new("g"), topics, rungs, fell_behind: false };
        let some = |entries, is_exact| Backlog { entries, is_exact, oldest_age: Some(Duration::from_millis(12_340)) };
        assert_eq!(describe(&lag(NOTHING, NOTHING)), "up to date");
        assert_eq!(describe(&lag(some(1, true), NOTHING)), "1 entry and 12.3 s behind");
        assert_eq!(
            describe(&lag(some(2_000, false), some(3, true))),
            "at most 2000 entries and 12.3 s behind, 3 entries and 12.3 s waiting to be retried"
        );
    }
}
