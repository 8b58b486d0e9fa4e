//! `redis-slots`: what breaks when a program meets Redis Cluster, and while its slots move.

mod cluster;
mod naive;
mod protected;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use tokio::task::JoinSet;

use crate::durations::number;
use crate::{Bar, Chart, Experiment, Finding, Lab, Side, Variant, Wiring};
use cluster::{Cluster, Redirections};

/// Accounts whose keys are used; each has slots of its own.
const ACCOUNTS: u32 = 48;
/// Callers at work while slots move.
const CALLERS: u64 = 16;

/// Between two operations of a caller while slots move, on both sides: an operation that fails at once is not made more often
/// than one that takes its time.
const PAUSE: Duration = Duration::from_millis(5);

/// The experiment.
pub struct RedisSlots;

/// Calls and what came of them, by what was called.
#[derive(Debug, Clone, Default)]
struct Calls {
    made: BTreeMap<&'static str, u64>,
    /// Errors that reached the caller, by command and the error's first word.
    errors: BTreeMap<(&'static str, String), u64>,
}

impl Calls {
    fn note<T, E: ToString>(&mut self, command: &'static str, answer: &Result<T, E>) {
        *self.made.entry(command).or_default() += 1;
        if let Err(error) = answer {
            *self.errors.entry((command, kind_of(&error.to_string()))).or_default() += 1;
        }
    }

    fn add(&mut self, other: Self) {
        for (command, count) in other.made {
            *self.made.entry(command).or_default() += count;
        }
        for (kind, count) in other.errors {
            *self.errors.entry(kind).or_default() += count;
        }
    }

    fn made(&self) -> u64 {
        self.made.values().sum()
    }

    fn errors(&self) -> u64 {
        self.errors.values().sum()
    }

    fn errors_of(&self, command: &str) -> u64 {
        self.errors.iter().filter(|((of, _), _)| *of == command).map(|(_, count)| count).sum()
    }

    /// Each command by itself.
    fn variants(&self, when: &str) -> Vec<Variant> {
        let one = |(command, made): (&&str, &u64)| {
            Variant::new(&format!("{command}, {when}"), *made, self.errors_of(command))
        };
        self.made.iter().map(one).collect()
    }
}

/// What a client calls the answer of a cluster that is not the one asked for.
fn kind_of(error: &str) -> String {
    let known = ["CROSSSLOT", "EXECABORT", "MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN"];
    // redis-rs describes errors in words: "CrossSlot", "An error was signalled by the server - Moved: …".
    let lower = error.to_lowercase().replace(' ', "");
    let found = known.into_iter().find(|kind| lower.contains(&kind.to_lowercase()));
    // What EXEC answers in place of its results is of no type that redis-rs expects, and it does not repeat it.
    let in_exec = lower.contains("parsingmultiresponse").then_some("CROSSSLOT");
    found.or(in_exec).map_or_else(|| error.chars().take(60).collect(), str::to_owned)
}

#[async_trait]
impl Experiment for RedisSlots {
    fn id(&self) -> &'static str {
        "redis-slots"
    }

