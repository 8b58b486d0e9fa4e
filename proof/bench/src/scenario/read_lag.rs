//! How long after a write's answer a reader still sees the state before it, under 1,000 writes a second (500 on a
//! cluster): in the article, in its board's list, and in the hot list, which learns of a like by the event log alone.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use tokio::task::JoinSet;

use super::Scenario;
use super::lag_site::{Kind, LagSite};
use crate::cli::Options;
use crate::client::Connection;
use crate::report::{Figure, Goal, Row};
use crate::samples::Samples;
use crate::site::{Scratch, counter};

/// What is asked for, and how late a reader may be, on a site of one process.
const EMBEDDED: Targets = Targets { writes_per_second: 1_000, lag_max_ms: 50.0, hot_lag_max_ms: 50.0 };
/// The same on servers, where an effect may come by way of the broker. To the hot list it comes in two such steps: it is
/// stored before it is ranked.
const CLUSTER: Targets = Targets { writes_per_second: 500, lag_max_ms: 150.0, hot_lag_max_ms: 300.0 };
/// What another process may be late.
const BETWEEN: Targets = Targets { lag_max_ms: 250.0, ..CLUSTER };
/// What runs before on a cluster: a broker is slow in its first minutes, until its Java has compiled what it runs.
const CLUSTER_WARM_UP: Duration = Duration::from_secs(60);
/// Enough that none of them is late while others look for the effect of their writes.
const WORKERS: u64 = 128;
/// How old an event was when the query model heard of it, by the server's own measure.
const AGE: &str = "messaging_consumer_applied_age_ms{group=\"article-read\"}";
const HEARD: &str = "p99 until the query model hears by the log";
/// How often it is read.
const AGE_POLL: Duration = Duration::from_millis(50);
/// Slower than this, the load was not the one that was asked for.
const PACE: Goal = Goal::AtLeast(0.95);

#[derive(Clone, Copy)]
struct Targets {
    writes_per_second: u32,
    lag_max_ms: f64,
    hot_lag_max_ms: f64,
}

impl Targets {
    fn lag_max_ms(self, kind: Kind) -> f64 {
        if kind == Kind::HotLike { self.hot_lag_max_ms } else { self.lag_max_ms }
    }
}

/// What one worker saw.
struct Seen {
    writes: Samples,
    lags: [Samples; Kind::ALL.len()],
    last_write: Instant,
}

impl Seen {
    fn new(now: Instant) -> Self {
        Self { writes: Samples::new(), lags: Kind::ALL.map(|_| Samples::new()), last_write: now }
    }

    fn merge(&mut self, other: &Self) {
        self.writes.merge(&other.writes);
        for (lags, others) in self.lags.iter_mut().zip(&other.lags) {
            lags.merge(others);
        }
        self.last_write = self.last_write.max(other.last_write);
    }
}

/// Writes at an even pace, and looks for the effect of each write as its reader would.
pub(crate) async fn run(options: &Options, scratch: &Scratch) -> Result<Vec<Row>> {
    let targets = if scratch.is_on_cluster() { CLUSTER } else { EMBEDDED };
    let (site, server) = LagSite::prepare(scratch).await?;
    let site = Arc::new(site);
    let length = options.turn() * options.rounds;
    let on_cluster = scratch.is_on_cluster();
    if on_cluster {
        eprintln!("Warming up for {CLUSTER_WARM_UP:?}");
        load(&site, targets, Instant::now(), CLUSTER_WARM_UP).await?;
    }
    let started = Instant::now();
    let heard = async { if on_cluster { ages(site.address, started + length).await } else { Ok(Samples::new()) } };
    let (seen, heard) = tokio::try_join!(load(&site, targets, started, length), heard)?;
    server.stop().await?;

    let rate = seen.writes.count() as f64 / seen.last_write.duration_since(started).max(length).as_secs_f64();
    let pace = Figure::plain("asked for", targets.writes_per_second.into());
    let written = Figure::median_ms("writes", &seen.writes).with_value(rate);
    let mut rows = vec![Row::compare(Scenario::ReadLag, "/s", written, pace, PACE)];
    let named = Kind::ALL.iter().map(|kind| (kind.shown_as(), targets.lag_max_ms(*kind))).zip(&seen.lags);
    let heard = on_cluster.then_some(((HEARD, targets.lag_max_ms), &heard));
    rows.extend(named.chain(heard).map(|((name, limit), lags)| {
        let (figure, limit) = (Figure::tail_ms(name, lags, 0.99), Figure::plain("limit", limit));
        Row::compare(Scenario::ReadLag, "ms", figure, limit, Goal::AtMost(1.0))
    }));
    Ok(rows)
}

