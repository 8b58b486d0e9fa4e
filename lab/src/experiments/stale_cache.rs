//! How long is a cache wrong? Without invalidation; with a plain DEL, which a slow reader overtakes; and with versioned fills.
//! Every account is one trial, and the slow reader is held between load and fill until the change has been made.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use async_trait::async_trait;
use hyper::Method;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use super::common;
use crate::checker::Report;
use crate::domain::{AccountId, Entry};
use crate::programs::http::HttpClient;
use crate::programs::pause::{Holds, PAUSE, PausePoint};
use crate::runner::clients::PATIENCE;
use crate::runner::readers::{Readers, Reads, Seen, read};
use crate::runner::system::GROUP;
use crate::runner::{Clients, History, Spec, Storm, System, observe, storm};
use crate::{Bar, Chart, Experiment, Finding, Lab, Side, Variant, Wiring};

/// Accounts of the clients that work while faults come.
const BUSY_ACCOUNTS: u16 = 60;
/// How much longer a load takes meanwhile between database and cache, in milliseconds: what a busy process costs.
const SLOW_LOAD_MS: u64 = 80;
/// How long an entry is kept, in milliseconds: what is shown at the end is shown for the rest of it.
const TTL_MS: u64 = 3_600_000;
/// How long a query program may take to answer when all is quiet, and a reader to be where it is held.
const ANSWERED_WITHIN: Duration = Duration::from_secs(100);

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
        "A trial is an account that was changed while its balance was cached, or while a slow reader stood between load and \
         fill, each account once; a violation is one of which an older version than the projection's was read after everything \
         was quiet."
    }

    fn wirings(&self) -> [Wiring; 2] {
        [
            Wiring {
                name: "no invalidation, or a plain DEL",
                steps: &["reader: load v1", "consumer: COMMIT v2, DEL", "✗ reader: fill v1", "v1 until its TTL"],
                code: "lab/src/naive/consumer.rs",
            },
            Wiring {
                name: "versioned fill",
                steps: &["reader: load v1", "consumer: COMMIT v2, announce v2", "reader: fill v1 is refused"],
                code: "lab/src/programs/cache.rs",
            },
        ]
    }

    async fn run(&self, lab: &Lab) -> anyhow::Result<Finding> {
        let accounts = lab.scale.pick(25, 200);
        let none = Wired::new(lab, "none", &["naive", "no-invalidation"], 0).await?;
        let none = none.cached(lab, 1..=accounts).await?;
        let delete = Wired::new(lab, "del", &["naive", "plain-delete"], 0).await?;
        let delete_quick = delete.cached(lab, 1..=accounts).await?;
        let delete_slow = delete.slow_reader(lab, accounts + 1..=2 * accounts).await?;
        let versioned = Wired::new(lab, "on", &["consumer"], 0).await?;
        let quick = versioned.cached(lab, 1..=accounts).await?;
        let slow = versioned.slow_reader(lab, accounts + 1..=2 * accounts).await?;
        drop((delete, versioned));
        let busy = Wired::new(lab, "busy", &["consumer"], SLOW_LOAD_MS).await?.busy(lab).await?;

        let off = Side::of(vec![none.variant("no invalidation"), delete_slow.variant("plain DEL, slow reader")])
            .with("stale_with_plain_delete_and_no_slow_reader", common::float(delete_quick.stale))
            .with("plain_delete_and_no_slow_reader_trials", common::float(delete_quick.trials))
            .with("entry_lives_on_s_min", none.lives_on_s.min(delete_slow.lives_on_s));
        let on = Side::of(vec![
            quick.variant("versioned fill"),
            slow.variant("versioned fill, slow reader"),
            busy.outcome.variant("versioned fill, under faults"),
        ]);
        let on = on
            .with("fills_refused", common::float(slow.refused))
            .with("cached_accounts_under_faults", common::float(busy.cached))
            .with("stale_reads_while_busy", common::float(busy.reads.stale))
            .with("reads_while_busy", common::float(busy.reads.answered))
            .with("stale_ms_max_while_busy", busy.reads.stale_ms_max);
        let mut finding = Finding::new(off, on);
        finding.charts.push(chart(&[
            ("no invalidation", &none, false),
            ("plain DEL", &delete_quick, false),
            ("plain DEL, slow reader", &delete_slow, false),
            ("versioned fill", &quick, true),
            ("versioned fill, slow reader", &slow, true),
            ("versioned fill, under faults", &busy.outcome, true),
        ]));
        finding.must_be_some("fills of slow readers that were refused", slow.refused);
        finding.must_be_some("balances in the cache when all was quiet", busy.cached);
        finding.must_be_none("entries of Redis are stale at the end", busy.report.stale);
        finding.must_be_none("accounts are wrong at the end", busy.report.wrong_accounts);
        finding.faults = busy.faults;
        finding.must_have_faults(lab.scale.pick(&["Redis restart"], &["Redis restart", "SIGKILL", "SIGSTOP"]));
        finding.notes.push(format!(
            "Both sides have the same query program and the same transaction in the consumer. Without invalidation it tells the \
             cache nothing; a plain DEL removes the entry and leaves no version behind, so that the fill of a slow reader is \
             taken. The slow reader is held at a named point between load and fill until the change is applied and the entry \
             deleted: what a process that is preempted or pages there does by chance. Entries are kept for {} s.",
            TTL_MS / 1_000
        ));
        finding.notes.push(format!(
            "Under faults four writers and eight readers work on {BUSY_ACCOUNTS} accounts, every load takes {SLOW_LOAD_MS} ms \
             longer than it would, and each account is read once at the end. A read while a change is on its way may still \
             show the version before it: that is what the reads while busy count."
        ));
        Ok(finding)
    }
}