    fn question(&self) -> &'static str {
        "What breaks on a Redis Cluster?"
    }

    fn counted(&self) -> &'static str {
        "A trial is one operation (MGET, MULTI, a script over two keys, or INCR), which its caller does not repeat; a violation \
         is one whose caller got an error. MGET, MULTI and the script need hash tags and are called while slots rest; INCR needs \
         redirections to be followed and is called while they move."
    }

    fn wirings(&self) -> [Wiring; 2] {
        [
            Wiring {
                name: "keys without hash tags",
                steps: &["account:7:balance", "account:7:version", "two slots", "✗ CROSSSLOT, MOVED"],
                code: "lab/src/experiments/redis_slots/naive.rs",
            },
            Wiring {
                name: "hash tags, redirections followed",
                steps: &["lab:{7}:balance", "lab:{7}:version", "one slot", "follows MOVED and ASK"],
                code: "lab/src/experiments/redis_slots/protected.rs",
            },
        ]
    }

    async fn run(&self, lab: &Lab) -> anyhow::Result<Finding> {
        let urls = lab.stack.redis_cluster()?;
        let cluster = Cluster::connect(&urls).await?;
        let calls_each = lab.scale.pick(400, 4_000);
        let moves = lab.scale.pick(60, 500);
        let naive = Arc::new(naive::Client::connect(&cluster, ACCOUNTS).await?);
        let protected = Arc::new(protected::Client::connect(urls).await?);

        let off = naive_at_rest(lab, &naive, calls_each).await;
        let on = protected_at_rest(lab, &protected, calls_each).await;
        for account in 0..ACCOUNTS {
            protected.forget(account).await?;
        }
        let (naive_moving, naive_redirections) = {
            let work = Work::Naive(Arc::clone(&naive));
            while_slots_move(lab, &cluster, work, moves).await?
        };
        let work = Work::Protected(Arc::clone(&protected));
        let (moving, redirections) = while_slots_move(lab, &cluster, work, moves).await?;
        let wrong = wrong_counters(&protected, &moving.told).await?;
        forget(&cluster, &protected).await?;

        let mut finding = Finding::new(
            side(&off, &naive_moving.calls, naive_redirections),
            side(&on, &moving.calls, redirections).with("wrong_counters", number(wrong)),
        );
        finding.must_be_none("counters differ from what callers were told", wrong);
        finding.must_be_some("redirections that the engine followed", redirections.sum());
        finding.must_be_some("slots that moved", moves);
        finding.on = finding.on.with("slots_moved", number(moves));
        let (mut off, mut on) = (off, on);
        off.add(naive_moving.calls.clone());
        on.add(moving.calls.clone());
        finding.charts.push(errors_chart(&off, &on));
        finding.charts.push(redirections_chart(naive_redirections, redirections));
        finding.notes.push(format!(
            "Slots that move are planned work and no faults. {moves} moved under each wiring, key by key (SETSLOT, MIGRATE), while {CALLERS} callers worked. The engine \
             followed {} redirections ({} MOVED, {} ASK, {} TRYAGAIN) and passed {} on.",
            redirections.sum(),
            redirections.moved,
            redirections.ask,
            redirections.try_again,
            moving.calls.errors(),
        ));
        finding.notes.push(
            "A MULTI without hash tags fails in two ways: EXECABORT where the second key lies on another node, CROSSSLOT \
             where one node has both slots."
                .to_owned(),
        );
        Ok(finding)
    }
}

/// A side: each operation by itself, at rest and while slots move.
fn side(rested: &Calls, moving: &Calls, redirections: Redirections) -> Side {
    let mut side = Side::of([rested.variants("slots at rest"), moving.variants("while slots move")].concat());
    for ((command, kind), count) in rested.errors.iter().chain(&moving.errors) {
        side = side.with(&format!("{command}_{kind}").to_lowercase(), number(*count));
    }
    side.with("redirections", number(redirections.sum()))
}

async fn naive_at_rest(lab: &Lab, client: &naive::Client, calls_each: u32) -> Calls {
    let mut calls = Calls::default();
    for number in 0..calls_each {
        let account = number % ACCOUNTS;
        calls.note("MULTI", &client.write(account, 1, 1).await);
        calls.note("script", &client.deposit(account, 1).await);
        calls.note("MGET", &client.read(account).await);
        if number % 1_000 == 0 {
            lab.progress(format!("without hash tags: {} calls, {} errors", calls.made(), calls.errors()));
        }
    }
    calls
}

async fn protected_at_rest(lab: &Lab, client: &protected::Client, calls_each: u32) -> Calls {
    let mut calls = Calls::default();
    for number in 0..calls_each {
        let account = number % ACCOUNTS;
        calls.note("MULTI", &client.write(account, 1, 1).await);
        calls.note("script", &client.deposit(account, 1).await);
        calls.note("MGET", &client.read(account).await);
        if number % 1_000 == 0 {
            lab.progress(format!("with hash tags: {} calls, {} errors", calls.made(), calls.errors()));
        }
    }
    calls
}

