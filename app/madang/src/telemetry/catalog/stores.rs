//! What a process tells of its stores, and of the processes it asks.

use super::metric;
use crate::telemetry::metric::Kind::{Counter, Gauge, Histogram};
use crate::telemetry::metric::Metric;
use crate::telemetry::metric::Series::{Each, Later, One};
use crate::telemetry::metric::Told::{Cluster, Embedded, Peers};

/// The roles that peers are asked for.
const ROLES: &[&str] = &["member", "article", "comment", "like", "view", "hot-article", "article-read"];

/// Every metric of these.
pub(super) const ALL: &[Metric] = &[
    // SQLite.
    metric("madang_sqlite_batch_calls", Histogram, Embedded, One, "Calls in a batch of the writer."),
    metric(
        "madang_sqlite_batch_seconds",
        Histogram,
        Embedded,
        One,
        "Time of a batch from its first call to the end of its COMMIT.",
    ),
    metric(
        "madang_sqlite_commit_seconds",
        Histogram,
        Embedded,
        One,
        "Time of a COMMIT, the fsync of the write-ahead log included.",
    ),
    metric(
        "madang_sqlite_checkpoint_seconds",
        Histogram,
        Embedded,
        One,
        "Time of a checkpoint of the write-ahead log.",
    ),
    metric(
        "madang_sqlite_write_queue",
        Gauge,
        Embedded,
        Each("lane", &["foreground", "background"]),
        "Calls that wait for the writer, by priority.",
    ),
    metric("madang_sqlite_read_queue", Gauge, Embedded, One, "Calls that wait for a reader."),
    metric("madang_sqlite_read_at_once_total", Counter, Embedded, One, "Reads done on the thread of their caller."),
    metric(
        "madang_sqlite_refused_total",
        Counter,
        Embedded,
        Each("queue", &["foreground", "background", "readers", "fold"]),
        "Calls refused because a queue was full.",
    ),
    metric("madang_sqlite_wal_bytes", Gauge, Embedded, One, "Bytes of the write-ahead log that are in use."),
    metric(
        "madang_disk_available_bytes",
        Gauge,
        Embedded,
        One,
        "Bytes that are left on the disk of the data directory.",
    ),
    metric("madang_disk_size_bytes", Gauge, Embedded, One, "Size of the disk of the data directory."),
    // MySQL.
    metric("madang_mysql_batch_calls", Histogram, Cluster, One, "Calls in a batch of a lane."),
    metric(
        "madang_mysql_batch_seconds",
        Histogram,
        Cluster,
        One,
        "Time of a batch until its outcome is known, retries included.",
    ),
    metric("madang_mysql_commit_seconds", Histogram, Cluster, One, "Time until the reply to COMMIT."),
    metric("madang_mysql_refused_total", Counter, Cluster, One, "Calls refused because a lane was full."),
    metric(
        "madang_mysql_run_again_total",
        Counter,
        Cluster,
        One,
        "Transactions that ran again because another was in the way or a connection was lost.",
    ),
    metric(
        "madang_mysql_one_by_one_total",
        Counter,
        Cluster,
        One,
        "Batches whose calls ran one by one after an error.",
    ),
    metric(
        "madang_mysql_commits_looked_up_total",
        Counter,
        Cluster,
        One,
        "COMMITs whose reply was lost and whose outcome was looked up.",
    ),
    metric(
        "madang_mysql_failovers_total",
        Counter,
        Cluster,
        One,
        "Times that another member of a database server was taken for its primary.",
    ),
    metric("madang_mysql_writes_without_room_total", Counter, Cluster, One, "Writes for which a server had no room."),
    metric(
        "madang_mysql_not_here_total",
        Counter,
        Cluster,
        One,
        "Calls that came back because the server took no writes for their shard; they follow the shard map.",
    ),
    metric(
        "madang_mysql_pool_connections",
        Gauge,
        Cluster,
        Later(&["server", "service", "state"]),
        "Pooled connections by state, `used` or `idle`; those of lanes are not among them.",
    ),
    metric(
        "madang_mysql_pool_connections_max",
        Gauge,
        Cluster,
        Later(&["server", "service"]),
        "How many pooled connections there may be.",
    ),
    metric(
        "madang_mysql_pool_waiting",
        Gauge,
        Cluster,
        Later(&["server", "service"]),
        "Callers that wait for a pooled connection.",
    ),
    metric(
        "madang_clock_skew_seconds",
        Gauge,
        Cluster,
        Later(&["server"]),
        "How far the clock of this host is ahead of that of a database server.",
    ),
    // Other processes.
    metric(
        "madang_peer_calls_total",
        Counter,
        Peers,
        Later(&["role", "outcome"]),
        "Calls to peers by role and outcome.",
    ),
    metric(
        "madang_peer_call_seconds",
        Histogram,
        Peers,
        Later(&["role"]),
        "Time of a call to a peer until its answer was read.",
    ),
    metric(
        "madang_peer_retries_total",
        Counter,
        Peers,
        Each("role", ROLES),
        "Calls that were tried again at another peer.",
    ),
    metric(
        "madang_peer_circuit_open",
        Gauge,
        Peers,
        Later(&["peer"]),
        "1 while calls to a peer are refused at once because it failed, 0 while they pass.",
    ),
    metric(
        "madang_peer_facts_remembered_total",
        Counter,
        Peers,
        One,
        "Look-ups of articles that were answered from memory.",
    ),
    metric("madang_internal_refused_total", Counter, Peers, One, "Internal calls refused for want of the secret."),
];
