//! Invented findings, for tests of the report alone: every kind of chart, hostile text, and values at the edges.

use std::collections::BTreeMap;

use async_trait::async_trait;
use madang_kernel::Timestamp;

use super::{Entry, Report};
use crate::{Bar, Chart, Experiment, Finding, Lab, Mark, Series, Side, Span, Variant, Wiring};

/// An experiment that is never run.
pub(crate) struct Invented {
    pub(crate) id: &'static str,
    pub(crate) question: &'static str,
}

#[async_trait]
impl Experiment for Invented {
    fn id(&self) -> &'static str {
        self.id
    }

    fn question(&self) -> &'static str {
        self.question
    }

    fn counted(&self) -> &'static str {
        "A trial is a command that was answered; a violation is one whose event never reached the projection."
    }

    fn wirings(&self) -> [Wiring; 2] {
        [
            Wiring {
                name: "direct produce",
                steps: &["HTTP deposit", "BEGIN", "account, ledger", "COMMIT", "✗ crash", "send to Kafka", "answer"],
                code: "lab/src/report/sample.rs",
            },
            Wiring {
                name: "outbox",
                steps: &[
                    "HTTP deposit",
                    "BEGIN",
                    "account, ledger, outbox_event",
                    "COMMIT",
                    "✗ crash",
                    "answer",
                    "relay: claim, send, delete",
                ],
                code: "lab/src/report/page.rs",
            },
        ]
    }

    async fn run(&self, _lab: &Lab) -> anyhow::Result<Finding> {
        Ok(finding())
    }
}

/// Text that would become markup if nobody watched.
pub(crate) const HOSTILE: &str = "<script>alert(1)</script> & \"quotes\" ]]> 'x'";

fn bar(label: &str, value: f64, protected: bool) -> Bar {
    Bar { label: label.to_owned(), value, protected }
}

fn line(label: &str, points: Vec<(f64, f64)>, protected: bool) -> Series {
    Series { label: label.to_owned(), points, protected }
}

fn span(row: &str, label: &str, from_ms: f64, until_ms: f64, harm: bool) -> Span {
    Span { row: row.to_owned(), label: label.to_owned(), from_ms, until_ms, harm }
}

fn mark(row: &str, label: &str, at_ms: f64) -> Mark {
    Mark { row: row.to_owned(), label: label.to_owned(), at_ms }
}

/// A chart of each kind as experiments fill them in.
pub(crate) fn charts() -> Vec<Chart> {
    let callers = [1.0, 8.0, 64.0, 256.0];
    let over = |rates: [f64; 4]| callers.into_iter().zip(rates).collect::<Vec<_>>();
    let wave = |x: i32| (f64::from(x) * 50.0, 40.0 + 30.0 * (f64::from(x) / 9.0).sin());
    vec![
        Chart::Bars {
            title: "What crashes between COMMIT and send cost".to_owned(),
            unit: "events lost",
            logarithmic: false,
            bars: vec![
                bar("crash point after commit, before send", 137.0, false),
                bar("SIGKILL at a random moment", 41.0, false),
                bar("broker restart", 12.0, false),
                bar("all of them, with an outbox", 0.0, true),
            ],
        },
        Chart::Bars {
            title: "Loads of the database after a common expiry".to_owned(),
            unit: "loads/s",
            logarithmic: true,
            bars: vec![
                bar("nothing", 48_211.0, false),
                bar("jitter", 2_140.0, true),
                bar("jitter, collapsing", 33.0, true),
                bar("jitter, collapsing, logical TTL", 0.8, true),
            ],
        },
        Chart::Lines {
            title: "A hot counter on InnoDB".to_owned(),
            x: "callers",
            y: "updates/s",
            logarithmic: true,
            series: vec![
                line("update in place", over([612.0, 590.0, 410.0, 220.0]), false),
                line("select for update", over([380.0, 330.0, 240.0, 120.0]), false),
                line("optimistic", over([570.0, 300.0, 44.0, 9.0]), false),
                line("folded", over([540.0, 2_900.0, 14_800.0, 22_300.0]), true),
            ],
        },
        Chart::Lines {
            title: "Latency of other requests while the broker is slow".to_owned(),
            x: "milliseconds",
            y: "p99, ms",
            logarithmic: false,
            series: vec![
                line("send inside the transaction", (0..120).map(wave).collect(), false),
                line("outbox", (0..120).map(|x| (f64::from(x) * 50.0, 6.0 + f64::from(x % 7) * 0.4)).collect(), true),
            ],
        },
        Chart::Timeline {
            title: "Who relays shard 7 when a relay sleeps".to_owned(),
            spans: vec![
                span("relay 1", "owns the shard", 0.0, 4_100.0, false),
                span("relay 1", "asleep (SIGSTOP)", 4_100.0, 17_000.0, true),
                span("relay 1", "goes on with what it held", 17_000.0, 18_200.0, true),
                span("relay 2", "owns the shard", 13_300.0, 24_000.0, false),
                span("shard 7", "no owner", 4_100.0, 13_300.0, true),
                span("account 12", "stale", 5_000.0, 14_100.0, true),
                span("account 12", "fresh", 14_100.0, 24_000.0, false),
            ],
            marks: vec![
                mark("relay 1", "SIGSTOP", 4_100.0),
                mark("relay 1", "SIGCONT", 17_000.0),
                mark("relay 2", "declared dead after 9 s", 13_200.0),
                mark("account 12", "deposit", 5_000.0),
                mark("account 12", "deposit", 5_300.0),
                mark("account 12", "read: old balance", 5_600.0),
            ],
        },
    ]
}

