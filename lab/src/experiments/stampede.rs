//! What does a common expiry do to the database? Every caller loads for itself; then jitter, shared loads, and a logical TTL
//! before the physical one, in one process and in three.

use std::time::Duration;

use async_trait::async_trait;
use mysql_async::prelude::Queryable as _;
use serde::Deserialize;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use super::common;
use crate::programs::http::HttpClient;
use crate::runner::readers::read;
use crate::runner::{Spec, System, observe};
use crate::{Chart, Experiment, Finding, Lab, Series, Side, Wiring};

/// Accounts that everybody reads.
const ACCOUNTS: u16 = 30;
/// Readers at once.
const READERS: u16 = 60;
/// How long an entry is fresh, in milliseconds.
const TTL_MS: u64 = 1_000;
/// How much longer a load takes, in milliseconds: an expensive query.
const LOAD_MS: u64 = 60;
/// Percent of a TTL that chance takes off.
const JITTER_PERCENT: u64 = 20;

/// The experiment.
pub(super) struct Stampede;

#[async_trait]
impl Experiment for Stampede {
    fn id(&self) -> &'static str {
        "stampede"
    }

    fn question(&self) -> &'static str {
        "What does a common expiry do to the database?"
    }

    fn counted(&self) -> &'static str {
        "A trial is a read; a violation is a load beyond one for each account and expiry, all processes together."
    }

    fn wirings(&self) -> [Wiring; 2] {
        [
            Wiring {
                name: "every caller loads",
                steps: &["TTL ends for all", "60 readers miss", "✗ 60 loads of one account", "SET"],
                code: "lab/src/naive/query.rs",
            },
            Wiring {
                name: "jitter, shared loads, two TTLs",
                steps: &["logical TTL ends", "one takes the lease and loads", "the others go on with the old", "fill"],
                code: "lab/src/programs/query/load.rs",
            },
        ]
    }

    async fn run(&self, lab: &Lab) -> anyhow::Result<Finding> {
        let mut sides = [Side::default(), Side::default()];
        let mut series = Vec::new();
        for (side, protected) in sides.iter_mut().zip([false, true]) {
            for processes in [1_u16, 3] {
                lab.progress(format!("{}, {processes} processes", if protected { "shared loads" } else { "naive" }));
                let run = expire(lab, protected, processes).await?;
                side.trials += run.reads;
                side.violations += run.loads.saturating_sub(run.allowed);
                let figure = |name: &str| format!("{name}_{processes}_processes");
                side.figures.insert(figure("loads"), common::float(run.loads));
                side.figures.insert(figure("loads_allowed"), common::float(run.allowed));
                side.figures.insert(figure("p99_ms"), run.p99_ms);
                let label = if protected { "shared loads" } else { "every caller loads" };
                let label = format!("{label}, {processes} processes");
                series.push(Series { label, points: run.loads_over_time, protected });
            }
        }
        let [off, on] = sides;
        let mut finding = Finding::new(off, on);
        finding.charts.push(Chart::Lines {
            title: "Loads from the database since the start".to_owned(),
            x: "seconds",
            y: "loads",
            logarithmic: true,
            series,
        });
        finding.notes.push(format!(
            "{READERS} readers, {ACCOUNTS} accounts, a load takes {LOAD_MS} ms longer than it would. In the middle of each run \
             the whole cache is emptied at once, a physical expiry common to all."
        ));
        Ok(finding)
    }
}

struct Run {
    reads: u64,
    loads: u64,
    allowed: u64,
    p99_ms: f64,
    loads_over_time: Vec<(f64, f64)>,
}

