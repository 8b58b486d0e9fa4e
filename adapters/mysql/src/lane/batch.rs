//! One batch from its calls to their answers, with everything that may go wrong on the way.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use madang_kernel::StoreError;
use madang_messaging::Message;
use mysql_async::TxOpts;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::answer::{Answers, Unanswered};
use super::commit::{self, LaneConn, Lookup};
use super::queue::{Queue, Waiting};
use super::{Decision, Fold};
use crate::db;
use crate::errors::{PART, SqlError};
use crate::hooks::Hooks;
use crate::retry::Retry;
use crate::server::Server;
use crate::transaction::Tx;
use crate::{Mysql, metric, outbox};

/// How long the statements of a batch may take before its connection is given up.
const BATCH_MAX_MS: u64 = 15_000;
/// How long COMMIT may take before its outcome is looked up elsewhere.
const COMMIT_MAX_MS: u64 = 10_000;
/// How long calls wait behind a batch whose outcome is being looked up before they are refused.
const WAIT_FOR_OUTCOME_MS: u64 = 500;

/// Runs the batches of one lane.
pub(super) struct Batches<F: Fold> {
    db: LaneDb,
    server: Arc<Server>,
    queue: Arc<Queue<F>>,
    fold: Arc<F>,
}

/// What a lane keeps of its database: not the database itself, which would then never be dropped.
#[derive(Clone)]
pub(super) struct LaneDb {
    ages: Arc<dyn Fn() -> mysql_async::Value + Send + Sync>,
    hooks: Hooks,
}

/// Why a batch did not commit.
enum Failed {
    /// For certain: nothing was changed.
    Undone(SqlError),
    /// The connection was lost at COMMIT, and the server could not be asked in time.
    Unknown,
}

impl From<SqlError> for Failed {
    fn from(error: SqlError) -> Self {
        Self::Undone(error)
    }
}

impl<F: Fold> Clone for Batches<F> {
    fn clone(&self) -> Self {
        let (server, queue) = (Arc::clone(&self.server), Arc::clone(&self.queue));
        Self { db: self.db.clone(), server, queue, fold: Arc::clone(&self.fold) }
    }
}

impl<F: Fold> Batches<F> {
    pub(super) fn new(db: &Mysql, server: Arc<Server>, queue: Arc<Queue<F>>, fold: Arc<F>) -> Self {
        Self { db: LaneDb { ages: db.ages(), hooks: db.hooks().clone() }, server, queue, fold }
    }

    /// Commits what waits, and answers everybody or leaves that to `unanswered`, where a hook comes first.
    pub(super) async fn run(
        &self,
        connection: &mut Option<LaneConn>,
        waiting: Vec<Waiting<F>>,
        unanswered: &mpsc::Sender<Unanswered<F>>,
    ) {
        metrics::histogram!(metric::BATCH_CALLS).record(waiting.len() as f64);
        let (calls, replies): (Vec<_>, Vec<_>) = waiting.into_iter().map(|w| (w.call, w.reply)).unzip();
        let Committed { decisions, messages } = self.decide(connection, &calls).await;
        let answers = Answers { decisions, replies };
        let Some(hook) = self.db.hooks.to_wait_for(&messages) else { return answers.send() };
        // Whoever takes them ends after this, so there is somebody.
        if let Err(mpsc::error::SendError(left)) = unanswered.send(Unanswered { answers, messages, hook }).await {
            left.answers.send();
        }
    }

    /// Decides all calls together; where an error is not of the whole, one by one.
    async fn decide(&self, connection: &mut Option<LaneConn>, calls: &[F::Call]) -> Committed<F> {
        let error = match self.committed(connection, calls).await {
            Ok(committed) => return committed,
            Err(error) => error,
        };
        if calls.len() == 1 || !error.is_of_one_call() {
            let decisions = calls.iter().map(|_| Err(error.answer())).collect();
            return Committed { decisions, messages: Vec::new() };
        }
        metrics::counter!(metric::ONE_BY_ONE).increment(1);
        tracing::warn!(calls = calls.len(), "a batch failed and runs one by one: {error}");
        let mut all = Committed { decisions: Vec::with_capacity(calls.len()), messages: Vec::new() };
        for call in calls {
            match self.committed(connection, std::slice::from_ref(call)).await {
                Ok(alone) => {
                    all.decisions.extend(alone.decisions);
                    all.messages.extend(alone.messages);
                }
                Err(error) => all.decisions.push(Err(error.answer())),
            }
        }
        all
    }

    /// Runs one transaction until it is committed or it is certain that it was not.
    async fn committed(&self, connection: &mut Option<LaneConn>, calls: &[F::Call]) -> Result<Committed<F>, Failed> {
        let mut retry = Retry::new();
        loop {
            let mut lane = match connection.take() {
                Some(lane) => lane,
                None => LaneConn::open(&self.server).await?,
            };
            let (outcome, usable) = self.attempt(&mut lane, calls).await;
            if usable {
                *connection = Some(lane);
            }
            match outcome {
                Err(Failed::Undone(error)) if worth_another(&error, calls.len()) && retry.again(&error).await => {
                    metrics::counter!(metric::RUN_AGAIN).increment(1);
                }
                outcome => return outcome,
            }
        }
    }

