//! What does order cost and bring? With and without a key, with and without versions: four systems under the same load.

use std::time::Duration;

use async_trait::async_trait;

use super::common;
use crate::checker::Report;
use crate::runner::system::GROUP;
use crate::runner::{Clients, Spec, Storm, System, observe};
use crate::{Bar, Chart, Experiment, Finding, Lab, Side, Wiring};

/// Few accounts, so that the events of one follow each other closely.
const ACCOUNTS: u16 = 8;

/// The experiment.
pub(super) struct KeyPolicy;

#[async_trait]
impl Experiment for KeyPolicy {
    fn id(&self) -> &'static str {
        "key-policy"
    }

    fn question(&self) -> &'static str {
        "What does order cost and bring?"
    }

    fn counted(&self) -> &'static str {
        "A trial is an event. Without versions a violation is one that came after a newer one, so that the balance shown went \
         back, or an account that is wrong at the end; with versions, whatever was lost, doubled or is wrong at the end."
    }

    fn wirings(&self) -> [Wiring; 2] {
        [
            Wiring {
                name: "no key, the last one wins",
                steps: &["send without key", "any partition", "two consumers", "✗ the older comes last"],
                code: "lab/src/naive/relay.rs",
            },
            Wiring {
                name: "key = account, versions",
                steps: &["send with key", "one partition an account", "in order", "the newer version wins"],
                code: "lab/src/programs/consumer/handler.rs",
            },
        ]
    }

    async fn run(&self, lab: &Lab) -> anyhow::Result<Finding> {
        let mut runs = Vec::new();
        for policy in [Policy::NEITHER, Policy::VERSIONS, Policy::KEY] {
            lab.progress(format!("{}: at work", policy.name));
            runs.push((policy, policy.run(lab, 0).await?));
        }
        let wanted = lab.scale.pick(8, 50);
        let both = Policy::BOTH.run(lab, wanted).await?;
        let unkeyed_per_s = Policy::VERSIONS.drain(lab).await?;
        let keyed_per_s = Policy::BOTH.drain(lab).await?;
        let naive = &runs[0].1;
        let off = Side::new(naive.events, naive.report.out_of_order + naive.report.wrong_balances)
            .with("out_of_order", common::float(naive.report.out_of_order))
            .with("wrong_balances", common::float(naive.report.wrong_balances))
            .with("hot_account_drained_per_s", unkeyed_per_s);
        let mut on = Side::new(both.events, both.report.harm())
            .with("hot_account_drained_per_s", keyed_per_s)
            .with("out_of_order", common::float(both.report.out_of_order))
            .with("wrong_balances", common::float(both.report.wrong_balances));
        for (policy, run) in &runs[1..] {
            on = on
                .with(&format!("out_of_order_{}", policy.side), common::float(run.report.out_of_order))
                .with(&format!("wrong_balances_{}", policy.side), common::float(run.report.wrong_balances));
        }
        let mut finding = Finding::new(off, on);
        finding.faults = both.faults.clone();
        runs.push((Policy::BOTH, both));
        finding.charts.push(chart(&runs));
        finding.charts.push(cost(unkeyed_per_s, keyed_per_s));
        finding.notes.push(
            "With versions an event that comes late changes no balance, so its lateness is counted and does no harm. The last \
             of the four systems was hit by faults while it worked, the others were not."
                .to_owned(),
        );
        Ok(finding)
    }
}

#[derive(Clone, Copy)]
struct Policy {
    name: &'static str,
    side: &'static str,
    key: bool,
    versions: bool,
}

struct Run {
    events: u64,
    report: Report,
    faults: std::collections::BTreeMap<String, u64>,
}

impl Policy {
    const NEITHER: Self = Self { name: "no key, no versions", side: "off", key: false, versions: false };
    const VERSIONS: Self = Self { name: "no key, versions", side: "versions_only", key: false, versions: true };
    const KEY: Self = Self { name: "key, no versions", side: "key_only", key: true, versions: false };
    const BOTH: Self = Self { name: "key and versions", side: "on", key: true, versions: true };

