//! Names of the figures this engine reports.

/// Calls in a batch.
pub(crate) const BATCH_CALLS: &str = "madang_mysql_batch_calls";
/// Time from the beginning of a batch until its outcome is known.
pub(crate) const BATCH_SECONDS: &str = "madang_mysql_batch_seconds";
/// Time until the reply to COMMIT.
pub(crate) const COMMIT_SECONDS: &str = "madang_mysql_commit_seconds";
/// Calls refused because a lane was full.
pub(crate) const REFUSED: &str = "madang_mysql_refused_total";
/// Transactions that ran again because another was in the way or a connection was lost.
pub(crate) const RUN_AGAIN: &str = "madang_mysql_run_again_total";
/// Batches whose calls ran one by one.
pub(crate) const ONE_BY_ONE: &str = "madang_mysql_one_by_one_total";
/// COMMITs whose reply was lost and whose outcome was looked up.
pub(crate) const COMMITS_LOOKED_UP: &str = "madang_mysql_commits_looked_up_total";
/// Writes for which a server had no room.
pub(crate) const WRITES_WITHOUT_ROOM: &str = "madang_mysql_writes_without_room_total";
/// Calls that came back because the server took no writes for their shard.
pub(crate) const NOT_HERE: &str = "madang_mysql_not_here_total";
/// Times that another member of a server was taken for its primary.
pub(crate) const FAILOVERS: &str = "madang_mysql_failovers_total";
