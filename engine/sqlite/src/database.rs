//! The database as a program sees it: a write that is one transaction, a read that is one snapshot.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use madang_kernel::{Clock, StoreError};
use madang_messaging::{AfterCommit, ToMessage};
use rusqlite::{Connection, ErrorCode};
use tokio::sync::oneshot;

use crate::call::{BoxedCall, boxed};
use crate::checkpointer::{self, WalGauge};
use crate::commits::{Commits, Follower};
use crate::deadline::Deadline;
use crate::errors::PART;
use crate::inline_reads::InlineReads;
use crate::log::Tail;
use crate::readers::{self, ReadQueue};
use crate::write_queue::{Refused, WriteQueue};
use crate::writer::Writer;
use crate::{Priority, SqliteOptions, Tx, connection, metric};

/// The tables of the engine. A program may have them from its own migrations already: then nothing is done.
const SCHEMA: &str = include_str!("../sql/schema.sql");

/// Why a database could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file cannot be read or written: look at the path, its rights and the disk.
    #[error("cannot open {}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The file is no database, or one that lost pages: put back a copy.
    #[error("{} is damaged, or no database: put a copy from a backup in its place", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The file was written by a newer version of this program: run that one.
    #[error("{} was written by a newer version of this program (schema {found}, this version knows {known}): run that version", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The schema in the file.
        found: i64,
        /// The newest schema of this program.
        known: i64,
    },
    /// A step of the schema failed; the file is as it was before that step.
    #[error("cannot bring {} up to date", path.display())]
    Migration {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: Box<refinery::Error>,
    },
    /// The system refused a thread.
    #[error("cannot start a database thread")]
    Thread(#[from] std::io::Error),
}

impl OpenError {
    fn of(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Self::Damaged { path, source },
            _ => Self::Unusable { path, source },
        }
    }
}

/// One open database, for a program whose events are `E`. Clones share it.
pub struct Sqlite<E> {
    inner: Arc<Inner<E>>,
}

impl<E> Clone for Sqlite<E> {
    fn clone(&self) -> Self {
        Self { inner: Arc::clone(&self.inner) }
    }
}