/// A consumer of one kind, and a query program beside it that can be held.
struct Wired {
    system: System,
    clients: Clients,
    query: String,
    pauses: PathBuf,
    /// What was acknowledged.
    told: Mutex<Vec<Entry>>,
}

/// What became of some accounts, each a trial.
struct Outcome {
    trials: u64,
    stale: u64,
    /// Fills that were refused because something newer was known.
    refused: u64,
    /// The least that a stale entry has still to live, in seconds; endless where none is stale.
    lives_on_s: f64,
}

impl Outcome {
    fn variant(&self, name: &str) -> Variant {
        Variant::new(name, self.trials, self.stale)
    }
}

impl Wired {
    async fn new(lab: &Lab, side: &str, consumer: &[&str], slow_load_ms: u64) -> anyhow::Result<Self> {
        lab.progress(format!("{side}: starting"));
        let system = System::new(lab, "stale", side).await?;
        let pauses = system.dir.join("pauses");
        std::fs::create_dir_all(&pauses).with_context(|| format!("could not make {}", pauses.display()))?;
        let relay = system.relay("relay-1", "").await?;
        let targets = vec![system.command("command-1", &[relay], "").await?];
        system.fleet.start(Spec::new("consumer", consumer)).await?;
        let query = Spec::new("query-1", &["query"]).env(PAUSE, pauses.to_string_lossy());
        let query = query.flag("logical-ttl-ms", TTL_MS).flag("physical-ttl-ms", TTL_MS);
        let query = system.fleet.start(query.flag("slow-load-ms", slow_load_ms)).await?;
        let pause = Duration::from_millis(30);
        let clients = Clients { targets, accounts: BUSY_ACCOUNTS, pause, withdrawal_every: 0, ..common::clients(lab) };
        Ok(Self { system, clients, query, pauses, told: Mutex::default() })
    }

    /// Accounts that are cached, and then changed.
    async fn cached(&self, lab: &Lab, accounts: RangeInclusive<u16>) -> anyhow::Result<Outcome> {
        lab.progress(format!("{}: cached balances are changed", self.system.prefix));
        self.deposit(accounts.clone(), "first").await?;
        self.read_all(accounts.clone()).await?;
        self.deposit(accounts.clone(), "second").await?;
        self.outcome(accounts).await
    }

    /// Accounts that are changed between the load and the fill of a reader.
    async fn slow_reader(&self, lab: &Lab, accounts: RangeInclusive<u16>) -> anyhow::Result<Outcome> {
        lab.progress(format!("{}: slow readers are overtaken", self.system.prefix));
        self.deposit(accounts.clone(), "first").await?;
        let holds = Holds::new(&self.pauses, PausePoint::AfterLoadBeforeFill);
        let ids = accounts.clone().filter_map(AccountId::new).collect::<Vec<_>>();
        for id in &ids {
            holds.hold(*id)?;
        }
        let reading = self.read_all(accounts.clone());
        let overtaking = async {
            let until = Instant::now() + ANSWERED_WITHIN;
            while !ids.iter().all(|id| holds.is_held(*id)) {
                ensure!(Instant::now() < until, "the slow readers did not come to their fills");
                sleep(Duration::from_millis(5)).await;
            }
            let changed = self.deposit(accounts.clone(), "second").await;
            for id in &ids {
                holds.release(*id)?;
            }
            changed
        };
        tokio::try_join!(reading, overtaking)?;
        self.outcome(accounts).await
    }

