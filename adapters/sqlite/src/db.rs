//! The database as the stores see it: a write that is one transaction, a read that is one snapshot.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;

use madang_kernel::{Clock, StoreError};
use rusqlite::{Connection, OptionalExtension};
use tokio::sync::oneshot;

use crate::at_once::AtOnce;
use crate::call::{BoxedCall, boxed};
use crate::checkpointer::{self, WalGauge};
use crate::connection;
use crate::errors::PART;
use crate::lanes::{Lane, Lanes, Refused};
use crate::log::{Announcer, CommitListener, Tail};
use crate::readers::{self, ReadQueue};
use crate::writer::{Writer, lane_name};
use crate::{SqliteOptions, metric};

mod embedded {
    refinery::embed_migrations!("migrations");
}

/// Why a database could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file cannot be read or written: look at the path, its rights and the disk.
    #[error("cannot open {}: {source}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The file was written by a newer version of this program: run that one.
    #[error("{} has schema {found}, and this version knows only up to {known}: run a newer version", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The schema in the file.
        found: i64,
        /// The newest schema of this program.
        known: i64,
    },
    /// A step of the schema failed; the file is as it was before that step.
    #[error("cannot bring {} up to date: {source}", path.display())]
    Migration {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: Box<refinery::Error>,
    },
    /// The system refused a thread.
    #[error("cannot start a database thread: {0}")]
    Thread(#[from] std::io::Error),
}

/// One open database. Clones share it.
#[derive(Clone)]
pub struct Sqlite {
    inner: Arc<Inner>,
}

struct Inner {
    lanes: Arc<Lanes>,
    reads: Arc<ReadQueue>,
    at_once: AtOnce,
    wal: Arc<WalGauge>,
    clock: Arc<dyn Clock>,
    tail: Arc<Tail>,
    listener: Arc<OnceLock<CommitListener>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Sqlite {
    /// Opens the database, creating it or bringing it up to date, and starts its threads.
    #[expect(clippy::needless_pass_by_value, reason = "callers build their options for this call alone")]
    pub fn open(options: SqliteOptions, clock: Arc<dyn Clock>) -> Result<Self, OpenError> {
        let unusable = |source| OpenError::Unusable { path: options.path.clone(), source };
        let mut writer = connection::open_writer(&options).map_err(unusable)?;
        migrate(&mut writer, &options)?;
        let head = stored_head(&writer).map_err(unusable)?;
        let checkpoints = connection::open_checkpointer(&options).map_err(unusable)?;
        let count = options.readers.max(1);
        let readers =
            (0..count).map(|_| connection::open_reader(&options)).collect::<Result<Vec<_>, _>>().map_err(unusable)?;
        let at_once = AtOnce::new(connection::open_at_once(&options).map_err(unusable)?);

        let inner = Inner {
            lanes: Arc::new(Lanes::new(options.people_queue, options.background_queue)),
            reads: Arc::new(ReadQueue::new(options.read_queue, count)),
            at_once,
            wal: Arc::new(WalGauge::default()),
            clock,
            tail: Arc::new(Tail::after(head, options.tail_entries, options.tail_bytes)),
            listener: Arc::default(),
            threads: Mutex::default(),
        };
        let lanes = Arc::clone(&inner.lanes);
        let announcer = Announcer::new(Arc::clone(&inner.tail), Arc::clone(&inner.listener));
        let writer = Writer::new(writer, lanes, options.batch_max, announcer, Arc::clone(&inner.wal));
        inner.start("db-writer", move || writer.run())?;
        for reader in readers {
            let queue = Arc::clone(&inner.reads);
            inner.start("db-reader", move || readers::run(reader, queue))?;
        }
        let gauge = Arc::clone(&inner.wal);
        let (soft, hard) = (options.wal_soft_bytes, options.wal_hard_bytes);
        inner.start("db-checkpoint", move || checkpointer::run(&checkpoints, &gauge, soft, hard))?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Runs `call` in a transaction and returns after its COMMIT. A call that fails or panics leaves nothing behind; one
    /// that cannot be queued is refused at once. A caller that stops waiting does not stop the call.
    pub async fn write<T: Send + 'static>(
        &self,
        lane: Lane,
        call: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.write_or(lane, call).await
    }

    /// As [`Sqlite::write`], for calls with an error of their own.
    pub async fn write_or<T: Send + 'static, E: From<StoreError> + Send + 'static>(
        &self,
        lane: Lane,
        call: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        let (call, reply) = boxed(call);
        self.queue(lane, call)?;
        answer(reply).await
    }

    /// Queues a call that answers by itself, or refuses it at once.
    pub(crate) fn queue(&self, lane: Lane, call: BoxedCall) -> Result<(), StoreError> {
        self.inner.lanes.push(lane, call).map_err(|refused| refusal(refused, lane_name(lane)))
    }

    /// Runs `call` against one snapshot, at least as new as everything committed before.
    pub async fn read<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (call, reply) = boxed(call);
        self.inner.reads.push(call).map_err(|refused| refusal(refused, "readers"))?;
        answer(reply).await
    }