    /// The command program and its relay, with keys or without.
    async fn upstream(&self, system: &System) -> anyhow::Result<Vec<String>> {
        let relays = if self.key {
            vec![system.relay("relay-1", "").await?]
        } else {
            system.fleet.start(Spec::new("relay-1", &["naive", "unkeyed-relay"])).await?;
            Vec::new()
        };
        Ok(vec![system.command("command-1", &relays, "").await?])
    }

    /// How many events of one busy account two consumers apply in a second, once all of them are on the broker.
    async fn drain(&self, lab: &Lab) -> anyhow::Result<f64> {
        lab.progress(format!("{}: one busy account", self.name));
        let system = System::new(lab, "key", &format!("hot_{}", self.side)).await?;
        let targets = self.upstream(&system).await?;
        let pause = Duration::ZERO;
        let clients = Clients { targets, accounts: 1, count: 8, pause, withdrawal_every: 0, ..common::clients(lab) };
        clients.open_accounts().await?;
        let history = clients.send(lab.scale.pick(100, 1_500)).await?;
        system.is_sent_within(Duration::from_secs(60)).await?;
        for number in 1..=2 {
            system.fleet.launch(Spec::new(format!("consumer-{number}"), &["consumer"]))?;
        }
        system.is_quiet_within(GROUP, Duration::from_secs(90)).await?;
        let mut conn = observe::connect(&system.mysql_url).await?;
        let sql = format!(
            "SELECT CAST(MAX(processed_at) - MIN(processed_at) AS UNSIGNED) FROM `{}_projection`.processed_event",
            system.prefix
        );
        let took_ms = observe::number(&mut conn, &sql).await?.max(1);
        Ok(common::float(history.acknowledged.len() as u64) * 1_000.0 / common::float(took_ms))
    }

    async fn run(&self, lab: &Lab, wanted: u64) -> anyhow::Result<Run> {
        let system = System::new(lab, "key", self.side).await?;
        let targets = self.upstream(&system).await?;
        let consumer = if self.versions { &["consumer"][..] } else { &["naive", "last-write-wins"][..] };
        for number in 1..=2 {
            system.fleet.start(Spec::new(format!("consumer-{number}"), consumer)).await?;
        }
        let pause = Duration::from_millis(2);
        let clients = Clients { targets, accounts: ACCOUNTS, pause, withdrawal_every: 0, ..common::clients(lab) };
        clients.open_accounts().await?;
        let history = if wanted > 0 {
            let (fleet, hits) = (&system.fleet, &["relay", "consumer"][..]);
            let storm =
                Storm { fleet, hits, proxies: &[], pause_ms: (200, 700), frozen_ms: (100, 800), seed: lab.seed };
            common::under(&storm, &clients, wanted, lab.scale.pick(12, 60), |faults, told| {
                lab.progress(format!("{}: {faults}/{wanted} faults, {told} commands", self.name));
            })
            .await?
        } else {
            clients.send(lab.scale.pick(200, 1_500)).await?
        };
        system.is_quiet_within(GROUP, Duration::from_secs(90)).await?;
        let report = system.report(&history, self.versions.then_some(GROUP)).await?;
        let events = history.acknowledged.len() as u64;
        let faults = system.faults.by_kind();
        Ok(Run { events, report, faults })
    }
}

/// What order costs: the events of one account are one consumer's work.
fn cost(unkeyed_per_s: f64, keyed_per_s: f64) -> Chart {
    let bar = |label: &str, value, protected| Bar { label: label.to_owned(), value, protected };
    Chart::Bars {
        title: "Events of one busy account that two consumers apply".to_owned(),
        unit: "per second",
        logarithmic: false,
        bars: vec![bar("no key: both work", unkeyed_per_s, false), bar("key: one works", keyed_per_s, true)],
    }
}

fn chart(runs: &[(Policy, Run)]) -> Chart {
    let bars = runs.iter().flat_map(|(policy, run)| {
        let bar = |what: &str, value| Bar {
            label: format!("{}: {what}", policy.name),
            value: common::float(value),
            protected: policy.versions && policy.key,
        };
        [bar("out of order", run.report.out_of_order), bar("wrong at the end", run.report.wrong_balances)]
    });
    Chart::Bars {
        title: "Events that came after a newer one, and accounts that were wrong at the end".to_owned(),
        unit: "count",
        logarithmic: true,
        bars: bars.collect(),
    }
}
