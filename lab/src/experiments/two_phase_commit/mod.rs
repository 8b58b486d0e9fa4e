//! `two-phase-commit`: why a transfer between two servers is not made by XA.

mod bank;
mod bystanders;
mod coordinator;
mod load;
mod naive;
mod protected;

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use async_trait::async_trait;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::durations::{Durations, ms, number};
use crate::{Bar, Chart, Experiment, Finding, Lab, Mark, Side, Span, Wiring};
use bank::Banks;
use bystanders::{BUSY_ACCOUNTS, Bystanders, Met};
pub use coordinator::XaCoordinator;
use load::Load;

/// How long nobody comes to recover: somebody has to notice, and to decide.
const AWAY: Duration = Duration::from_millis(1_300);
/// How long recovery may take.
const RECOVERY_MAX: Duration = Duration::from_secs(30);

/// The experiment.
pub struct TwoPhaseCommit;

/// How the two halves of a transfer are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Xa,
    Outbox,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Self::Xa => "xa",
            Self::Outbox => "outbox",
        }
    }
}

/// Coordinators that were killed, and what others met meanwhile.
#[derive(Default)]
struct Killed {
    rounds: u64,
    met: Met,
    /// From the kill until the account was free again.
    locked: Durations,
    /// What whoever recovered needed once there.
    recovery: Durations,
    /// Of the first round: the kill, the recovery, the end.
    first: Option<[Instant; 3]>,
    first_harmed: Vec<(Instant, Instant)>,
}

#[async_trait]
impl Experiment for TwoPhaseCommit {
    fn id(&self) -> &'static str {
        "two-phase-commit"
    }

    fn question(&self) -> &'static str {
        "Why not two-phase commit?"
    }

    fn counted(&self) -> &'static str {
        "A trial is a request of somebody else while the coordinator is dead; a violation is one that was refused or took \
         more than half a second because of it, or money that is lost or doubled at the end."
    }

    fn wirings(&self) -> [Wiring; 2] {
        [
            Wiring {
                name: "XA over two servers",
                steps: &["PREPARE on both", "✗ coordinator killed", "locks held", "XA RECOVER by hand"],
                code: "lab/src/experiments/two_phase_commit/naive.rs",
            },
            Wiring {
                name: "outbox on one",
                steps: &["change + outbox row", "COMMIT", "✗ killed", "relay goes on later"],
                code: "lab/src/experiments/two_phase_commit/protected.rs",
            },
        ]
    }

    async fn run(&self, lab: &Lab) -> anyhow::Result<Finding> {
        let (first, second) = (lab.stack.mysql(1)?, lab.stack.mysql(2)?);
        roll_back_leftovers(&[&first, &second]).await?;
        let banks = Banks::make(&first, &second).await?;
        let rounds = lab.scale.pick(3, 20);
        let xa = killed(lab, &banks, Way::Xa, rounds).await?;
        let survived = survives_restart(lab, &banks).await?;
        let outbox = killed(lab, &banks, Way::Outbox, rounds).await?;
        let length = lab.scale.pick(Duration::from_millis(1_500), Duration::from_secs(8));
        lab.progress("transfers as fast as they go, by XA");
        let xa_load = load::run(&banks, Way::Xa, length).await?;
        lab.progress("transfers as fast as they go, by an outbox");
        let outbox_load = load::run(&banks, Way::Outbox, length).await?;
        let is_right = banks.check(xa.met.deposited + outbox.met.deposited).await?;
        banks.drop().await?;
        Ok(finding(&xa, &outbox, [&xa_load, &outbox_load], is_right, survived))
    }
}

/// What a run that was broken off left in doubt would block this one.
async fn roll_back_leftovers(servers: &[&str]) -> anyhow::Result<()> {
    for server in servers {
        let mut conn = crate::scratch::connect(server).await?;
        for name in naive::in_doubt(&mut conn).await? {
            use mysql_async::prelude::Queryable as _;
            conn.query_drop(format!("XA ROLLBACK '{}'", bank::checked(&name)?)).await?;
        }
        conn.disconnect().await?;
    }
    Ok(())
}

/// Kills coordinators between the two halves of a transfer, and has somebody come a while later.
async fn killed(lab: &Lab, banks: &Banks, way: Way, rounds: u64) -> anyhow::Result<Killed> {
    let mut chance = StdRng::seed_from_u64(lab.seed);
    let mut sum = Killed::default();
    let mut conns = banks.connect().await?;
    for round in 0..rounds {
        let name = format!("lab-{}-killed-{round}", way.name());
        let mut child = coordinator::start(lab, banks, way, &name, chance.random_range(0..BUSY_ACCOUNTS)).await?;
        let bystanders = Bystanders::start(&banks.first, chance.random()).await?;
        child.kill().await?;
        let killed = Instant::now();
        // Not for a result: so long nobody is there to recover.
        tokio::time::sleep(AWAY).await;
        let came = Instant::now();
        match way {
            Way::Xa => recover(&mut conns).await?,
            Way::Outbox => while protected::relay(&mut conns).await? > 0 {},
        }
        let over = Instant::now();
        let met = bystanders.end().await?;
        sum.recovery.note(over - came);
        sum.locked.note(over - killed);
        if round == 0 {
            sum.first = Some([killed, came, over]);
            sum.first_harmed.clone_from(&met.harmed);
        }
        sum.met.add(met);
        sum.rounds += 1;
        lab.progress(format!(
            "{}: {}/{rounds} coordinators killed, {} requests of others harmed",
            way.name(),
            sum.rounds,
            sum.met.violations()
        ));
    }
    conns.close().await?;
    Ok(sum)
}

