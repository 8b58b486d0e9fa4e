//! `locks`: how a counter that everybody wants at once should be counted on InnoDB.

mod folded;
mod naive;
mod protected;

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use madang_kernel::StoreError;
use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Error};
use tokio::task::JoinSet;

use crate::durations::{number, per_second};
use crate::scratch::Scratch;
use crate::{Bar, Chart, Experiment, Finding, Lab, Series, Side, Variant, Wiring};
use folded::Folded;

/// How many call at once.
const CALLERS: [usize; 4] = [1, 8, 64, 256];

/// The experiment.
pub struct Locks;

/// A way to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    ReadAddWrite,
    OptimisticOnce,
    UpdateInPlace,
    SelectForUpdate,
    OptimisticRetried,
    ShareThenUpdate,
    Folded,
}

impl Way {
    const ALL: [Self; 7] = [
        Self::ReadAddWrite,
        Self::OptimisticOnce,
        Self::UpdateInPlace,
        Self::SelectForUpdate,
        Self::OptimisticRetried,
        Self::ShareThenUpdate,
        Self::Folded,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::ReadAddWrite => "read, add, write",
            Self::OptimisticOnce => "optimistic, once",
            Self::UpdateInPlace => "update in place",
            Self::SelectForUpdate => "select for update",
            Self::OptimisticRetried => "optimistic, retried",
            Self::ShareThenUpdate => "shared lock, then update",
            Self::Folded => "folded",
        }
    }

    fn is_protected(self) -> bool {
        !matches!(self, Self::ReadAddWrite | Self::OptimisticOnce)
    }

    /// One increment, tried again after a lock that was waited for in vain and after a deadlock, until it has no more time: then
    /// its caller is told that it is not counted.
    async fn increment(self, conn: &mut Conn, folded: &Folded, until: Instant) -> anyhow::Result<Increment> {
        let mut increment = Increment::default();
        loop {
            match self.attempt(conn, folded).await? {
                Attempt::Done => return Ok(increment),
                Attempt::Overtaken => increment.retries += 1,
                Attempt::Waited => increment.lock_waits += 1,
                Attempt::Deadlock => increment.deadlocks += 1,
            }
            if Instant::now() > until {
                return Ok(Increment { is_given_up: true, ..increment });
            }
        }
    }

    async fn attempt(self, conn: &mut Conn, folded: &Folded) -> anyhow::Result<Attempt> {
        let attempted = match self {
            Self::ReadAddWrite => naive::read_add_write(conn).await,
            Self::OptimisticOnce => naive::optimistic_once(conn).await,
            Self::UpdateInPlace => protected::update_in_place(conn).await,
            Self::SelectForUpdate => protected::select_for_update(conn).await,
            Self::OptimisticRetried => protected::optimistic(conn).await,
            Self::ShareThenUpdate => protected::share_then_update(conn).await,
            Self::Folded => match folded.increment().await {
                Ok(_) => Ok(Attempt::Done),
                // Nothing was changed, and asking again helps.
                Err(StoreError::Unavailable { .. }) => Ok(Attempt::Waited),
                Err(error) => return Err(error.into()),
            },
        };
        match attempted {
            Err(Error::Server(error)) if error.code == LOCK_WAIT_TIMEOUT => Ok(Attempt::Waited),
            Err(Error::Server(error)) if error.code == DEADLOCK => Ok(Attempt::Deadlock),
            attempted => Ok(attempted?),
        }
    }
}

/// What the server calls a lock that was waited for in vain, and a deadlock's victim. Both leave nothing of the statement.
const LOCK_WAIT_TIMEOUT: u16 = 1205;
const DEADLOCK: u16 = 1213;

/// What came of one attempt; a transaction that did not commit is rolled back by then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attempt {
    /// Its caller may be told that it is counted.
    Done,
    /// Another wrote meanwhile.
    Overtaken,
    /// A lock was waited for in vain.
    Waited,
    /// It was a deadlock's victim.
    Deadlock,
}

/// What one increment took, beside time.
#[derive(Debug, Clone, Copy, Default)]
struct Increment {
    retries: u64,
    deadlocks: u64,
    lock_waits: u64,
    /// Its caller was told that it is not counted.
    is_given_up: bool,
}

/// What one way came to with one number of callers.
#[derive(Debug, Clone)]
struct Cell {
    way: Way,
    callers: usize,
    /// Increments whose callers were told that they are counted.
    told: u64,
    /// How much the counter grew.
    counted: u64,
    took: Duration,
    retries: u64,
    deadlocks: u64,
    /// Locks that were waited for in vain.
    lock_waits: u64,
    /// Increments whose callers were told that they are not counted.
    given_up: u64,
}

