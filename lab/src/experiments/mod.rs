//! The experiments, one file or folder each, in the order in which the report tells them.

pub mod acks_and_replicas;
pub mod locks;
pub mod log_tailing;
pub mod paging_and_keys;
pub mod redis_slots;
pub mod transaction_abort;
pub mod two_phase_commit;

use crate::Experiment;

/// All of them.
#[must_use]
pub fn all() -> Vec<Box<dyn Experiment>> {
    vec![
        Box::new(two_phase_commit::TwoPhaseCommit),
        Box::new(log_tailing::LogTailing),
        Box::new(acks_and_replicas::AcksAndReplicas),
        Box::new(transaction_abort::TransactionAbort),
        Box::new(redis_slots::RedisSlots),
        Box::new(locks::Locks),
        Box::new(paging_and_keys::PagingAndKeys),
    ]
}
