//! What does order cost and bring? With and without a key, with and without versions: four systems under the same load
//! and the same faults, measured alike: how often an account showed an older version than before. Versions are what protects
//! from that, so the two systems without them are the naive ones, and each lacks exactly that.

use std::time::Duration;

use async_trait::async_trait;

use super::common;
use crate::checker::Report;
use crate::runner::system::GROUP;
use crate::runner::{Clients, Spec, Storm, System, observe};
use crate::{Bar, Chart, Experiment, Finding, Lab, Side, Variant, Wiring};

/// How often a command program dies between COMMIT and telling the relay: what it committed then comes late, by polling, behind
/// what the other one tells at once.
const CRASHES: &str = "after-commit-before-send=0.01";

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
                name: "the last one wins",
                steps: &["relay dies", "a newer event overtakes", "✗ the older comes last", "it is shown"],
                code: "lab/src/naive/consumer.rs",
            },
            Wiring {
                name: "the newer version wins",
                steps: &["relay dies", "a newer event overtakes", "the older comes last", "the newer stays shown"],
                code: "lab/src/programs/consumer/handler.rs",
            },
        ]
    }

    async fn run(&self, lab: &Lab) -> anyhow::Result<Finding> {
        let wanted = lab.scale.pick(14, 40);
        // Two at a time: most of a run is waiting for processes to come back, and no two systems share one.
        let run = |policy: Policy| async move { policy.run(lab, wanted).await.map(|run| (policy, run)) };
        let naive = tokio::try_join!(Box::pin(run(Policy::NEITHER)), Box::pin(run(Policy::KEY)))?;
        let protected = tokio::try_join!(Box::pin(run(Policy::VERSIONS)), Box::pin(run(Policy::BOTH)))?;
        let runs = [naive.0, naive.1, protected.0, protected.1];
        let unkeyed_per_s = Policy::VERSIONS.drain(lab).await?;
        let keyed_per_s = Policy::BOTH.drain(lab).await?;
        let mut finding = Finding::new(side(&runs[..2]), side(&runs[2..]));
        finding.on = finding
            .on
            .with("hot_account_no_key_drained_per_s", unkeyed_per_s)
            .with("hot_account_key_drained_per_s", keyed_per_s);
        for (policy, run) in &runs[2..] {
            finding.must_be_none(&format!("events were lost or applied twice ({})", policy.name), run.report.harm());
            finding
                .must_be_none(&format!("accounts are wrong at the end ({})", policy.name), run.report.wrong_accounts);
            for (kind, count) in &run.faults {
                *finding.faults.entry(kind.clone()).or_default() += count;
            }
        }
        finding.must_have_faults(&["SIGKILL", "crash point"]);
        finding.charts.push(chart(&runs));
        finding.charts.push(cost(unkeyed_per_s, keyed_per_s));
        let late = |(policy, run): &(Policy, Run)| {
            format!("{} of {} with {}", run.report.out_of_order, run.applied, policy.name)
        };
        finding.notes.push(format!(
            "Each of the four systems was hit by {wanted} faults or more, drawn from the same seed: command programs that died \
             between COMMIT and telling their relay, relays and consumers killed and stopped. Versions suffice for what is \
             shown. What the key adds is order for those who need every event in turn; it is no guarantee, because a relay \
             that died leaves events behind that others overtake. Events that came late: {}.",
            runs.iter().map(late).collect::<Vec<_>>().join(", ")
        ));
        finding.notes.push(
            "All four consumers have processed_event. Those without versions also try again in place and tell no cache; the \
             relay without a key is told nothing and polls every 20 ms. Neither is what makes an account go back."
                .to_owned(),
        );
        Ok(finding)
    }
}

/// The systems of one side, each counted by itself.
fn side(runs: &[(Policy, Run)]) -> Side {
    let variants = runs.iter().map(|(policy, run)| Variant::new(policy.name, run.applied, run.report.went_back));
    let mut side = Side::of(variants.collect());
    for (policy, run) in runs {
        let figure = |what: &str| format!("{what}_{}", policy.name.replace(", ", "_").replace(' ', "_"));
        side = side
            .with(&figure("came_late"), common::float(run.report.out_of_order))
            .with(&figure("accounts_shown_wrong"), common::float(run.report.shown_wrong));
    }
    side
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

impl Policy {
    const NEITHER: Self = Self { name: "no key, no versions", side: "off", key: false, versions: false };
    const VERSIONS: Self = Self { name: "no key, versions", side: "versions_only", key: false, versions: true };
    const KEY: Self = Self { name: "key, no versions", side: "key_only", key: true, versions: false };
    const BOTH: Self = Self { name: "key and versions", side: "on", key: true, versions: true };

    /// The command programs and their relay, with keys or without.
    async fn upstream(&self, system: &System, crash: &str) -> anyhow::Result<Vec<String>> {
        let relays = if self.key {
            vec![system.relay("relay-1", "").await?]
        } else {
            system.fleet.start(Spec::new("relay-1", &["naive", "unkeyed-relay"])).await?;
            Vec::new()
        };
        let mut commands = Vec::new();
        for number in 1..=2 {
            commands.push(system.command(&format!("command-{number}"), &relays, crash).await?);
        }
        Ok(commands)
    }

    /// How many events of one busy account two consumers apply in a second, once all of them are on the broker.
    async fn drain(&self, lab: &Lab) -> anyhow::Result<f64> {
        lab.progress(format!("{}: one busy account", self.name));
        let system = System::new(lab, "key", &format!("hot_{}", self.side)).await?;
        let targets = self.upstream(&system, "").await?;
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
        let targets = self.upstream(&system, CRASHES).await?;
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
        system.fleet.calm();
        system.quiet(GROUP).await?;
        common::ensure_crashed_at(&system.faults, &["after-commit-before-send"])?;
        let observed = system.observed(None).await?;
        let applied = observed.projection.iter().map(|row| row.entries).sum();
        let report = system.report(&history, Some(GROUP)).await?;
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
        bars: vec![bar("no key: both work", unkeyed_per_s, true), bar("key: one works", keyed_per_s, true)],
    }
}

fn chart(runs: &[(Policy, Run)]) -> Chart {
    let bars = runs.iter().flat_map(|(policy, run)| {
        let bar = |what: &str, value| Bar {
            label: format!("{}: {what}", policy.name),
            value: common::float(value),
            protected: policy.versions,
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
