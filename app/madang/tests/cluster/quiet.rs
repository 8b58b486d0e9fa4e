//! A site whose day does not end while a test runs.

use std::time::Duration;

use crate::cluster::Cluster;

/// A zone in which it is neither shortly before nor shortly after midnight, so that a test has one hot day.
pub(crate) fn quiet_zone() -> String {
    let seconds = std::time::UNIX_EPOCH.elapsed().expect("a clock").as_secs();
    let hour = (seconds / 3_600 % 24) as i64;
    // Names count westward: at Etc/GMT+5 it is five hours earlier.
    match hour - 12 {
        0 => "UTC".to_owned(),
        later @ 1.. => format!("Etc/GMT+{later}"),
        earlier => format!("Etc/GMT{earlier}"),
    }
}

/// How long the day of that zone still lasts.
#[allow(dead_code, reason = "used by the suite of the faults")]
pub(crate) fn until_midnight() -> Duration {
    let into_the_hour = std::time::UNIX_EPOCH.elapsed().expect("a clock").as_secs() % 3_600;
    // It is between twelve and one there.
    Duration::from_secs(12 * 3_600 - into_the_hour)
}

/// Puts a setting before all others of the file, for processes and commands.
pub(crate) fn configure(cluster: &Cluster, line: &str) {
    let text = std::fs::read_to_string(cluster.config()).unwrap();
    std::fs::write(cluster.config(), format!("{line}\n{text}")).unwrap();
}
