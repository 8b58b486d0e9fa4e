//! `acks-and-replicas`: what is lost with a broker, or with a database server, that dies for good.

mod brokers;
mod databases;
mod link;
mod naive;
mod protected;

use std::time::Duration;

use async_trait::async_trait;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::durations::{Durations, ms, number};
use crate::{Bar, Chart, Experiment, Finding, Lab, Mark, Side, Span, Stack, StackOptions, Variant, Wiring};
use brokers::{Moments, Round};
use databases::{Pair, Replication};

/// The experiment.
pub struct AcksAndReplicas;

/// What the halves of both wirings are called.
const NAMES: [[&str; 2]; 2] =
    [["Kafka, acks=1", "MariaDB, asynchronous"], ["Kafka, acks=all, min.insync 2", "MariaDB, semi-synchronous"]];

/// What one wiring came to, over all rounds.
#[derive(Debug, Default)]
struct Sum {
    records: u64,
    records_lost: u64,
    records_later: u64,
    records_later_lost: u64,
    records_doubled: u64,
    rows: u64,
    rows_lost: u64,
    commits: Durations,
}

impl Sum {
    fn add(&mut self, records: &brokers::Kept, rows: &databases::Kept) {
        self.records += records.at_risk;
        self.records_lost += records.lost;
        self.records_later += records.acknowledged_later;
        self.records_later_lost += records.lost_later;
        self.records_doubled += records.doubled;
        self.rows += rows.committed;
        self.rows_lost += rows.lost;
        self.commits.add(&rows.took);
    }

    /// A side of which each half, under its name, is counted by itself.
    fn side(&self, [kafka, mariadb]: [&str; 2]) -> Side {
        let records = Variant::new(kafka, self.records, self.records_lost);
        Side::of(vec![records, Variant::new(mariadb, self.rows, self.rows_lost)])
            .with("records_acknowledged_before_the_kill", number(self.records))
            .with("records_lost", number(self.records_lost))
            .with("records_acknowledged_later", number(self.records_later))
            .with("records_doubled", number(self.records_doubled))
            .with("rows_committed", number(self.rows))
            .with("rows_lost", number(self.rows_lost))
            .with("commit_median_ms", self.commits.median_ms())
            .with("commit_p99_ms", self.commits.p99_ms())
    }
}

#[async_trait]
impl Experiment for AcksAndReplicas {
    fn id(&self) -> &'static str {
        "acks-and-replicas"
    }

    fn question(&self) -> &'static str {
        "What does a lost broker or a lost database server lose?"
    }

    fn counted(&self) -> &'static str {
        "A trial is a record or a row whose writer was told that it is safe before the leader or the primary was killed; a \
         violation is one that is not there after another took over."
    }

    fn wirings(&self) -> [Wiring; 2] {
        [
            Wiring {
                name: "acks=1, asynchronous replica",
                steps: &["leader has it", "answer", "✗ leader killed", "follower leads without it"],
                code: "lab/src/experiments/acks_and_replicas/naive.rs",
            },
            Wiring {
                name: "acks=all, min.insync 2, semi-synchronous",
                steps: &["leader has it", "a follower has it", "answer", "leader killed", "follower has it"],
                code: "lab/src/experiments/acks_and_replicas/protected.rs",
            },
        ]
    }

    async fn run(&self, lab: &Lab) -> anyhow::Result<Finding> {
        let has = lab.stack.options()?;
        if has.brokers == 3 && has.replicas {
            return on(lab, &lab.stack).await;
        }
        lab.progress("three brokers and replicas are started");
        // In the system's temporary directory, where MariaDB's own user can reach it.
        let dir = std::env::temp_dir().join(format!("madang-lab-{:08x}", rand::random::<u32>()));
        let stack = lab.stack.up_for_a_while(&dir, StackOptions { brokers: 3, replicas: true }).await?;
        on(lab, &stack).await
    }
}