/// The same on a cluster, with effects looked for in another process than the one that wrote.
pub(crate) async fn between_processes(options: &Options, scratch: &Scratch) -> Result<Vec<Row>> {
    let (site, servers) = LagSite::prepare_two(scratch).await?;
    let site = Arc::new(site);
    let length = options.turn() * options.rounds;
    eprintln!("Warming up for {length:?}");
    load(&site, BETWEEN, Instant::now(), length).await?;
    let started = Instant::now();
    let seen = load(&site, BETWEEN, started, length).await?;
    for server in servers {
        server.stop().await?;
    }
    let rate = seen.writes.count() as f64 / seen.last_write.duration_since(started).max(length).as_secs_f64();
    let pace = Figure::plain("asked for", BETWEEN.writes_per_second.into());
    let written = Figure::median_ms("writes in one process", &seen.writes).with_value(rate);
    let mut rows = vec![Row::compare(Scenario::Staleness, "/s", written, pace, PACE)];
    rows.extend(Kind::ALL.iter().zip(&seen.lags).map(|(kind, lags)| {
        let name = format!("in another process, {}", kind.shown_as());
        let limit = Figure::plain("limit", BETWEEN.lag_max_ms(*kind));
        Row::compare(Scenario::Staleness, "ms", Figure::tail_ms(&name, lags, 0.99), limit, Goal::AtMost(1.0))
    }));
    Ok(rows)
}

/// Writes for so long, and looks for the effects.
async fn load(site: &Arc<LagSite>, targets: Targets, started: Instant, length: Duration) -> Result<Seen> {
    let mut workers = JoinSet::new();
    for worker in 0..WORKERS {
        let site = site.clone();
        workers.spawn(async move { work(&site, worker, targets, started, started + length).await });
    }
    let mut seen = Seen::new(started);
    for of_worker in workers.join_all().await {
        seen.merge(&of_worker?);
    }
    Ok(seen)
}

/// Looks, while the load runs, how old the last event was when it was merged into the query model by way of the log:
/// readers do not see that, since a committed write is merged at once as well.
async fn ages(address: SocketAddr, until: Instant) -> Result<Samples> {
    let mut ages = Samples::new();
    while Instant::now() < until {
        if let Some(age_ms) = counter(address, AGE).await? {
            ages.succeeded(Duration::from_secs_f64(age_ms / 1_000.0));
        }
        tokio::time::sleep(AGE_POLL).await;
    }
    Ok(ages)
}

/// Does every write that falls to one worker, each at its time.
async fn work(site: &LagSite, worker: u64, targets: Targets, started: Instant, until: Instant) -> Result<Seen> {
    let mut seen = Seen::new(started);
    let mut connection = Connection::open(site.address).await?;
    let mut looking = Connection::open(site.look_at).await?;
    for number in (worker..).step_by(WORKERS as usize) {
        let due = started + Duration::from_secs(1) * u32::try_from(number)? / targets.writes_per_second;
        if due >= until {
            break;
        }
        tokio::time::sleep_until(due.into()).await;
        let kind = Kind::of(number);
        let begun = Instant::now();
        let effect = match site.write(&mut connection, kind, number).await {
            Ok(effect) => effect,
            Err(reason) => {
                seen.writes.failed(format!("write: {reason:#}"));
                connection = Connection::open(site.address).await?;
                continue;
            }
        };
        let answered = Instant::now();
        seen.last_write = answered;
        seen.writes.succeeded(answered - begun);
        match site.wait_until_shown(&mut looking, &effect).await {
            Ok(()) => seen.lags[kind as usize].succeeded(answered.elapsed()),
            Err(reason) => {
                seen.lags[kind as usize].failed(format!("{reason:#}"));
                looking = Connection::open(site.look_at).await?;
            }
        }
    }
    Ok(seen)
}
