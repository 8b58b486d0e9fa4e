//! One instance's part in a consumer group.
//!
//! librdkafka hands out rebalances and errors on a queue that must be served all the time, also
//! while a handler works for minutes; a thread does that (`pump.rs`). Messages wait in a queue per partition and are taken
//! by `poll` itself, so that nothing sits between the two that a cancelled poll could lose. A partition that is to be given
//! back is first reported as `Revoked`; it is let go when `poll` is called again, because by then the consumer has finished
//! and stored, or dropped, what it had in hand.

mod member;
mod pump;
mod state;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use madang_messaging::{Delivery, Outage, Polled, Position, Subscription};
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::topic_partition_list::TopicPartitionList;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use crate::codec;
use crate::errors::away;
use crate::names::Names;
use crate::options::KafkaOptions;
use member::Member;
use state::{Partition, Shared, State};

/// How long the broker may take to confirm a commit, in milliseconds; below the consumer's own patience.
const COMMIT_TIMEOUT_MS: u64 = 8_000;
/// How long reading stored offsets, or a move to them, may take, in milliseconds.
const OFFSETS_TIMEOUT_MS: u64 = 5_000;
/// A poll checks again after this long even if nothing woke it, in milliseconds.
const CHECK_AGAIN_MS: u64 = 500;

/// What a member follows of the log that it belongs to.
pub(crate) struct Follows {
    /// Held until the group is left.
    pub(crate) alive: watch::Receiver<()>,
    /// Topics that were made again after somebody deleted them.
    pub(crate) restored: watch::Receiver<Vec<String>>,
}

/// A member of a group on Kafka.
pub(crate) struct KafkaSubscription {
    shared: Arc<Shared>,
    /// Present until the end: the pump must be the last to let go of it, because leaving the group blocks.
    consumer: Option<Arc<BaseConsumer<Member>>>,
}

impl KafkaSubscription {
    /// Joins.
    pub(crate) fn join(
        options: &KafkaOptions,
        group: &str,
        topics: &[String],
        follows: Follows,
    ) -> Result<Self, Outage> {
        let shared = Arc::new(Shared::new(Names::new(options)));
        let made = options.member(group).create_with_context(Member::new(shared.clone()));
        let consumer: Arc<BaseConsumer<Member>> = Arc::new(made.map_err(away)?);
        let named: Vec<String> = topics.iter().map(|topic| shared.names.topic(topic)).collect();
        consumer.subscribe(&named.iter().map(String::as_str).collect::<Vec<_>>()).map_err(away)?;
        pump::start(consumer.clone(), shared.clone(), follows).map_err(away)?;
        Ok(Self { shared, consumer: Some(consumer) })
    }

    fn consumer(&self) -> Result<&Arc<BaseConsumer<Member>>, Outage> {
        self.consumer.as_ref().ok_or_else(|| away("the subscription has ended"))
    }

    /// Lets go of what the consumer has heard to be revoked: it asks for more, so nothing of it is in hand.
    fn let_go(&self) -> Result<(), Outage> {
        let told = self.shared.lock().told();
        for revoked in told {
            // It fails only when they are gone already.
            if let Err(error) = self.consumer()?.incremental_unassign(&list(&revoked)) {
                tracing::warn!("kafka: cannot give partitions back: {error}");
            }
        }
        Ok(())
    }

    /// What there is to tell right now.
    fn next(&self, max: usize) -> Result<Option<Polled>, Outage> {
        let mut state = self.shared.lock();
        if let Some(reason) = state.outage.take() {
            return Err(away(reason));
        }
        if let Some(revoked) = state.tell_revocation() {
            let ours = |(topic, partition): Partition| (self.shared.ours(&topic), partition.unsigned_abs());
            return Ok(Some(Polled::Revoked(revoked.into_iter().map(ours).collect())));
        }
        if std::mem::take(&mut state.fell_behind) {
            return Ok(Some(Polled::FellBehind));
        }
        let deliveries = self.take(&mut state, max)?;
        Ok((!deliveries.is_empty()).then_some(Polled::Deliveries(deliveries)))
    }

    /// Takes messages from the partitions in turn, beginning with another one each time.
    fn take(&self, state: &mut State, max: usize) -> Result<Vec<Delivery>, Outage> {
        let mut taken: Vec<Delivery> = state.take_strays(max);
        let (count, mut failed, mut resets) = (state.owned.len(), None, Vec::new());
        for turn in 0..count {
            let owned = &state.owned[(state.turn + turn) % count];
            while taken.len() < max {
                match owned.queue.poll(Duration::ZERO) {
                    Some(Ok(record)) => taken.push(delivery(&record, &owned.ours)),
                    Some(Err(KafkaError::MessageConsumption(RDKafkaErrorCode::AutoOffsetReset))) => {
                        resets.push(owned.partition.clone());
                    }
                    Some(Err(error)) => failed = Some(error),
                    None => break,
                }
            }
        }
        state.turn = state.turn.wrapping_add(1);
        state.resets.extend(resets);
        match failed {
            // What was taken is handed out first; an error that lasts comes again.
            Some(error) if taken.is_empty() => Err(away(error)),
            _ => Ok(taken),
        }
    }
}

#[async_trait]
impl Subscription for KafkaSubscription {
    async fn poll(&mut self, max: usize, max_wait: Duration) -> Result<Polled, Outage> {
        let started = Instant::now();
        self.let_go()?;
        loop {
            let woken = self.shared.wake.notified();
            tokio::pin!(woken);
            // Armed before the check, so that what comes in between wakes it.
            woken.as_mut().enable();
            if let Some(polled) = self.next(max)? {
                return Ok(polled);
            }
            let left = max_wait.saturating_sub(started.elapsed());
            if left.is_zero() {
                return Ok(Polled::Deliveries(Vec::new()));
            }
            let _ = tokio::time::timeout(left.min(Duration::from_millis(CHECK_AGAIN_MS)), woken).await;
        }
    }

    async fn commit(&mut self, done: &[Position]) -> Result<(), Outage> {
        let offsets: Vec<(Partition, i64)> = {
            let state = self.shared.lock();
            let next = |position: &Position| (self.shared.partition(position), position.offset.saturating_add(1));
            done.iter().map(next).filter(|(partition, offset)| state.is_news(partition, *offset)).collect()
        };
        if offsets.is_empty() {
            return Ok(());
        }
        let (answer, confirmed) = oneshot::channel();
        pump::store(self.consumer()?.clone(), self.shared.clone(), offsets, answer)?;
        match tokio::time::timeout(Duration::from_millis(COMMIT_TIMEOUT_MS), confirmed).await {
            Ok(answer) => answer.map_err(away)?,
            Err(_) => Err(away(format!("no answer to a commit within {COMMIT_TIMEOUT_MS} ms"))),
        }
    }
}

impl Drop for KafkaSubscription {
    fn drop(&mut self) {
        self.consumer = None;
        self.shared.close();
    }
}

fn delivery(record: &rdkafka::message::BorrowedMessage<'_>, ours: &str) -> Delivery {
    use rdkafka::message::Message as _;
    let position =
        Position { topic: ours.to_owned(), partition: record.partition().unsigned_abs(), offset: record.offset() };
    Delivery { position, message: codec::message(record, ours) }
}

fn list(of: &[Partition]) -> TopicPartitionList {
    let mut list = TopicPartitionList::with_capacity(of.len());
    for (topic, partition) in of {
        list.add_partition(topic, *partition);
    }
    list
}
