//! One batch from its calls to their replies, with everything that may go wrong on the way.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use madang_kernel::{ShardId, StoreError};
use madang_messaging::{Message, ToMessage};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout};

use super::commit::{self, CommitOutcome, LaneConn};
use super::queue::{Queue, QueuedCall};
use super::replies::{BatchReplies, FollowedBatch, Reply};
use super::{Decided, Fold};
use crate::errors::{PART, SqlError};
use crate::followers::Followers;
use crate::retry::Retry;
use crate::server::Server;
use crate::transaction::Tx;
use crate::{Mysql, metric, outbox};

/// How long the statements of a batch may take before its connection is given up.
const BATCH_MAX: Duration = Duration::from_secs(15);
/// How long COMMIT may take before its outcome is looked up elsewhere.
const COMMIT_MAX: Duration = Duration::from_secs(10);
/// How long calls wait behind a batch whose outcome is being looked up before they are refused.
const WAIT_FOR_OUTCOME: Duration = Duration::from_millis(500);

/// Runs the batches of one lane.
pub(super) struct Batches<F: Fold> {
    db: LaneDb<F::Event>,
    server: Arc<Server>,
    queue: Arc<Queue<F>>,
    fold: Arc<F>,
}

/// What a lane keeps of its database: not the database itself, which would then never be dropped.
struct LaneDb<E> {
    ages: Arc<dyn Fn() -> mysql_async::Value + Send + Sync>,
    followers: Followers<E>,
}

/// Why a batch did not commit.
enum BatchError {
    /// For certain: nothing was changed.
    RolledBack(SqlError),
    /// The connection was lost at COMMIT, and the server was unreachable for too long.
    Unknown,
}

impl From<SqlError> for BatchError {
    fn from(error: SqlError) -> Self {
        Self::RolledBack(error)
    }
}

impl<F: Fold> Clone for Batches<F> {
    fn clone(&self) -> Self {
        let db = LaneDb { ages: Arc::clone(&self.db.ages), followers: self.db.followers.clone() };
        let (server, queue) = (Arc::clone(&self.server), Arc::clone(&self.queue));
        Self { db, server, queue, fold: Arc::clone(&self.fold) }
    }
}

impl<F: Fold> Batches<F> {
    pub(super) fn new(db: &Mysql<F::Event>, server: Arc<Server>, queue: Arc<Queue<F>>, fold: Arc<F>) -> Self {
        Self { db: LaneDb { ages: db.ages(), followers: db.followers().clone() }, server, queue, fold }
    }

    /// Commits what waits, and answers everybody, or leaves that to `followed` where a follower comes first.
    pub(super) async fn run(
        &self,
        connection: &mut Option<LaneConn>,
        mut queued: Vec<QueuedCall<F>>,
        followed: &mpsc::Sender<FollowedBatch<F>>,
    ) {
        metrics::histogram!(metric::BATCH_CALLS).record(queued.len() as f64);
        let began = Instant::now();
        let (Decided { decisions, events }, callers) = loop {
            let (calls, callers): (Vec<_>, Vec<_>) =
                queued.into_iter().map(|queued| (queued.call, queued.caller)).unzip();
            match self.decide(connection, &calls).await {
                Ok(decided) => break (decided, callers),
                // Those of other shards go on.
                Err(NotHere(shards)) => queued = give_back(calls, callers, &shards),
            }
            if queued.is_empty() {
                return;
            }
        };
        metrics::histogram!(metric::BATCH_SECONDS).record(began.elapsed());
        let replies = BatchReplies { decisions, callers };
        let Some(follower) = self.db.followers.follower(&events) else { return replies.send() };
        // Whoever takes them ends after this, so there is somebody.
        if let Err(mpsc::error::SendError(left)) = followed.send(FollowedBatch { replies, events, follower }).await {
            left.replies.send();
        }
    }

