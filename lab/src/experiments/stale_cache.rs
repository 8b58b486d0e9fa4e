//! How long is a cache wrong? Without invalidation and with a long TTL; with a plain DEL, against which a slow reader races;
//! and with versioned fills.

use std::time::Duration;

use anyhow::ensure;
use async_trait::async_trait;
use tokio::time::{Instant, sleep};

use super::common;
use crate::checker::Report;
use crate::programs::http::HttpClient;
use crate::runner::readers::{Readers, Reads, Seen, read};
use crate::runner::system::GROUP;
use crate::runner::{Clients, Spec, Storm, System, observe, storm};
use crate::{Bar, Chart, Experiment, Finding, Lab, Side, Wiring};

/// Accounts that change and are read.
const ACCOUNTS: u16 = 60;
/// How much longer a load takes between database and cache, in milliseconds: what a busy process or a collected heap costs.
const SLOW_LOAD_MS: u64 = 80;
/// How long a query program may take to answer when all is quiet.
const ANSWERED_WITHIN: Duration = Duration::from_secs(20);

/// The experiment.
pub(super) struct StaleCache;

#[async_trait]
impl Experiment for StaleCache {
    fn id(&self) -> &'static str {
        "stale-cache"
    }

    fn question(&self) -> &'static str {
        "How long is a cache wrong?"
    }

    fn counted(&self) -> &'static str {
        "A trial is a read after everything was quiet; a violation is one that still showed an older version than the projection."
    }

    fn wirings(&self) -> [Wiring; 2] {
        [
            Wiring {
                name: "no invalidation, or a plain DEL",
                steps: &["reader: load v1", "consumer: COMMIT v2, DEL", "✗ reader: SET v1", "v1 until its TTL"],
                code: "lab/src/naive/query.rs",
            },
            Wiring {
                name: "versioned fill",
                steps: &["reader: load v1", "consumer: COMMIT v2, announce v2", "reader: fill v1 is refused"],
                code: "lab/src/programs/cache.rs",
            },
        ]
    }

    async fn run(&self, lab: &Lab) -> anyhow::Result<Finding> {
        let naive_query = || Spec::new("query-1", &["naive", "query"]).flag("slow-load-ms", SLOW_LOAD_MS);
        let never =
            Wired::new(lab, "never", Spec::new("consumer", &["naive", "last-write-wins"]), naive_query()).await?;
        let never = never.run(lab, false).await?;
        let delete = Wired::new(lab, "del", Spec::new("consumer", &["naive", "plain-delete"]), naive_query()).await?;
        let delete = delete.run(lab, false).await?;
        let query =
            Spec::new("query-1", &["query"]).flag("slow-load-ms", SLOW_LOAD_MS).flag("physical-ttl-ms", 3_600_000);
        let query = query.flag("logical-ttl-ms", 3_600_000);
        let wired = Wired::new(lab, "on", Spec::new("consumer", &["consumer"]), query).await?;
        let versioned = wired.run(lab, true).await?;
        let off = Side::new(never.trials + delete.trials, never.violations + delete.violations)
            .with("stale_accounts_without_invalidation", never.stale_accounts)
            .with("stale_ms_max_without_invalidation", never.busy.stale_ms_max)
            .with("stale_accounts_with_plain_delete", delete.stale_accounts)
            .with("stale_ms_max_with_plain_delete", delete.busy.stale_ms_max);
        let on = Side::new(versioned.trials, versioned.violations)
            .with("stale_accounts", versioned.stale_accounts)
            .with("cached_accounts", common::float(versioned.cached))
            .with("stale_reads_while_busy", common::float(versioned.busy.stale))
            .with("reads_while_busy", common::float(versioned.busy.answered))
            .with("stale_ms_max", versioned.busy.stale_ms_max);
        let mut finding = Finding::new(off, on);
        finding.charts.push(chart(&[("no invalidation", &never), ("plain DEL", &delete)], &versioned));
        finding.must_be_some("balances in the cache when all was quiet", versioned.cached);
        finding.must_be_none("entries of Redis are stale at the end", versioned.report.stale);
        finding.must_be_none("accounts are wrong at the end", versioned.report.wrong_accounts);
        finding.faults = versioned.faults;
        finding.must_have_faults(lab.scale.pick(&["Redis restart"], &["Redis restart", "SIGKILL", "SIGSTOP"]));
        finding.notes.push(format!(
            "Every load takes {SLOW_LOAD_MS} ms longer than it would, between reading the database and filling the cache. The \
             naive caches keep an entry for an hour: what they show at the end they would show for the rest of it."
        ));
        Ok(finding)
    }
}

struct Wired {
    system: System,
    clients: Clients,
    query: String,
}