/// Who works while slots move.
#[derive(Clone)]
enum Work {
    Naive(Arc<naive::Client>),
    Protected(Arc<protected::Client>),
}

/// What callers did while slots moved, and what each account's counters must hold by what they were told.
#[derive(Default)]
struct Worked {
    calls: Calls,
    /// By account: deposits, counts.
    told: BTreeMap<u32, [i64; 2]>,
}

impl Work {
    async fn once(&self, account: u32, turn: u64, worked: &mut Worked) {
        let told = worked.told.entry(account).or_default();
        match (self, turn % 3) {
            // Only what works on one node can be told from what breaks because a slot moves.
            (Self::Naive(client), _) => worked.calls.note("INCR", &client.count(account).await),
            (Self::Protected(client), 0) => worked.calls.note("MGET", &client.read(account).await),
            (Self::Protected(client), 1) => {
                let answer = client.deposit(account, 1).await;
                told[0] += i64::from(answer.is_ok());
                worked.calls.note("script", &answer);
            }
            (Self::Protected(client), _) => {
                let answer = client.count(account).await;
                told[1] += i64::from(answer.is_ok());
                worked.calls.note("INCR", &answer);
            }
        }
    }

    fn key(&self, account: u32) -> String {
        match self {
            Self::Naive(_) => naive::balance_key(account),
            Self::Protected(client) => client.any_key(account),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Naive(_) => "without redirections",
            Self::Protected(_) => "following redirections",
        }
    }
}

/// Moves slots of the accounts, each to another node and in the end back home, while callers work.
async fn while_slots_move(
    lab: &Lab,
    cluster: &Cluster,
    work: Work,
    moves: u64,
) -> anyhow::Result<(Worked, Redirections)> {
    let mut slots = Vec::new();
    for account in 0..ACCOUNTS {
        let slot = cluster.slot(&work.key(account)).await?;
        slots.push((slot, cluster.owner(slot).await?));
    }
    let before = cluster.redirections().await?;
    let stop = Arc::new(AtomicBool::new(false));
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let (work, stop, mut chance) = (work.clone(), Arc::clone(&stop), StdRng::seed_from_u64(lab.seed ^ caller));
        callers.spawn(async move {
            let mut worked = Worked::default();
            while !stop.load(Ordering::Relaxed) {
                work.once(chance.random_range(0..ACCOUNTS), chance.random(), &mut worked).await;
                tokio::time::sleep(PAUSE).await;
            }
            worked
        });
    }
    let moved = move_slots(lab, cluster, &work, &slots, moves).await;
    stop.store(true, Ordering::Relaxed);
    let mut sum = Worked::default();
    while let Some(worked) = callers.join_next().await {
        let worked = worked?;
        sum.calls.add(worked.calls);
        for (account, [deposits, counts]) in worked.told {
            let told = sum.told.entry(account).or_default();
            told[0] += deposits;
            told[1] += counts;
        }
    }
    moved?;
    let redirections = cluster.redirections().await?.since(before);
    for node in 0..cluster.nodes.len() {
        let homeless = slots.iter().filter(|(_, home)| *home == node).map(|(slot, _)| *slot);
        move_all(cluster, homeless, node).await?;
    }
    Ok((sum, redirections))
}

/// Moves those of these slots that are elsewhere to one node, and waits until all nodes know.
async fn move_all(cluster: &Cluster, slots: impl Iterator<Item = u16>, to: usize) -> anyhow::Result<()> {
    for slot in slots {
        if cluster.owner(slot).await? != to {
            cluster.move_slot(slot, to).await?;
        }
    }
    cluster.settle().await
}