/// Recovers what is in doubt; a server that has not noticed yet that the coordinator is gone is asked again.
async fn recover(conns: &mut bank::Conns) -> anyhow::Result<()> {
    let until = Instant::now() + RECOVERY_MAX;
    loop {
        match naive::recover(conns).await {
            Ok(ended) if ended > 0 => return Ok(()),
            outcome => ensure!(Instant::now() < until, "nothing could be recovered: {outcome:?}"),
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Whether a transaction in doubt is still there, with its lock, after its server was killed and started again.
async fn survives_restart(lab: &Lab, banks: &Banks) -> anyhow::Result<bool> {
    lab.progress("a server is killed and started while a transaction is in doubt");
    let mut child = coordinator::start(lab, banks, Way::Xa, "lab-xa-restart", 0).await?;
    child.kill().await?;
    lab.stack.kill("mariadb-1")?;
    lab.stack.start_what_ended().await?;
    let mut conns = banks.connect().await?;
    let is_there = naive::in_doubt(&mut conns.first).await?.iter().any(|name| name == "lab-xa-restart");
    let is_locked = {
        use mysql_async::prelude::Queryable as _;
        let locked =
            conns.first.query_first::<i64, _>("SELECT balance FROM account WHERE id = 0 FOR UPDATE NOWAIT").await;
        locked.is_err()
    };
    recover(&mut conns).await.context("after the restart")?;
    conns.close().await?;
    Ok(is_there && is_locked)
}

fn finding(xa: &Killed, outbox: &Killed, loads: [&Load; 2], is_right: bool, survived: bool) -> Finding {
    let side = |killed: &Killed, load: &Load, wrong: u64| {
        Side::new(killed.met.requests, killed.met.violations() + wrong)
            .with("refused", number(killed.met.refused))
            .with("held_up", number(killed.met.held_up))
            .with("others_p99_ms", killed.met.took.p99_ms())
            .with("others_max_ms", killed.met.took.max_ms())
            .with("recovery_median_ms", killed.recovery.median_ms())
            .with("transfers_per_s", load.per_s().round())
            .with("transfer_median_ms", load.latency.median_ms())
            .with("transfer_p99_ms", load.latency.p99_ms())
    };
    let wrong = u64::from(!is_right);
    let off = side(xa, loads[0], 0)
        .with("locked_median_ms", xa.locked.median_ms())
        .with("in_doubt_after_restart", f64::from(u8::from(survived)));
    let mut finding = Finding::new(off, side(outbox, loads[1], wrong).with("wrong_sums", number(wrong)));
    finding.faults.insert("SIGKILL".to_owned(), outbox.rounds);
    finding.charts.push(timeline(xa));
    finding.charts.push(bars("Transfers that reached both servers", "per second", loads, Load::per_s));
    finding.charts.push(bars("How long a caller waits, median", "ms", loads, |load| load.latency.median_ms()));
    finding.charts.push(bars("How long a caller waits, 99th percentile", "ms", loads, |load| load.latency.p99_ms()));
    finding.notes.push(format!(
        "Each coordinator was a process killed (SIGKILL) between its two halves. Nobody came for {} ms; the account in doubt \
         was locked all that time, and would have been for ever: {}.",
        AWAY.as_millis(),
        if survived {
            "killing and starting its server did not free it either"
        } else {
            "its server, killed and started again, did not keep the promise"
        }
    ));
    finding.notes.push(
        "With the outbox the caller's transaction is over before anybody can die in the middle; the second server follows when \
         a relay runs, and finds a transfer that comes twice processed. Sums over both servers were compared at the end."
            .to_owned(),
    );
    finding
}

fn timeline(xa: &Killed) -> Chart {
    let mut spans = Vec::new();
    let mut marks = Vec::new();
    if let Some([killed, came, over]) = xa.first {
        let at = |moment: Instant| ms(moment.saturating_duration_since(killed));
        let span = |row: &str, label: &str, from, until, harm| Span {
            row: row.to_owned(),
            label: label.to_owned(),
            from_ms: at(from),
            until_ms: at(until),
            harm,
        };
        spans.push(span("account", "locked, in doubt", killed, over, true));
        spans.push(span("recovery", "XA RECOVER, XA COMMIT", came, over, false));
        for (place, (from, until)) in xa.first_harmed.iter().enumerate() {
            spans.push(span(&format!("other request {}", place + 1), "waits", *from, *until, true));
        }
        marks.push(Mark { row: "account".to_owned(), label: "coordinator killed".to_owned(), at_ms: 0.0 });
    }
    Chart::Timeline { title: "A coordinator dies between PREPARE and COMMIT".to_owned(), spans, marks }
}

fn bars(title: &str, unit: &'static str, loads: [&Load; 2], value: fn(&Load) -> f64) -> Chart {
    let bar = |label: &str, load: &Load, protected| Bar { label: label.to_owned(), value: value(load), protected };
    let bars = vec![bar("XA", loads[0], false), bar("outbox", loads[1], true)];
    Chart::Bars { title: title.to_owned(), unit, logarithmic: false, bars }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_delays_and_wrong_sums_are_violations() {
        let load = Load { transfers: 10, took: Duration::from_secs(1), latency: Durations::default() };
        let met = Met { requests: 100, refused: 3, held_up: 2, ..Met::default() };
        let xa = Killed { rounds: 1, met, ..Killed::default() };
        let outbox = Killed { rounds: 4, met: Met { requests: 90, ..Met::default() }, ..Killed::default() };
        let found = finding(&xa, &outbox, [&load, &load], true, true);
        assert_eq!((found.off.trials, found.off.violations), (100, 5));
        assert_eq!((found.on.trials, found.on.violations, found.fault_count()), (90, 0, 4));
        assert_eq!(finding(&xa, &outbox, [&load, &load], false, true).on.violations, 1);
    }
}
