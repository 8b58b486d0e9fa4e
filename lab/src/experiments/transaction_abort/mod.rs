//! `transaction-abort`: what readers see of a transaction that aborts, or that nobody ends.

mod naive;
mod protected;
mod reader;
mod record;
mod writer;

use std::time::{Duration, Instant};

use anyhow::Context as _;
use async_trait::async_trait;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::durations::{Durations, ms, number};
use crate::{Bar, Chart, Experiment, Finding, Lab, Series, Side, Wiring};
use reader::Reader;
use record::{Fate, Record};
pub use writer::OpenTransaction;
use writer::Writer;

/// Records of one transaction.
const RECORDS: u64 = 5;
/// How long a transaction stays open before it ends, so that readers have time to see too much.
const HELD_OPEN: Duration = Duration::from_millis(40);
/// The time-out of transactions that are not left open.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Between two looks at the offsets.
const SAMPLE: Duration = Duration::from_millis(25);
/// How long a reader may be held back before the experiment gives up: the broker looks for transactions that are too old
/// every ten seconds.
const HELD_BACK_MAX: Duration = Duration::from_secs(60);

/// The experiment.
pub struct TransactionAbort;

#[async_trait]
impl Experiment for TransactionAbort {
    fn id(&self) -> &'static str {
        "transaction-abort"
    }

    fn question(&self) -> &'static str {
        "What do readers see of a transaction that aborts?"
    }

    fn counted(&self) -> &'static str {
        "A trial is a record in the log; a violation is one of an aborted transaction that a reader was given, or one of a \
         committed transaction that it was not."
    }

    fn wirings(&self) -> [Wiring; 2] {
        [
            Wiring {
                name: "read_uncommitted",
                steps: &["begin", "send", "reader is given it", "✗ abort"],
                code: "lab/src/experiments/transaction_abort/naive.rs",
            },
            Wiring {
                name: "read_committed",
                steps: &["begin", "send", "reader waits at the LSO", "abort: skipped"],
                code: "lab/src/experiments/transaction_abort/protected.rs",
            },
        ]
    }

    async fn run(&self, lab: &Lab) -> anyhow::Result<Finding> {
        let trial = Trial::prepare(lab).await?;
        let ended = trial.transactions(lab.scale.pick(16, 80)).await?;
        let abandoned = trial.abandoned(lab.scale.pick(&[1], &[1, 5, 10])).await?;
        let taken_over = trial.taken_over(lab.scale.pick(4, 25)).await?;
        trial.finding(ended, abandoned, taken_over).await
    }
}

/// A topic with a reader of each kind.
struct Trial<'a> {
    lab: &'a Lab,
    brokers: String,
    topic: String,
    uncommitted: Reader,
    committed: Reader,
    /// The number of the next record.
    next: std::sync::atomic::AtomicU64,
    began: Instant,
}

/// The offsets at one moment.
struct Sample {
    at_ms: f64,
    high_watermark: i64,
    last_stable: i64,
    uncommitted: i64,
    committed: i64,
}

/// Transactions that ended, with the offsets meanwhile.
struct Ended {
    aborted: u64,
    samples: Vec<Sample>,
}

/// How long a transaction that nobody ended held readers back.
struct Abandoned {
    timeout_s: u64,
    held_back: Duration,
    samples: Vec<Sample>,
}

impl<'a> Trial<'a> {
    async fn prepare(lab: &'a Lab) -> anyhow::Result<Self> {
        let brokers = lab.stack.kafka()?;
        let topic = format!("lab.transaction-abort.{:08x}", rand::random::<u32>());
        super::topic::make(&brokers, &topic).await?;
        let uncommitted = Reader::start(&naive::reader(&brokers), &topic)?;
        let committed = Reader::start(&protected::reader(&brokers), &topic)?;
        Ok(Self { lab, brokers, topic, uncommitted, committed, next: 0.into(), began: Instant::now() })
    }

    fn numbers(&self, count: u64) -> std::ops::Range<u64> {
        let first = self.next.fetch_add(count, std::sync::atomic::Ordering::Relaxed);
        first..first + count
    }

    async fn sample(&self) -> anyhow::Result<Sample> {
        let (high_watermark, last_stable) = (self.uncommitted.end().await?, self.committed.end().await?);
        let (uncommitted, committed) = (self.uncommitted.position(), self.committed.position());
        Ok(Sample { at_ms: ms(self.began.elapsed()), high_watermark, last_stable, uncommitted, committed })
    }

