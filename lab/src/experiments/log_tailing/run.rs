//! One way to publish, from the first commit until nothing more comes.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, TxOpts};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use rustix::process::Signal;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::task::JoinSet;

use super::kafka::{Consumed, TopicSettings};
use super::outbox::{self, Event};
use super::published::{Judged, Published};
use super::tail::Place;
use super::{READER, Way, debezium};
use crate::Lab;
use crate::durations::Durations;
use crate::experiments::topic;
use crate::programs::crash::{CRASH, CRASH_SEED};
use crate::runner::faults::CRASH_POINT;
use crate::scratch::Scratch;

/// Transactions under way at once.
const WRITERS: u64 = 8;
/// Between two transactions of a writer, in milliseconds.
const PAUSE_MS: u64 = 10;
/// How long nothing new comes before nothing will.
const QUIET: Duration = Duration::from_millis(2_500);
/// How long publications may take to come in at most.
const DRAIN_MAX: Duration = Duration::from_secs(60);
/// How often a writer that is to crash does so between COMMIT and publication.
const CRASHES: &str = "after-commit-before-send=0.05";
/// How long that may take.
const CRASH_MAX: Duration = Duration::from_secs(60);
/// The account whose transaction commits late on purpose, and the one that overtakes it.
const STRAGGLER: [u32; 2] = [0, outbox::ACCOUNTS / 2];
/// Rows that are younger are left to who wrote them, where somebody else looks for what was forgotten.
const MIN_AGE_MS: u64 = 500;

/// What came of one way.
#[derive(Debug, Clone)]
pub(super) struct Ran {
    pub(super) way: Way,
    pub(super) judged: Judged,
    pub(super) latency: Durations,
    /// Faults by kind.
    pub(super) faults: BTreeMap<String, u64>,
    /// Statements that the way itself sent to the database, in a second.
    pub(super) statements_per_s: f64,
    /// Rows that the database read for it, in a second.
    pub(super) rows_read_per_s: f64,
}

type Shared<T> = Arc<Mutex<T>>;
/// When each event was committed, by its id.
type Commits = Shared<BTreeMap<u64, Instant>>;

fn lock<T>(shared: &Shared<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Processes that publish, and what they published.
struct Publishers<'a> {
    lab: &'a Lab,
    way: Way,
    scratch: &'a Scratch,
    reader_url: String,
    state: PathBuf,
    topic: TopicSettings,
    /// Debezium's, where it runs.
    jars: Option<PathBuf>,
    published: Shared<Published>,
    commits: Commits,
    /// By what each runs.
    children: Vec<(Program, Child)>,
    listening: JoinSet<()>,
    starts: u64,
    /// Whether writers are to crash between COMMIT and publication.
    crashing: bool,
    faults: BTreeMap<String, u64>,
}

/// What a process of a way does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Program {
    /// Reads the outbox.
    Reader(&'static str),
    /// Reads what was forgotten.
    Sweeper,
    /// Writes, and publishes what it wrote.
    Writer,
    /// Reads the binary log by Debezium's engine.
    Debezium,
}

