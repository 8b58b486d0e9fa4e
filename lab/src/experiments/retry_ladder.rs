//! What becomes of transient and of poisonous messages? Tried in place for ever, with everything behind them waiting; then
//! on a ladder of 5 s and 1 min, into the dead letters, and back by replay.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use async_trait::async_trait;
use hyper::Method;
use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;
use tokio::time::{Instant, sleep};

use super::common;
use crate::checker::Report;
use crate::programs::http::HttpClient;
use crate::runner::system::GROUP;
use crate::runner::{Clients, History, Spec, System, observe};
use crate::{Chart, Experiment, Finding, Lab, Side, Span, Wiring};

/// The account whose events fail until a person has looked at it.
const POISONED: u16 = 1;
/// The account whose events fail for a moment.
const TRANSIENT: u16 = 2;
/// Accounts with nothing wrong, and those two.
const ACCOUNTS: u16 = 40;
/// Far longer than anything takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(150);

/// The experiment.
pub(super) struct RetryLadder;

#[async_trait]
impl Experiment for RetryLadder {
    fn id(&self) -> &'static str {
        "retry-ladder"
    }

    fn question(&self) -> &'static str {
        "What becomes of transient and of poisonous messages?"
    }

    fn counted(&self) -> &'static str {
        "A trial is an event of an account with nothing wrong; a violation is one that still waited behind a poisonous one at \
         the end of the window. With the ladder the transient and the poisonous ones must be applied in the end too, each once."
    }

    fn wirings(&self) -> [Wiring; 2] {
        [
            Wiring {
                name: "retry in place, for ever",
                steps: &["poll", "work fails", "✗ again, and again", "everything behind waits"],
                code: "lab/src/naive/consumer.rs",
            },
            Wiring {
                name: "retry ladder",
                steps: &["poll", "3 attempts", "retry.5s", "retry.1m", "dlq", "replay"],
                code: "lab/src/programs/consumer/mod.rs",
            },
        ]
    }

    async fn run(&self, lab: &Lab) -> anyhow::Result<Finding> {
        let window = Duration::from_secs(lab.scale.pick(6, 20));
        // Both wait most of the time, and share no process.
        let sides = tokio::try_join!(Box::pin(naive(lab, window)), Box::pin(protected(lab, window)));
        let ((off, blocked), (on, spans, climbed, system)) = sides?;
        let mut finding = Finding::new(off, on);
        climbed.judge(&mut finding);
        finding.faults = system.faults.by_kind();
        finding.must_have_faults(&["SIGKILL"]);
        let spans = blocked.into_iter().chain(spans).collect();
        let title = "How long events waited, from the moment they were sent".to_owned();
        finding.charts.push(Chart::Timeline { title, spans, marks: Vec::new() });
        let (short, long) = delays(lab);
        finding.notes.push(format!(
            "The rungs called 5s and 1m wait {short} and {long} ms here. An account on hold in `account_hold` makes its events \
             fail; the transient hold is lifted before the first rung is due, the poisonous one before the replay. The naive \
             consumer has processed_event too; it lacks the ladder, and tells no cache, which matters to nobody here."
        ));
        Ok(finding)
    }
}

/// What the rungs wait, in milliseconds: as in production in a full run, shortened in a quick one.
fn delays(lab: &Lab) -> (u64, u64) {
    lab.scale.pick((2_500, 3_500), (5_000, 60_000))
}

struct Sent {
    clients: Clients,
    conn: Conn,
    projection: String,
    history: History,
    at: Instant,
}

/// Starts everything with two accounts on hold, and sends a few events for each account.
async fn send(lab: &Lab, system: &System, consumer: Spec) -> anyhow::Result<(Sent, String)> {
    let relay = system.relay("relay-1", "").await?;
    let targets = vec![system.command("command-1", &[relay], "").await?];
    let url = system.fleet.start(consumer).await?;
    let clients = Clients { targets, accounts: ACCOUNTS, withdrawal_every: 0, ..common::clients(lab) };
    clients.open_accounts().await?;
    let mut conn = observe::connect(&system.mysql_url).await?;
    let projection = format!("`{}_projection`", system.prefix);
    let hold = format!("INSERT INTO {projection}.account_hold (account_id, reason) VALUES (?, 'under review')");
    conn.exec_batch(hold, [(POISONED,), (TRANSIENT,)]).await?;
    let at = Instant::now();
    let history = clients.send(lab.scale.pick(200, 400)).await?;
    Ok((Sent { clients, conn, projection, history, at }, url))
}

impl Sent {
    async fn lift(&mut self, account: u16) -> anyhow::Result<()> {
        let lift = format!("DELETE FROM {}.account_hold WHERE account_id = ?", self.projection);
        Ok(self.conn.exec_drop(lift, (account,)).await?)
    }

