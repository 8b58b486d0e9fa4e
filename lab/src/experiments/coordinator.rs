//! Who relays when a relay dies or sleeps? Fixed shards, then membership: how long events of a shard waited.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::ensure;
use async_trait::async_trait;
use madang_kernel::SHARDS;
use mysql_async::prelude::Queryable as _;

use super::common;
use crate::checker::Report;
use crate::runner::owners::{Outcome, Owners};
use crate::runner::system::GROUP;
use crate::runner::{Clients, Spec, System, observe, storm};
use crate::{Bar, Chart, Experiment, Finding, Lab, Side, Variant, Wiring};

/// An account in each shard.
const ACCOUNTS: u16 = 64;

/// The experiment.
pub(super) struct Coordinators;

#[async_trait]
impl Experiment for Coordinators {
    fn id(&self) -> &'static str {
        "coordinator"
    }

    fn question(&self) -> &'static str {
        "Who relays when a relay dies or sleeps?"
    }

    fn counted(&self) -> &'static str {
        "A trial is a shard whose relay a fault hit, counted for each fault; a violation is one that no relay answered for, for \
         longer than a dead one may go unnoticed and its shards be taken over. Each fault lasts, or is watched, for longer than \
         that."
    }

    fn wirings(&self) -> [Wiring; 2] {
        [
            Wiring {
                name: "fixed assignment",
                steps: &["relay 1: shards 0–31", "relay 2: shards 32–63", "✗ relay 1 dies", "nobody has 0–31"],
                code: "lab/src/naive/relay.rs",
            },
            Wiring {
                name: "membership",
                steps: &["relays beat in Redis", "✗ one falls silent", "dead after 9 s", "the living share 0–63"],
                code: "lab/src/programs/relay.rs",
            },
        ]
    }

    async fn run(&self, lab: &Lab) -> anyhow::Result<Finding> {
        let timing = Timing::of(lab);
        // Both wait most of the time, and share no process.
        let sides = tokio::try_join!(Box::pin(naive(lab, timing)), Box::pin(protected(lab, timing)));
        let ((off, waited_off), (on, waited_on, report, system)) = sides?;
        let mut finding = Finding::new(off, on);
        finding.must_be_none("events were lost or applied twice", report.harm());
        finding.must_be_none("accounts are wrong at the end", report.wrong_accounts);
        finding.faults = system.faults.by_kind();
        finding.must_have_faults(&["SIGKILL", "SIGSTOP", "Redis restart"]);
        let bar = |label: &str, value, protected| Bar { label: label.to_owned(), value, protected };
        finding.charts.push(Chart::Bars {
            title: "The longest that a shard had no relay".to_owned(),
            unit: "ms",
            logarithmic: false,
            bars: vec![
                bar("fixed assignment, for as long as the relay is away", waited_off, false),
                bar("membership", waited_on, true),
            ],
        });
        finding.charts.push(common::faults_chart(&system.faults));
        finding.notes.push(format!(
            "Relays beat every {} ms and are dead after {} ms; a shard may wait {} ms. A relay that was stopped and goes on \
             may publish what another has published meanwhile: processed_event absorbs it. With a fixed assignment a relay that \
             dies stays dead; one that somebody starts again has its shards again, there as here, and that is no trial there.",
            timing.heartbeat_ms,
            timing.dead_after_ms,
            timing.bound_ms()
        ));
        Ok(finding)
    }
}

/// The times of membership: as in production in a full run, a fifth of that in a quick one.
#[derive(Clone, Copy)]
struct Timing {
    heartbeat_ms: u64,
    dead_after_ms: u64,
}

impl Timing {
    fn of(lab: &Lab) -> Self {
        let (heartbeat_ms, dead_after_ms) = lab.scale.pick((600, 1_800), (3_000, 9_000));
        Self { heartbeat_ms, dead_after_ms }
    }

    /// A relay is missed, another looks, claims and publishes, and a slow machine has its time.
    fn bound_ms(self) -> u64 {
        self.dead_after_ms + self.heartbeat_ms + 3_000
    }

    fn bound(self) -> Duration {
        Duration::from_millis(self.bound_ms())
    }
}

fn clients(lab: &Lab, targets: Vec<String>) -> Clients {
    let pause = Duration::from_millis(10);
    Clients { targets, accounts: ACCOUNTS, count: 2, pause, withdrawal_every: 0, ..common::clients(lab) }
}

async fn naive(lab: &Lab, timing: Timing) -> anyhow::Result<(Side, f64)> {
    let system = System::new(lab, "coord", "off").await?;
    let relay = |number: u8| {
        let (from, until) = if number == 1 { (0, 32) } else { (32, 64) };
        let spec = Spec::new(format!("relay-{number}"), &["naive", "fixed-relay"]).flag("from-shard", from);
        spec.flag("until-shard", until).flag("poll-every-ms", 100).flag("min-age-ms", 0)
    };
    let mut relays = BTreeMap::new();
    for number in 1..=2 {
        relays.insert(format!("relay-{number}"), system.fleet.start(relay(number)).await?);
    }
    let targets = vec![system.command("command-1", &[], "").await?];
    system.consumer("consumer", "").await?;
    let clients = clients(lab, targets);
    clients.open_accounts().await?;
    let (working, owners) = (clients.start(), Owners::watch(relays));
    let (bound, mut dead, mut asleep) = (timing.bound(), Outcome::default(), Outcome::default());
    lab.progress("fixed: relay 1 is dead, and nobody has its shards");
    let taken = owners.owned_by("relay-1", bound).await?;
    owners.begin();
    system.fleet.kill_for_good("relay-1").await;
    dead.add(owners.outcome(&taken, bound).await);
    owners.add("relay-1", &system.fleet.start(relay(1)).await?);
    lab.progress("fixed: relay 2 sleeps, and nobody has its shards");
    let taken = owners.owned_by("relay-2", bound).await?;
    owners.begin();
    ensure!(system.fleet.freeze("relay-2"), "relay 2 does not run");
    asleep.add(owners.outcome(&taken, bound).await);
    system.fleet.thaw("relay-2");
    owners.owned_by("relay-2", bound).await?;
    let history = working.stop().await?;
    system.quiet(GROUP).await?;
    let report = system.report(&history, Some(GROUP)).await?;
    let longest = ms(dead.longest.max(asleep.longest));
    let side = Side::of(vec![variant("a relay dies", dead), variant("a relay sleeps", asleep)])
        .with("without_owner_ms_max", longest)
        .with("event_waited_ms_max", waited_ms_max(&system).await?)
        .with("lost", common::float(report.lost()))
        .with("doubled", common::float(report.doubled))
        .with("commands", common::float(history.acknowledged.len() as u64));
    Ok((side, longest))
}

