//! Work that goes on beside requests while a site is open: consumer groups and their lag, the lease of the node number, the
//! write-back of views, the end of the hot list's days, and retention. Everything here runs under a `Supervisor`.

pub(crate) mod consumers;
pub(crate) mod failure_log;
pub(crate) mod hot_days;
pub(crate) mod hot_owners;
pub(crate) mod lag;
pub(crate) mod lease;
pub(crate) mod orphans;
pub(crate) mod running_groups;
pub(crate) mod search_upkeep;
pub(crate) mod upkeep;
pub(crate) mod write_back;
