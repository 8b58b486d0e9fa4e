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
use crate::checker::Report;
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
        "A trial is a request that needs the database and no broker, begun while the broker had still a second or more to stand \
         still; a violation is one that took longer than 1 s, or was not answered with success."
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
        let off = run(lab, &naive, url, "naive").await?;
        drop(naive);
        let system = System::new(lab, "publish", "on").await?;
        let relay = system.relay("relay-1", "").await?;
        let url = system.command("command-1", &[relay], "").await?;
        let on = run(lab, &system, url, "outbox").await?;
        let mut finding = Finding::new(off.side, on.side);
        finding.must_be_none("events were lost or applied twice", on.report.harm());
        finding.must_be_none("accounts are wrong at the end", on.report.wrong_accounts);
        finding.faults = system.faults.by_kind();
        finding.must_have_faults(&["broker frozen"]);
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
             rolled back. What the client sends again becomes a second event under the same name, which fails on every rung of \
             the ladder and ends among the dead letters. The rungs are short here, so that both sides are quiet soon."
                .to_owned(),
        );
        Ok(finding)
    }
}

struct Run {
    side: Side,
    points: Vec<(f64, f64)>,
    stood_still: Vec<crate::Span>,
    report: Report,
}

async fn run(lab: &Lab, system: &System, url: String, name: &str) -> anyhow::Result<Run> {
    let consumer = Spec::new("consumer", &["consumer"]).flag("short-retry-ms", 500).flag("long-retry-ms", 1_000);
    system.fleet.start(consumer).await?;
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
    let Probed { probes, open_max, age_ms_max } = probes.stop().await?;
    let history = working.stop().await?;
    system.quiet(GROUP).await?;
    let report = system.report(&history, Some(GROUP)).await?;
    let (tried, otherwise): (Vec<Probe>, Vec<Probe>) = probes.iter().partition(|probe| probe.could_wait(&still));
    let took = |probes: &[Probe]| probes.iter().map(|probe| probe.took_ms).collect::<Vec<_>>();
    let side = Side::new(tried.len() as u64, tried.iter().filter(|probe| probe.is_violation()).count() as u64)
        .with("p99_ms", common::percentile(&mut took(&tried), 99))
        .with("p50_ms", common::percentile(&mut took(&tried), 50))
        .with("p50_ms_otherwise", common::percentile(&mut took(&otherwise), 50))
        .with("not_answered", common::float(tried.iter().filter(|probe| !probe.is_answered).count() as u64))
        .with("open_transactions_max", common::float(open_max))
        .with("oldest_transaction_ms_max", age_ms_max)
        .with("lost", common::float(report.lost()))
        .with("doubled", common::float(report.doubled))
        .with("accounts_shown_wrong", common::float(report.shown_wrong))
        .with("accounts_added_up_wrong", common::float(report.added_up_wrong));
    let points = probes.iter().map(|probe| (probe.at, probe.took_ms)).collect();
    let span = |(from, until): (f64, f64)| crate::Span {
        row: name.to_owned(),
        label: "stands still".to_owned(),
        from_ms: from * 1_000.0,
        until_ms: until * 1_000.0,
        harm: true,
    };
    Ok(Run { side, points, stood_still: still.into_iter().map(span).collect(), report })
}

/// A request that needs the database and no broker.
#[derive(Debug, Clone, Copy)]
struct Probe {
    /// When it began, in seconds.
    at: f64,
    took_ms: f64,
    /// Whether it was answered with success.
    is_answered: bool,
}

impl Probe {
    /// Whether the broker stood still for long enough after its beginning: any other could not have waited too long for it.
    fn could_wait(&self, still: &[(f64, f64)]) -> bool {
        still.iter().any(|(from, until)| (*from..*until - WAITED_FOR_BROKER_MS / 1_000.0).contains(&self.at))
    }

    fn is_violation(&self) -> bool {
        !self.is_answered || self.took_ms > WAITED_FOR_BROKER_MS
    }
}

/// Requests that need the database and no broker, and looks at the transactions that are open.
struct Probes {
    tasks: JoinSet<()>,
    found: Arc<Mutex<Probed>>,
    stop: tokio::sync::watch::Sender<bool>,
}

#[derive(Default)]
struct Probed {
    probes: Vec<Probe>,
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
                    let answer = client.send(Method::PUT, &url, "").await;
                    let is_answered = answer.is_ok_and(|answer| answer.status.is_success());
                    let took_ms = (began.elapsed().as_secs_f64() - at) * 1_000.0;
                    let probe = Probe { at, took_ms, is_answered };
                    seen.lock().unwrap_or_else(PoisonError::into_inner).probes.push(probe);
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
        probed.probes.sort_by(|one, other| one.at.total_cmp(&other.at));
        Ok(probed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_is_a_trial_only_if_it_could_have_waited_too_long() {
        let still = [(2.0, 6.0), (8.0, 12.0)];
        let could_wait = |at| Probe { at, took_ms: 1.0, is_answered: true }.could_wait(&still);
        assert_eq!(
            [1.9, 2.0, 4.9, 5.1, 7.0, 8.5, 11.5].map(could_wait),
            [false, true, true, false, false, true, false]
        );
    }

    #[test]
    fn a_probe_that_is_refused_at_once_is_no_good_answer() {
        let is_violation = |took_ms, is_answered| Probe { at: 0.0, took_ms, is_answered }.is_violation();
        assert!(is_violation(2.0, false) && is_violation(1_001.0, true));
        assert!(!is_violation(2.0, true));
    }
}