impl Cell {
    fn new(way: Way, callers: usize) -> Self {
        let (told, counted, took) = (0, 0, Duration::ZERO);
        Self { way, callers, told, counted, took, retries: 0, deadlocks: 0, lock_waits: 0, given_up: 0 }
    }

    fn note(&mut self, increment: &Increment) {
        self.told += u64::from(!increment.is_given_up);
        self.given_up += u64::from(increment.is_given_up);
        self.retries += increment.retries;
        self.deadlocks += increment.deadlocks;
        self.lock_waits += increment.lock_waits;
    }

    /// Also one that is counted twice is wrong.
    fn lost(&self) -> u64 {
        self.told.abs_diff(self.counted)
    }

    fn per_s(&self) -> f64 {
        per_second(self.counted, self.took)
    }
}

#[async_trait]
impl Experiment for Locks {
    fn id(&self) -> &'static str {
        "locks"
    }

    fn question(&self) -> &'static str {
        "How should a hot counter be counted on InnoDB?"
    }

    fn counted(&self) -> &'static str {
        "A trial is an increment whose caller was told that it is counted; a violation is one that the counter does not \
         hold."
    }

    fn wirings(&self) -> [Wiring; 2] {
        [
            Wiring {
                name: "read, add, write, or a version that nobody checks",
                steps: &["SELECT value", "add in the program", "✗ another does the same", "UPDATE"],
                code: "lab/src/experiments/locks/naive.rs",
            },
            Wiring {
                name: "one transaction a call, or folded",
                steps: &["calls wait", "one UPDATE for all", "COMMIT", "each is told its value"],
                code: "lab/src/experiments/locks/folded.rs",
            },
        ]
    }

    async fn run(&self, lab: &Lab) -> anyhow::Result<Finding> {
        let server = lab.stack.mysql(1)?;
        let scratch = Scratch::make(&server, &format!("{}_{}", folded::PREFIX, folded::NAME)).await?;
        let folded = Arc::new(Folded::open(&server).await?);
        let most = CALLERS.into_iter().max().unwrap_or(1);
        let mut conns = scratch.connect_many(most).await?;
        for conn in &mut conns {
            conn.query_drop("SET SESSION innodb_lock_wait_timeout = 2").await?;
        }
        let length = lab.scale.pick(Duration::from_millis(300), Duration::from_millis(2_000));
        let mut cells = Vec::new();
        for callers in CALLERS {
            for way in Way::ALL {
                let cell = count(&mut conns, &folded, way, callers, length).await?;
                lab.progress(format!("{callers} callers, {}: {:.0}/s, {} lost", way.name(), cell.per_s(), cell.lost()));
                cells.push(cell);
            }
        }
        for conn in conns {
            conn.disconnect().await?;
        }
        folded.close().await;
        scratch.drop().await?;
        Ok(finding(&cells))
    }
}

/// So many callers increment for so long; each finishes what it began.
async fn count(
    conns: &mut Vec<Conn>,
    folded: &Arc<Folded>,
    way: Way,
    callers: usize,
    length: Duration,
) -> anyhow::Result<Cell> {
    let before = value(&mut conns[0]).await?;
    let began = Instant::now();
    let mut tasks = JoinSet::new();
    for mut conn in conns.drain(..callers) {
        let folded = Arc::clone(folded);
        tasks.spawn(async move {
            let mut increments = Vec::new();
            while began.elapsed() < length {
                increments.push(way.increment(&mut conn, &folded, began + length).await?);
            }
            anyhow::Ok((conn, increments))
        });
    }
    let mut cell = Cell::new(way, callers);
    while let Some(task) = tasks.join_next().await {
        let (conn, increments) = task??;
        conns.push(conn);
        increments.iter().for_each(|increment| cell.note(increment));
    }
    cell.took = began.elapsed();
    cell.counted = u64::try_from(value(&mut conns[0]).await? - before)?;
    Ok(cell)
}

async fn value(conn: &mut Conn) -> anyhow::Result<i64> {
    Ok(conn.query_first("SELECT value FROM counter WHERE id = 1").await?.unwrap_or(0))
}

fn finding(cells: &[Cell]) -> Finding {
    let mut finding = Finding::new(side(cells, false), side(cells, true));
    finding.charts = vec![rates(cells), losses(cells), repetitions(cells)];
    finding.notes.push(
        "One row takes one transaction at a time, and each waits for its COMMIT to be on disk (redo log and binary log). More \
         callers wait longer and get no further, until their increments share a transaction."
            .to_owned(),
    );
    finding.notes.push(
        "A shared lock before the update makes every pair of callers a deadlock; InnoDB ends one of them at once, and the \
         program has to begin again. An optimistic update that nobody checks is dropped without an error. Every way begins \
         again after a deadlock and after a lock that it waited for in vain (2 s), and tells its caller so when its time is over: \
         what was given up is no trial."
            .to_owned(),
    );
    finding
}

