//! What does a common expiry do to the database? Every caller loads for itself, or every process does; then shared loads, in one
//! process and in three, whether an entry is gone or only past its logical TTL; and TTLs that end together, or do not.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use async_trait::async_trait;
use mysql_async::prelude::Queryable as _;
use serde::Deserialize;
use tokio::task::JoinSet;

use super::common;
use crate::programs::http::HttpClient;
use crate::runner::readers::read;
use crate::runner::{Spec, System, observe};
use crate::{Bar, Chart, Experiment, Finding, Lab, Side, Variant, Wiring};

/// Accounts whose entries end at the same moment.
const TOGETHER: u16 = 12;
/// Readers of each of them, at once.
const READERS: usize = 12;
/// How much longer a load takes, in milliseconds: an expensive query.
const LOAD_MS: u64 = 150;
/// How long an entry is kept, in milliseconds: no expiry comes but the one that is made.
const TTL_MS: u64 = 3_600_000;
/// Percent of a TTL that chance takes off.
const JITTER_PERCENT: u64 = 20;
/// Entries that end within so many milliseconds of most others end together.
const TOGETHER_MS: i64 = 5_000;
/// How long one process waits for another's load, in milliseconds: on a machine that does other things too, a load takes long.
const PATIENCE_MS: u64 = 15_000;

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
        "A trial is the expiry of one account's entry, each account once, with twelve readers at that moment; a violation is \
         more than one load of it, all processes together. Of TTLs a trial is an entry filled together with eleven others; a \
         violation is one that ends within 5 s of most of them."
    }

    fn wirings(&self) -> [Wiring; 2] {
        [
            Wiring {
                name: "every caller, or every process, loads",
                steps: &["TTL ends for all", "12 readers miss", "✗ 12 loads of one account", "SET"],
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
        let (mut counted, mut ttls) = (Vec::new(), Vec::new());
        for wired in WIRED {
            lab.progress(wired.name);
            let run = wired.run(lab).await?;
            lab.progress(format!("{}: {} loads at most", wired.name, run.gone.most()));
            // One process of each kind tells how TTLs are drawn; more would tell the same.
            if wired.processes == 1 {
                ttls.push((wired.is_protected(), run.ttls_ms));
            }
            counted.push((wired.is_protected(), wired.name.to_owned(), run.gone));
            counted.extend(run.past.map(|past| (true, format!("{}, past the logical TTL", wired.name), past)));
        }
        let side = |protected: bool| {
            let loads = counted.iter().filter(|(of, ..)| *of == protected);
            let loads = loads.map(|(_, name, loads)| Variant::new(name, loads.trials(), loads.violations()));
            let name = if protected { "TTL with jitter" } else { "one TTL for all" };
            let ends = ttls.iter().filter(|(of, _)| *of == protected);
            let ends = ends.map(|(_, ttls)| Variant::new(name, ttls.len() as u64, ending_together(ttls)));
            Side::of(loads.chain(ends).collect())
        };
        let mut finding = Finding::new(side(false), side(true));
        finding.charts.push(chart(&counted));
        finding.notes.push(format!(
            "{TOGETHER} entries at a time are ended by one script, as a common expiry or a flush would; {READERS} readers for \
             each ask at that moment, and a load takes {LOAD_MS} ms longer than it would. The shared loads wait for each other \
             for up to {PATIENCE_MS} ms here (500 ms unless told), so that a busy machine is not taken for a stampede."
        ));
        finding.notes.push(
            "With one process the naive program lacks the sharing of loads; with three it lacks the lease between processes \
             too, and the third naive wiring lacks that alone. None has a logical TTL before the physical one: what that \
             brings is that readers go on with the old entry, which is no load less."
                .to_owned(),
        );
        Ok(finding)
    }
}

/// Some query programs on one cache.
struct Wired {
    name: &'static str,
    side: &'static str,
    program: &'static [&'static str],
    processes: usize,
}

