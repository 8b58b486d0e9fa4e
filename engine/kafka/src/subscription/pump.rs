//! The thread that serves librdkafka for one subscription, for as long as the subscription lives; and what blocks beside it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use madang_messaging::Outage;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::Message as _;
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use tokio::sync::{oneshot, watch};

use super::member::Member;
use super::state::{Owned, Partition, Shared};
use super::{Follows, OFFSETS_TIMEOUT_MS, delivery, list};
use crate::errors::away;

/// How long the thread waits for the next event before it looks whether it is to end, in milliseconds.
const EVENT_WAIT_MS: u64 = 50;

/// How long a member tries to leave its group, in milliseconds; the broker drops it after its session anyway.
const LEAVE_TIMEOUT_MS: u64 = 10_000;

/// Starts the thread. Once the subscription is closed it leaves the group, as long as the broker lets it, and drops `alive`.
pub(super) fn start(
    consumer: Arc<BaseConsumer<Member>>,
    shared: Arc<Shared>,
    Follows { alive, restored }: Follows,
) -> std::io::Result<()> {
    // What was made again before belongs to the past.
    let restored_before = restored.borrow().len();
    let mut pump = Pump { consumer, shared, restored, restored_before };
    let thread = std::thread::Builder::new().name("kafka-member".to_owned());
    thread.spawn(move || {
        pump.run();
        // Before the consumer itself goes, which waits for an absent broker without a bound.
        drop(alive);
        drop(pump);
    })?;
    Ok(())
}

struct Pump {
    consumer: Arc<BaseConsumer<Member>>,
    shared: Arc<Shared>,
    restored: watch::Receiver<Vec<String>>,
    /// How many of those are taken into account.
    restored_before: usize,
}

impl Pump {
    fn run(&mut self) {
        while !self.shared.is_closing() {
            self.serve();
            self.note_restored();
            let taken_up = self.take_up_granted().and_then(|()| self.reset()).and_then(|()| self.begin_anew());
            if let Err(outage) = taken_up {
                tracing::info!("kafka: partitions are not read yet: {outage}");
                self.report(outage.reason);
            }
        }
        self.settle();
        // Leaves the group, and serves what that takes. Said aloud, because a commit that waits for an absent broker holds
        // the consumer too, and ends only by this.
        match self.consumer.close_queue() {
            Ok(()) => while_open(&self.consumer),
            Err(error) => tracing::warn!(
                "kafka: a consumer could not leave its group, the broker removes it by time-out: {error}"
            ),
        }
    }

    /// Answers the rebalance that is under way, if there is one: the group waits for it, and so would the end. Whatever is
    /// in hand is given up with the subscription.
    fn settle(&self) {
        let (owned, granted, revoked) = {
            let mut state = self.shared.lock();
            (std::mem::take(&mut state.owned), std::mem::take(&mut state.granted), state.all_revoked())
        };
        drop(owned);
        for partitions in revoked {
            let _ = self.consumer.incremental_unassign(&list(&partitions));
        }
        if !granted.is_empty() {
            let _ = self.consumer.incremental_assign(&list(&granted));
        }
    }

    /// Waits for one event.
    fn serve(&self) {
        match self.consumer.poll(Duration::from_millis(EVENT_WAIT_MS)) {
            None => {}
            // Fetched before its partition had a queue of its own.
            Some(Ok(record)) => {
                let partition = (record.topic().to_owned(), record.partition());
                let delivery = delivery(&record, &self.shared.ours(record.topic()));
                self.shared.lock().keep_stray(partition, delivery);
                self.shared.wake.notify_one();
            }
            Some(Err(KafkaError::MessageConsumption(RDKafkaErrorCode::AllBrokersDown))) => {
                self.report("no broker can be reached".to_owned());
            }
            Some(Err(error @ KafkaError::MessageConsumptionFatal(_))) => {
                tracing::error!("kafka: a consumer failed and cannot continue: {error}");
                self.report(error.to_string());
            }
            Some(Err(error)) => tracing::debug!("kafka: an error while consuming: {error}"),
        }
    }

    fn report(&self, reason: String) {
        self.shared.lock().outage = Some(reason);
        self.shared.wake.notify_one();
    }

    /// Begins to read what was granted: where its group stored, or at the oldest message if it never did.
    fn take_up_granted(&self) -> Result<(), Outage> {
        let granted = self.shared.lock().granted.clone();
        if granted.is_empty() {
            return Ok(());
        }
        let starts = stored_offsets(&self.consumer, &granted)?;
        self.read_from(&starts)?;
        self.shared.lock().granted.retain(|partition| !granted.contains(partition));
        Ok(())
    }

    /// Goes on at the head where the log no longer holds what comes next. The head is read before the consumer hears of
    /// it: what it rebuilds after that is at least as new.
    fn reset(&self) -> Result<(), Outage> {
        let resets = {
            let state = self.shared.lock();
            // Letting go of a partition now would be taken for the answer to the revocation.
            if state.resets.is_empty() || state.is_giving_back() {
                return Ok(());
            }
            state.resets.clone()
        };
        let mut heads = TopicPartitionList::with_capacity(resets.len());
        for (topic, partition) in &resets {
            let timeout = Duration::from_millis(OFFSETS_TIMEOUT_MS);
            let (_, head) = self.consumer.fetch_watermarks(topic, *partition, timeout).map_err(away)?;
            heads.add_partition_offset(topic, *partition, Offset::Offset(head)).map_err(away)?;
        }
        let queues: Vec<Owned> =
            self.shared.lock().owned.extract_if(.., |owned| resets.contains(&owned.partition)).collect();
        drop(queues);
        self.consumer.incremental_unassign(&list(&resets)).map_err(away)?;
        self.read_from(&heads)?;
        let mut state = self.shared.lock();
        state.resets.retain(|partition| !resets.contains(partition));
        state.fell_behind = true;
        drop(state);
        self.shared.wake.notify_one();
        Ok(())
    }