async fn expire(lab: &Lab, protected: bool, processes: u16) -> anyhow::Result<Run> {
    let side = format!("{}{processes}", if protected { "on" } else { "off" });
    let system = System::new(lab, "stampede", &side).await?;
    fill_projection(&system).await?;
    let mut urls = Vec::new();
    for number in 1..=processes {
        let name = format!("query-{number}");
        let spec = if protected {
            let spec = Spec::new(name, &["query"]).flag("logical-ttl-ms", TTL_MS).flag("physical-ttl-ms", TTL_MS * 4);
            spec.flag("jitter-percent", JITTER_PERCENT)
        } else {
            Spec::new(name, &["naive", "query"]).flag("ttl-ms", TTL_MS)
        };
        urls.push(system.fleet.start(spec.flag("slow-load-ms", LOAD_MS)).await?);
    }
    let lasts = Duration::from_secs(lab.scale.pick(4, 12));
    let began = Instant::now();
    let mut readers = JoinSet::new();
    for number in 0..READERS {
        let url = urls[usize::from(number % processes)].clone();
        readers.spawn(read_for(url, number, began + lasts));
    }
    let mut points = Vec::new();
    let mut emptied = false;
    while began.elapsed() < lasts {
        sleep(Duration::from_millis(100)).await;
        if !emptied && began.elapsed() > lasts / 2 {
            empty(&system).await?;
            emptied = true;
        }
        points.push((began.elapsed().as_secs_f64(), common::float(loads(&urls).await?)));
    }
    let mut took_ms = Vec::new();
    while let Some(read) = readers.join_next().await {
        took_ms.extend(read?);
    }
    let took = began.elapsed();
    let loads = loads(&urls).await?;
    // The shortest life of an entry decides how often it can have ended; once at the start, once when all was emptied.
    let shortest_ms = if protected { TTL_MS * (100 - JITTER_PERCENT) / 100 } else { TTL_MS };
    let expiries = u64::try_from(took.as_millis()).unwrap_or(0).div_ceil(shortest_ms) + 2;
    let reads = took_ms.len() as u64;
    let p99_ms = common::percentile(&mut took_ms, 99);
    Ok(Run { reads, loads, allowed: expiries * u64::from(ACCOUNTS), p99_ms, loads_over_time: points })
}

async fn fill_projection(system: &System) -> anyhow::Result<()> {
    let mut conn = observe::connect(&system.mysql_url).await?;
    for account in 1..=ACCOUNTS {
        let insert = format!(
            "INSERT INTO `{}_projection`.account_projection (account_id, balance, version, updated_at) VALUES (?, 1, 1, 0)",
            system.prefix
        );
        conn.exec_drop(insert, (account,)).await?;
    }
    Ok(conn.disconnect().await?)
}

async fn read_for(url: String, number: u16, until: Instant) -> Vec<f64> {
    let client = HttpClient::new(Duration::from_secs(10));
    let (mut took_ms, mut turn) = (Vec::new(), number);
    while Instant::now() < until {
        let began = Instant::now();
        turn = turn % ACCOUNTS + 1;
        if read(&client, &url, turn).await.is_some() {
            took_ms.push(began.elapsed().as_secs_f64() * 1_000.0);
        }
        sleep(Duration::from_millis(10)).await;
    }
    took_ms
}

#[derive(Deserialize)]
struct Counters {
    loads: u64,
}

async fn loads(urls: &[String]) -> anyhow::Result<u64> {
    let client = HttpClient::new(Duration::from_secs(10));
    let mut sum = 0;
    for url in urls {
        let answer = client.get(&format!("{url}/counters")).await?;
        sum += serde_json::from_slice::<Counters>(&answer.body)?.loads;
    }
    Ok(sum)
}

/// Deletes every entry of this system at once.
async fn empty(system: &System) -> anyhow::Result<()> {
    const EMPTY: &str = "for _, key in ipairs(redis.call('KEYS', ARGV[1] .. ':*')) do redis.call('DEL', key) end";
    let client = redis::Client::open(system.redis_url.as_str())?;
    let mut conn = client.get_multiplexed_async_connection().await?;
    redis::cmd("EVAL").arg(EMPTY).arg(0).arg(&system.prefix).query_async::<()>(&mut conn).await?;
    Ok(())
}
