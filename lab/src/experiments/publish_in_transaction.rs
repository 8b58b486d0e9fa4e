//! What does a slow broker do to the database? Events sent inside the transaction, then an outbox, while the broker stands
//! still for a few seconds.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use hyper::Method;
use mysql_async::prelude::Queryable as _;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use super::common;
use crate::programs::http::HttpClient;
use crate::runner::system::GROUP;
use crate::runner::{Clients, Spec, System, observe, storm};
use crate::{Chart, Experiment, Finding, Lab, Mark, Series, Side, Wiring};

/// A request that takes longer than this while the broker stands still waited for the broker.
const WAITED_FOR_BROKER_MS: f64 = 1_000.0;
/// How long the broker stands still.
const STANDS_STILL: Duration = Duration::from_secs(4);
/// Between two looks at open transactions: InnoDB shows new ones only to who has not asked for 100 ms.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Between two requests that have nothing to do with events.
const PROBE_EVERY: Duration = Duration::from_millis(50);

/// The experiment.
pub(super) struct PublishInTransaction;

#[async_trait]
impl Experiment for PublishInTransaction {
    fn id(&self) -> &'static str {
        "publish-in-transaction"
    }

    fn question(&self) -> &'static str {
        "What does a slow broker do to the database?"
    }

    fn counted(&self) -> &'static str {
        "A trial is a request that needs the database and no broker, begun while the broker stood still; a violation is one that \
         took longer than 1 s, and whatever was lost, doubled or is wrong at the end."
    }

    fn wirings(&self) -> [Wiring; 2] {
        [
            Wiring {
                name: "send inside the transaction",
                steps: &["BEGIN", "account, ledger", "send to Kafka", "✗ waits, locks and connection held", "COMMIT"],
                code: "lab/src/naive/command.rs",
            },
            Wiring {
                name: "outbox",
                steps: &["BEGIN", "account, ledger, outbox", "COMMIT", "relay sends when it can"],
                code: "lab/src/programs/command/store.rs",
            },
        ]
    }

    async fn run(&self, lab: &Lab) -> anyhow::Result<Finding> {
        let naive = System::new(lab, "publish", "off").await?;
        let url = naive.fleet.start(Spec::new("command-1", &["naive", "publish-in-transaction"])).await?;
        let off = run(lab, &naive, url, "naive", Duration::from_secs(lab.scale.pick(4, 15))).await?;
        drop(naive);
        let system = System::new(lab, "publish", "on").await?;
        let relay = system.relay("relay-1", "").await?;
        let url = system.command("command-1", &[relay], "").await?;
        let on = run(lab, &system, url, "outbox", Duration::from_secs(90)).await?;
        let mut finding = Finding::new(off.side, on.side);
        finding.faults = system.faults.by_kind();
        let series = |label: &str, points, protected| Series { label: label.to_owned(), points, protected };
        finding.charts.push(Chart::Lines {
            title: "How long a request took that needs the database and no broker, by when it began".to_owned(),
            x: "seconds",
            y: "ms",
            logarithmic: true,
            series: vec![series("send inside the transaction", off.points, false), series("outbox", on.points, true)],
        });
        finding.charts.push(Chart::Timeline {
            title: "The broker stands still".to_owned(),
            spans: off.stood_still.into_iter().chain(on.stood_still).collect(),
            marks: Vec::<Mark>::new(),
        });
        finding.notes.push(format!(
            "Twelve clients write, each patient enough to wait for the broker; the naive program's pool has {} connections, each held by a transaction that waits for the \
             broker. InnoDB tells the beginning of a transaction in whole seconds, so its age may be told up to 1 s too long.",
            crate::naive::store::CONNECTIONS_MAX
        ));
        finding.notes.push(
            "Where the naive way loses events too: a send that timed out and arrived all the same tells of a transaction that was \
             rolled back, and what the client sends again becomes a second event under the same name."
                .to_owned(),
        );
        Ok(finding)
    }
}

struct Run {
    side: Side,
    points: Vec<(f64, f64)>,
    stood_still: Vec<crate::Span>,
}

