//! What a process tells of consumer groups, dead letters, outboxes and relays.

use super::metric;
use crate::telemetry::metric::Kind::{Counter, Gauge};
use crate::telemetry::metric::Metric;
use crate::telemetry::metric::Series::{Each, Later, One};
use crate::telemetry::metric::Told::{Cluster, Everywhere};

/// Every metric of these.
pub(super) const ALL: &[Metric] = &[
    // Consumer groups.
    metric(
        "madang_group_lag_messages",
        Gauge,
        Everywhere,
        Later(&["group"]),
        "Messages of its topics that a group has not done; also while it is stuck or paused.",
    ),
    metric(
        "madang_group_retries_waiting",
        Gauge,
        Everywhere,
        Later(&["group"]),
        "Messages that wait in the retry topics of a group.",
    ),
    metric(
        "messaging_consumer_lag_seconds",
        Gauge,
        Everywhere,
        Later(&["group"]),
        "Age of the oldest message that a group has in hand, or for how long nobody could tell; also while it is stuck or paused.",
    ),
    metric(
        "messaging_consumer_applied_total",
        Counter,
        Everywhere,
        Later(&["group"]),
        "Messages that a group has applied.",
    ),
    metric(
        "messaging_consumer_applied_age_seconds",
        Gauge,
        Everywhere,
        Later(&["group"]),
        "Age of what a group applied last, at that moment.",
    ),
    metric(
        "messaging_consumer_retried_in_place_total",
        Counter,
        Everywhere,
        Later(&["group"]),
        "Messages that failed and were handled again at once.",
    ),
    metric(
        "messaging_consumer_retried_total",
        Counter,
        Everywhere,
        Later(&["group"]),
        "Messages that failed and went to a retry topic.",
    ),
    metric(
        "messaging_consumer_dead_lettered_total",
        Counter,
        Everywhere,
        Later(&["group"]),
        "Messages that a group gave up.",
    ),
    metric(
        "messaging_consumer_skipped_total",
        Counter,
        Everywhere,
        Later(&["group"]),
        "Messages that a group passed over because an operator said so.",
    ),
    metric(
        "messaging_consumer_stuck",
        Gauge,
        Everywhere,
        Later(&["group"]),
        "Levels of a group (its topics, its retry topics) that cannot get past a record.",
    ),
    metric(
        "messaging_pauses_total",
        Counter,
        Everywhere,
        Each("part", &["database", "log"]),
        "How often a consumer, relay or coordinator began to wait because a part was away.",
    ),
    metric("madang_dead_letters", Gauge, Everywhere, One, "Dead letters that wait for a person; counted every 30 s."),
    // Relays.
    metric(
        "madang_outbox_unsent",
        Gauge,
        Cluster,
        Later(&["service"]),
        "Rows of an outbox that are not published yet, parked ones included.",
    ),
    metric(
        "madang_outbox_parked",
        Gauge,
        Cluster,
        Later(&["service"]),
        "Rows of an outbox whose key is parked after failures.",
    ),
    metric(
        "madang_outbox_oldest_age_seconds",
        Gauge,
        Cluster,
        Later(&["service"]),
        "Age of the oldest row of an outbox, by the clock of its database.",
    ),
    metric(
        "madang_relay_shards_from",
        Gauge,
        Cluster,
        Later(&["service"]),
        "The first shard whose outbox this process polls.",
    ),
    metric(
        "madang_relay_shards_to",
        Gauge,
        Cluster,
        Later(&["service"]),
        "The shard after the last one; the same as the first where it polls none.",
    ),
    metric("messaging_relay_published_total", Counter, Cluster, One, "Events published to the log."),
    metric(
        "messaging_relay_duplicates_total",
        Counter,
        Cluster,
        One,
        "Rows that were handed over and read again; published once.",
    ),
    metric(
        "messaging_relay_left_to_polling_total",
        Counter,
        Cluster,
        One,
        "Events not published at once because the relay was busy or away; polling finds them.",
    ),
    metric(
        "messaging_relay_dropped_total",
        Counter,
        Cluster,
        One,
        "Claimed rows that were too late, or whose shards moved; they are read again.",
    ),
    metric(
        "messaging_relay_parked_total",
        Counter,
        Cluster,
        One,
        "Events parked with their key after failures of their own.",
    ),
    metric(
        "messaging_relay_buried_total",
        Counter,
        Cluster,
        One,
        "Events that a relay gave up; they are dead letters.",
    ),
];