/// Charts that nobody should fill in, and that still must be drawn.
pub(crate) fn edges() -> Vec<Chart> {
    let bars = |title: &str, logarithmic, bars| Chart::Bars { title: title.to_owned(), unit: "x", logarithmic, bars };
    let lines = |title: &str, logarithmic, series| Chart::Lines {
        title: title.to_owned(),
        x: "x",
        y: "y",
        logarithmic,
        series,
    };
    vec![
        bars("No bar at all", false, vec![]),
        bars("Zeros, logarithmic", true, vec![bar("zero", 0.0, false), bar("nought", 0.0, true)]),
        bars(
            "Huge, tiny, negative and no numbers",
            false,
            vec![
                bar("huge", 1e300, false),
                bar("tiny", 1e-12, true),
                bar("negative", -5.0, false),
                bar("not a number", f64::NAN, false),
                bar("endless", f64::INFINITY, true),
            ],
        ),
        bars(HOSTILE, true, vec![bar(HOSTILE, 1e18, true), bar(&"long ".repeat(60), 1.0, false)]),
        lines("No line", false, vec![]),
        lines("A line without points", false, vec![line("nothing", vec![], true)]),
        lines("A single point", false, vec![line(HOSTILE, vec![(5.0, 7.0)], false)]),
        lines("Huge values", true, vec![line("huge", vec![(0.0, 1e-9), (1.0, 1e18), (2.0, f64::NAN)], true)]),
        lines(
            "Many points",
            false,
            vec![line("many", (0..5_000).map(|x| (f64::from(x), f64::from(x % 97))).collect(), true)],
        ),
        Chart::Timeline { title: "Nothing happened".to_owned(), spans: vec![], marks: vec![] },
        Chart::Timeline {
            title: "All at once".to_owned(),
            spans: (0..6).map(|n| span(HOSTILE, &format!("span {n}"), 0.0, f64::from(n), n % 2 == 0)).collect(),
            marks: vec![mark("alone", HOSTILE, 0.0), mark("alone", "never", f64::NAN)],
        },
    ]
}

pub(crate) fn finding() -> Finding {
    let off = Side::of(vec![Variant::new(HOSTILE, 1_000, 150), Variant::new("SIGKILL", 840, 40)])
        .with("lost", 190.0)
        .with("stale_ms_max", 5_400.0)
        .with("p99_ms", 23.1);
    let on =
        Side::new(12_400, 0).with("lost", 0.0).with("stale_ms_max", 212.0).with("p99_ms", 24.9).with("per_s", 1_312.5);
    let faults = [("crash point", 120), ("SIGKILL", 31), ("SIGSTOP", 12), ("broker restart", 2)];
    Finding {
        faults: faults.into_iter().map(|(kind, times)| (kind.to_owned(), times)).collect(),
        charts: charts(),
        notes: vec![
            "Every tenth command hit the crash point; the process was restarted by the runner within 300 ms."
                .to_owned(),
            "What was lost is what the clients were told and the projection never heard of.".to_owned(),
        ],
        ..Finding::new(off, on)
    }
}

const QUESTIONS: [(&str, &str); 5] = [
    ("direct-produce", "What does a crash between COMMIT and send lose?"),
    ("no-dedup", "What do redeliveries do to balances?"),
    ("stale-cache", "How long is a cache wrong?"),
    ("edges", "What becomes of values that nobody expects?"),
    ("broken", "What does an experiment look like that could not be carried out?"),
];

/// A report as a run would leave it.
pub(crate) fn report() -> Report {
    let experiments = QUESTIONS.map(|(id, question)| {
        let experiment = Invented { id, question };
        let found = match id {
            "edges" => {
                let charts = edges();
                let off = Side::new(10, 0).with("not_a_number", f64::NAN);
                let notes = vec![HOSTILE.to_owned()];
                let faults = BTreeMap::from([(HOSTILE.to_owned(), 1)]);
                Ok(Finding { charts, notes, faults, ..Finding::new(off, Side::new(10, 0)) })
            }
            "broken" => Err(anyhow::anyhow!("the broker did not come back within 30 s: {HOSTILE}")),
            _ => Ok(finding()),
        };
        Entry::of(&experiment, found, 61.25)
    });
    Report {
        commit: "0123abc".to_owned(),
        started_at: Timestamp::from_millis(1_790_000_000_000),
        quick: false,
        experiments: experiments.into(),
        seed: 1,
        machine: "2 cores (invented)".to_owned(),
        seconds: 1_234.5,
    }
}