const WIRED: [Wired; 5] = [
    Wired { name: "every caller loads, 1 process", side: "off1", program: &["naive", "query"], processes: 1 },
    Wired { name: "every caller loads, 3 processes", side: "off3", program: &["naive", "query"], processes: 3 },
    Wired {
        name: "shared within each process only, 3 processes",
        side: "apart3",
        program: &["naive", "query", "--collapse"],
        processes: 3,
    },
    Wired { name: "shared loads, 1 process", side: "on1", program: &["query"], processes: 1 },
    Wired { name: "shared loads, 3 processes", side: "on3", program: &["query"], processes: 3 },
];

/// How often each account was loaded for one expiry.
#[derive(Debug, Default)]
struct Loads(Vec<u64>);

impl Loads {
    fn trials(&self) -> u64 {
        self.0.len() as u64
    }

    fn violations(&self) -> u64 {
        self.0.iter().filter(|loads| **loads > 1).count() as u64
    }

    fn most(&self) -> u64 {
        self.0.iter().copied().max().unwrap_or(0)
    }
}

struct Run {
    /// Entries that were gone.
    gone: Loads,
    /// Entries past their logical TTL, where there is one.
    past: Option<Loads>,
    /// What entries that were filled together had left, in milliseconds.
    ttls_ms: Vec<i64>,
}

impl Wired {
    fn is_protected(&self) -> bool {
        self.program == ["query"]
    }

    async fn run(&self, lab: &Lab) -> anyhow::Result<Run> {
        let system = System::new(lab, "stampede", self.side).await?;
        let rounds = lab.scale.pick(2, 10);
        fill_projection(&system, 2 * rounds * TOGETHER).await?;
        let mut urls = Vec::new();
        for number in 1..=self.processes {
            let spec = Spec::new(format!("query-{number}"), self.program).flag("slow-load-ms", LOAD_MS);
            let spec = if self.is_protected() {
                let spec = spec.flag("logical-ttl-ms", TTL_MS).flag("physical-ttl-ms", TTL_MS);
                let spec = spec.flag("lease-ms", PATIENCE_MS).flag("wait-for-others-ms", PATIENCE_MS);
                spec.flag("jitter-percent", JITTER_PERCENT)
            } else {
                spec.flag("ttl-ms", TTL_MS)
            };
            urls.push(system.fleet.start(spec).await?);
        }
        let cached = Cached { system: &system, urls, client: HttpClient::new(Duration::from_millis(4 * PATIENCE_MS)) };
        let (mut gone, mut past, mut ttls_ms) = (Loads::default(), Loads::default(), Vec::new());
        for round in 0..rounds {
            let first = 1 + 2 * round * TOGETHER;
            let left = cached.expire(first..first + TOGETHER, GONE, &mut gone).await?;
            ttls_ms = if ttls_ms.is_empty() { left } else { ttls_ms };
            if self.is_protected() {
                cached.expire(first + TOGETHER..first + 2 * TOGETHER, PAST, &mut past).await?;
            }
        }
        Ok(Run { gone, past: self.is_protected().then_some(past), ttls_ms })
    }
}

/// Tells what every entry of a system has left, and then deletes it.
const GONE: &str = "local left = {} for _, key in ipairs(redis.call('KEYS', ARGV[1] .. ':*')) do \
    left[#left + 1] = redis.call('PTTL', key) redis.call('DEL', key) end return left";
/// Ends the logical TTL of every entry of a system.
const PAST: &str = "for _, key in ipairs(redis.call('KEYS', ARGV[1] .. ':*:entry')) do \
    redis.call('HSET', key, 'fresh_until_ms', '0') end return {}";

struct Cached<'a> {
    system: &'a System,
    urls: Vec<String>,
    client: HttpClient,
}