    /// One deposit for each account, opened before if it is not, and applied when this returns.
    async fn deposit(&self, accounts: RangeInclusive<u16>, name: &str) -> anyhow::Result<()> {
        let (client, command) = (HttpClient::new(PATIENCE * 10), &self.clients.targets[0]);
        let mut sending = JoinSet::new();
        for account in accounts {
            let (client, url) = (client.clone(), format!("{command}/accounts/{account}"));
            let body = format!(r#"{{"tx_id":"{name}-{account}","amount":1}}"#);
            sending.spawn(async move {
                client.send(Method::PUT, &url, "").await?;
                let answer = client.send(Method::POST, &format!("{url}/deposits"), body).await?;
                ensure!(answer.status.is_success(), "{url}: {}", String::from_utf8_lossy(&answer.body));
                Ok(serde_json::from_slice(&answer.body)?)
            });
        }
        while let Some(sent) = sending.join_next().await {
            let entry = sent??;
            self.told.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
        }
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.system.keep_told(&told).await?;
        self.system.quiet(GROUP).await
    }

    /// One read of each account, all at once.
    async fn read_all(&self, accounts: impl IntoIterator<Item = u16>) -> anyhow::Result<BTreeMap<u16, Seen>> {
        let client = HttpClient::new(ANSWERED_WITHIN);
        let mut reading = JoinSet::new();
        for account in accounts {
            let (client, url) = (client.clone(), self.query.clone());
            reading.spawn(async move { anyhow::Ok((account, answered(&client, &url, account).await?)) });
        }
        let mut seen = BTreeMap::new();
        while let Some(read) = reading.join_next().await {
            seen.extend([read??]);
        }
        Ok(seen)
    }

    /// Reads each account once, now that all is quiet.
    async fn outcome(&self, accounts: RangeInclusive<u16>) -> anyhow::Result<Outcome> {
        let mut conn = observe::connect(&self.system.mysql_url).await?;
        let rows = observe::projection(&mut conn, &self.system.prefix).await?;
        conn.disconnect().await?;
        // An account that no event came of has no balance to show.
        let moved = rows.iter().map(|row| row.account.number()).filter(|account| accounts.contains(account));
        let seen = self.read_all(moved).await?;
        let rows = rows.iter().filter_map(|row| Some((row, seen.get(&row.account.number())?)));
        let stale = rows.filter(|(row, seen)| seen.version < row.version || seen.balance != row.balance);
        let stale: Vec<AccountId> = stale.map(|(row, _)| row.account).collect();
        Ok(Outcome {
            trials: seen.len() as u64,
            stale: stale.len() as u64,
            refused: self.refused().await?,
            lives_on_s: self.lives_on_s(&stale).await?,
        })
    }

    async fn refused(&self) -> anyhow::Result<u64> {
        let answer = HttpClient::new(ANSWERED_WITHIN).get(&format!("{}/counters", self.query)).await?;
        let counters: serde_json::Value = serde_json::from_slice(&answer.body)?;
        counters["fills_refused"].as_u64().context("a query program that does not count refused fills")
    }

    /// What the entries of these accounts have left, the least of them.
    async fn lives_on_s(&self, accounts: &[AccountId]) -> anyhow::Result<f64> {
        let client = redis::Client::open(self.system.redis_url.as_str())?;
        let mut conn = client.get_multiplexed_async_connection().await?;
        let mut least = f64::INFINITY;
        for account in accounts {
            let key = format!("{}:{{account:{account}}}:entry", self.system.prefix);
            let left_ms: i64 = redis::cmd("PTTL").arg(key).query_async(&mut conn).await?;
            least = least.min(common::float(left_ms.max(0).cast_unsigned()) / 1_000.0);
        }
        Ok(least)
    }

    /// Readers and writers at work while faults come.
    async fn busy(self, lab: &Lab) -> anyhow::Result<Busy> {
        let system = &self.system;
        self.clients.open_accounts().await?;
        let urls = [self.query.clone()];
        let readers = Readers::start(&urls, &system.mysql_url, &system.prefix, BUSY_ACCOUNTS, 8, lab.seed).await?;
        let working = self.clients.start();
        let span = Duration::from_secs(lab.scale.pick(3, 20));
        let proxies = [&system.redis];
        let (fleet, hits) = (&system.fleet, &["consumer", "query"][..]);
        let storm =
            Storm { fleet, hits, proxies: &proxies, pause_ms: (200, 700), frozen_ms: (50, 600), seed: lab.seed };
        let progress = |faults| lab.progress(format!("versioned fill: {faults} faults"));
        storm.blow_for(span / 2, progress).await;
        // In the middle: what Redis holds at the end was filled in, and invalidated, after it.
        storm::restart(&lab.stack, "redis", &system.fleet).await?;
        storm.blow_for(span / 2, progress).await;
        let history: History = working.stop().await?;
        system.quiet(GROUP).await?;
        let reads = readers.stop().await?;
        let accounts = system.observed(None).await?.accounts;
        let outcome = self.outcome(1..=BUSY_ACCOUNTS).await?;
        let cached = observe::cache(&system.redis_url, &system.prefix, &accounts).await?.len() as u64;
        let report = system.report(&history, Some(GROUP)).await?;
        Ok(Busy { outcome, reads, cached, report, faults: system.faults.by_kind() })
    }
}

/// What came of the faults.
struct Busy {
    outcome: Outcome,
    reads: Reads,
    /// Accounts that the cache held when all was quiet.
    cached: u64,
    report: Report,
    faults: BTreeMap<String, u64>,
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

fn chart(outcomes: &[(&str, &Outcome, bool)]) -> Chart {
    let bar = |(label, outcome, protected): &(&str, &Outcome, bool)| Bar {
        label: format!("{label}, {} accounts", outcome.trials),
        value: common::float(outcome.stale),
        protected: *protected,
    };
    let title = "Accounts that showed an old balance when all was quiet".to_owned();
    Chart::Bars { title, unit: "accounts", logarithmic: false, bars: outcomes.iter().map(bar).collect() }
}
