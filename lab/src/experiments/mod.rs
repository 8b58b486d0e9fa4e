//! The experiments, one file or folder each, in the order in which the report tells them.

mod common;
mod coordinator;
mod direct_produce;
mod key_policy;
mod no_dedup;
mod offset_first;
mod publish_in_transaction;
mod retry_ladder;
mod stale_cache;
mod stampede;

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
        Box::new(coordinator::Coordinators),
    ]
}
