//! Lanes: calls that wait are folded into one physical transaction, and answered after its COMMIT.
//!
//! Each store has a few lanes on each server, and a shard keeps its lane: so what one process commits to a shard has one
//! order, and its batches never wait for one another's locks. A batch is decided in memory between a read and a write of
//! many rows. An error that is nobody's in particular runs it again as a whole; one that is somebody's runs the calls one
//! by one, so that only the bad one fails. A COMMIT without a reply is looked up by its number ([`commit`]); while that takes
//! long, the lane refuses other calls. A call whose shard the server does not hold any more goes back to its caller, who follows
//! it ([`Lanes::call`]). Where callers wait for what follows a commit, the lane goes on meanwhile ([`replies`]).

mod batch;
mod commit;
mod queue;
mod replies;

use std::convert::Infallible;
use std::sync::{Arc, PoisonError, RwLock};

use madang_kernel::{ServerIndex, ShardId, StoreError};
use madang_messaging::{OnError, Stop, ToMessage};
use tokio::sync::mpsc;

use crate::errors::{PART, SqlError};
use crate::retry::MOVES_MAX;
use crate::server::Server;
use crate::transaction::Tx;
use crate::{Mysql, Placement, metric};
use batch::Batches;
use queue::Queue;
use replies::{Reply, UNANSWERED_BATCHES_MAX, reply};

/// Calls that may wait in one lane; one more is refused at once.
const LANE_PENDING_MAX: usize = 4_096;

/// What a call came to: its answer, or why it alone was refused. Either way it left nothing half done.
pub type Decision<A> = Result<A, StoreError>;

/// What a batch of calls came to.
pub struct Decided<A, E> {
    /// One for each call, in the order of the calls.
    pub decisions: Vec<Decision<A>>,
    /// What happened, in commit order. Each becomes a message in the outbox, in the transaction of the batch.
    pub events: Vec<E>,
}

impl<A, E> Decided<A, E> {
    /// Of calls that nobody else has to know of.
    pub fn without_events(decisions: Vec<Decision<A>>) -> Self {
        Self { decisions, events: Vec::new() }
    }
}

/// How the calls of one store are decided together.
pub trait Fold: Send + Sync + 'static {
    /// What a caller wants.
    type Call: Send + Sync + 'static;
    /// What a caller gets.
    type Answer: Send + 'static;
    /// What happens when a call changes something.
    type Event: ToMessage;

    /// The shard a call belongs to.
    fn shard(call: &Self::Call) -> ShardId;

    /// Decides calls in their order: takes locks in key order, reads, replays in memory, writes. One decision for each
    /// call. An error means that none of them is decided.
    fn decide(
        &self,
        tx: &mut Tx<'_>,
        calls: &[Self::Call],
    ) -> impl Future<Output = Result<Decided<Self::Answer, Self::Event>, SqlError>> + Send;
}

/// The lanes of one store on all its servers. Clones share them.
pub struct Lanes<F: Fold> {
    db: Mysql<F::Event>,
    fold: Arc<F>,
    /// By server, then by lane; those of a server that is added start with its first call.
    queues: Arc<RwLock<Vec<ServerLanes<F>>>>,
}

/// The lanes of one store on one server.
type ServerLanes<F> = Arc<[Arc<Queue<F>>]>;

impl<F: Fold> Clone for Lanes<F> {
    fn clone(&self) -> Self {
        Self { db: self.db.clone(), fold: Arc::clone(&self.fold), queues: Arc::clone(&self.queues) }
    }
}

impl<F: Fold> Lanes<F> {
    /// Starts the lanes; they run until the store closes.
    pub fn start(db: &Mysql<F::Event>, fold: F) -> Self {
        let lanes = Self { db: db.clone(), fold: Arc::new(fold), queues: Arc::default() };
        lanes.grow_to(db.map().servers());
        lanes
    }

    /// Puts a call into its lane and waits for its answer. A shard that has moved, or is just being moved, is followed.
    pub async fn call(&self, mut call: F::Call) -> Result<F::Answer, StoreError> {
        let shard = F::shard(&call);
        for _ in 0..=MOVES_MAX {
            let placement = self.db.map();
            let lanes = self.lanes_on(&placement, placement.server(shard));
            call = match lanes[usize::from(shard.number()) % lanes.len()].call(call).await {
                Reply::Decided(decision) => return decision,
                Reply::NotHere(call) => call,
            };
            metrics::counter!(metric::NOT_HERE).increment(1);
            if !self.db.is_writable_again(shard, placement.server_of(shard)).await {
                break;
            }
        }
        Err(StoreError::unavailable(PART, "its shard is being moved to another server"))
    }

    fn lanes_on(&self, placement: &Placement, server: ServerIndex) -> ServerLanes<F> {
        let index = usize::from(server.0);
        let found = self.queues.read().unwrap_or_else(PoisonError::into_inner).get(index).cloned();
        found.unwrap_or_else(|| {
            self.grow_to(placement.servers());
            Arc::clone(&self.queues.read().unwrap_or_else(PoisonError::into_inner)[index])
        })
    }

    /// Starts lanes on the servers that have none.
    fn grow_to(&self, servers: &[Arc<Server>]) {
        let mut queues = self.queues.write().unwrap_or_else(PoisonError::into_inner);
        for server in servers.iter().skip(queues.len()) {
            queues.push((0..self.db.options().lanes()).map(|_| self.start_lane(server)).collect());
        }
    }

    fn start_lane(&self, server: &Arc<Server>) -> Arc<Queue<F>> {
        let calls_max = self.db.options().batch_calls_max.max(1);
        let queue = Arc::new(Queue::new(LANE_PENDING_MAX));
        let batches = Batches::new(&self.db, Arc::clone(server), Arc::clone(&queue), Arc::clone(&self.fold));
        let waiting = Arc::clone(&queue);
        self.db.supervise(move |supervisor| {
            supervisor.spawn("lane", OnError::Restart, move |stop| {
                run(Arc::clone(&waiting), batches.clone(), calls_max, stop)
            });
        });
        // A lane that was stopped before it ever ran leaves its calls to this.
        let closed = Arc::clone(&queue);
        self.db.when_closed(move || closed.close());
        queue
    }
}

async fn run<F: Fold>(
    queue: Arc<Queue<F>>,
    batches: Batches<F>,
    calls_max: usize,
    stop: Stop,
) -> Result<(), Infallible> {
    let (followed, replying) = mpsc::channel(UNANSWERED_BATCHES_MAX);
    let committing = async move {
        let mut connection = None;
        while let Some(queued) = queue.next(calls_max, &stop).await {
            batches.run(&mut connection, queued, &followed).await;
        }
    };
    tokio::join!(committing, reply(replying));
    Ok(())
}