    /// Runs a look-up of a few rows by their keys on the thread of the caller, as new as everything committed before each
    /// of its statements. `None` when it has to go to [`Sqlite::read`].
    pub(crate) fn read_at_once<T>(&self, call: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Option<T> {
        self.inner.at_once.try_read(call)
    }

    /// The clock that this database takes for its own.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.inner.clock
    }

    /// From now on `listener` hears the events of each batch, in commit order, after its COMMIT and before anybody in it
    /// is answered: a caller that got its answer finds its event heard. What a failed call reported is never heard, nor
    /// is what is published again. It runs on the writer's thread, so it must be quick and must not wait for a write; a
    /// panic in it is logged and passes. False when somebody listens already.
    pub fn on_commit(&self, listener: CommitListener) -> bool {
        self.inner.listener.set(listener).is_ok()
    }

    /// The newest entries of the log.
    pub(crate) fn tail(&self) -> &Arc<Tail> {
        &self.inner.tail
    }

    /// Takes no more calls, finishes those that wait, checkpoints, and ends the threads.
    pub async fn close(&self) {
        self.inner.stop();
        let inner = Arc::clone(&self.inner);
        // Joining blocks, so it happens where blocking is allowed.
        let _ = tokio::task::spawn_blocking(move || inner.join()).await;
    }
}

impl Inner {
    fn start(&self, name: &str, work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work)?;
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
        Ok(())
    }

    fn stop(&self) {
        self.reads.close();
        self.at_once.close();
        self.wal.stop();
        self.lanes.close();
    }

    fn join(&self) {
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        let me = std::thread::current().id();
        for thread in threads.into_iter().filter(|thread| thread.thread().id() != me) {
            let _ = thread.join();
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.stop();
        self.join();
    }
}

fn refusal(refused: Refused, queue: &'static str) -> StoreError {
    match refused {
        Refused::Full => {
            metrics::counter!(metric::REFUSED, "queue" => queue).increment(1);
            StoreError::unavailable(PART, "too many calls are waiting")
        }
        Refused::Closed => StoreError::unavailable(PART, "the database is being closed"),
    }
}

async fn answer<T, E: From<StoreError>>(reply: oneshot::Receiver<Result<T, E>>) -> Result<T, E> {
    reply.await.unwrap_or_else(|_| Err(StoreError::unavailable(PART, "the database was closed").into()))
}

fn stored_head(connection: &Connection) -> rusqlite::Result<i64> {
    let head = connection.query_row(include_str!("../sql/log/head.sql"), [], |row| row.get(0)).optional()?;
    Ok(head.unwrap_or(0))
}

fn migrate(connection: &mut Connection, options: &SqliteOptions) -> Result<(), OpenError> {
    let runner = embedded::migrations::runner();
    let known = runner.get_migrations().iter().map(|step| i64::from(step.version())).max().unwrap_or(0);
    let found = stored_schema(connection)
        .map_err(|source| OpenError::Unusable { path: options.path.clone(), source })?
        .unwrap_or(0);
    if found > known {
        return Err(OpenError::Newer { path: options.path.clone(), found, known });
    }
    runner
        .run(connection)
        .map(|_| ())
        .map_err(|source| OpenError::Migration { path: options.path.clone(), source: Box::new(source) })
}

fn stored_schema(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    let tracked = connection.table_exists(None, "refinery_schema_history")?;
    if !tracked {
        return Ok(None);
    }
    connection.query_row("SELECT max(version) FROM refinery_schema_history", [], |row| row.get(0))
}
