//! `log-tailing`: polling, immediate publication, or tailing the binary log.

mod debezium;
mod kafka;
mod naive;
mod outbox;
mod programs;
mod protected;
mod published;
mod run;
mod tail;
mod user;

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;

use crate::durations::number;
use crate::{Bar, Chart, Experiment, Finding, Lab, Scale, Side, Variant, Wiring};
pub use programs::{LogReader, LogWriter};
use run::{Program, Ran};
use user::READER;

/// How often Debezium is killed: it takes seconds to be back.
const PEER_FAULTS: u64 = 2;

/// The experiment.
pub struct LogTailing;

/// A way to publish what is committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Cursor,
    Immediate,
    State,
    ImmediateAndState,
    Tail,
    /// Tailing by Debezium's engine: a peer, on neither side.
    Debezium,
}

impl Way {
    const ALL: [Self; 5] = [Self::Cursor, Self::Immediate, Self::State, Self::ImmediateAndState, Self::Tail];

    fn name(self) -> &'static str {
        match self {
            Self::Cursor => "polling by id",
            Self::Immediate => "immediate only",
            Self::State => "polling by state",
            Self::ImmediateAndState => "immediate, and polling by state",
            Self::Tail => "tailing the binary log",
            Self::Debezium => "Debezium (peer)",
        }
    }

    fn is_protected(self) -> bool {
        !matches!(self, Self::Cursor | Self::Immediate)
    }

    fn programs(self) -> &'static [Program] {
        match self {
            Self::Cursor => &[Program::Reader("cursor")],
            Self::State => &[Program::Reader("state")],
            Self::Tail => &[Program::Reader("tail")],
            Self::Debezium => &[Program::Debezium],
            Self::Immediate => &[Program::Writer],
            Self::ImmediateAndState => &[Program::Writer, Program::Sweeper],
        }
    }

    /// Whether others write, and it finds what they wrote: then transactions that commit late are put before it on purpose.
    fn reads_the_outbox(self) -> bool {
        !self.programs().contains(&Program::Writer)
    }

    /// Polling by id loses without any fault; all others have some too.
    fn is_hit(self) -> bool {
        self != Self::Cursor
    }
}

#[async_trait]
impl Experiment for LogTailing {
    fn id(&self) -> &'static str {
        "log-tailing"
    }

    fn question(&self) -> &'static str {
        "Polling, immediate publication, or tailing the binary log?"
    }

    fn counted(&self) -> &'static str {
        "A trial is a committed event; a violation is one that never came out of Kafka. Doubles are absorbed by consumers, and \
         counted apart. Latency is from the answered COMMIT until the record was consumed, for every way."
    }

    fn wirings(&self) -> [Wiring; 2] {
        [
            Wiring {
                name: "polling by id, or immediate only",
                steps: &["COMMIT", "id > last seen", "✗ late commit", "never seen"],
                code: "lab/src/experiments/log_tailing/naive.rs",
            },
            Wiring {
                name: "polling by state, or tailing the log",
                steps: &["COMMIT", "binary log, in commit order", "publish", "save the place"],
                code: "lab/src/experiments/log_tailing/tail.rs",
            },
        ]
    }

    async fn run(&self, lab: &Lab) -> anyhow::Result<Finding> {
        let server = lab.stack.mysql(1)?;
        READER.make(&server).await?;
        let length = lab.scale.pick(Duration::from_secs(2), Duration::from_secs(12));
        let faults = lab.scale.pick(3, 20);
        let mut ran = Vec::new();
        for way in Way::ALL {
            lab.progress(way.name());
            let one = run::run(lab, &server, way, length, if way.is_hit() { faults } else { 0 }).await?;
            lab.progress(format!("{}: {} of {} lost", way.name(), one.judged.lost, one.judged.committed));
            ran.push(one);
        }
        let mut finding = finding(&ran);
        if lab.scale == Scale::Full {
            lab.progress("Debezium as the peer");
            match run::run(lab, &server, Way::Debezium, length, PEER_FAULTS).await {
                Ok(peer) => add_peer(&mut finding, &ran, &peer),
                Err(why) => finding.notes.push(format!("Debezium's engine did not run here: {why:#}.")),
            }
        }
        READER.drop(&server).await?;
        Ok(finding)
    }
}

fn finding(ran: &[Ran]) -> Finding {
    let mut finding = Finding::new(side(ran, false), side(ran, true));
    let mut faults = BTreeMap::new();
    for (kind, count) in ran.iter().filter(|one| one.way.is_protected()).flat_map(|one| &one.faults) {
        *faults.entry(kind.clone()).or_default() += count;
    }
    finding.faults = faults;
    finding.must_be_some(
        "commits whose latency was measured",
        ran.iter().map(|one| one.latency.count()).min().unwrap_or(0),
    );
    finding.charts = charts(ran);
    finding.notes.push(
        "Of eight transactions one commits up to 150 ms late, so ids and commits have different orders; where a reader publishes, \
         some transactions get their id, are overtaken, and commit once what overtook them has come out of Kafka. Latency is \
         that of the undisturbed first half of each run. In the second half readers were killed (SIGKILL), and writers that \
         publish died between COMMIT and publication (crash point); all were started again at once. Tailing may publish before \
         the answer to COMMIT has come: its latency counts as 0 then."
            .to_owned(),
    );
    finding.notes.push(format!(
        "Published behind a later version of the same account: {}. Published more than once: {}.",
        list(ran, |one| one.judged.disordered),
        list(ran, |one| one.judged.doubled)
    ));
    finding
}

