//! What a process tells of itself, of requests, and of the query model.

use super::metric;
use crate::telemetry::metric::Kind::{Counter, Gauge, Histogram};
use crate::telemetry::metric::Metric;
use crate::telemetry::metric::Series::{Each, Later, One};
use crate::telemetry::metric::Told::{Cluster, Everywhere};

/// The limits that refuse, as `madang_server::RefusedBy` calls them.
const LIMITS: &[&str] = &[
    "connections",
    "handshakes",
    "scheduling_delay",
    "in_flight",
    "body",
    "request_timeout",
    "reads",
    "writes",
    "member_writes",
    "sign_ups",
    "guesses",
    "streams",
    "searches",
];
const KINDS: &[&str] = &["article", "board", "views"];

/// Every metric of these.
pub(super) const ALL: &[Metric] = &[
    // The process.
    metric(
        "madang_build_info",
        Gauge,
        Everywhere,
        Later(&["version", "composition"]),
        "Always 1; the labels tell the version and the composition of this process.",
    ),
    metric(
        "madang_ready",
        Gauge,
        Everywhere,
        One,
        "1 while /readyz answers 200, 0 while it answers 503; looked at every 10 s.",
    ),
    metric(
        "madang_part_ready",
        Gauge,
        Everywhere,
        Later(&["part"]),
        "1 while a part of /readyz does its work, 0 while it does not; looked at every 10 s.",
    ),
    metric(
        "madang_tls_certificate_end_timestamp_seconds",
        Gauge,
        Everywhere,
        One,
        "When the certificate of the public listener ends, since 1970; 0 without TLS.",
    ),
    metric(
        "messaging_task_failures_total",
        Counter,
        Everywhere,
        Later(&["task"]),
        "Failures of a background task, which is then started again.",
    ),
    metric(
        "process_cpu_seconds_total",
        Counter,
        Everywhere,
        One,
        "Whole seconds of processor time that the process took.",
    ),
    metric("process_resident_memory_bytes", Gauge, Everywhere, One, "Memory of the process that is in RAM."),
    metric("process_virtual_memory_bytes", Gauge, Everywhere, One, "Address space of the process."),
    metric("process_open_fds", Gauge, Everywhere, One, "Open files and connections."),
    metric("process_max_fds", Gauge, Everywhere, One, "How many there may be."),
    metric("process_threads", Gauge, Everywhere, One, "Threads of the process."),
    metric("process_start_time_seconds", Gauge, Everywhere, One, "When the process began, since 1970."),
    // HTTP.
    metric(
        "madang_http_requests_total",
        Counter,
        Everywhere,
        Later(&["route", "method", "status"]),
        "Answers by route pattern, method and class of status; route `other` is what leads nowhere.",
    ),
    metric(
        "madang_http_request_seconds",
        Histogram,
        Everywhere,
        Later(&["route", "method"]),
        "Time from the head of a request to its answer.",
    ),
    metric(
        "madang_http_wait_seconds",
        Histogram,
        Everywhere,
        One,
        "Scheduling delay: how long a probe waited to be run.",
    ),
    metric(
        "madang_http_shed_total",
        Counter,
        Everywhere,
        One,
        "Requests refused by admission control, for the scheduling delay or for requests in flight.",
    ),
    metric(
        "madang_http_connections_refused_total",
        Counter,
        Everywhere,
        One,
        "Connections refused because too many were open, or shaking hands.",
    ),
    metric(
        "madang_refusals_total",
        Counter,
        Everywhere,
        Each("limit", LIMITS),
        "Refusals by the limit that was reached.",
    ),
    metric("madang_live_streams", Gauge, Everywhere, One, "Event streams that are open in this process."),
    // The query model.
    metric("madang_read_hits_total", Counter, Everywhere, Each("kind", KINDS), "Reads answered from the query model."),
    metric("madang_read_misses_total", Counter, Everywhere, Each("kind", KINDS), "Reads that waited for a load."),
    metric(
        "madang_read_rebuilds_total",
        Counter,
        Everywhere,
        Each("kind", KINDS),
        "Loads from the owners of what was absent.",
    ),
    metric(
        "madang_read_refreshes_total",
        Counter,
        Everywhere,
        Each("kind", KINDS),
        "Loads from the owners of what was stale, while readers got the old one.",
    ),
    metric("madang_read_entries", Gauge, Everywhere, One, "Articles in the query model."),
    metric("madang_read_lists", Gauge, Everywhere, One, "Boards whose list is in the query model."),
    metric("madang_read_bytes", Gauge, Everywhere, One, "Bytes that the query model takes."),
    metric("madang_near_hits_total", Counter, Cluster, One, "Articles found in the near cache of this process."),
    metric(
        "madang_near_misses_total",
        Counter,
        Cluster,
        One,
        "Articles that the near cache had to load from the shared query model.",
    ),
    metric("madang_near_invalidations_total", Counter, Cluster, One, "Changes by which the near cache was corrected."),
    metric("madang_near_clears_total", Counter, Cluster, One, "Times that the whole near cache was dropped."),
    metric("madang_near_entries", Gauge, Cluster, One, "Articles in the near cache."),
    metric("madang_near_lists", Gauge, Cluster, One, "Boards whose list is in the near cache."),
    metric("madang_near_bytes", Gauge, Cluster, One, "Bytes that the near cache takes."),
    metric(
        "madang_commits_not_merged_total",
        Counter,
        Cluster,
        One,
        "Commits that Redis did not take in time, and that reach the query model through the log.",
    ),
];
