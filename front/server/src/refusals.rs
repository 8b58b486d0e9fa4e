//! Counts of what each limit refused, by the kind of the limit and never by whom: an address in a label would be a series for
//! everybody who knocks.

use std::sync::OnceLock;

use metrics::Counter;

const REFUSALS: &str = "madang_refusals_total";

/// A limit that refuses requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusedBy {
    /// Open connections of a listener.
    Connections,
    /// TLS handshakes at the same time.
    Handshakes,
    /// The scheduling delay of requests.
    SchedulingDelay,
    /// Requests in flight.
    InFlight,
    /// The time that a body may take, or bodies that arrive at the same time.
    Body,
    /// The time that a request may take.
    RequestTimeout,
    /// Reads from one network.
    Reads,
    /// Writes from one network.
    Writes,
    /// Writes of one member.
    MemberWrites,
    /// Registrations from one network.
    SignUps,
    /// Passwords that are tried, whichever way they are counted.
    Guesses,
    /// Event streams, of a process or of one network.
    Streams,
    /// Searches from one network or of one member.
    Searches,
}

impl RefusedBy {
    /// Every limit.
    pub const ALL: [Self; 13] = [
        Self::Connections,
        Self::Handshakes,
        Self::SchedulingDelay,
        Self::InFlight,
        Self::Body,
        Self::RequestTimeout,
        Self::Reads,
        Self::Writes,
        Self::MemberWrites,
        Self::SignUps,
        Self::Guesses,
        Self::Streams,
        Self::Searches,
    ];

    /// Counts a refusal.
    pub fn count(self) {
        // Looked up once, when the recorder is sure to be in place: a flood is refused cheaply.
        static COUNTERS: OnceLock<[Counter; RefusedBy::ALL.len()]> = OnceLock::new();
        let counters =
            COUNTERS.get_or_init(|| Self::ALL.map(|limit| metrics::counter!(REFUSALS, "limit" => limit.name())));
        counters[self as usize].increment(1);
    }

    /// What the limit is called in figures.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Connections => "connections",
            Self::Handshakes => "handshakes",
            Self::SchedulingDelay => "scheduling_delay",
            Self::InFlight => "in_flight",
            Self::Body => "body",
            Self::RequestTimeout => "request_timeout",
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::MemberWrites => "member_writes",
            Self::SignUps => "sign_ups",
            Self::Guesses => "guesses",
            Self::Streams => "streams",
            Self::Searches => "searches",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_has_its_own_place_and_name() {
        for (place, limit) in RefusedBy::ALL.into_iter().enumerate() {
            assert_eq!(limit as usize, place, "{limit:?}");
        }
        let names: std::collections::BTreeSet<_> = RefusedBy::ALL.into_iter().map(RefusedBy::name).collect();
        assert_eq!(names.len(), RefusedBy::ALL.len());
    }
}