/// Rounds on these servers: in each a leader of Kafka and two primaries are killed at about the same time.
async fn on(lab: &Lab, stack: &Stack) -> anyhow::Result<Finding> {
    let mut chance = StdRng::seed_from_u64(lab.seed);
    let (mut off, mut on) = (Sum::default(), Sum::default());
    let (mut failovers, mut first) = (Durations::default(), None);
    let rounds = lab.scale.pick(1, 4);
    let mut asynchronous = Pair::new(stack, 1, Replication::Asynchronous);
    let mut semi_synchronous = Pair::new(stack, 2, Replication::SemiSynchronous);
    for round in 0..rounds {
        lab.progress(format!(
            "{round}/{rounds} leaders and primaries killed; acks=1 and asynchronous lost {}, acks=all and semi-synchronous {}",
            off.records_lost + off.rows_lost,
            on.records_lost + on.rows_lost
        ));
        asynchronous.join().await?;
        semi_synchronous.join().await?;
        let kafka = Round::prepare(stack, i32::try_from(round % 3)? + 1, round).await?;
        let length = Duration::from_millis(chance.random_range(800..1_500));
        let (moments, rows_off, rows_on) =
            tokio::join!(kafka.fail_over(), asynchronous.fail_over(length), semi_synchronous.fail_over(length));
        let moments = moments?;
        let [records_off, records_on] = kafka.kept().await?;
        off.add(&records_off, &rows_off?);
        on.add(&records_on, &rows_on?);
        failovers.note(moments.acknowledged - moments.killed);
        first.get_or_insert(moments);
        stack.start_what_ended().await?;
        kafka.wait_until_whole().await?;
        kafka.clean().await?;
    }
    asynchronous.part().await?;
    semi_synchronous.part().await?;
    Ok(finding(&off, &on, rounds, &failovers, first.as_ref()))
}

fn finding(off: &Sum, on: &Sum, rounds: u64, failovers: &Durations, first: Option<&Moments>) -> Finding {
    let [off_names, on_names] = NAMES;
    let on_side = on.side(on_names).with("failover_max_ms", failovers.max_ms());
    let mut finding = Finding::new(off.side(off_names), on_side);
    finding.must_be_none("records are in the log twice", on.records_doubled);
    finding.must_be_none("records that the new leader acknowledged are gone", on.records_later_lost);
    finding.must_be_some("records acknowledged before a leader was killed", on.records);
    finding.must_be_some("rows committed before a primary was killed", on.rows);
    // With protections on: the leader and a primary killed, two followers frozen.
    finding.faults.insert("SIGKILL".to_owned(), rounds * 2);
    finding.faults.insert("SIGSTOP".to_owned(), rounds * 2);
    let bar = |label: &str, value, protected| Bar { label: label.to_owned(), value, protected };
    let share = |lost: u64, of: u64| 100.0 * number(lost) / number(of).max(1.0);
    finding.charts.push(Chart::Bars {
        title: "Written, told to be safe, and gone after the failover".to_owned(),
        unit: "%",
        logarithmic: false,
        bars: vec![
            bar(off_names[0], share(off.records_lost, off.records), false),
            bar(on_names[0], share(on.records_lost, on.records), true),
            bar(off_names[1], share(off.rows_lost, off.rows), false),
            bar(on_names[1], share(on.rows_lost, on.rows), true),
        ],
    });
    finding.charts.push(Chart::Bars {
        title: "What it costs: median of a commit with the replica 20 ms away".to_owned(),
        unit: "ms",
        logarithmic: false,
        bars: vec![
            bar("asynchronous", off.commits.median_ms(), false),
            bar("semi-synchronous", on.commits.median_ms(), true),
        ],
    });
    finding.charts.extend(first.map(timeline));
    finding.notes.push(
        "Both topics have min.insync.replicas = 2, to which acks=1 is not held. acks=1 also gives up the idempotent producer, \
         which Kafka allows with acks=all only; what that protects from, doubles, is counted apart."
            .to_owned(),
    );
    finding.notes.push(format!(
        "{rounds} rounds. While records were sent, both followers were frozen (SIGSTOP), then the leader was killed (SIGKILL) and \
         the followers went on: both were still in the in-sync set, so one of them led without what it had not fetched. With \
         acks=all what was sent to frozen followers waited, and the new leader had acknowledged all of it {:.1} s after the kill \
         at the latest; it could not be lost with the old one, and is no trial.",
        failovers.max_ms() / 1_000.0
    ));
    finding.notes.push(
        "Primary and replica of MariaDB were joined by a link of ours that delays bytes by 20 ms each way; before the primary \
         was killed it carried nothing any more, as a network does that stalls, until the asynchronous primary had answered 20 \
         more commits, and what was under way was lost. The semi-synchronous one answered none meanwhile. Semi-synchronous replication keeps its promise only while the primary is not \
         allowed to go on alone: rpl_semi_sync_master_timeout was an hour here, and is ten seconds by default."
            .to_owned(),
    );
    finding
}