fn charts(ran: &[Ran]) -> Vec<Chart> {
    vec![
        bars("Committed and never published", "% of events", false, ran.iter(), |one| {
            100.0 * number(one.judged.lost) / number(one.judged.committed).max(1.0)
        }),
        bars("From COMMIT to consumption, median", "ms", true, ran.iter(), |one| one.latency.median_ms()),
        bars("From COMMIT to consumption, 99th percentile", "ms", true, ran.iter(), |one| one.latency.p99_ms()),
        bars("Statements that the way itself costs the database", "per second", false, ran.iter(), |one| {
            one.statements_per_s
        }),
        bars("Rows read by the database for it", "per second", false, ran.iter(), |one| one.rows_read_per_s),
    ]
}

/// Shows a peer beside the others; it is counted on neither side.
fn add_peer(finding: &mut Finding, ran: &[Ran], peer: &Ran) {
    finding.charts = charts(&[ran, std::slice::from_ref(peer)].concat());
    finding.notes.push(format!(
        "Debezium's engine (2.7, embedded, poll.interval.ms = 1) read the same log as a peer, hit by {} faults: {} of {} events \
         lost, {} published again; median {:.1} ms, 99th percentile {:.1} ms, {:.1} statements a second.",
        peer.faults.values().sum::<u64>(),
        peer.judged.lost,
        peer.judged.committed,
        peer.judged.doubled,
        peer.latency.median_ms(),
        peer.latency.p99_ms(),
        peer.statements_per_s
    ));
}

fn side(ran: &[Ran], protected: bool) -> Side {
    let of_side = || ran.iter().filter(|one| one.way.is_protected() == protected);
    let sum = |value: fn(&Ran) -> u64| of_side().map(value).sum::<u64>();
    let variants = of_side().map(|one| Variant::new(one.way.name(), one.judged.committed, one.judged.lost));
    let mut side = Side::of(variants.collect())
        .with("doubled", number(sum(|one| one.judged.doubled)))
        .with("disordered", number(sum(|one| one.judged.disordered)));
    for one in of_side() {
        let name = one.way.name().replace(", ", "_").replace(' ', "_");
        side = side.with(&format!("{name}_statements_per_s"), one.statements_per_s);
        side = side.with(&format!("{name}_median_ms"), one.latency.median_ms());
        side = side.with(&format!("{name}_p99_ms"), one.latency.p99_ms());
    }
    side
}

fn list(ran: &[Ran], value: fn(&Ran) -> u64) -> String {
    ran.iter().map(|one| format!("{} {}", one.way.name(), value(one))).collect::<Vec<_>>().join(", ")
}

fn bars<'a>(
    title: &str,
    unit: &'static str,
    logarithmic: bool,
    ran: impl Iterator<Item = &'a Ran>,
    value: fn(&Ran) -> f64,
) -> Chart {
    let bar =
        |one: &Ran| Bar { label: one.way.name().to_owned(), value: value(one), protected: one.way.is_protected() };
    Chart::Bars { title: title.to_owned(), unit, logarithmic, bars: ran.map(bar).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::durations::Durations;
    use published::Judged;

    fn ran(way: Way, committed: u64, lost: u64, kills: u64) -> Ran {
        let judged = Judged { committed, lost, doubled: 2, disordered: 0 };
        let faults = BTreeMap::from([("SIGKILL".to_owned(), kills)]);
        let mut latency = Durations::default();
        latency.note(Duration::from_millis(3));
        Ran { way, judged, latency, faults, statements_per_s: 1.0, rows_read_per_s: 1.0 }
    }

    #[test]
    fn only_events_that_nobody_published_are_violations_and_only_protected_kills_count() {
        let found = finding(&[ran(Way::Cursor, 100, 9, 0), ran(Way::Immediate, 50, 1, 4), ran(Way::Tail, 80, 0, 6)]);
        assert_eq!((found.off.trials, found.off.violations), (150, 10));
        assert_eq!((found.on.trials, found.on.violations), (80, 0));
        assert_eq!(found.fault_count(), 6);
        assert_eq!(found.verdict(), crate::Verdict::Shown);
        let found = finding(&[ran(Way::Cursor, 100, 9, 0), ran(Way::Immediate, 50, 0, 4), ran(Way::Tail, 80, 0, 6)]);
        assert_eq!(found.verdict(), crate::Verdict::NotShown, "one of the naive ways was not seen to lose");
    }
}
