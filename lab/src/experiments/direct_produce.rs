//! What does a crash between COMMIT and send lose? No outbox, then an outbox, whose command programs
//! crash as often at the same point, and whose relay, connections and servers are hit besides.

use std::time::Duration;

use async_trait::async_trait;

use super::common;
use crate::checker::Report;
use crate::runner::system::GROUP;
use crate::runner::{Clients, Spec, Storm, System, storm};
use crate::{Bar, Chart, Experiment, Finding, Lab, Scale, Side, Wiring};

/// How often a command program crashes between COMMIT and send, or telling the relay: on both sides the same.
const CRASHES: &str = "after-commit-before-send=0.04";

/// The experiment.
pub(super) struct DirectProduce;

#[async_trait]
impl Experiment for DirectProduce {
    fn id(&self) -> &'static str {
        "direct-produce"
    }

    fn question(&self) -> &'static str {
        "What does a crash between COMMIT and send lose?"
    }

    fn counted(&self) -> &'static str {
        "A trial is an acknowledged command; a violation is one whose event never reached the projection, or reached it twice."
    }

    fn wirings(&self) -> [Wiring; 2] {
        [
            Wiring {
                name: "direct produce",
                steps: &["account, ledger", "COMMIT", "✗ crash", "send to Kafka"],
                code: "lab/src/naive/command.rs",
            },
            Wiring {
                name: "outbox",
                steps: &["account, ledger, outbox", "COMMIT", "✗ crash", "relay: claim", "send", "✗ crash", "delete"],
                code: "lab/src/programs/command/store.rs",
            },
        ]
    }

    async fn run(&self, lab: &Lab) -> anyhow::Result<Finding> {
        let (off, lost_by_crash) = naive(lab).await?;
        let (on, report, protected) = protected(lab).await?;
        let mut finding = Finding::new(off, on);
        finding.must_be_none("accounts are wrong at the end", report.wrong_accounts);
        finding.faults = protected.faults.by_kind();
        finding.must_have_faults(&["crash point", "SIGKILL", "Redis restart"]);
        if lab.scale == Scale::Full {
            finding.must_have_faults(&["SIGSTOP", "broker restart", "database restart"]);
        }
        finding.charts.push(lost(&finding, lost_by_crash));
        finding.charts.push(common::faults_chart(&protected.faults));
        finding.notes.push(
            "A client sends an unanswered command again under the same tx_id. The naive program finds it in the ledger and \
             answers, and does not send: nobody remembers that the event is missing."
                .to_owned(),
        );
        finding.notes.push(
            "out_of_order counts first arrivals after a newer event of the same account: what a relay is told of at once overtakes \
             what a dead one left in the outbox. Consumers compare versions, so it does no harm."
                .to_owned(),
        );
        finding.notes.extend(common::unexpected(&protected));
        Ok(finding)
    }
}

async fn naive(lab: &Lab) -> anyhow::Result<(Side, u64)> {
    let system = System::new(lab, "direct", "off").await?;
    let mut targets = Vec::new();
    for number in 1..=2 {
        let spec = Spec::new(format!("command-{number}"), &["naive", "direct-produce"]);
        targets.push(system.fleet.start(spec.crashing(CRASHES)).await?);
    }
    system.consumer("consumer", "").await?;
    let clients = Clients { targets, ..common::clients(lab) };
    clients.open_accounts().await?;
    let wanted = lab.scale.pick(12, 60);
    let storm = common::calm_storm(&system, lab.seed);
    let history = common::under(&storm, &clients, wanted, lab.scale.pick(60, 180), |faults, told| {
        lab.progress(format!("naive: {faults}/{wanted} crashes, {told} commands"));
    })
    .await?;
    system.fleet.calm();
    system.quiet(GROUP).await?;
    let report = system.report(&history, Some(GROUP)).await?;
    let crashes = system.faults.crashes().values().sum::<u64>();
    let side = common::side(&history, &report).with("crashes", common::float(crashes));
    Ok((side, crashes))
}

async fn protected(lab: &Lab) -> anyhow::Result<(Side, Report, System)> {
    let system = System::new(lab, "direct", "on").await?;
    let relay = system.relay("relay-1", "after-send-before-delete=0.04,after-claim-before-send=0.1").await?;
    let mut targets = Vec::new();
    for number in 1..=2 {
        let crash = format!("before-commit=0.01,{CRASHES},after-commit-before-answer=0.01");
        targets.push(system.command(&format!("command-{number}"), std::slice::from_ref(&relay), &crash).await?);
    }
    system.consumer("consumer", "").await?;
    let clients = Clients { targets, ..common::clients(lab) };
    clients.open_accounts().await?;
    let wanted = lab.scale.pick(30, 180);
    let proxies = [&system.database, &system.redis];
    let storm = Storm {
        fleet: &system.fleet,
        hits: &["command", "relay"],
        proxies: &proxies,
        pause_ms: (200, 900),
        frozen_ms: (50, 1_000),
        seed: lab.seed,
    };
    let progress = |faults, told| lab.progress(format!("outbox: {faults}/{wanted} faults, {told} commands"));
    let working = clients.start();
    let at_most = Duration::from_secs(lab.scale.pick(60, 240));
    storm.blow(wanted, at_most, |faults| progress(faults, working.told())).await?;
    for server in lab.scale.pick(&["redis"][..], &["mariadb-1", "kafka-1", "redis", "mariadb-1"][..]) {
        lab.progress(format!("outbox: {server} ends and comes back"));
        storm::restart(&lab.stack, server, &system.fleet).await?;
    }
    let history = working.stop().await?;
    system.fleet.calm();
    lab.progress("outbox: waiting until it is quiet");
    system.quiet(GROUP).await?;
    common::ensure_crashed_at(&system.faults, &["after-commit-before-send", "after-send-before-delete"])?;
    let report = system.report(&history, Some(GROUP)).await?;
    let side = common::side(&history, &report).with("out_of_order", common::float(report.out_of_order));
    Ok((side, report, system))
}

fn lost(finding: &Finding, crashes: u64) -> Chart {
    let bar = |label: &str, value: f64, protected| Bar { label: label.to_owned(), value, protected };
    let figure = |side: &Side, name: &str| side.figures.get(name).copied().unwrap_or(0.0);
    Chart::Bars {
        title: "Events that never reached the projection".to_owned(),
        unit: "events",
        logarithmic: false,
        bars: vec![
            bar(&format!("direct produce, {crashes} crashes"), figure(&finding.off, "lost"), false),
            bar(&format!("outbox, {} faults", finding.fault_count()), figure(&finding.on, "lost"), true),
        ],
    }
}
