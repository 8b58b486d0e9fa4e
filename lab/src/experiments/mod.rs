//! The experiments, one file or folder each, in the order in which the report tells them.

pub mod acks_and_replicas;
mod common;
mod coordinator;
mod direct_produce;
mod key_policy;
pub mod locks;
pub mod log_tailing;
mod no_dedup;
mod offset_first;
pub mod paging_and_keys;
mod publish_in_transaction;
pub mod redis_slots;
mod retry_ladder;
mod stale_cache;
mod stampede;
mod topic;
pub mod transaction_abort;
pub mod two_phase_commit;

use crate::Experiment;

/// All of them.
#[must_use]
pub fn all() -> Vec<Box<dyn Experiment>> {
    vec![
        Box::new(direct_produce::DirectProduce),
        Box::new(no_dedup::NoDedup),
        Box::new(offset_first::OffsetFirst),
        Box::new(stale_cache::StaleCache),
        Box::new(stampede::Stampede),
        Box::new(retry_ladder::RetryLadder),
        Box::new(key_policy::KeyPolicy),
        Box::new(publish_in_transaction::PublishInTransaction),
        Box::new(two_phase_commit::TwoPhaseCommit),
        Box::new(log_tailing::LogTailing),
        Box::new(acks_and_replicas::AcksAndReplicas),
        Box::new(transaction_abort::TransactionAbort),
        Box::new(redis_slots::RedisSlots),
        Box::new(coordinator::Coordinators),
        Box::new(locks::Locks),
        Box::new(paging_and_keys::PagingAndKeys),
    ]
}
