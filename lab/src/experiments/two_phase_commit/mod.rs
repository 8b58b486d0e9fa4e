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

use crate::durations::{Durations, ms, number};
use crate::{Bar, Chart, Experiment, Finding, Lab, Mark, Side, Span, Variant, Wiring};
use bank::Banks;
use bystanders::{BUSY_ACCOUNTS, Met, Waiting};
use coordinator::KillPoint;
pub use coordinator::XaCoordinator;
use load::Load;

/// How long nobody comes to recover: somebody has to notice, and to decide. Longer than others wait for a lock.
const AWAY: Duration = Duration::from_millis(1_600);
/// Accounts whose transfers are in the middle when somebody dies.
const IN_DOUBT: [u32; 3] = [1, 4, 6];
const _: () = assert!(IN_DOUBT[2] < BUSY_ACCOUNTS);
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

/// Processes that were killed at one point, and what others met meanwhile.
struct Killed {
    point: KillPoint,
    kills: u64,
    met: Met,
    /// From the kill until the account was free again.
    locked: Durations,
    /// What whoever recovered needed once there.
    recovery: Durations,
    /// Of the first round: the kill, the recovery, the end.
    first: Option<[Instant; 3]>,
    first_harmed: Vec<(Instant, Instant)>,
}

impl Killed {
    fn at(point: KillPoint) -> Self {
        let (met, locked, recovery) = (Met::default(), Durations::default(), Durations::default());
        Self { point, kills: 0, met, locked, recovery, first: None, first_harmed: Vec::new() }
    }