async fn run(lab: &Lab, system: &System, url: String, name: &str, quiet_max: Duration) -> anyhow::Result<Run> {
    system.consumer("consumer", "").await?;
    let (targets, count) = (vec![url.clone()], 12);
    let clients = Clients {
        targets,
        count,
        accounts: 60,
        pause: Duration::from_millis(100),
        // Longer than the broker stands still: nobody breaks a transaction off.
        patience: Duration::from_secs(10),
        ..common::clients(lab)
    };
    clients.open_accounts().await?;
    let began = Instant::now();
    let working = clients.start();
    let probes = Probes::start(&url, &system.mysql_url, &system.prefix, began).await?;
    let mut still = Vec::new();
    for round in 1..=lab.scale.pick(1, 4) {
        sleep(Duration::from_secs(2)).await;
        lab.progress(format!("{name}: the broker stands still, round {round}"));
        let from = began.elapsed().as_secs_f64();
        storm::hold(&lab.stack, "kafka-1", STANDS_STILL, &system.fleet).await?;
        still.push((from, began.elapsed().as_secs_f64()));
    }
    sleep(Duration::from_secs(1)).await;
    let Probed { points, open_max, age_ms_max } = probes.stop().await?;
    let history = working.stop().await?;
    let quiet = system.is_quiet_within(GROUP, quiet_max).await?;
    let report = system.report(&history, Some(GROUP)).await?;
    let during = |at: f64| still.iter().any(|(from, until)| (*from..*until).contains(&at));
    let mut took: Vec<f64> = points.iter().filter(|(at, _)| during(*at)).map(|(_, ms)| *ms).collect();
    let waited = took.iter().filter(|ms| **ms > WAITED_FOR_BROKER_MS).count() as u64;
    let mut before: Vec<f64> = points.iter().filter(|(at, _)| !during(*at)).map(|(_, ms)| *ms).collect();
    let side = Side::new(took.len() as u64, waited + report.harm())
        .with("p99_ms", common::percentile(&mut took, 99))
        .with("p50_ms", common::percentile(&mut took, 50))
        .with("p50_ms_otherwise", common::percentile(&mut before, 50))
        .with("open_transactions_max", common::float(open_max))
        .with("oldest_transaction_ms_max", age_ms_max)
        .with("lost", common::float(report.lost()))
        .with("wrong_balances", common::float(report.wrong_balances))
        .with("quiet", f64::from(u8::from(quiet)));
    let span = |(from, until): (f64, f64)| crate::Span {
        row: name.to_owned(),
        label: "stands still".to_owned(),
        from_ms: from * 1_000.0,
        until_ms: until * 1_000.0,
        harm: true,
    };
    Ok(Run { side, points, stood_still: still.into_iter().map(span).collect() })
}

/// Requests that need the database and no broker, and looks at the transactions that are open.
struct Probes {
    tasks: JoinSet<()>,
    found: Arc<Mutex<Probed>>,
    stop: tokio::sync::watch::Sender<bool>,
}

#[derive(Default)]
struct Probed {
    /// When each began, in seconds, and how long it took, in milliseconds.
    points: Vec<(f64, f64)>,
    open_max: u64,
    age_ms_max: f64,
}

impl Probes {
    async fn start(url: &str, mysql: &str, prefix: &str, began: Instant) -> anyhow::Result<Self> {
        let found = Arc::new(Mutex::new(Probed::default()));
        let stop = tokio::sync::watch::Sender::new(false);
        let mut tasks = JoinSet::new();
        let (url, seen, stopped) = (format!("{url}/accounts/1"), found.clone(), stop.subscribe());
        tasks.spawn(async move {
            let client = HttpClient::new(Duration::from_secs(20));
            let mut asked = JoinSet::new();
            while !*stopped.borrow() {
                let (client, url, seen) = (client.clone(), url.clone(), seen.clone());
                asked.spawn(async move {
                    let at = began.elapsed().as_secs_f64();
                    let _ = client.send(Method::PUT, &url, "").await;
                    let took = (began.elapsed().as_secs_f64() - at) * 1_000.0;
                    seen.lock().unwrap_or_else(PoisonError::into_inner).points.push((at, took));
                });
                sleep(PROBE_EVERY).await;
            }
            asked.join_all().await;
        });
        let mut conn = observe::connect(mysql).await?;
        let (seen, stopped) = (found.clone(), stop.subscribe());
        // Those of this system: other databases of the server have transactions too.
        let open = format!(
            "SELECT COUNT(*), CAST(COALESCE(MAX(TIMESTAMPDIFF(MICROSECOND, t.trx_started, NOW(6))), 0) AS SIGNED) \
             FROM information_schema.innodb_trx t JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id \
             WHERE p.db = '{prefix}_accounts'"
        );
        tasks.spawn(async move {
            while !*stopped.borrow() {
                if let Ok(Some((count, age_us))) = conn.query_first::<(u64, i64), _>(&open).await {
                    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                    seen.open_max = seen.open_max.max(count);
                    seen.age_ms_max = seen.age_ms_max.max(common::float(age_us.max(0).cast_unsigned()) / 1_000.0);
                }
                sleep(LOOK_EVERY).await;
            }
        });
        Ok(Self { tasks, found, stop })
    }

    async fn stop(self) -> anyhow::Result<Probed> {
        self.stop.send_replace(true);
        self.tasks.join_all().await;
        let mut probed = std::mem::take(&mut *self.found.lock().unwrap_or_else(PoisonError::into_inner));
        probed.points.sort_by(|one, other| one.0.total_cmp(&other.0));
        Ok(probed)
    }
}
