//! What do redeliveries do to balances? A consumer that remembers nothing, then one with `processed_event`, behind relays
//! that die between send and delete.

use async_trait::async_trait;

use super::common;
use crate::checker::Report;
use crate::runner::system::GROUP;
use crate::runner::{Clients, Spec, Storm, System};
use crate::{Bar, Chart, Experiment, Finding, Lab, Side, Wiring};

/// The experiment.
pub(super) struct NoDedup;

#[async_trait]
impl Experiment for NoDedup {
    fn id(&self) -> &'static str {
        "no-dedup"
    }

    fn question(&self) -> &'static str {
        "What do redeliveries do to balances?"
    }

    fn counted(&self) -> &'static str {
        "A trial is an acknowledged command; a violation is an effect that happened twice or not at all."
    }

    fn wirings(&self) -> [Wiring; 2] {
        [
            Wiring {
                name: "no processed_event",
                steps: &["relay: send", "✗ crash", "send again", "sum += amount, twice"],
                code: "lab/src/naive/consumer.rs",
            },
            Wiring {
                name: "processed_event",
                steps: &["relay: send", "✗ crash", "send again", "processed_event + projection", "COMMIT", "offset"],
                code: "lab/src/programs/consumer/handler.rs",
            },
        ]
    }

    async fn run(&self, lab: &Lab) -> anyhow::Result<Finding> {
        // Both wait most of the time, for relays that come back, and share no process.
        let sides = tokio::try_join!(Box::pin(naive(lab)), Box::pin(protected(lab)));
        let (off, (on, report, system)) = sides?;
        let mut finding = Finding::new(off, on);
        finding.must_be_none("accounts are wrong at the end", report.wrong_accounts);
        finding.faults = system.faults.by_kind();
        finding.must_have_faults(&["crash point", "SIGKILL"]);
        finding.charts.push(doubled(&finding));
        finding.charts.push(common::faults_chart(&system.faults));
        finding.notes.push(
            "Both sides have the same command programs and relays, whose crashes make Kafka hold an event twice, and apply an \
             event by the same statement: the balance shown is taken by version, the sum is added up. So the naive consumer \
             shows what is right and has added up what is wrong: versions protect the one, processed_event the other. It also \
             tries again in place and tells no cache, neither of which matters here."
                .to_owned(),
        );
        finding.notes.extend(common::unexpected(&system));
        Ok(finding)
    }
}

/// Relays that send twice, and commands in front of them.
async fn upstream(system: &System) -> anyhow::Result<Vec<String>> {
    let mut relays = Vec::new();
    for number in 1..=2 {
        relays.push(system.relay(&format!("relay-{number}"), "after-send-before-delete=0.06").await?);
    }
    Ok(vec![system.command("command-1", &relays, "").await?])
}

async fn naive(lab: &Lab) -> anyhow::Result<Side> {
    let system = System::new(lab, "dedup", "off").await?;
    let targets = upstream(&system).await?;
    system.fleet.start(Spec::new("consumer", &["naive", "no-dedup"])).await?;
    let clients = Clients { targets, ..common::clients(lab) };
    clients.open_accounts().await?;
    let wanted = lab.scale.pick(8, 40);
    let storm = common::calm_storm(&system, lab.seed);
    let history = common::under(&storm, &clients, wanted, lab.scale.pick(60, 180), |faults, told| {
        lab.progress(format!("naive: {faults}/{wanted} crashes of relays, {told} commands"));
    })
    .await?;
    system.fleet.calm();
    system.quiet(GROUP).await?;
    let report = system.report(&history, None).await?;
    Ok(common::side(&history, &report).with("crashes", common::float(system.faults.total())))
}

async fn protected(lab: &Lab) -> anyhow::Result<(Side, Report, System)> {
    let system = System::new(lab, "dedup", "on").await?;
    let targets = upstream(&system).await?;
    system.consumer("consumer", "after-effect-before-offset=0.02,after-effect-before-invalidation=0.005").await?;
    let clients = Clients { targets, ..common::clients(lab) };
    clients.open_accounts().await?;
    let wanted = lab.scale.pick(25, 160);
    let storm = Storm {
        fleet: &system.fleet,
        hits: &["relay", "consumer"],
        proxies: &[&system.database],
        pause_ms: (300, 1_000),
        frozen_ms: (100, 1_500),
        seed: lab.seed,
    };
    let history = common::under(&storm, &clients, wanted, lab.scale.pick(60, 240), |faults, told| {
        lab.progress(format!("processed_event: {faults}/{wanted} faults, {told} commands"));
    })
    .await?;
    system.fleet.calm();
    lab.progress("processed_event: waiting until it is quiet");
    system.quiet(GROUP).await?;
    common::ensure_crashed_at(&system.faults, &["after-send-before-delete", "after-effect-before-offset"])?;
    let report = system.report(&history, Some(GROUP)).await?;
    Ok((common::side(&history, &report), report, system))
}

fn doubled(finding: &Finding) -> Chart {
    let figure = |side: &Side, name: &str| side.figures.get(name).copied().unwrap_or(0.0);
    let bar = |label: &str, value, protected| Bar { label: label.to_owned(), value, protected };
    Chart::Bars {
        title: "Effects that happened twice, and accounts whose sum they left wrong".to_owned(),
        unit: "effects or accounts",
        logarithmic: false,
        bars: vec![
            bar("no processed_event: effects", figure(&finding.off, "doubled"), false),
            bar("no processed_event: accounts", figure(&finding.off, "accounts_added_up_wrong"), false),
            bar("processed_event: effects", figure(&finding.on, "doubled"), true),
            bar("processed_event: accounts", figure(&finding.on, "accounts_added_up_wrong"), true),
        ],
    }
}