impl Cached<'_> {
    /// Has these accounts cached, ends all their entries at once, and lets many read them at that moment. Returns what the entries
    /// had left.
    async fn expire(&self, accounts: Range<u16>, how: &str, loads: &mut Loads) -> anyhow::Result<Vec<i64>> {
        self.read(accounts.clone(), 1).await?;
        let before = self.loads().await?;
        let left = self.script(how).await?;
        self.read(accounts.clone(), READERS).await?;
        let after = self.loads().await?;
        for account in accounts {
            let of = |counted: &BTreeMap<u16, u64>| counted.get(&account).copied().unwrap_or(0);
            ensure!(
                of(&before) > 0 && of(&after) > of(&before),
                "account {account} was not loaded when its entry ended"
            );
            loads.0.push(of(&after) - of(&before));
        }
        Ok(left)
    }

    /// So many readers of each account, at once, shared out among the processes.
    async fn read(&self, accounts: Range<u16>, readers: usize) -> anyhow::Result<()> {
        let mut reading = JoinSet::new();
        for reader in 0..readers {
            for account in accounts.clone() {
                let (client, url) = (self.client.clone(), self.urls[reader % self.urls.len()].clone());
                reading.spawn(async move { read(&client, &url, account).await });
            }
        }
        while let Some(answer) = reading.join_next().await {
            answer?.context("a read was not answered")?;
        }
        Ok(())
    }

    /// How often each account was loaded, by all processes.
    async fn loads(&self) -> anyhow::Result<BTreeMap<u16, u64>> {
        #[derive(Deserialize)]
        struct Counters {
            loads_by_account: BTreeMap<u16, u64>,
        }
        let mut sum = BTreeMap::new();
        for url in &self.urls {
            let answer = self.client.get(&format!("{url}/counters")).await?;
            for (account, loads) in serde_json::from_slice::<Counters>(&answer.body)?.loads_by_account {
                *sum.entry(account).or_default() += loads;
            }
        }
        Ok(sum)
    }

    async fn script(&self, script: &str) -> anyhow::Result<Vec<i64>> {
        let client = redis::Client::open(self.system.redis_url.as_str())?;
        let mut conn = client.get_multiplexed_async_connection().await?;
        Ok(redis::cmd("EVAL").arg(script).arg(0).arg(&self.system.prefix).query_async(&mut conn).await?)
    }
}

/// Entries that end at about the same moment as most of the others.
fn ending_together(left_ms: &[i64]) -> u64 {
    let near = |one: &i64| left_ms.iter().filter(|other| (*other - one).abs() <= TOGETHER_MS).count() - 1;
    left_ms.iter().filter(|one| near(one) * 2 > left_ms.len() - 1).count() as u64
}

async fn fill_projection(system: &System, accounts: u16) -> anyhow::Result<()> {
    let mut conn = observe::connect(&system.mysql_url).await?;
    let insert = format!(
        "INSERT INTO `{}_projection`.account_projection (account_id, balance, version, updated_at) VALUES (?, 1, 1, 0)",
        system.prefix
    );
    conn.exec_batch(insert, (1..=accounts).map(|account| (account,))).await?;
    Ok(conn.disconnect().await?)
}

fn chart(counted: &[(bool, String, Loads)]) -> Chart {
    let bar = |(protected, name, loads): &(bool, String, Loads)| Bar {
        label: name.clone(),
        value: common::float(loads.most()),
        protected: *protected,
    };
    Chart::Bars {
        title: format!("Loads of one account for one expiry with {READERS} readers, the most that were seen"),
        unit: "loads",
        logarithmic: false,
        bars: counted.iter().map(bar).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_load_for_one_expiry_is_a_violation() {
        let loads = Loads(vec![1, 1, 2, 12]);
        assert_eq!((loads.trials(), loads.violations(), loads.most()), (4, 2, 12));
    }

    #[test]
    fn entries_end_together_when_most_others_end_within_moments() {
        assert_eq!(ending_together(&[1_000, 1_500, 2_000, 6_001]), 3 + 1);
        assert_eq!(ending_together(&[1_000, 1_500, 60_000, 6_200_000]), 0);
        assert_eq!(ending_together(&[1_000, 1_500, 2_000, 6_200_000]), 3);
        assert_eq!(ending_together(&[]), 0);
    }
}