async fn move_slots(
    lab: &Lab,
    cluster: &Cluster,
    work: &Work,
    slots: &[(u16, usize)],
    moves: u64,
) -> anyhow::Result<()> {
    let mut chance = StdRng::seed_from_u64(lab.seed);
    let (mut done, mut to) = (0, 0);
    while done < moves {
        // One node takes all that it does not have, as when a cluster is made smaller; then the next one does.
        to = (to + chance.random_range(1..cluster.nodes.len())) % cluster.nodes.len();
        for (slot, _) in slots {
            if done < moves && cluster.owner(*slot).await? != to {
                cluster.move_slot(*slot, to).await?;
                done += 1;
            }
        }
        cluster.settle().await?;
        lab.progress(format!("{}: {done}/{moves} slots moved", work.name()));
    }
    Ok(())
}

/// Accounts whose counters do not hold what callers were told.
async fn wrong_counters(client: &protected::Client, told: &BTreeMap<u32, [i64; 2]>) -> anyhow::Result<u64> {
    let mut wrong = 0;
    for (account, [deposits, counts]) in told {
        wrong += u64::from(client.held(*account).await? != [*deposits, *deposits, *counts]);
    }
    Ok(wrong)
}

async fn forget(cluster: &Cluster, client: &protected::Client) -> anyhow::Result<()> {
    for account in 0..ACCOUNTS {
        client.forget(account).await?;
        for key in [naive::balance_key(account), naive::version_key(account)] {
            let owner = cluster.owner(cluster.slot(&key).await?).await?;
            redis::cmd("UNLINK").arg(key).exec_async(&mut cluster.nodes[owner].connection.clone()).await?;
        }
    }
    Ok(())
}

fn errors_chart(off: &Calls, on: &Calls) -> Chart {
    let bar = |calls: &Calls, command: &str, protected: bool| Bar {
        label: command.to_owned(),
        value: number(calls.errors_of(command)),
        protected,
    };
    let commands = ["MGET", "MULTI", "script", "INCR"];
    let bars = commands.iter().map(|command| bar(off, command, false));
    let bars = bars.chain(commands.iter().map(|command| bar(on, command, true))).collect();
    Chart::Bars { title: "Errors that reached a caller".to_owned(), unit: "errors", logarithmic: false, bars }
}

fn redirections_chart(off: Redirections, on: Redirections) -> Chart {
    let bars = |redirections: Redirections, protected| {
        let Redirections { moved, ask, try_again } = redirections;
        [("MOVED", moved), ("ASK", ask), ("TRYAGAIN", try_again)].map(|(label, count)| Bar {
            label: label.to_owned(),
            value: number(count),
            protected,
        })
    };
    let title = "Redirections while slots moved: passed on, or followed".to_owned();
    Chart::Bars { title, unit: "answers", logarithmic: true, bars: [bars(off, false), bars(on, true)].concat() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_is_counted_by_itself() {
        let mut rested = Calls::default();
        rested.note::<(), _>("MGET", &Err("CROSSSLOT"));
        rested.note::<(), &str>("MULTI", &Ok(()));
        let found = side(&rested, &Calls::default(), Redirections::default());
        let expected = [Variant::new("MGET, slots at rest", 1, 1), Variant::new("MULTI, slots at rest", 1, 0)];
        assert_eq!((found.variants.as_slice(), found.trials, found.violations), (&expected[..], 2, 1));
    }

    #[test]
    fn errors_are_told_apart_by_their_kind() {
        assert_eq!(kind_of("\"CrossSlot\": Keys in request don't hash to the same slot"), "CROSSSLOT");
        assert_eq!(kind_of("An error was signalled by the server - Moved: 12 127.0.0.1:1"), "MOVED");
        assert_eq!(kind_of("EXECABORT: Transaction discarded because of previous errors."), "EXECABORT");
        assert_eq!(kind_of("Invalid response when parsing multi response - UnexpectedReturnType"), "CROSSSLOT");
        assert_eq!(kind_of("part 3 did not answer a moment ago"), "part 3 did not answer a moment ago");
    }
}