    fn variant(&self) -> Variant {
        Variant::new(self.point.title(), self.met.requests, self.met.refused)
    }
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
        "A trial is a request of somebody else, on an account of its own, while whoever joined two servers is dead; a violation \
         is one that the server refused because a lock was not given back within 1 s (error 1205)."
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
                steps: &[
                    "change + outbox row",
                    "COMMIT",
                    "✗ killed",
                    "relay: send",
                    "✗ killed",
                    "COMMIT",
                    "✗ killed",
                    "DELETE",
                ],
                code: "lab/src/experiments/two_phase_commit/protected.rs",
            },
        ]
    }

    async fn run(&self, lab: &Lab) -> anyhow::Result<Finding> {
        let (first, second) = (lab.stack.mysql(1)?, lab.stack.mysql(2)?);
        roll_back_leftovers(&[&first, &second]).await?;
        let banks = Banks::make(&first, &second).await?;
        let rounds = lab.scale.pick(1, 6);
        let xa = killed(lab, &banks, KillPoint::Prepared, rounds).await?;
        let survived = survives_restart(lab, &banks).await?;
        let mut deposited = xa.met.deposited;
        let off_is_right = banks.check(deposited).await?;
        let mut outbox = Vec::new();
        for point in KillPoint::OUTBOX {
            let killed = killed(lab, &banks, point, rounds).await?;
            deposited += killed.met.deposited;
            outbox.push(killed);
        }
        let length = lab.scale.pick(Duration::from_millis(1_000), Duration::from_secs(8));
        lab.progress("transfers as fast as they go, by XA");
        let xa_load = load::run(&banks, Way::Xa, length).await?;
        lab.progress("transfers as fast as they go, by an outbox");
        let outbox_load = load::run(&banks, Way::Outbox, length).await?;
        let on_is_right = banks.check(deposited).await?;
        banks.drop().await?;
        let wrong = [off_is_right, on_is_right].map(|is_right| u64::from(!is_right));
        Ok(finding(&xa, &outbox, [&xa_load, &outbox_load], wrong, survived))
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

/// Kills processes between the two halves of transfers, and has somebody come a while later.
async fn killed(lab: &Lab, banks: &Banks, point: KillPoint, rounds: u64) -> anyhow::Result<Killed> {
    let mut sum = Killed::at(point);
    let mut conns = banks.connect().await?;
    for round in 0..rounds {
        let name = format!("lab-{}-{round}", point.name());
        // Every transfer has a coordinator of its own; a relay carries what all of them left.
        let shares: Vec<&[u32]> = match point {
            KillPoint::Prepared | KillPoint::Committed => IN_DOUBT.chunks(1).collect(),
            KillPoint::Sent | KillPoint::Delivered => vec![&IN_DOUBT],
        };
        let mut children = Vec::new();
        for accounts in shares {
            children.push(coordinator::start(lab, banks, point, &name, accounts).await?);
        }
        let bystanders = Waiting::connect(banks).await?;
        for child in &mut children {
            ensure!(child.try_wait()?.is_none(), "a process ended before it was killed");
            child.kill().await?;
            sum.kills += 1;
        }
        let killed = Instant::now();
        let bystanders = bystanders.begin();
        // Not for a result: so long nobody is there to recover.
        tokio::time::sleep(AWAY).await;
        let came = Instant::now();
        match point {
            KillPoint::Prepared => recover(&mut conns, IN_DOUBT.len()).await?,
            _ => while protected::relay(&mut conns).await? > 0 {},
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
        lab.progress(format!(
            "{}: {} killed, {} requests of others refused",
            point.title(),
            sum.kills,
            sum.met.refused
        ));
    }
    conns.close().await?;
    Ok(sum)
}

/// Recovers what is in doubt, until so much is ended; a server that has not noticed yet that the coordinator is gone is asked
/// again.
async fn recover(conns: &mut bank::Conns, expected: usize) -> anyhow::Result<()> {
    let until = Instant::now() + RECOVERY_MAX;
    let mut ended = 0;
    while ended < expected {
        match naive::recover(conns).await {
            Ok(more) => ended += more,
            Err(error) => ensure!(Instant::now() < until, "recovery failed: {error:#}"),
        }
        ensure!(Instant::now() < until, "only {ended} of {expected} could be recovered");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(())
}

/// Whether a transaction in doubt is still there, with its lock, after its server was killed and started again.
async fn survives_restart(lab: &Lab, banks: &Banks) -> anyhow::Result<bool> {
    lab.progress("a server is killed and started while a transaction is in doubt");
    let mut child = coordinator::start(lab, banks, KillPoint::Prepared, "lab-restart", &[0]).await?;
    child.kill().await?;
    lab.stack.kill("mariadb-1")?;
    lab.stack.start_what_ended().await?;
    let mut conns = banks.connect().await?;
    let is_there = naive::in_doubt(&mut conns.first).await?.iter().any(|name| name == "lab-restart-0");
    let is_locked = {
        use mysql_async::prelude::Queryable as _;
        let locked =
            conns.first.query_first::<i64, _>("SELECT balance FROM account WHERE id = 0 FOR UPDATE NOWAIT").await;
        locked.is_err()
    };
    recover(&mut conns, 1).await.context("after the restart")?;
    conns.close().await?;
    Ok(is_there && is_locked)
}

fn finding(xa: &Killed, outbox: &[Killed], loads: [&Load; 2], wrong: [u64; 2], survived: bool) -> Finding {
    let side = |killed: &[&Killed], load: &Load, wrong: u64| {
        let (mut took, mut recovery) = (Durations::default(), Durations::default());
        for one in killed {
            took.add(&one.met.took);
            recovery.add(&one.recovery);
        }
        Side::of(killed.iter().map(|one| one.variant()).collect())
            .with("kills", number(killed.iter().map(|one| one.kills).sum()))
            .with("wrong_sums", number(wrong))
            .with("others_p99_ms", took.p99_ms())
            .with("others_max_ms", took.max_ms())
            .with("recovery_median_ms", recovery.median_ms())
            .with("transfers_per_s", load.per_s().round())
            .with("transfer_median_ms", load.latency.median_ms())
            .with("transfer_p99_ms", load.latency.p99_ms())
    };
    let off = side(&[xa], loads[0], wrong[0])
        .with("locked_median_ms", xa.locked.median_ms())
        .with("in_doubt_after_restart", f64::from(u8::from(survived)));
    let mut finding = Finding::new(off, side(&outbox.iter().collect::<Vec<_>>(), loads[1], wrong[1]));
    finding.must_be_none("sums over both servers are wrong at the end", wrong[1]);
    finding.faults.insert("SIGKILL".to_owned(), outbox.iter().map(|one| one.kills).sum());
    finding.charts.push(timeline(xa));
    finding.charts.push(bars("Transfers that reached both servers", "per second", loads, Load::per_s));
    finding.charts.push(bars("How long a caller waits, median", "ms", loads, |load| load.latency.median_ms()));
    finding.charts.push(bars("How long a caller waits, 99th percentile", "ms", loads, |load| load.latency.p99_ms()));
    finding.notes.push(format!(
        "Everybody who died was a process killed (SIGKILL) at the point that its row names. Nobody came for {} ms; with XA the \
         accounts in doubt were locked all that time, and would have been until somebody came: {}. Requests of others run on \
         accounts of their own at both servers, so that none waits for another, and a busy machine refuses none.",
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

    fn met(requests: u64, refused: u64) -> Met {
        Met { requests, refused, ..Met::default() }
    }

    #[test]
    fn refusals_are_violations_and_wrong_sums_spoil_the_verdict() {
        let load = Load { transfers: 10, took: Duration::from_secs(1), latency: Durations::default() };
        let xa = Killed { kills: 3, met: met(100, 5), ..Killed::at(KillPoint::Prepared) };
        let outbox = KillPoint::OUTBOX.map(|point| Killed { kills: 2, met: met(30, 0), ..Killed::at(point) });
        let found = finding(&xa, &outbox, [&load, &load], [0, 0], true);
        assert_eq!((found.off.trials, found.off.violations), (100, 5));
        assert_eq!((found.on.trials, found.on.violations, found.fault_count()), (90, 0, 6));
        assert_eq!(found.verdict(), crate::Verdict::Shown);
        let wrong = finding(&xa, &outbox, [&load, &load], [0, 1], true);
        assert_eq!(wrong.verdict(), crate::Verdict::NotShown);
    }
}