fn timeline(moments: &Moments) -> Chart {
    let at = |moment: std::time::Instant| ms(moment.saturating_duration_since(moments.began));
    let (killed, acknowledged) = (at(moments.killed), at(moments.acknowledged));
    let span = |broker: i32, label: &str, from_ms, until_ms, harm| Span {
        row: format!("kafka-{broker}"),
        label: label.to_owned(),
        from_ms,
        until_ms,
        harm,
    };
    let mut spans = Vec::new();
    for broker in 1..=3 {
        if broker == moments.leader {
            spans.push(span(broker, "leads; answers acks=1 alone", 0.0, killed, false));
            spans.push(span(broker, "dead", killed, acknowledged, true));
        } else {
            spans.push(span(broker, "frozen, still in sync", 0.0, killed, true));
            spans.push(span(broker, "one of both leads", killed, acknowledged, false));
        }
    }
    let row = format!("kafka-{}", moments.leader);
    let marks = vec![
        Mark { row: row.clone(), label: "SIGKILL".to_owned(), at_ms: killed },
        Mark { row, label: "acks=all: all acknowledged".to_owned(), at_ms: acknowledged },
    ];
    Chart::Timeline { title: "A leader dies while its followers sleep".to_owned(), spans, marks }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_to_be_safe_and_is_gone_is_a_violation_and_a_double_spoils_the_verdict() {
        let records = brokers::Kept { at_risk: 100, lost: 7, acknowledged_later: 40, lost_later: 0, doubled: 1 };
        let rows = databases::Kept { committed: 50, lost: 2, took: Durations::default() };
        let mut sum = Sum::default();
        sum.add(&records, &rows);
        let side = sum.side(NAMES[0]);
        assert_eq!((side.trials, side.violations), (150, 9), "only what could be lost is a trial");
        let half = Sum { rows_lost: 0, rows: 50, records: 100, records_lost: 7, ..Sum::default() };
        let found = finding(&sum, &Sum::default(), 3, &Durations::default(), None);
        assert_eq!(found.fault_count(), 12);
        assert_eq!(found.objections.len(), 2, "no record and no row was at risk: {:?}", found.objections);
        let whole = Sum { records: 40, rows: 9, ..Sum::default() };
        assert_eq!(finding(&sum, &whole, 3, &Durations::default(), None).verdict(), crate::Verdict::Shown);
        assert_eq!(
            finding(&half, &whole, 3, &Durations::default(), None).verdict(),
            crate::Verdict::NotShown,
            "the other half was not seen to break"
        );
        let doubled = Sum { records_doubled: 1, ..whole };
        assert_eq!(finding(&sum, &doubled, 3, &Durations::default(), None).verdict(), crate::Verdict::NotShown);
    }
}