impl Publishers<'_> {
    fn start(&mut self, program: Program) -> anyhow::Result<()> {
        let mut command = Command::new(&self.lab.programs);
        self.starts += 1;
        let to = ["--brokers", &self.topic.brokers, "--topic", &self.topic.topic];
        match program {
            Program::Reader(_) | Program::Sweeper => {
                let reading = if let Program::Reader(reading) = program { reading } else { "state" };
                command.args(["log-reader", "--reading", reading, "--url", &self.reader_url]);
                command.args(["--database", self.scratch.name(), "--state"]).arg(&self.state).args(to);
                if program == Program::Sweeper {
                    command.args(["--min-age-ms", &MIN_AGE_MS.to_string()]);
                }
            }
            Program::Debezium => {
                let jars = self.jars.as_ref().context("its jars are not there")?;
                command = debezium::command(jars, &self.reader_url, self.scratch.name(), &self.state, &self.topic)?;
            }
            Program::Writer => {
                let marking = format!("{}/{}", self.reader_url, self.scratch.name());
                command.args(["log-writer", "--url", &self.scratch.url(), "--marking-url", &marking]);
                command.args(["--writers", &WRITERS.to_string(), "--pause-ms", &PAUSE_MS.to_string()]);
                let seed = (self.lab.seed ^ self.starts).to_string();
                command.args(["--seed", &seed]).args(to);
                if self.crashing {
                    command.env(CRASH, CRASHES).env(CRASH_SEED, seed);
                }
            }
        }
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
        let mut lines = BufReader::new(child.stdout.take().context("a pipe")?).lines();
        let commits = Arc::clone(&self.commits);
        // A writer says at once which of its commits was answered.
        self.listening.spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                if let Some(event) = Event::read(&line) {
                    lock(&commits).insert(event.id, Instant::now());
                }
            }
        });
        self.children.push((program, child));
        Ok(())
    }

    /// Writes events until one of them is published: who starts with an empty memory reads from the moment it connects.
    async fn wait_until_it_reads(&self, conn: &mut Conn) -> anyhow::Result<()> {
        let (until, mut chance) = (Instant::now() + DRAIN_MAX, StdRng::seed_from_u64(self.lab.seed));
        while lock(&self.published).count() == 0 {
            ensure!(Instant::now() < until, "it published nothing within {} s", DRAIN_MAX.as_secs());
            outbox::write(conn, &mut chance).await?;
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        conn.query_drop("DELETE FROM outbox").await?;
        Ok(conn.query_drop("FLUSH USER_STATISTICS").await?)
    }

    /// Waits until the first event has come through.
    async fn wait_until_it_publishes(&self) -> anyhow::Result<()> {
        let (until, before) = (Instant::now() + DRAIN_MAX, lock(&self.published).count());
        while lock(&self.published).count() == before {
            ensure!(Instant::now() < until, "{} published nothing within {} s", self.way.name(), DRAIN_MAX.as_secs());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    }

    /// Kills every writer, and starts it anew as one that crashes between COMMIT and publication.
    async fn have_writers_crash(&mut self) -> anyhow::Result<()> {
        self.crashing = true;
        for place in 0..self.children.len() {
            if self.children[place].0 == Program::Writer {
                self.kill(place).await?;
            }
        }
        Ok(())
    }

    /// Breaks one process, and starts it again: a writer crashes where it hurts, another is killed without warning.
    async fn break_one(&mut self, turn: usize) -> anyhow::Result<()> {
        let place = turn % self.children.len();
        if self.children[place].0 != Program::Writer {
            return self.kill(place).await;
        }
        let (program, child) = &mut self.children[place];
        let program = *program;
        let ended = tokio::time::timeout(CRASH_MAX, child.wait()).await.context("a writer did not crash")??;
        ensure!(ended.signal() == Some(Signal::ABORT.as_raw()), "a writer ended: {ended}");
        self.children.remove(place);
        self.count(CRASH_POINT);
        self.start_at(place, program)
    }

    async fn kill(&mut self, place: usize) -> anyhow::Result<()> {
        let (program, mut child) = self.children.remove(place);
        let ended = child.try_wait()?;
        ensure!(ended.is_none(), "a process of {} ended by itself: {ended:?}", self.way.name());
        child.kill().await?;
        self.count("SIGKILL");
        self.start_at(place, program)
    }

    fn start_at(&mut self, place: usize, program: Program) -> anyhow::Result<()> {
        self.start(program)?;
        let started = self.children.pop().context("it was started")?;
        self.children.insert(place, started);
        Ok(())
    }

    fn count(&mut self, kind: &str) {
        *self.faults.entry(kind.to_owned()).or_default() += 1;
    }

    /// Transactions that get their id first and commit last, each once what overtook it is published: who goes by ids has passed
    /// it by then.
    async fn stragglers(&self, count: u64) -> anyhow::Result<()> {
        let (mut late, mut quick) = (self.scratch.connect().await?, self.scratch.connect().await?);
        for _ in 0..count {
            let mut tx = late.start_transaction(TxOpts::default()).await?;
            let straggler = outbox::change(&mut tx, STRAGGLER[0]).await?;
            let mut other = quick.start_transaction(TxOpts::default()).await?;
            let overtaking = outbox::change(&mut other, STRAGGLER[1]).await?;
            other.commit().await?;
            ensure!(straggler.id < overtaking.id, "ids do not rise");
            let until = Instant::now() + DRAIN_MAX;
            while !lock(&self.published).has(overtaking.id) {
                ensure!(Instant::now() < until, "{} published nothing", self.way.name());
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            tx.commit().await?;
        }
        late.disconnect().await?;
        Ok(quick.disconnect().await?)
    }

    /// Ends those that write: what is committed stays as it is.
    async fn end_writers(&mut self) -> anyhow::Result<()> {
        for (program, child) in &mut self.children {
            if *program == Program::Writer {
                child.kill().await?;
            }
        }
        Ok(())
    }

    /// Waits until all of these were published, or nothing more comes.
    async fn drain(&self, committed: &BTreeSet<u64>) {
        let until = Instant::now() + DRAIN_MAX;
        let (mut count, mut since) = (0, Instant::now());
        loop {
            let (now, has_all) = {
                let published = lock(&self.published);
                (published.count(), published.has_all(committed))
            };
            if now != count {
                (count, since) = (now, Instant::now());
            }
            // What a protected way has not published yet is waited for to the end: only a naive one is done when it is quiet.
            let is_done = !self.way.is_protected() && since.elapsed() > QUIET;
            if has_all || is_done || Instant::now() > until {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn end(mut self) -> anyhow::Result<Published> {
        for (_, child) in &mut self.children {
            child.kill().await?;
        }
        while self.listening.join_next().await.is_some() {}
        let published = lock(&self.published).clone();
        Ok(published)
    }
}

/// Runs one way: half of the time undisturbed, half of it with its processes killed.
pub(super) async fn run(lab: &Lab, server: &str, way: Way, length: Duration, faults: u64) -> anyhow::Result<Ran> {
    let brokers = lab.stack.kafka()?;
    let topic = TopicSettings { brokers, topic: format!("lab.tailing.{:08x}", rand::random::<u32>()) };
    topic::make(&topic.brokers, &topic.topic).await?;
    let published = Shared::<Published>::default();
    let consumed = Consumed::start(&topic, Arc::clone(&published))?;
    let scratch = Scratch::make(server, "lab_tailing").await?;
    let mut admin = scratch.connect().await?;
    outbox::make(&mut admin).await?;
    let reader_url = READER.url(server)?;
    let state = lab.dir.join(format!("{}.state", way.name().replace([' ', ','], "-")));
    let master: Option<(String, u64, String, String)> = admin.query_first("SHOW MASTER STATUS").await?;
    let (file, position, ..) = master.context("the server writes no binary log")?;
    if way == Way::Tail {
        super::programs::save(&state, &Place { file, position }.text())?;
    }
    admin.query_drop("FLUSH USER_STATISTICS").await?;
    let mut publishers = Publishers {
        lab,
        way,
        scratch: &scratch,
        reader_url,
        state,
        topic: topic.clone(),
        jars: if way == Way::Debezium { Some(debezium::jars().await?) } else { None },
        published,
        commits: Commits::default(),
        children: Vec::new(),
        listening: JoinSet::new(),
        starts: 0,
        crashing: false,
        faults: BTreeMap::new(),
    };
    for program in way.programs() {
        publishers.start(*program)?;
    }
    if way == Way::Debezium {
        publishers.wait_until_it_reads(&mut admin).await?;
    }
    let mut load = Load::start(&scratch, &publishers, lab.seed).await?;
    publishers.wait_until_it_publishes().await?;
    // What waited for processes to start is no latency of theirs.
    lock(&publishers.commits).clear();
    admin.query_drop("FLUSH USER_STATISTICS").await?;
    let began = Instant::now();
    tokio::time::sleep(length / 2).await;
    let undisturbed = lock(&publishers.commits).clone();
    if way.reads_the_outbox() {
        publishers.stragglers(lab.scale.pick(3, 20)).await?;
    }
    disturb(&mut publishers, length / 2, faults).await?;
    publishers.end_writers().await?;
    load.end().await?;
    let committed: Vec<u64> = admin.query("SELECT id FROM outbox").await?;
    let committed: BTreeSet<u64> = committed.into_iter().collect();
    publishers.drain(&committed).await;
    let took = began.elapsed();
    let [statements, rows_read] = READER.load(&mut admin).await?;
    let faults = std::mem::take(&mut publishers.faults);
    let published = publishers.end().await?;
    consumed.end().await?;
    topic::delete(&topic.brokers, &topic.topic).await?;
    admin.disconnect().await?;
    scratch.drop().await?;
    Ok(Ran {
        way,
        judged: published.judged(&committed),
        latency: published.latency(&undisturbed),
        faults,
        statements_per_s: statements / took.as_secs_f64(),
        rows_read_per_s: rows_read / took.as_secs_f64(),
    })
}

async fn disturb(publishers: &mut Publishers<'_>, length: Duration, faults: u64) -> anyhow::Result<()> {
    let mut chance = StdRng::seed_from_u64(publishers.lab.seed);
    if faults == 0 {
        return Ok(());
    }
    publishers.have_writers_crash().await?;
    let each = length / u32::try_from(faults)?;
    for turn in 0..faults {
        tokio::time::sleep(each.mul_f64(chance.random_range(0.5..1.0))).await;
        publishers.break_one(usize::try_from(turn)?).await?;
        publishers.lab.progress(format!("{}: {}/{faults} faults", publishers.way.name(), turn + 1));
    }
    Ok(())
}

/// Transactions of this process, for ways whose publishers do not write themselves.
struct Load {
    stop: Arc<AtomicBool>,
    tasks: JoinSet<anyhow::Result<()>>,
}

impl Load {
    async fn start(scratch: &Scratch, publishers: &Publishers<'_>, seed: u64) -> anyhow::Result<Self> {
        let mut load = Self { stop: Arc::default(), tasks: JoinSet::new() };
        let writers = if publishers.way.programs().contains(&Program::Writer) { 0 } else { WRITERS };
        for writer in 0..writers {
            let conn = scratch.connect().await?;
            let chance = StdRng::seed_from_u64(seed ^ (writer << 32));
            load.tasks.spawn(write(conn, chance, Arc::clone(&load.stop), Arc::clone(&publishers.commits)));
        }
        Ok(load)
    }

    async fn end(&mut self) -> anyhow::Result<()> {
        self.stop.store(true, Ordering::Relaxed);
        while let Some(task) = self.tasks.join_next().await {
            task??;
        }
        Ok(())
    }
}

async fn write(mut conn: Conn, mut chance: StdRng, stop: Arc<AtomicBool>, commits: Commits) -> anyhow::Result<()> {
    while !stop.load(Ordering::Relaxed) {
        let event = outbox::write(&mut conn, &mut chance).await?;
        lock(&commits).insert(event.id, Instant::now());
        tokio::time::sleep(Duration::from_millis(PAUSE_MS)).await;
    }
    Ok(conn.disconnect().await?)
}