struct Inner<E> {
    writes: Arc<WriteQueue<E>>,
    reads: Arc<ReadQueue>,
    slow_reads: Arc<ReadQueue>,
    inline_reads: InlineReads,
    wal: Arc<WalGauge>,
    clock: Arc<dyn Clock>,
    tail: Arc<Tail>,
    follower: Follower<E>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl<E: ToMessage> Sqlite<E> {
    /// Opens the database, creating it or bringing it up to date by the program's migrations and the engine's own tables,
    /// and starts its threads.
    pub fn open(
        options: SqliteOptions,
        migrations: &refinery::Runner,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, OpenError> {
        let unusable = |source| OpenError::of(&options.path, source);
        let mut writer = connection::open_writer(&options).map_err(unusable)?;
        migrate(&mut writer, migrations, &options)?;
        writer.execute_batch(SCHEMA).map_err(unusable)?;
        let tx = Tx::on(writer);
        let head = tx.head().map_err(unusable)?;
        let checkpoints = connection::open_checkpointer(&options).map_err(unusable)?;
        let count = options.readers.max(1);
        let readers =
            (0..count).map(|_| connection::open_reader(&options)).collect::<Result<Vec<_>, _>>().map_err(unusable)?;
        let slow_count = options.slow_readers.max(1);
        let slow_readers =
            (0..slow_count).map(|_| connection::open_slow_reader(&options)).collect::<Result<Vec<_>, _>>();
        let slow_readers = slow_readers.map_err(unusable)?;
        let inline_reads = InlineReads::new(connection::open_inline_reader(&options).map_err(unusable)?);

        let inner = Inner {
            writes: Arc::new(WriteQueue::new(options.foreground_queue, options.background_queue)),
            reads: Arc::new(ReadQueue::new(options.read_queue, count)),
            slow_reads: Arc::new(ReadQueue::one_by_one(options.slow_read_queue, slow_count)),
            inline_reads,
            wal: Arc::new(WalGauge::default()),
            clock,
            tail: Arc::new(Tail::after(head, options.tail_entries, options.tail_bytes)),
            follower: Follower::default(),
            threads: Mutex::default(),
        };
        let commits = Commits::new(Arc::clone(&inner.tail), Arc::clone(&inner.follower));
        let writer = Writer::new(tx, Arc::clone(&inner.writes), options.batch_max, commits, Arc::clone(&inner.wal));
        inner.start("db-writer", move || writer.run())?;
        for reader in readers {
            let queue = Arc::clone(&inner.reads);
            inner.start("db-reader", move || readers::run(reader, queue))?;
        }
        for reader in slow_readers {
            let queue = Arc::clone(&inner.slow_reads);
            inner.start("db-slow-reader", move || readers::run(reader, queue))?;
        }
        let gauge = Arc::clone(&inner.wal);
        inner.start("db-checkpoint", move || checkpointer::run(&checkpoints, &gauge, &options))?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Runs `call` in a transaction and returns after its COMMIT. A call that fails or panics leaves nothing behind; one
    /// that cannot be queued is refused at once. A caller that stops waiting does not stop the call.
    pub async fn write<T: Send + 'static>(
        &self,
        priority: Priority,
        call: impl FnOnce(&Tx<E>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.write_or(priority, call).await
    }

    /// As [`Sqlite::write`], for calls with an error of their own.
    pub async fn write_or<T: Send + 'static, F: From<StoreError> + Send + 'static>(
        &self,
        priority: Priority,
        call: impl FnOnce(&Tx<E>) -> Result<T, F> + Send + 'static,
    ) -> Result<T, F> {
        let (call, reply) = boxed(call);
        self.queue(priority, call)?;
        answer(reply).await
    }

    /// Queues a call that answers by itself, or refuses it at once.
    pub(crate) fn queue(&self, priority: Priority, call: BoxedCall<Tx<E>>) -> Result<(), StoreError> {
        self.inner.writes.push(priority, call).map_err(|refused| refusal(refused, priority.label()))
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

    /// As [`Sqlite::read`], for what may take long: on threads of its own, so that no other read waits for it, and for `limit`
    /// at most. What takes longer is given up and `Unavailable`; so is what comes while too many wait.
    pub async fn read_within<T: Send + 'static>(
        &self,
        limit: Duration,
        call: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (call, reply) = boxed(move |connection: &Connection| {
            let _deadline = Deadline::after(limit);
            call(connection)
        });
        self.inner.slow_reads.push(call).map_err(|refused| refusal(refused, "slow readers"))?;
        answer(reply).await
    }

    /// Reads a few rows by their keys on the thread of the caller, as new as everything committed before each statement.
    /// `None` when it has to go to [`Sqlite::read`].
    pub fn read_inline<T>(&self, call: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Option<T> {
        self.inner.inline_reads.try_read(call)
    }

    /// The clock that this database takes for its own.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.inner.clock
    }

    /// From now on `follower` is told of the events of each batch by [`AfterCommit::committed`], in commit order, after
    /// its COMMIT and before anybody in it is answered. What a failed call reported is not among them, nor is what is
    /// published again. It runs on the writer's thread, so it must be quick and must not wait for a write; a panic in it
    /// is logged and passes. Everything is in one process here, so [`AfterCommit::before_answers`] is not awaited. False
    /// when somebody follows already.
    pub fn after_commit(&self, follower: Arc<dyn AfterCommit<E>>) -> bool {
        self.inner.follower.set(follower).is_ok()
    }

    /// The newest entries of the log.
    pub(crate) fn tail(&self) -> &Arc<Tail> {
        &self.inner.tail
    }

    /// What the writer and the checkpointer tell one another.
    pub(crate) fn wal(&self) -> &Arc<WalGauge> {
        &self.inner.wal
    }

    /// Takes no more calls, finishes those that wait, checkpoints, and ends the threads.
    pub async fn close(&self) {
        self.inner.stop();
        let inner = Arc::clone(&self.inner);
        // Joining blocks, so it happens where blocking is allowed.
        let _ = tokio::task::spawn_blocking(move || inner.join()).await;
    }
}

impl<E> Inner<E> {
    fn start(&self, name: &str, work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work)?;
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
        Ok(())
    }

    fn stop(&self) {
        self.reads.close();
        self.slow_reads.close();
        self.inline_reads.close();
        self.wal.stop();
        self.writes.close();
    }

    fn join(&self) {
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        let me = std::thread::current().id();
        for thread in threads.into_iter().filter(|thread| thread.thread().id() != me) {
            let _ = thread.join();
        }
    }
}

impl<E> Drop for Inner<E> {
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

async fn answer<T, F: From<StoreError>>(reply: oneshot::Receiver<Result<T, F>>) -> Result<T, F> {
    reply.await.unwrap_or_else(|_| Err(StoreError::unavailable(PART, "the database was closed").into()))
}

fn migrate(
    connection: &mut Connection,
    migrations: &refinery::Runner,
    options: &SqliteOptions,
) -> Result<(), OpenError> {
    let known = migrations.get_migrations().iter().map(|step| i64::from(step.version())).max().unwrap_or(0);
    let found = stored_schema(connection).map_err(|source| OpenError::of(&options.path, source))?.unwrap_or(0);
    if found > known {
        return Err(OpenError::Newer { path: options.path.clone(), found, known });
    }
    migrations
        .run(connection)
        .map(|_| ())
        .map_err(|source| OpenError::Migration { path: options.path.clone(), source: Box::new(source) })
}

/// The newest step of the schema that was carried out in a file; none in one that no program has set up.
pub fn stored_schema(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    let tracked = connection.table_exists(None, "refinery_schema_history")?;
    if !tracked {
        return Ok(None);
    }
    connection.query_row("SELECT max(version) FROM refinery_schema_history", [], |row| row.get(0))
}