fn variant(name: &str, outcome: Outcome) -> Variant {
    Variant::new(name, outcome.trials, outcome.violations)
}

/// Every relay dies at once and comes back.
async fn all_die(system: &System, owners: &Owners, bound: Duration) -> anyhow::Result<Outcome> {
    owners.begin();
    for name in system.fleet.names(&["relay"]) {
        ensure!(system.fleet.kill(&name), "{name} does not run");
    }
    Ok(owners.outcome(&all_shards(), bound).await)
}

fn all_shards() -> BTreeSet<u8> {
    (0..=u8::MAX).take(SHARDS).collect()
}

async fn protected(lab: &Lab, timing: Timing) -> anyhow::Result<(Side, f64, Report, System)> {
    let system = System::new(lab, "coord", "on").await?;
    let relay = |name: &str| {
        let spec = Spec::new(name, &["relay"]).env("LAB_INSTANCE", name).flag("heartbeat-ms", timing.heartbeat_ms);
        spec.flag("dead-after-ms", timing.dead_after_ms).flag("poll-every-ms", 100).flag("min-age-ms", 0)
    };
    let mut relays = BTreeMap::new();
    for number in 1..=3 {
        let name = format!("relay-{number}");
        relays.insert(name.clone(), system.fleet.start(relay(&name)).await?);
    }
    let targets = vec![system.command("command-1", &[], "").await?];
    system.consumer("consumer", "").await?;
    let clients = clients(lab, targets);
    clients.open_accounts().await?;
    let (working, owners) = (clients.start(), Owners::watch(relays));
    let (bound, mut dead, mut asleep) = (timing.bound(), Outcome::default(), Outcome::default());
    for round in 1..=lab.scale.pick(1, 3) {
        lab.progress(format!("membership: a relay dies, round {round}"));
        let dying = format!("relay-{round}");
        let taken = owners.owned_by(&dying, bound).await?;
        owners.begin();
        system.fleet.kill_for_good(&dying).await;
        dead.add(owners.outcome(&taken, bound).await);
        let sleeper = format!("relay-{}", round + 3);
        owners.add(&sleeper, &system.fleet.start(relay(&sleeper)).await?);
        lab.progress(format!("membership: a relay sleeps and wakes up, round {round}"));
        let taken = owners.owned_by(&sleeper, bound).await?;
        owners.begin();
        ensure!(system.fleet.freeze(&sleeper), "{sleeper} does not run");
        asleep.add(owners.outcome(&taken, bound).await);
        system.fleet.thaw(&sleeper);
        owners.owned_by(&sleeper, bound).await?;
    }
    lab.progress("membership: Redis ends and comes back");
    owners.begin();
    storm::restart(&lab.stack, "redis", &system.fleet).await?;
    let without_redis = owners.outcome_of_all(&all_shards(), bound).await;
    lab.progress("membership: every relay dies and comes back");
    let all_dead = all_die(&system, &owners, bound).await?;
    let history = working.stop().await?;
    system.quiet(GROUP).await?;
    let report = system.report(&history, Some(GROUP)).await?;
    let variants = [
        ("a relay dies", dead),
        ("a relay sleeps", asleep),
        ("Redis ends and comes back", without_redis),
        ("every relay dies and comes back", all_dead),
    ];
    let longest = ms(variants.iter().map(|(_, outcome)| outcome.longest).max().unwrap_or_default());
    let side = Side::of(variants.map(|(name, outcome)| variant(name, outcome)).into())
        .with("without_owner_ms_max", longest)
        .with("seen_with_two_owners", common::float(owners.shared()))
        .with("event_waited_ms_max", waited_ms_max(&system).await?)
        .with("lost", common::float(report.lost()))
        .with("doubled", common::float(report.doubled))
        .with("commands", common::float(history.acknowledged.len() as u64));
    Ok((side, longest, report, system))
}

/// The longest that an event waited from COMMIT until it was applied.
async fn waited_ms_max(system: &System) -> anyhow::Result<f64> {
    let mut conn = observe::connect(&system.mysql_url).await?;
    let sql = format!(
        "SELECT CAST(MAX(p.processed_at - l.created_at) AS SIGNED) FROM `{0}_accounts`.ledger l \
         JOIN `{0}_projection`.processed_event p ON p.dedup_key = l.tx_id AND p.group_name = ?",
        system.prefix
    );
    let waited: Option<Option<i64>> = conn.exec_first(sql, (GROUP,)).await?;
    Ok(common::float(waited.flatten().unwrap_or(0).max(0).cast_unsigned()))
}

fn ms(span: Duration) -> f64 {
    span.as_secs_f64() * 1_000.0
}
