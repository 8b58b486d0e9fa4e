//! The naive twins: programs as they are often written, each without one protection. They share the domain and the tables
//! with the protected ones, and no wiring.

pub mod command;
pub mod consumer;
pub mod query;
pub mod relay;
pub mod store;

use clap::Subcommand;

/// A naive program.
#[derive(Debug, Subcommand)]
pub enum NaiveProgram {
    /// Commits, and then sends the event itself.
    DirectProduce(command::NaiveCommandSettings),
    /// Sends the event inside the transaction, and then commits.
    PublishInTransaction(command::NaiveCommandSettings),
    /// Applies every event that comes, however often it comes.
    NoDedup(consumer::NaiveConsumerSettings),
    /// Stores the offset, and then does the work.
    OffsetFirst(consumer::NaiveConsumerSettings),
    /// Tries an event until it works, for ever.
    RetryInPlace(consumer::NaiveConsumerSettings),
    /// Shows what came last, whatever its version.
    LastWriteWins(consumer::NaiveConsumerSettings),
    /// Applies events, and tells no cache.
    NoInvalidation(consumer::NaiveConsumerSettings),
    /// Applies events, and deletes the cached balance.
    PlainDelete(consumer::NaiveConsumerSettings),
    /// Caches what it loaded with a fixed TTL, and shares loads with nobody, or within its process only.
    Query(query::NaiveQuerySettings),
    /// Relays some shards for ever, whoever else lives.
    FixedRelay(relay::FixedRelaySettings),
    /// Relays without a key: any partition will do.
    UnkeyedRelay(relay::UnkeyedRelaySettings),
}

impl NaiveProgram {
    /// Runs it until it is told to end.
    pub async fn run(self) -> anyhow::Result<()> {
        match self {
            Self::DirectProduce(settings) => command::run(settings, command::Sends::AfterCommit).await,
            Self::PublishInTransaction(settings) => command::run(settings, command::Sends::InTransaction).await,
            Self::NoDedup(settings) => consumer::no_dedup(settings).await,
            Self::OffsetFirst(settings) => consumer::offset_first(settings).await,
            Self::RetryInPlace(settings) => consumer::retry_in_place(settings).await,
            Self::LastWriteWins(settings) => consumer::last_write_wins(settings).await,
            Self::NoInvalidation(settings) => consumer::no_invalidation(settings).await,
            Self::PlainDelete(settings) => consumer::plain_delete(settings).await,
            Self::Query(settings) => query::run(settings).await,
            Self::FixedRelay(settings) => relay::run_fixed(settings).await,
            Self::UnkeyedRelay(settings) => relay::run_unkeyed(settings).await,
        }
    }
}