    /// Decides all calls together; where an error is not of the whole, one by one.
    async fn decide(
        &self,
        connection: &mut Option<LaneConn>,
        calls: &[F::Call],
    ) -> Result<Decided<F::Answer, F::Event>, NotHere> {
        let error = match self.committed(connection, calls).await {
            Ok(committed) => return Ok(committed),
            Err(BatchError::RolledBack(SqlError::NotHere(shards))) => return Err(NotHere(shards)),
            Err(error) => error,
        };
        if calls.len() == 1 || !error.is_of_one_call() {
            return Ok(Decided::without_events(calls.iter().map(|_| Err(error.to_store_error())).collect()));
        }
        metrics::counter!(metric::ONE_BY_ONE).increment(1);
        tracing::warn!(calls = calls.len(), "a batch failed, running its calls one by one: {error}");
        let mut all = Decided::without_events(Vec::with_capacity(calls.len()));
        for call in calls {
            match self.committed(connection, std::slice::from_ref(call)).await {
                Ok(alone) => {
                    all.decisions.extend(alone.decisions);
                    all.events.extend(alone.events);
                }
                Err(error) => all.decisions.push(Err(error.to_store_error())),
            }
        }
        Ok(all)
    }

    /// Runs one transaction until it is committed or it is certain that it was not.
    async fn committed(
        &self,
        connection: &mut Option<LaneConn>,
        calls: &[F::Call],
    ) -> Result<Decided<F::Answer, F::Event>, BatchError> {
        let mut retry = Retry::new();
        loop {
            // One to a member that is no longer used may lead to a primary of yesterday.
            let mut lane = match connection.take().filter(|lane| lane.is_of(&self.server)) {
                Some(lane) => lane,
                None => LaneConn::open(&self.server).await?,
            };
            let (outcome, usable) = self.attempt(&mut lane, calls).await;
            if usable {
                *connection = Some(lane);
            }
            match outcome {
                Err(BatchError::RolledBack(error))
                    if worth_another(&error, calls.len()) && retry.again(&error).await =>
                {
                    metrics::counter!(metric::RUN_AGAIN).increment(1);
                }
                outcome => return outcome,
            }
        }
    }

    /// One transaction. Tells beside its outcome whether the connection can be used again.
    async fn attempt(&self, lane: &mut LaneConn, calls: &[F::Call]) -> (Attempt<F>, bool) {
        let number = lane.next_number();
        let lane_id = lane.lane_id();
        let connection_id = lane.conn.id();
        let statements = async {
            let mut tx = Tx::begin(&mut lane.conn).await?;
            match self.statements(&mut tx, calls, lane_id, number).await {
                Ok(written) => Ok((tx, written)),
                Err(error) => {
                    tx.roll_back().await;
                    Err(error)
                }
            }
        };
        let statements = self.server.health().guard(statements);
        let (tx, Written { decided, messages, wrote }) = match timeout(BATCH_MAX, statements).await {
            Ok(Ok(written)) => written,
            Ok(Err(error)) => {
                let usable = !error.is_unavailable();
                return (Err(error.into()), usable);
            }
            Err(_) => return (Err(SqlError::Unavailable(format!("a batch took over {BATCH_MAX:?}")).into()), false),
        };
        if !wrote {
            // Rows that were made only to be locked go with it.
            let ended = self.server.health().guard(async {
                tx.roll_back().await;
                Ok::<_, SqlError>(())
            });
            return (Ok(decided), ended.await.is_ok());
        }
        let commit = self.server.health().guard(tx.commit());
        let began = Instant::now();
        let ended = timeout(COMMIT_MAX, commit).await;
        metrics::histogram!(metric::COMMIT_SECONDS).record(began.elapsed());
        let (committed, usable) = match ended {
            Ok(Ok(())) => (Ok(()), true),
            // The server refused: it says so only of what it rolled back.
            Ok(Err(error)) if !error.is_unavailable() => (Err(error.into()), true),
            _ => (self.look_up(lane_id, number, connection_id).await, false),
        };
        let outcome = committed.map(|()| {
            self.server.acknowledged().note(lane_id, number);
            self.db.followers.committed(&decided.events, messages);
            decided
        });
        (outcome, usable)
    }