    /// Looks at the offsets until `work` is done.
    async fn sampled<T>(&self, work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<(T, Vec<Sample>)> {
        let mut samples = vec![self.sample().await?];
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => {
                    samples.push(self.sample().await?);
                    return Ok((done?, samples));
                }
                () = tokio::time::sleep(SAMPLE) => samples.push(self.sample().await?),
            }
        }
    }

    /// Transactions one after another, half of which abort.
    async fn transactions(&self, count: u64) -> anyhow::Result<Ended> {
        let mut chance = StdRng::seed_from_u64(self.lab.seed);
        // The first two differ, so that even a short run has both.
        let fates = (0..count).map(|number| match number {
            0 => Fate::Aborted,
            1 => Fate::Committed,
            _ if chance.random() => Fate::Aborted,
            _ => Fate::Committed,
        });
        let fates: Vec<Fate> = fates.collect();
        let ids: Vec<_> = fates.iter().map(|fate| (*fate, self.numbers(RECORDS))).collect();
        let (brokers, topic) = (self.brokers.clone(), self.topic.clone());
        self.lab.progress(format!("{count} transactions, every second aborts"));
        let work = async {
            let writing = tokio::task::spawn_blocking(move || {
                let writer = Writer::transactional(&brokers, &topic, &topic, TIMEOUT)?;
                for (fate, numbers) in ids {
                    writer.begin()?;
                    writer.write(numbers, fate)?;
                    // Not for a result: so long a transaction does its other work.
                    std::thread::park_timeout(HELD_OPEN);
                    writer.end(fate)?;
                }
                anyhow::Ok(())
            });
            writing.await?
        };
        let ((), samples) = self.sampled(work).await?;
        let aborted = fates.iter().filter(|fate| **fate == Fate::Aborted).count();
        Ok(Ended { aborted: u64::try_from(aborted)?, samples })
    }

    /// Processes are killed in the middle of a transaction; readers wait until the broker finds it too old.
    async fn abandoned(&self, timeouts_s: &[u64]) -> anyhow::Result<Vec<Abandoned>> {
        let mut found = Vec::new();
        for timeout_s in timeouts_s.iter().copied() {
            self.lab.progress(format!("a transaction left open, with a time-out of {timeout_s} s"));
            let id = format!("{}-left-{timeout_s}", self.topic);
            let (held_back, samples) = self.sampled(self.killed(&id, Duration::from_secs(timeout_s), false)).await?;
            found.push(Abandoned { timeout_s, held_back, samples });
        }
        Ok(found)
    }

    /// The same, but a successor with the same transactional id starts at once.
    async fn taken_over(&self, count: u64) -> anyhow::Result<Durations> {
        let mut held_back = Durations::default();
        for number in 0..count {
            self.lab.progress(format!("{number}/{count} transactions left open and taken over"));
            let id = format!("{}-over-{number}", self.topic);
            held_back.note(self.killed(&id, TIMEOUT, true).await?);
        }
        Ok(held_back)
    }

    /// Kills a process whose transaction is open, writes a record behind it, and tells how long readers waited for that.
    async fn killed(&self, id: &str, timeout: Duration, take_over: bool) -> anyhow::Result<Duration> {
        let numbers = self.numbers(RECORDS);
        let mut child = writer::leave_open(self.lab, &self.brokers, &self.topic, id, timeout, numbers).await?;
        child.kill().await?;
        let behind = self.numbers(1);
        let (brokers, topic, id, number) = (self.brokers.clone(), self.topic.clone(), id.to_owned(), behind.start);
        let written = tokio::task::spawn_blocking(move || {
            Writer::plain(&brokers, &topic)?.write(behind, Fate::Committed)?;
            let written = Instant::now();
            if take_over {
                drop(Writer::transactional(&brokers, &topic, &id, TIMEOUT)?);
            }
            anyhow::Ok(written)
        });
        let written = written.await??;
        let given = self.committed.given_at(number, HELD_BACK_MAX).await;
        Ok(given.context("readers were held back for too long")?.saturating_duration_since(written))
    }

    async fn finding(self, ended: Ended, abandoned: Vec<Abandoned>, taken_over: Durations) -> anyhow::Result<Finding> {
        // A last record that both must get: whatever lies before it has been given or never will be.
        let (last, topic, brokers) = (self.numbers(1), self.topic.clone(), self.brokers.clone());
        let (written, number_of_last) = (last.end, last.start);
        tokio::task::spawn_blocking(move || Writer::plain(&brokers, &topic)?.write(last, Fate::Committed)).await??;
        for reader in [&self.uncommitted, &self.committed] {
            reader.given_at(number_of_last, HELD_BACK_MAX).await.context("the last record was not given")?;
        }
        let sigkills = u64::try_from(abandoned.len())? + taken_over.count();
        let committed = written - (ended.aborted + sigkills) * RECORDS;
        let off = judged(&self.uncommitted.end_reading().await?, written, committed);
        let mut on = judged(&self.committed.end_reading().await?, written, committed)
            .with("taken_over_held_back_median_ms", taken_over.median_ms())
            .with("taken_over_held_back_max_ms", taken_over.max_ms());
        for one in &abandoned {
            on = on.with(&format!("timeout_{}s_held_back_ms", one.timeout_s), ms(one.held_back));
        }
        let mut finding = Finding::new(off, on);
        finding.faults.insert("SIGKILL".to_owned(), sigkills);
        finding
            .charts
            .push(offsets("High watermark, last stable offset and both readers", first_ms(&ended.samples, 1_500.0)));
        if let Some(longest) = abandoned.last() {
            let title = format!("A transaction left open, time-out {} s", longest.timeout_s);
            finding.charts.push(offsets(&title, &longest.samples));
        }
        finding.charts.push(held_back_chart(&abandoned, &taken_over));
        finding.notes.push(
            "The broker looks for transactions past transaction.timeout.ms every ten seconds \
             (transaction.abort.timed.out.transaction.cleanup.interval.ms), so readers of a transaction that nobody ends \
             wait up to ten seconds longer than its time-out. A successor with the same transactional.id ends it at once."
                .to_owned(),
        );
        super::topic::delete(&self.brokers, &self.topic).await?;
        Ok(finding)
    }
}