struct Shown {
    trials: u64,
    violations: u64,
    stale_accounts: f64,
    busy: Reads,
    /// Accounts that the versioned cache held when all was quiet.
    cached: u64,
    report: Report,
    faults: std::collections::BTreeMap<String, u64>,
}

impl Wired {
    async fn new(lab: &Lab, side: &str, consumer: Spec, query: Spec) -> anyhow::Result<Self> {
        lab.progress(format!("{side}: starting"));
        let system = System::new(lab, "stale", side).await?;
        let relay = system.relay("relay-1", "").await?;
        let targets = vec![system.command("command-1", &[relay], "").await?];
        system.fleet.start(consumer).await?;
        let query = system.fleet.start(query).await?;
        let pause = Duration::from_millis(30);
        let clients = Clients { targets, accounts: ACCOUNTS, pause, withdrawal_every: 0, ..common::clients(lab) };
        clients.open_accounts().await?;
        Ok(Self { system, clients, query })
    }

    async fn run(self, lab: &Lab, faults: bool) -> anyhow::Result<Shown> {
        let system = &self.system;
        let urls = [self.query.clone()];
        let readers = Readers::start(&urls, &system.mysql_url, &system.prefix, ACCOUNTS, 8, lab.seed).await?;
        let working = self.clients.start();
        let busy = Duration::from_secs(lab.scale.pick(4, 15));
        lab.progress("readers and writers at work");
        if faults {
            let proxies = [&system.redis];
            let (fleet, hits) = (&system.fleet, &["consumer", "query"][..]);
            let storm =
                Storm { fleet, hits, proxies: &proxies, pause_ms: (300, 900), frozen_ms: (50, 600), seed: lab.seed };
            let progress = |faults| lab.progress(format!("versioned: {faults} faults"));
            storm.blow_for(busy / 2, progress).await;
            // In the middle: what Redis holds at the end was filled in, and invalidated, after it.
            storm::restart(&lab.stack, "redis", &system.fleet).await?;
            storm.blow_for(busy / 2, progress).await;
        } else {
            sleep(busy).await;
        }
        let history = working.stop().await?;
        system.quiet(GROUP).await?;
        let accounts = system.observed(None).await?.accounts;
        let cached = observe::cache(&system.redis_url, &system.prefix, &accounts).await?.len() as u64;
        let (trials, violations, stale_accounts) = self.read_all(lab.scale.pick(1, 8)).await?;
        let busy = readers.stop().await?;
        let report = system.report(&history, None).await?;
        Ok(Shown { trials, violations, stale_accounts, busy, cached, report, faults: system.faults.by_kind() })
    }

    /// Reads every account again and again; returns reads, stale ones, and accounts that were stale in the last round.
    async fn read_all(&self, seconds: u64) -> anyhow::Result<(u64, u64, f64)> {
        let mut conn = observe::connect(&self.system.mysql_url).await?;
        let rows = observe::projection(&mut conn, &self.system.prefix).await?;
        let client = HttpClient::new(Duration::from_secs(5));
        let deadline = Instant::now() + Duration::from_secs(seconds);
        let (mut trials, mut violations, mut stale) = (0, 0, 0);
        while Instant::now() < deadline {
            stale = 0;
            for row in &rows {
                let seen = answered(&client, &self.query, row.account.number()).await?;
                trials += 1;
                stale += u64::from(seen.version < row.version || seen.balance != row.balance);
            }
            violations += stale;
            sleep(Duration::from_millis(100)).await;
        }
        Ok((trials, violations, common::float(stale)))
    }
}

/// Reads until there is an answer: a program that was just killed is started again.
async fn answered(client: &HttpClient, url: &str, account: u16) -> anyhow::Result<Seen> {
    let deadline = Instant::now() + ANSWERED_WITHIN;
    loop {
        if let Some(seen) = read(client, url, account).await {
            return Ok(seen);
        }
        ensure!(Instant::now() < deadline, "account {account} could not be read when all was quiet");
        sleep(Duration::from_millis(50)).await;
    }
}

fn chart(naive: &[(&str, &Shown)], versioned: &Shown) -> Chart {
    let bar = |label: &str, shown: &Shown, protected| Bar {
        label: format!("{label}: {} of {ACCOUNTS} accounts stale at the end", shown.stale_accounts),
        value: shown.busy.stale_ms_max,
        protected,
    };
    let mut bars: Vec<Bar> = naive.iter().map(|(label, shown)| bar(label, shown, false)).collect();
    bars.push(bar("versioned fill", versioned, true));
    let title = "The longest that a read showed less than the projection had".to_owned();
    Chart::Bars { title, unit: "ms", logarithmic: true, bars }
}