    async fn statements(
        &self,
        tx: &mut Tx<'_>,
        calls: &[F::Call],
        lane_id: u64,
        number: u64,
    ) -> Result<Written<F>, SqlError> {
        let decided = self.fold.decide(tx, calls).await?;
        debug_assert_eq!(decided.decisions.len(), calls.len());
        let messages: Vec<Message> = decided.events.iter().map(ToMessage::to_message).collect();
        let wrote = tx.wrote() || !messages.is_empty();
        if wrote {
            outbox::insert(tx, &messages, (self.db.ages)()).await?;
            commit::mark(tx, lane_id, number, (self.db.ages)()).await?;
        }
        // Last, so that the rows are locked for no longer than COMMIT takes; also of what changed nothing, whose answers
        // would be those of a copy that nobody changes any more.
        let shards: BTreeSet<ShardId> = calls.iter().map(F::shard).collect();
        tx.holds(&Vec::from_iter(shards)).await?;
        Ok(Written { decided, messages, wrote })
    }

    async fn look_up(&self, lane_id: u64, number: u64, connection_id: u32) -> Result<(), BatchError> {
        metrics::counter!(metric::COMMITS_LOOKED_UP).increment(1);
        let mut looking = pin!(commit::look_up(&self.server, lane_id, number, connection_id));
        let found = match timeout(WAIT_FOR_OUTCOME, &mut looking).await {
            Ok(found) => found,
            Err(_) => {
                // The batch must know what became of it before the next one runs; nobody else has to wait for that.
                let _refusing = self.queue.refuse("the outcome of a transaction is being looked up");
                looking.await
            }
        };
        match found {
            CommitOutcome::Committed => Ok(()),
            CommitOutcome::RolledBack => {
                Err(SqlError::Unavailable("the connection was lost before COMMIT".to_owned()).into())
            }
            CommitOutcome::Unknown => Err(BatchError::Unknown),
        }
    }
}

/// What one transaction came to.
type Attempt<F> = Result<Decided<<F as Fold>::Answer, <F as Fold>::Event>, BatchError>;

/// A batch before its COMMIT.
struct Written<F: Fold> {
    decided: Decided<F::Answer, F::Event>,
    /// Its events as they are in the outbox.
    messages: Vec<Message>,
    wrote: bool,
}

/// The server of the lane takes no writes for these shards, and nothing was changed.
struct NotHere(Vec<ShardId>);

/// Returns the calls of some shards to their callers, and the others to be run.
fn give_back<F: Fold>(
    calls: Vec<F::Call>,
    callers: Vec<oneshot::Sender<Reply<F>>>,
    shards: &[ShardId],
) -> Vec<QueuedCall<F>> {
    let mut left = Vec::new();
    for (call, caller) in calls.into_iter().zip(callers) {
        if shards.contains(&F::shard(&call)) {
            // Who no longer waits does not want it made elsewhere either.
            let _ = caller.send(Reply::NotHere(call));
        } else {
            left.push(QueuedCall { call, caller });
        }
    }
    left
}

/// A row that a batch had not seen may be any call's, so the calls are told apart first; a single call looks again.
fn worth_another(error: &SqlError, calls: usize) -> bool {
    match error {
        SqlError::Conflict(_) | SqlError::Unavailable(_) | SqlError::ReadOnly(_) => true,
        SqlError::Duplicate(_) => calls == 1,
        SqlError::Full(_) | SqlError::NotHere(_) | SqlError::Defect(_) => false,
    }
}

impl BatchError {
    /// Whether the error may be one call's own.
    fn is_of_one_call(&self) -> bool {
        matches!(self, Self::RolledBack(SqlError::Duplicate(_) | SqlError::Defect(_)))
    }

    fn to_store_error(&self) -> StoreError {
        match self {
            Self::RolledBack(
                SqlError::Conflict(_)
                | SqlError::Unavailable(_)
                | SqlError::ReadOnly(_)
                | SqlError::Full(_)
                | SqlError::NotHere(_),
            ) => StoreError::unavailable(PART, self.to_string()),
            Self::RolledBack(SqlError::Duplicate(_) | SqlError::Defect(_)) | Self::Unknown => {
                StoreError::broken(PART, self.to_string())
            }
        }
    }
}

impl std::fmt::Display for BatchError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::RolledBack(error) => error.fmt(f),
            Self::Unknown => f.write_str("the connection was lost at COMMIT: it is not known whether it happened"),
        }
    }
}