/// What a reader was given, against what it was to be given.
fn judged(given: &[Record], written: u64, committed: u64) -> Side {
    let of = |fate| given.iter().filter(|record| record.fate == fate).count() as u64;
    let (aborted_seen, missing) = (of(Fate::Aborted), committed.saturating_sub(of(Fate::Committed)));
    Side::new(written, aborted_seen + missing)
        .with("aborted_seen", number(aborted_seen))
        .with("committed_missing", number(missing))
}

/// The samples of the first stretch, so that single transactions can be told apart in the picture.
fn first_ms(samples: &[Sample], length: f64) -> &[Sample] {
    let Some(first) = samples.first() else { return samples };
    let count = samples.iter().take_while(|sample| sample.at_ms <= first.at_ms + length).count();
    &samples[..count]
}

fn offsets(title: &str, samples: &[Sample]) -> Chart {
    let start = samples.first().map_or(0.0, |sample| sample.at_ms);
    #[allow(clippy::cast_precision_loss, reason = "offsets of one short topic")]
    let series = |label: &str, protected, value: fn(&Sample) -> i64| Series {
        label: label.to_owned(),
        points: samples.iter().map(|sample| (sample.at_ms - start, value(sample) as f64)).collect(),
        protected,
    };
    Chart::Lines {
        title: title.to_owned(),
        x: "time, ms",
        y: "offset",
        logarithmic: false,
        series: vec![
            series("high watermark", false, |sample| sample.high_watermark),
            series("read_uncommitted", false, |sample| sample.uncommitted),
            series("last stable offset", true, |sample| sample.last_stable),
            series("read_committed", true, |sample| sample.committed),
        ],
    }
}

fn held_back_chart(abandoned: &[Abandoned], taken_over: &Durations) -> Chart {
    let bar = |label: String, value, protected| Bar { label, value, protected };
    let mut bars: Vec<Bar> = abandoned
        .iter()
        .map(|one| bar(format!("nobody, time-out {} s", one.timeout_s), ms(one.held_back), false))
        .collect();
    bars.push(bar("successor, median".to_owned(), taken_over.median_ms(), true));
    bars.push(bar("successor, longest".to_owned(), taken_over.max_ms(), true));
    let title = "How long an open transaction held read_committed back, by who ends it".to_owned();
    Chart::Bars { title, unit: "ms", logarithmic: true, bars }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_is_judged_by_what_it_saw_too_much_and_too_little() {
        let record = |number, fate| Record { number, fate };
        let given = [record(0, Fate::Committed), record(1, Fate::Aborted), record(2, Fate::Committed)];
        let side = judged(&given, 10, 4);
        assert_eq!((side.trials, side.violations), (10, 3));
        assert_eq!((side.figures["aborted_seen"] as u64, side.figures["committed_missing"] as u64), (1, 2));
        assert_eq!(judged(&[record(0, Fate::Committed)], 2, 1).violations, 0);
    }
}