    /// Events of accounts for which `of` holds that are not applied.
    async fn missing(&mut self, of: impl Fn(u16) -> bool) -> anyhow::Result<u64> {
        let sql = format!("SELECT account_id, entries FROM {}.account_projection", self.projection);
        let applied: Vec<(u16, u64)> = self.conn.query(sql).await?;
        let applied: u64 = applied.into_iter().filter(|(account, _)| of(*account)).map(|(_, entries)| entries).sum();
        Ok(self.count(of).saturating_sub(applied))
    }

    /// Events of some accounts that clients were told of.
    fn count(&self, of: impl Fn(u16) -> bool) -> u64 {
        self.history.acknowledged.iter().filter(|entry| of(entry.account_id.number())).count() as u64
    }

    /// Waits until all events of some accounts are applied; returns how long after they were sent.
    async fn applied(&mut self, of: impl Fn(u16) -> bool, at_most: Duration) -> anyhow::Result<Option<Duration>> {
        let deadline = Instant::now() + at_most;
        loop {
            if self.missing(&of).await? == 0 {
                return Ok(Some(self.at.elapsed()));
            }
            if Instant::now() > deadline {
                return Ok(None);
            }
            sleep(Duration::from_millis(20)).await;
        }
    }
}

fn is_healthy(account: u16) -> bool {
    account != POISONED && account != TRANSIENT
}

async fn naive(lab: &Lab, window: Duration) -> anyhow::Result<(Side, Vec<Span>)> {
    lab.progress("naive: everything waits behind two accounts on hold");
    let system = System::new(lab, "ladder", "off").await?;
    let (mut sent, _) = send(lab, &system, Spec::new("consumer", &["naive", "retry-in-place"])).await?;
    sent.applied(is_healthy, window).await?;
    let waiting = sent.missing(is_healthy).await?;
    sent.lift(TRANSIENT).await?;
    sent.lift(POISONED).await?;
    let waited =
        sent.applied(|_| true, PATIENCE).await?.context("events were not applied when the holds were lifted")?;
    let side = Side::new(sent.count(is_healthy), waiting)
        .with("healthy_events_that_waited", common::float(waiting))
        .with("healthy_wait_ms", ms(waited));
    let label = format!("{waiting} events wait until a person lifts the hold");
    Ok((side, vec![span("in place: accounts with nothing wrong", label, waited, true)]))
}

async fn protected(lab: &Lab, window: Duration) -> anyhow::Result<(Side, Vec<Span>, Climbed, System)> {
    let system = System::new(lab, "ladder", "on").await?;
    let (short, long) = delays(lab);
    let spec = Spec::new("consumer", &["consumer"]).flag("short-retry-ms", short).flag("long-retry-ms", long);
    let (mut sent, consumer) = send(lab, &system, spec).await?;
    lab.progress("ladder: accounts with nothing wrong");
    let healthy = sent.applied(is_healthy, window).await?;
    let waiting = sent.missing(is_healthy).await?;
    let failing = sent.missing(|account| account == TRANSIENT).await?;
    sent.lift(TRANSIENT).await?;
    lab.progress("ladder: the transient failure is over");
    let transient = sent.applied(|account| account == TRANSIENT, PATIENCE).await?;
    let poisonous = sent.missing(|account| account == POISONED).await?;
    let died = dead_letters(lab, &system, &consumer, poisonous).await?;
    sent.lift(POISONED).await?;
    let replayed = replay(&consumer).await?;
    lab.progress(format!("ladder: {replayed} of {poisonous} replayed"));
    let cured = sent.applied(|account| account == POISONED, PATIENCE).await?;
    system.quiet(GROUP).await?;
    let report = system.report(&sent.history, Some(GROUP)).await?;
    let is_cured = cured.is_some();
    let climbed = Climbed { failing, is_over: transient.is_some(), poisonous, replayed, is_cured, report };
    let healthy = healthy.unwrap_or(window);
    let side = Side::new(sent.count(is_healthy), waiting)
        .with("transient_events", common::float(failing))
        .with("poisonous_events", common::float(poisonous))
        .with("healthy_events_that_waited", common::float(waiting))
        .with("healthy_wait_ms", ms(healthy))
        .with("transient_wait_ms", ms(transient.unwrap_or(PATIENCE)))
        .with("dead_after_ms", ms(died))
        .with("replayed", common::float(replayed));
    let spans = vec![
        span("ladder: accounts with nothing wrong", "applied".to_owned(), healthy, false),
        span("ladder: transient", "retry.5s".to_owned(), transient.unwrap_or(PATIENCE), false),
        span("ladder: poisonous", format!("retry.5s, retry.1m, then {poisonous} dead letters"), died, false),
    ];
    drop(sent.clients);
    Ok((side, spans, climbed, system))
}

