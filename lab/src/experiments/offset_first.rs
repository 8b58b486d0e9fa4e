//! What does a crash after the offset lose? Offsets before the work, then after it. Several groups read the same topic, each
//! with a projection of its own, so that a group that waits for its dead member does not keep the others from crashing.

use std::time::Duration;

use async_trait::async_trait;

use super::common;
use crate::checker::{Report, check};
use crate::runner::{Clients, History, Spec, Storm, System, observe};
use crate::{Bar, Chart, Experiment, Finding, Lab, Side, Wiring};

/// Groups that read at once.
const GROUPS: usize = 4;

/// The experiment.
pub(super) struct OffsetFirst;

#[async_trait]
impl Experiment for OffsetFirst {
    fn id(&self) -> &'static str {
        "offset-first"
    }

    fn question(&self) -> &'static str {
        "What does a crash after the offset lose?"
    }

    fn counted(&self) -> &'static str {
        "A trial is an event for a group (four groups read each event); a violation is one that was not applied, or \
         twice."
    }

    fn wirings(&self) -> [Wiring; 2] {
        [
            Wiring {
                name: "offset before the work",
                steps: &["poll", "store offset", "✗ crash", "work"],
                code: "lab/src/naive/consumer.rs",
            },
            Wiring {
                name: "offset after the work",
                steps: &["poll", "✗ crash", "work: one transaction", "✗ crash", "store offset"],
                code: "lab/src/programs/consumer/mod.rs",
            },
        ]
    }

    async fn run(&self, lab: &Lab) -> anyhow::Result<Finding> {
        let naive = Consumers { args: &["naive", "offset-first"], crash: "after-offset-before-effect=0.02", hits: &[] };
        let protected = Consumers {
            args: &["consumer"],
            crash: "before-effect=0.02,after-effect-before-invalidation=0.004,after-effect-before-offset=0.03",
            hits: &["consumer"],
        };
        // Both wait most of the time, for groups that miss a member, and share no process.
        let naive = naive.run(lab, "off", lab.scale.pick(8, 40), lab.scale.pick(60, 180));
        let protected = protected.run(lab, "on", lab.scale.pick(20, 130), lab.scale.pick(60, 240));
        let ((off, ..), (on, report, system)) = tokio::try_join!(Box::pin(naive), Box::pin(protected))?;
        common::ensure_crashed_at(&system.faults, &["before-effect", "after-effect-before-offset"])?;
        let mut finding = Finding::new(off, on);
        finding.must_be_none("accounts are wrong at the end", report.wrong_accounts);
        finding.faults = system.faults.by_kind();
        finding.must_have_faults(&["crash point", "SIGKILL"]);
        finding.charts.push(lost(&finding));
        finding.charts.push(common::faults_chart(&system.faults));
        finding.notes.push(
            "Both sides have processed_event; they differ in when the offset is stored, and in that the naive consumer tries \
             again in place and tells no cache, neither of which matters here. Accounts are counted for each group."
                .to_owned(),
        );
        finding.notes.extend(common::unexpected(&system));
        Ok(finding)
    }
}

/// How one side consumes.
struct Consumers {
    args: &'static [&'static str],
    crash: &'static str,
    hits: &'static [&'static str],
}

impl Consumers {
    async fn run(&self, lab: &Lab, side: &str, wanted: u64, at_most_s: u64) -> anyhow::Result<(Side, Report, System)> {
        let system = System::new(lab, "offset", side).await?;
        let relay = system.relay("relay-1", "").await?;
        let targets = vec![system.command("command-1", &[relay], "").await?];
        let groups: Vec<String> = (1..=GROUPS).map(|number| format!("group-{number}")).collect();
        for group in &groups {
            let projection = projection(&system, group);
            system.prepare(&projection, group).await?;
            let spec = Spec::new(format!("consumer-{group}"), self.args).flag("group", group);
            system.fleet.start(spec.flag("projection", projection).crashing(self.crash)).await?;
        }
        let clients = Clients { targets, count: 2, pause: Duration::from_millis(20), ..common::clients(lab) };
        clients.open_accounts().await?;
        let (fleet, hits) = (&system.fleet, self.hits);
        let storm = Storm { fleet, hits, proxies: &[], pause_ms: (300, 900), frozen_ms: (100, 2_000), seed: lab.seed };
        let history = common::under(&storm, &clients, wanted, at_most_s, |faults, told| {
            lab.progress(format!("{side}: {faults}/{wanted} faults, {told} commands"));
        })
        .await?;
        system.fleet.calm();
        lab.progress(format!("{side}: waiting until it is quiet"));
        let mut sum = Report::default();
        for group in &groups {
            system.quiet(group).await?;
            add(&mut sum, &report(&system, group, &history).await?);
        }
        system.keep_told(&history.acknowledged).await?;
        let mut side = common::side(&history, &sum).with("crashes", common::float(system.faults.total()));
        side.trials *= GROUPS as u64;
        Ok((side, sum, system))
    }
}

async fn report(system: &System, group: &str, history: &History) -> anyhow::Result<Report> {
    let projection = projection(system, group);
    let mut observed = observe::all(&system.mysql_url, &system.prefix, &projection, Some(group)).await?;
    observed.acknowledged.clone_from(&history.acknowledged);
    Ok(check(&observed))
}

fn projection(system: &System, group: &str) -> String {
    format!("{}_{}", system.prefix, group.replace('-', ""))
}

fn add(sum: &mut Report, one: &Report) {
    sum.lost_commands += one.lost_commands;
    sum.lost_events += one.lost_events;
    sum.doubled += one.doubled;
    sum.out_of_order += one.out_of_order;
    sum.shown_wrong += one.shown_wrong;
    sum.added_up_wrong += one.added_up_wrong;
    sum.wrong_accounts += one.wrong_accounts;
}

fn lost(finding: &Finding) -> Chart {
    let figure = |side: &Side, name: &str| side.figures.get(name).copied().unwrap_or(0.0);
    let bar = |label: &str, value, protected| Bar { label: label.to_owned(), value, protected };
    Chart::Bars {
        title: "Events whose work was never done".to_owned(),
        unit: "events",
        logarithmic: false,
        bars: vec![
            bar(
                &format!("offset first, {} crashes", figure(&finding.off, "crashes")),
                figure(&finding.off, "lost"),
                false,
            ),
            bar(&format!("offset last, {} faults", finding.fault_count()), figure(&finding.on, "lost"), true),
        ],
    }
}
