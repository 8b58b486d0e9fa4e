//! The relay's constants, with the defaults of the design.

use crate::Backoff;

/// How the relay works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelayConfig {
    /// Messages published, claimed or deleted together at most.
    pub batch_max: usize,
    /// Messages handed over and not yet published at most; what comes on top is left to polling.
    pub hand_over_max: usize,
    /// Batches waiting between the writers and the relay at most; what comes on top is left to polling.
    pub hand_over_batches_max: usize,
    /// Rows younger than this are still on their way by direct hand-over, in milliseconds.
    pub min_age_ms: u64,
    /// Between two rounds of polling through the shards, in milliseconds.
    pub poll_every_ms: u64,
    /// Shards asked for in one claim.
    pub claim_shards_max: usize,
    /// A batch that is not on its way by then is dropped: somebody else may serve its shards. Under half the lease, in
    /// milliseconds.
    pub batch_deadline_ms: u64,
    /// A log or an outbox that has not answered by then is away, in milliseconds.
    pub answer_timeout_ms: u64,
    /// What was handed over and is published is deleted after so long at the latest, in milliseconds, together with what
    /// else was published meanwhile: a statement for each batch would cost the database more than the messages did.
    pub delete_after_ms: u64,
    /// Claims of a row before it goes to the dead letters.
    pub attempts_max: u32,
    /// Claims of a row that never came to an answer before it is given up untried: it may be what kills its relay each
    /// time. Far above `attempts_max`, because a claim whose reply was lost counts as well.
    pub untried_max: u32,
    /// How long a key is parked after its message was refused.
    pub park_backoff: Backoff,
    /// How long the relay pauses when a part is away.
    pub outage_backoff: Backoff,
    /// Parked keys remembered, so that their later messages are not published past them.
    pub parked_keys_max: usize,
    /// How long the end may take, in milliseconds.
    pub drain_timeout_ms: u64,
}

impl Default for RelayConfig {
    fn default() -> Self {
        Self {
            batch_max: 256,
            hand_over_max: 8_192,
            hand_over_batches_max: 1_024,
            min_age_ms: 10_000,
            poll_every_ms: 1_000,
            claim_shards_max: 32,
            batch_deadline_ms: 4_000,
            answer_timeout_ms: 4_000,
            delete_after_ms: 50,
            attempts_max: 10,
            untried_max: 100,
            park_backoff: Backoff { base_ms: 1_000, cap_ms: 300_000 },
            outage_backoff: Backoff { base_ms: 100, cap_ms: 10_000 },
            parked_keys_max: 10_000,
            drain_timeout_ms: 5_000,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CoordinatorConfig;

    /// So that it surely ends before an instance that fell silent is replaced.
    #[test]
    fn by_default_a_batch_ends_within_half_the_lease() {
        assert!(RelayConfig::default().batch_deadline_ms * 2 < CoordinatorConfig::default().dead_after_ms);
    }
}