    /// Takes away what is read of topics that were made again: whatever is in hand of them, and every offset, is of topics that
    /// are no more.
    fn note_restored(&mut self) {
        let restored: Vec<String> = self.restored.borrow()[self.restored_before..].to_vec();
        if restored.is_empty() {
            return;
        }
        self.restored_before += restored.len();
        let queues = self.shared.lock().begin_anew(&restored);
        drop(queues);
        self.shared.wake.notify_one();
    }

    /// Reads topics that were made again from their beginning, and says so to the broker: a commit that was under way may have
    /// stored an offset of the topic before.
    fn begin_anew(&self) -> Result<(), Outage> {
        let anew = {
            let state = self.shared.lock();
            // Letting go of a partition now would be taken for the answer to a revocation.
            if state.anew.is_empty() || state.storing || state.is_giving_back() {
                return Ok(());
            }
            state.anew.clone()
        };
        let mut starts = TopicPartitionList::with_capacity(anew.len());
        for (topic, partition) in &anew {
            starts.add_partition_offset(topic, *partition, Offset::Offset(0)).map_err(away)?;
        }
        self.consumer.incremental_unassign(&list(&anew)).map_err(away)?;
        self.read_from(&starts)?;
        self.shared.lock().anew.retain(|partition| !anew.contains(partition));
        // Nobody waits for the answer: the first message that is done stores the same, and more.
        let beginnings = anew.into_iter().map(|partition| (partition, 0)).collect();
        store(self.consumer.clone(), self.shared.clone(), beginnings, oneshot::channel().0)
    }

    fn read_from(&self, starts: &TopicPartitionList) -> Result<(), Outage> {
        let mut owned = Vec::with_capacity(starts.count());
        for element in starts.elements() {
            let partition = (element.topic().to_owned(), element.partition());
            // Before it is read, or its first messages would come without a queue of their own.
            let split = self.consumer.split_partition_queue(&partition.0, partition.1);
            let mut queue = split.ok_or_else(|| away(format!("{} has no queue", partition.0)))?;
            let shared = self.shared.clone();
            queue.set_nonempty_callback(move || shared.wake.notify_one());
            owned.push(Owned { ours: self.shared.ours(&partition.0), partition, queue });
        }
        self.consumer.incremental_assign(starts).map_err(away)?;
        let mut state = self.shared.lock();
        owned.into_iter().for_each(|owned| state.own(owned));
        drop(state);
        self.shared.wake.notify_one();
        Ok(())
    }
}

fn while_open(consumer: &BaseConsumer<Member>) {
    let deadline = Instant::now() + Duration::from_millis(LEAVE_TIMEOUT_MS);
    while !consumer.closed() {
        if Instant::now() >= deadline {
            tracing::warn!(
                "kafka: a consumer could not leave its group because no broker responds, the broker removes it by time-out"
            );
            return;
        }
        let _ = consumer.poll(Duration::from_millis(EVENT_WAIT_MS));
    }
}

/// Stores offsets and answers. On a thread of its own: the library confirms a commit only to a caller that blocks, and lets
/// it wait for as long as the broker is away, which must not hold up the end of the process. One at a time.
pub(super) fn store(
    consumer: Arc<BaseConsumer<Member>>,
    shared: Arc<Shared>,
    offsets: Vec<(Partition, i64)>,
    answer: oneshot::Sender<Result<(), Outage>>,
) -> Result<(), Outage> {
    let mut list = TopicPartitionList::with_capacity(offsets.len());
    for ((topic, partition), offset) in &offsets {
        list.add_partition_offset(topic, *partition, Offset::Offset(*offset)).map_err(away)?;
    }
    if std::mem::replace(&mut shared.lock().storing, true) {
        return Err(away("an earlier commit is not answered yet"));
    }
    let of = shared.clone();
    let thread = std::thread::Builder::new().name("kafka-commit".to_owned()).spawn(move || {
        let outcome = consumer.commit(&list, CommitMode::Sync).map_err(away);
        let mut state = shared.lock();
        state.storing = false;
        if outcome.is_ok() {
            state.stored(offsets);
        }
        drop(state);
        drop(consumer);
        // Whoever asked may have stopped waiting.
        let _ = answer.send(outcome);
    });
    thread.map(|_| ()).map_err(|error| {
        of.lock().storing = false;
        away(error)
    })
}

/// Where the group goes on in these partitions. Blocks.
fn stored_offsets(consumer: &BaseConsumer<Member>, of: &[Partition]) -> Result<TopicPartitionList, Outage> {
    let timeout = Duration::from_millis(OFFSETS_TIMEOUT_MS);
    let stored = consumer.committed_offsets(list(of), timeout).map_err(away)?;
    let mut starts = TopicPartitionList::with_capacity(of.len());
    for element in stored.elements() {
        element.error().map_err(away)?;
        let start = match element.offset() {
            Offset::Offset(offset) => Offset::Offset(offset),
            _ => Offset::Beginning,
        };
        starts.add_partition_offset(element.topic(), element.partition(), start).map_err(away)?;
    }
    Ok(starts)
}
