//! Who relays when a relay dies or sleeps? Fixed shards, then membership: how long events of a shard waited.

use std::time::Duration;

use async_trait::async_trait;
use mysql_async::prelude::Queryable as _;
use tokio::time::sleep;

use super::common;
use crate::runner::system::GROUP;
use crate::runner::{Clients, Spec, System, observe, storm};
use crate::{Bar, Chart, Experiment, Finding, Lab, Side, Wiring};

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
        "A trial is a shard under each fault; a violation is a shard whose events waited longer than a dead relay may go \
         unnoticed and its shards be taken over, and whatever was lost, doubled or is wrong at the end."
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
        let ((off, waited_off), (on, waited_on, system)) = sides?;
        let mut finding = Finding::new(off, on);
        finding.faults = system.faults.by_kind();
        let bar = |label: &str, value, protected| Bar { label: label.to_owned(), value, protected };
        finding.charts.push(Chart::Bars {
            title: "The longest that an event waited because its shard had no relay".to_owned(),
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
             may publish what another has published meanwhile: processed_event absorbs it.",
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

    fn longer_than_bound(self) -> Duration {
        Duration::from_millis(self.bound_ms() + 3_000)
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
    system.fleet.start(relay(1)).await?;
    system.fleet.start(relay(2)).await?;
    let targets = vec![system.command("command-1", &[], "").await?];
    system.consumer("consumer", "").await?;
    let clients = clients(lab, targets);
    clients.open_accounts().await?;
    let working = clients.start();
    sleep(Duration::from_secs(1)).await;
    lab.progress("fixed: relay 1 is dead, and nobody has its shards");
    system.fleet.kill_for_good("relay-1").await;
    sleep(timing.longer_than_bound()).await;
    system.fleet.start(relay(1)).await?;
    let history = working.stop().await?;
    system.is_quiet_within(GROUP, Duration::from_secs(60)).await?;
    let report = system.report(&history, Some(GROUP)).await?;
    let (late, waited) = waits(&system, timing).await?;
    let side = Side::new(u64::from(ACCOUNTS), late + report.harm())
        .with("waited_ms_max", waited)
        .with("shards_without_owner", common::float(late))
        .with("doubled", common::float(report.doubled));
    Ok((side, waited))
}

async fn protected(lab: &Lab, timing: Timing) -> anyhow::Result<(Side, f64, System)> {
    let system = System::new(lab, "coord", "on").await?;
    let relay = |name: &str| {
        let spec = Spec::new(name, &["relay"]).env("LAB_INSTANCE", name).flag("heartbeat-ms", timing.heartbeat_ms);
        spec.flag("dead-after-ms", timing.dead_after_ms).flag("poll-every-ms", 100).flag("min-age-ms", 0)
    };
    for number in 1..=3 {
        system.fleet.start(relay(&format!("relay-{number}"))).await?;
    }
    let targets = vec![system.command("command-1", &[], "").await?];
    system.consumer("consumer", "").await?;
    let clients = clients(lab, targets);
    clients.open_accounts().await?;
    let working = clients.start();
    let mut trials = 0;
    for round in 1..=lab.scale.pick(1, 3) {
        lab.progress(format!("membership: a relay dies, round {round}"));
        system.fleet.kill_for_good(&format!("relay-{round}")).await;
        sleep(Duration::from_millis(timing.bound_ms())).await;
        system.fleet.start(relay(&format!("relay-{}", round + 3))).await?;
        lab.progress(format!("membership: a relay sleeps and wakes up, round {round}"));
        let sleeper = format!("relay-{}", round + 3);
        sleep(Duration::from_millis(timing.heartbeat_ms)).await;
        system.fleet.freeze(&sleeper);
        sleep(Duration::from_millis(timing.bound_ms())).await;
        system.fleet.thaw(&sleeper);
        trials += 2 * u64::from(ACCOUNTS);
    }
    lab.progress("membership: Redis ends and comes back, and every relay dies and comes back");
    storm::restart(&lab.stack, "redis", &system.fleet).await?;
    for name in system.fleet.names(&["relay"]) {
        system.fleet.kill(&name);
    }
    sleep(Duration::from_millis(timing.heartbeat_ms)).await;
    trials += 2 * u64::from(ACCOUNTS);
    let history = working.stop().await?;
    let quiet = system.is_quiet_within(GROUP, Duration::from_secs(90)).await?;
    let report = system.report(&history, Some(GROUP)).await?;
    let (late, waited) = waits(&system, timing).await?;
    let side = Side::new(trials, late + report.harm())
        .with("waited_ms_max", waited)
        .with("shards_without_owner", common::float(late))
        .with("lost", common::float(report.lost()))
        .with("doubled", common::float(report.doubled))
        .with("commands", common::float(history.acknowledged.len() as u64))
        .with("quiet", f64::from(u8::from(quiet)));
    Ok((side, waited, system))
}

/// Shards whose events waited longer than they may, from COMMIT until they were applied; and the longest wait.
async fn waits(system: &System, timing: Timing) -> anyhow::Result<(u64, f64)> {
    let mut conn = observe::connect(&system.mysql_url).await?;
    let sql = format!(
        "SELECT l.account_id, CAST(MAX(p.processed_at - l.created_at) AS SIGNED) FROM `{0}_accounts`.ledger l \
         JOIN `{0}_projection`.processed_event p ON p.dedup_key = l.tx_id AND p.group_name = ? GROUP BY l.account_id",
        system.prefix
    );
    let rows: Vec<(u16, i64)> = conn.exec(sql, (GROUP,)).await?;
    let waits = rows.into_iter().map(|(_, waited_ms)| waited_ms.max(0).cast_unsigned());
    let waits: Vec<u64> = waits.collect();
    let late = waits.iter().filter(|waited| **waited > timing.bound_ms()).count() as u64;
    Ok((late, common::float(waits.into_iter().max().unwrap_or(0))))
}