/// What became of the events that failed.
struct Climbed {
    /// Events that had failed when the transient failure ended, and whether all were applied then.
    failing: u64,
    is_over: bool,
    /// Events that failed to the end of the ladder, how many were replayed, and whether all were applied then.
    poisonous: u64,
    replayed: u64,
    is_cured: bool,
    report: Report,
}

impl Climbed {
    /// Both kinds of failures must have been there, and everything must be whole in the end.
    fn judge(&self, finding: &mut Finding) {
        finding.must_be_some("transient events", self.failing);
        finding.must_be_some("poisonous events", self.poisonous);
        finding.must_be_none("transient events were not applied in time", if self.is_over { 0 } else { self.failing });
        finding.must_be_none("poisonous events were not replayed", self.poisonous.saturating_sub(self.replayed));
        finding
            .must_be_none("poisonous events were not applied in time", if self.is_cured { 0 } else { self.poisonous });
        finding.must_be_none("events were lost or applied twice", self.report.harm());
        finding.must_be_none("accounts are wrong at the end", self.report.wrong_accounts);
    }
}

/// Waits until the poisonous events are dead letters, and kills the consumer meanwhile now and then.
async fn dead_letters(lab: &Lab, system: &System, consumer: &str, wanted: u64) -> anyhow::Result<Duration> {
    let client = HttpClient::new(Duration::from_secs(20));
    let began = Instant::now();
    let (mut killed, kills) = (0, lab.scale.pick(2, 12));
    loop {
        if killed < kills && began.elapsed() > Duration::from_secs(4) * killed {
            system.fleet.kill("consumer");
            killed += 1;
        }
        let found = client.get(&format!("{consumer}/dead-letters")).await.ok();
        let found = found.and_then(|answer| std::str::from_utf8(&answer.body).ok()?.parse::<u64>().ok()).unwrap_or(0);
        lab.progress(format!("ladder: {found} of {wanted} are dead letters, {killed} kills"));
        if found >= wanted {
            return Ok(began.elapsed());
        }
        ensure!(began.elapsed() < PATIENCE, "only {found} of {wanted} events became dead letters");
        sleep(Duration::from_millis(200)).await;
    }
}

/// Replays until nothing is left to replay; a consumer that was just killed is asked again.
async fn replay(consumer: &str) -> anyhow::Result<u64> {
    let client = HttpClient::new(Duration::from_secs(60));
    let deadline = Instant::now() + PATIENCE;
    loop {
        let asked = client.send(Method::POST, &format!("{consumer}/dead-letters/replay"), "").await;
        let replayed = asked.ok().and_then(|answer| std::str::from_utf8(&answer.body).ok()?.parse::<u64>().ok());
        if let Some(replayed) = replayed {
            return Ok(replayed);
        }
        ensure!(Instant::now() < deadline, "the dead letters could not be replayed");
        sleep(Duration::from_millis(200)).await;
    }
}

fn span(row: &str, label: String, until: Duration, harm: bool) -> Span {
    Span { row: row.to_owned(), label, from_ms: 0.0, until_ms: ms(until), harm }
}

fn ms(span: Duration) -> f64 {
    span.as_secs_f64() * 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    fn verdict(how: impl FnOnce(&mut Climbed)) -> Verdict {
        let report = Report::default();
        let mut climbed = Climbed { failing: 3, is_over: true, poisonous: 8, replayed: 8, is_cured: true, report };
        how(&mut climbed);
        let mut finding = Finding::new(Side::new(100, 90), Side::new(100, 0));
        climbed.judge(&mut finding);
        finding.verdict()
    }

    #[test]
    fn a_ladder_that_nothing_climbed_shows_nothing() {
        assert_eq!(verdict(|_| ()), Verdict::Shown);
        assert_eq!(verdict(|climbed| (climbed.poisonous, climbed.replayed) = (0, 0)), Verdict::NotShown);
        assert_eq!(verdict(|climbed| climbed.failing = 0), Verdict::NotShown);
    }

    #[test]
    fn what_failed_must_be_applied_in_the_end() {
        assert_eq!(verdict(|climbed| climbed.replayed = 7), Verdict::NotShown);
        assert_eq!(verdict(|climbed| climbed.is_over = false), Verdict::NotShown);
        assert_eq!(verdict(|climbed| climbed.is_cured = false), Verdict::NotShown);
        assert_eq!(verdict(|climbed| climbed.report.doubled = 1), Verdict::NotShown);
    }
}
