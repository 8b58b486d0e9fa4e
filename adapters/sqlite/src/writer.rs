//! The writer: one thread that folds the calls of many into one physical transaction, and answers after COMMIT.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension};
use tracing::{error, warn};

use crate::call::BoxedCall;
use crate::checkpointer::WalGauge;
use crate::crowd::Crowd;
use crate::lanes::{Lane, Lanes};
use crate::log::Announcer;
use crate::metric;

/// A batch stops taking calls after this time, so that the first of them does not wait long for its answer.
const BATCH_MS: u64 = 5;
/// Background work in a batch of its own takes no longer than this, the last call of it aside.
const BACKGROUND_SLICE_MS: u64 = 5;
/// And in a batch of people, who wait for its COMMIT, no longer than this.
const BACKGROUND_BESIDE_MS: u64 = 1;
/// Background work that has waited so long gets one call into a batch of people.
const BACKGROUND_PATIENCE_MS: u64 = 100;
/// Calls taken from the queue at once; the clock is read in between.
const TAKE_MAX: usize = 32;

const HEAD: &str = include_str!("../sql/log/head.sql");

/// What the writer thread owns.
pub(crate) struct Writer {
    connection: Connection,
    lanes: Arc<Lanes>,
    batch_max: usize,
    announcer: Announcer,
    wal: Arc<WalGauge>,
    background_ran: Instant,
    crowd: Crowd,
}

impl Writer {
    pub(crate) fn new(
        connection: Connection,
        lanes: Arc<Lanes>,
        batch_max: usize,
        announcer: Announcer,
        wal: Arc<WalGauge>,
    ) -> Self {
        Self {
            connection,
            lanes,
            batch_max: batch_max.max(1),
            announcer,
            wal,
            background_ran: Instant::now(),
            crowd: Crowd::default(),
        }
    }

    /// Works until the queues are closed and empty, then leaves the write-ahead log empty.
    pub(crate) fn run(mut self) {
        let mut done = Vec::with_capacity(self.batch_max);
        self.announcer.collect_here();
        while self.lanes.wait() {
            self.batch(&mut done);
            self.wal.committed();
            if self.wal.is_past_hard_limit() {
                self.wal.restart(&self.connection);
            }
        }
        if let Err(error) = crate::checkpointer::truncate(&self.connection) {
            warn!("last checkpoint: {error}");
        }
    }

    fn batch(&mut self, done: &mut Vec<BoxedCall>) {
        let lost = match self.connection.execute_batch("BEGIN IMMEDIATE") {
            Ok(()) => {
                let whole = self.fill(done);
                if whole { self.commit() } else { Err("the transaction was rolled back".to_owned()) }
            }
            Err(error) => {
                self.take_for_refusal(done);
                Err(error.to_string())
            }
        };
        if let Err(reason) = &lost {
            error!(calls = done.len(), "batch lost: {reason}");
            self.roll_back();
            self.announcer.lost();
        }
        self.report(done.len());
        for call in done.drain(..) {
            call.answer(lost.as_ref().err().map(String::as_str));
        }
    }

    /// Runs calls until nobody waits or the batch is full; false when SQLite gave up the transaction under them.
    fn fill(&mut self, done: &mut Vec<BoxedCall>) -> bool {
        let started = Instant::now();
        let share = self.crowd.share().min(self.batch_max);
        let batch_max = self.crowd.batch_max().min(self.batch_max);
        let mut waited_in_vain = false;
        while done.len() < batch_max && started.elapsed() < Duration::from_millis(BATCH_MS) {
            let first = done.len();
            self.lanes.take_people(TAKE_MAX.min(batch_max - first), done);
            if done.len() == first {
                if waited_in_vain || first == 0 || first >= share {
                    break;
                }
                self.lanes.linger(share - first, self.crowd.linger());
                waited_in_vain = true;
                continue;
            }
            waited_in_vain = false;
            for call in &mut done[first..] {
                if !run_alone(&self.connection, call) {
                    return false;
                }
            }
        }
        self.fill_background(done)
    }

    fn fill_background(&mut self, done: &mut Vec<BoxedCall>) -> bool {
        let started = Instant::now();
        let patient = self.background_ran.elapsed() < Duration::from_millis(BACKGROUND_PATIENCE_MS);
        if patient && self.lanes.people_wait() {
            return true;
        }
        let slice_ms = if done.is_empty() { BACKGROUND_SLICE_MS } else { BACKGROUND_BESIDE_MS };
        while started.elapsed() < Duration::from_millis(slice_ms) {
            let Some(mut call) = self.lanes.take_background() else { break };
            let whole = run_alone(&self.connection, &mut call);
            done.push(call);
            if !whole {
                return false;
            }
            if done.len() >= self.batch_max || self.lanes.people_wait() {
                break;
            }
        }
        self.background_ran = Instant::now();
        true
    }

    fn commit(&mut self) -> Result<(), String> {
        let head = self.head().map_err(|error| error.to_string())?;
        let started = Instant::now();
        execute(&self.connection, "COMMIT").map_err(|error| error.to_string())?;
        let took = started.elapsed();
        self.crowd.committed_in(took);
        metrics::histogram!(metric::COMMIT_SECONDS).record(took);
        self.announcer.committed(head);
        Ok(())
    }

    fn head(&self) -> rusqlite::Result<i64> {
        let mut statement = self.connection.prepare_cached(HEAD)?;
        Ok(statement.query_row([], |row| row.get(0)).optional()?.unwrap_or(0))
    }

    fn roll_back(&self) {
        if !self.connection.is_autocommit()
            && let Err(error) = self.connection.execute_batch("ROLLBACK")
        {
            error!("rollback: {error}");
        }
    }

    /// When no transaction can begin, those who wait are told so instead of waiting for ever.
    fn take_for_refusal(&self, done: &mut Vec<BoxedCall>) {
        self.lanes.take_people(self.batch_max, done);
        if done.is_empty() {
            done.extend(self.lanes.take_background());
        }
    }

    fn report(&mut self, calls: usize) {
        let (people, background) = self.lanes.depths();
        self.crowd.saw(calls, people);
        metrics::histogram!(metric::BATCH_CALLS).record(calls as f64);
        metrics::gauge!(metric::WRITE_QUEUE, "lane" => lane_name(Lane::People)).set(people as f64);
        metrics::gauge!(metric::WRITE_QUEUE, "lane" => lane_name(Lane::Background)).set(background as f64);
    }
}

/// The lane as a label.
pub(crate) fn lane_name(lane: Lane) -> &'static str {
    match lane {
        Lane::People => "people",
        Lane::Background => "background",
    }
}

/// Runs a call in its own savepoint, so that it fails alone; false when the whole transaction is gone.
fn run_alone(connection: &Connection, call: &mut BoxedCall) -> bool {
    if let Err(error) = execute(connection, "SAVEPOINT one_call") {
        error!("savepoint: {error}");
        return false;
    }
    let kept = call.run(connection);
    // A full disk makes SQLite roll back everything by itself: then the savepoint is gone too.
    if connection.is_autocommit() {
        return false;
    }
    let undone = kept || execute(connection, "ROLLBACK TO one_call").is_ok();
    undone && execute(connection, "RELEASE one_call").is_ok()
}

fn execute(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(|_| ())
}