    /// One transaction. Tells beside its outcome whether the connection can be used again.
    async fn attempt(&self, lane: &mut LaneConn, calls: &[F::Call]) -> (Result<Committed<F>, Failed>, bool) {
        let number = lane.next_number();
        let lane_id = lane.lane_id();
        let connection_id = lane.conn.id();
        let statements = async {
            let mut tx = db::begin(&mut lane.conn, TxOpts::default()).await?;
            match self.statements(&mut tx, calls, lane_id, number).await {
                Ok(decided) => Ok((tx, decided)),
                Err(error) => {
                    tx.roll_back().await;
                    Err(error)
                }
            }
        };
        let statements = self.server.health().guard(statements);
        let (tx, decided) = match timeout(Duration::from_millis(BATCH_MAX_MS), statements).await {
            Ok(Ok(decided)) => decided,
            Ok(Err(error)) => {
                let usable = !error.is_away();
                return (Err(error.into()), usable);
            }
            Err(_) => return (Err(SqlError::Away("a batch took too long".to_owned()).into()), false),
        };
        let Decided { decided, wrote } = decided;
        if !wrote {
            // Rows that were made only to be locked go with it.
            let ended = self.server.health().guard(async {
                tx.roll_back().await;
                Ok::<_, SqlError>(())
            });
            return (Ok(decided), ended.await.is_ok());
        }
        let commit = self.server.health().guard(tx.commit());
        let ended = timeout(Duration::from_millis(COMMIT_MAX_MS), commit).await;
        let (committed, usable) = match ended {
            Ok(Ok(())) => (Ok(()), true),
            // The server refused: it says so only of what it rolled back.
            Ok(Err(error)) if !error.is_away() => (Err(error.into()), true),
            _ => (self.look_up(lane_id, number, connection_id).await, false),
        };
        let told = committed.map(|()| {
            self.db.hooks.committed(&decided.messages);
            decided
        });
        (told, usable)
    }

    async fn statements(
        &self,
        tx: &mut Tx<'_>,
        calls: &[F::Call],
        lane_id: u64,
        number: u64,
    ) -> Result<Decided<F>, SqlError> {
        let decisions = self.fold.decide(tx, calls).await?;
        debug_assert_eq!(decisions.len(), calls.len());
        let wrote = tx.wrote();
        let messages = tx.take_reports();
        if wrote {
            outbox::insert(tx, &messages, (self.db.ages)()).await?;
            commit::mark(tx, lane_id, number, (self.db.ages)()).await?;
        }
        Ok(Decided { decided: Committed { decisions, messages }, wrote })
    }

    async fn look_up(&self, lane_id: u64, number: u64, connection_id: u32) -> Result<(), Failed> {
        metrics::counter!(metric::COMMITS_LOOKED_UP).increment(1);
        let mut looking = pin!(commit::look_up(&self.server, lane_id, number, connection_id));
        let found = match timeout(Duration::from_millis(WAIT_FOR_OUTCOME_MS), &mut looking).await {
            Ok(found) => found,
            Err(_) => {
                // The batch must know what became of it before the next one runs; nobody else has to wait for that.
                let _refusing = self.queue.refuse("the outcome of a transaction is being looked up");
                looking.await
            }
        };
        match found {
            Lookup::Committed => Ok(()),
            Lookup::RolledBack => Err(SqlError::Away("the connection was lost before COMMIT".to_owned()).into()),
            Lookup::Unknown => Err(Failed::Unknown),
        }
    }
}

/// A batch before its COMMIT.
struct Decided<F: Fold> {
    decided: Committed<F>,
    wrote: bool,
}

/// What a batch came to, with the messages that were committed with it.
struct Committed<F: Fold> {
    decisions: Vec<Decision<F::Answer>>,
    messages: Vec<Message>,
}

/// A row that a batch had not seen may be any call's, so the calls are told apart first; a single call looks again.
fn worth_another(error: &SqlError, calls: usize) -> bool {
    match error {
        SqlError::Conflict(_) | SqlError::Away(_) => true,
        SqlError::Duplicate(_) => calls == 1,
        SqlError::Defect(_) => false,
    }
}

impl Failed {
    /// Whether the error may be one call's own.
    fn is_of_one_call(&self) -> bool {
        matches!(self, Self::Undone(SqlError::Duplicate(_) | SqlError::Defect(_)))
    }

    fn answer(&self) -> StoreError {
        match self {
            Self::Undone(SqlError::Conflict(_) | SqlError::Away(_)) => StoreError::unavailable(PART, self.to_string()),
            Self::Undone(SqlError::Duplicate(_) | SqlError::Defect(_)) | Self::Unknown => {
                StoreError::broken(PART, self.to_string())
            }
        }
    }
}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Undone(error) => error.fmt(f),
            Self::Unknown => f.write_str("the connection was lost at COMMIT: it is not known whether it happened"),
        }
    }
}