fn side(cells: &[Cell], protected: bool) -> Side {
    let of_side = || cells.iter().filter(|cell| cell.way.is_protected() == protected);
    let variant = |way: &Way| {
        let of_way = || cells.iter().filter(|cell| cell.way == *way);
        Variant::new(way.name(), of_way().map(|cell| cell.told).sum(), of_way().map(Cell::lost).sum())
    };
    let mut side = Side::of(Way::ALL.iter().filter(|way| way.is_protected() == protected).map(variant).collect());
    for cell in of_side() {
        let name = cell.way.name().replace(", ", "_").replace(' ', "_");
        side = side.with(&format!("{name}_{}_per_s", cell.callers), cell.per_s().round());
    }
    side.with("retries", number(of_side().map(|cell| cell.retries).sum()))
        .with("deadlocks", number(of_side().map(|cell| cell.deadlocks).sum()))
        .with("lock_wait_timeouts", number(of_side().map(|cell| cell.lock_waits).sum()))
        .with("given_up", number(of_side().map(|cell| cell.given_up).sum()))
}

fn rates(cells: &[Cell]) -> Chart {
    let series = Way::ALL.map(|way| Series {
        label: way.name().to_owned(),
        #[allow(clippy::cast_precision_loss, reason = "at most 256")]
        points: cells.iter().filter(|cell| cell.way == way).map(|cell| (cell.callers as f64, cell.per_s())).collect(),
        protected: way.is_protected(),
    });
    let title = "Increments of one row that were counted".to_owned();
    Chart::Lines { title, x: "callers", y: "per second", logarithmic: true, series: series.to_vec() }
}

fn losses(cells: &[Cell]) -> Chart {
    let share = |cell: &Cell| 100.0 * number(cell.lost()) / number(cell.told).max(1.0);
    let most = CALLERS[CALLERS.len() - 2];
    let bars = cells.iter().filter(|cell| cell.callers == most).map(|cell| Bar {
        label: cell.way.name().to_owned(),
        value: share(cell),
        protected: cell.way.is_protected(),
    });
    let title = format!("Increments that {most} callers were told and the counter does not hold");
    Chart::Bars { title, unit: "%", logarithmic: false, bars: bars.collect() }
}

fn repetitions(cells: &[Cell]) -> Chart {
    let ways = [Way::OptimisticRetried, Way::ShareThenUpdate];
    let bars = cells.iter().filter(|cell| ways.contains(&cell.way) && cell.callers > 1).map(|cell| Bar {
        label: format!("{}, {} callers", cell.way.name(), cell.callers),
        value: number(cell.retries + cell.deadlocks) / number(cell.counted).max(1.0),
        protected: true,
    });
    let title = "Attempts in vain for each increment: conflicts of the optimistic, deadlocks of the shared".to_owned();
    Chart::Bars { title, unit: "attempts", logarithmic: true, bars: bars.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(way: Way, told: u64, counted: u64) -> Cell {
        Cell { told, counted, took: Duration::from_secs(2), retries: 3, deadlocks: 1, ..Cell::new(way, 8) }
    }

    #[test]
    fn what_callers_were_told_and_the_counter_lacks_is_lost() {
        let cells = [cell(Way::ReadAddWrite, 10, 4), cell(Way::Folded, 20, 20)];
        let finding = finding(&cells);
        assert_eq!((finding.off.trials, finding.off.violations), (10, 6));
        assert_eq!(finding.verdict(), crate::Verdict::NotShown, "the other naive way was not seen to break");
        assert_eq!((finding.on.trials, finding.on.violations), (20, 0));
        assert!((finding.on.figures["folded_8_per_s"] - 10.0).abs() < 1e-9);
    }

    #[test]
    fn what_was_given_up_is_no_trial() {
        let mut cell = Cell::new(Way::UpdateInPlace, 8);
        cell.note(&Increment { lock_waits: 2, is_given_up: true, ..Increment::default() });
        cell.note(&Increment { deadlocks: 1, ..Increment::default() });
        assert_eq!((cell.told, cell.given_up, cell.lock_waits, cell.deadlocks), (1, 1, 2, 1));
    }

    #[test]
    fn an_increment_that_is_counted_twice_is_wrong_too() {
        assert_eq!(cell(Way::UpdateInPlace, 4, 5).lost(), 1);
    }
}
