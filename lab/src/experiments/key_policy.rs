//! What does order cost and bring? With and without a key, with and without versions: four systems under the same load
//! and the same faults, measured alike: how often an account showed an older version than before.

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
        "A trial is an event that was applied; a violation is one that made its account show an older version than it showed \
         before, counted by the table itself on both sides."
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
        let wanted = lab.scale.pick(8, 30);
        let mut runs = Vec::new();
        for policy in [Policy::NEITHER, Policy::KEY, Policy::VERSIONS, Policy::BOTH] {
            runs.push((policy, policy.run(lab, wanted).await?));
        }
        let unkeyed_per_s = Policy::VERSIONS.drain(lab).await?;
        let keyed_per_s = Policy::BOTH.drain(lab).await?;
        let [(_, neither), (_, key_only), (_, versions_only), (_, both)] = &runs[..] else {
            anyhow::bail!("four systems were run");
        };
        let off = neither.side().with("hot_account_drained_per_s", unkeyed_per_s);
        let off = key_only.beside(off, "key_only");
        let on = both.side().with("hot_account_drained_per_s", keyed_per_s);
        let on = versions_only.beside(on, "versions_only");
        let mut finding = Finding::new(off, on);
        finding.must_be_none("events were lost or applied twice", both.report.harm());
        finding.must_be_none("accounts are wrong at the end", both.report.wrong_accounts);
        finding.faults.clone_from(&both.faults);
        finding.must_have_faults(&["SIGKILL"]);
        finding.charts.push(chart(&runs));
        finding.charts.push(cost(unkeyed_per_s, keyed_per_s));
        finding.notes.push(format!(
            "Each of the four systems was hit by {wanted} faults or more, drawn from the same seed: relays and consumers killed \
             and stopped. The key alone made an account go back {} times: a relay that died sends again what others have \
             overtaken. Versions alone made it go back {} times: they suffice for what is shown. What the key adds to them is \
             order for those who need every event in turn: {} of {} events came late with both, {} of {} with versions alone.",
            key_only.report.went_back,
            versions_only.report.went_back,
            both.report.out_of_order,
            both.applied,
            versions_only.report.out_of_order,
            versions_only.applied,
        ));
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
    /// How often an event was applied to the projection.
    applied: u64,
    report: Report,
    faults: std::collections::BTreeMap<String, u64>,
}

impl Run {
    /// The yardstick of every side.
    fn side(&self) -> Side {
        self.beside(Side::new(self.applied, self.report.went_back), "")
    }

    /// Its figures beside those of another, under names that end in its own.
    fn beside(&self, side: Side, name: &str) -> Side {
        let figure = |what: &str| [what, name].join("_").trim_end_matches('_').to_owned();
        side.with(&figure("went_back"), common::float(self.report.went_back))
            .with(&figure("came_late"), common::float(self.report.out_of_order))
            .with(&figure("accounts_shown_wrong"), common::float(self.report.wrong_shown))
    }
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
        system.sent().await?;
        for number in 1..=2 {
            system.fleet.launch(Spec::new(format!("consumer-{number}"), &["consumer"]))?;
        }
        system.quiet(GROUP).await?;
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
        let (fleet, hits) = (&system.fleet, &["relay", "consumer"][..]);
        let storm = Storm { fleet, hits, proxies: &[], pause_ms: (200, 700), frozen_ms: (100, 800), seed: lab.seed };
        let history = common::under(&storm, &clients, wanted, lab.scale.pick(60, 120), |faults, told| {
            lab.progress(format!("{}: {faults}/{wanted} faults, {told} commands", self.name));
        })
        .await?;
        system.quiet(GROUP).await?;
        let observed = system.observed(None).await?;
        let applied = observed.projection.iter().map(|row| row.entries).sum();
        let report = system.report(&history, self.versions.then_some(GROUP)).await?;
        let faults = system.faults.by_kind();
        Ok(Run { applied, report, faults })
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
        [bar("came late", run.report.out_of_order), bar("went back", run.report.went_back)]
    });
    Chart::Bars {
        title: "Events that came after a newer one, and those that made an account go back".to_owned(),
        unit: "events",
        logarithmic: true,
        bars: bars.collect(),
    }
}
