//! `cargo xtask chaos`: faults drawn at random over every server and process of a site at work, then what was acknowledged is
//! looked for. The servers are the run's own: MariaDB with semi-synchronous replicas and a tool that fails over, three brokers, a
//! Redis Cluster with replicas.

mod brokers;
mod fault;
mod nodes;
mod report;

use std::process::Command;
use std::time::{Duration, Instant};

use madang_kernel::ShardId;
use madang_test_servers::Pair;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use self::brokers::Brokers;
use self::fault::Fault;
use self::nodes::Nodes;
use self::report::{Report, Struck};
use crate::cluster::Cluster;
use crate::history::Writers;
use crate::load::fill;
use crate::servers::Servers;
use crate::truth::{check_compares_everything_and_finds_nothing, configure, quiet_zone};
use crate::turns::{alone, last};
use crate::waiting::within;

/// Processes of the site, each with all roles.
const PROCESSES: [&str; 3] = ["all"; 3];
const PEOPLE: usize = 6;
/// How long anything that comes back by itself may take.
const BACK_MAX: Duration = Duration::from_secs(60);
/// Between two faults, with everything whole.
const BETWEEN: Duration = Duration::from_secs(3);

/// A site at work on servers that fail.
pub(crate) struct Site {
    pub(crate) pairs: Vec<Pair>,
    pub(crate) brokers: Brokers,
    pub(crate) nodes: Nodes,
    pub(crate) cluster: Cluster,
    pub(crate) processes: usize,
}

impl Site {
    fn start(pairs: usize) -> Self {
        let starting = std::thread::spawn(Brokers::start);
        let pairs: Vec<Pair> = (0..pairs).map(|_| Pair::start_on_hosts()).collect();
        let nodes = Nodes::start();
        let brokers = starting.join().expect("brokers start");
        let servers = Servers {
            mysql: pairs.iter().map(Pair::url).collect(),
            redis: nodes.servers(),
            kafka: brokers.bootstrap(),
            own_write_wait_ms: None,
        };
        let mut cluster = Cluster::prepared(&servers, &PROCESSES);
        configure(&cluster, &format!("time_zone = {:?}", quiet_zone()));
        // As sites have it: tests wait for Redis for as long as a busy machine takes.
        let text = std::fs::read_to_string(cluster.config()).unwrap();
        std::fs::write(cluster.config(), text.replace("response_timeout_ms = 10000", "response_timeout_ms = 500"))
            .unwrap();
        cluster.start();
        Self { pairs, brokers, nodes, cluster, processes: PROCESSES.len() }
    }

    /// Whether a shard is on a database server, as the configuration gave them out.
    fn is_on(&self, place: usize) -> impl Fn(ShardId) -> bool + use<> {
        let pairs = self.pairs.len();
        move |shard| usize::from(shard.number()) * pairs / 64 == place
    }
}

/// Sends a signal by name to a process that this run started.
pub(crate) fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status();
    assert!(sent.expect("kill runs").success(), "{pid} got {name}");
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

#[test]
#[ignore = "run by `cargo xtask chaos`"]
fn faults_drawn_at_random_lose_nothing_that_was_acknowledged() {
    let _turn = alone();
    let minutes: u64 = variable("MADANG_CHAOS_MINUTES").map_or(2, |text| text.parse().expect("minutes"));
    let seed: u64 = variable("MADANG_CHAOS_SEED").map_or(1, |text| text.parse().expect("a seed"));
    let each = variable("MADANG_CHAOS_EACH").is_some();
    let only = variable("MADANG_CHAOS_ONLY").unwrap_or_default();
    let faults: Vec<Fault> = Fault::ALL.into_iter().filter(|fault| fault.in_words().contains(&only)).collect();
    assert!(!faults.is_empty(), "no fault is called {only:?}");
    let mut site = Site::start(if each { 1 } else { 2 });
    let (boards, tokens) = fill(&site.cluster, 4, 40);
    let writers = Writers::start(PEOPLE, &boards, &tokens, &site.cluster);
    within(BACK_MAX, "people are at work", || (writers.acknowledged() > 200).then_some(()));

    let mut chance = StdRng::seed_from_u64(seed);
    let (began, length) = (Instant::now(), Duration::from_secs(60 * minutes));
    let mut struck = Vec::new();
    // Each once, in order, or drawn for as long as the run lasts.
    while if each { struck.len() < faults.len() } else { began.elapsed() < length } {
        let number = if each { struck.len() } else { chance.random_range(0..faults.len()) };
        let (fault, drawn) = (faults[number], chance.random_range(0..1_000));
        let acknowledged = writers.acknowledged();
        let (at, place) = fault.strike(&mut site, drawn);
        let is_of: Box<dyn Fn(ShardId) -> bool> = match place {
            Some(place) => Box::new(site.is_on(place)),
            None => Box::new(|_| true),
        };
        let ended = Instant::now();
        within(BACK_MAX, "writes are back", || writers.first_after(ended, &is_of));
        last(BETWEEN);
        let without_writes = writers.longest_gap(at, &is_of);
        let acknowledged = writers.acknowledged() - acknowledged;
        println!(
            "{:>5.0} s  {:<66} {without_writes:.1?} without writes",
            began.elapsed().as_secs_f64(),
            fault.in_words()
        );
        struck.push(Struck { fault, acknowledged, without_writes });
        fault.mend(&mut site, place);
        within(BACK_MAX, "Redis is whole", || site.nodes.is_whole().then_some(()));
        last(BETWEEN);
    }

    let lasted = began.elapsed();
    let history = writers.finish();
    let lost = history.lost(&site.cluster, &tokens);
    let report = Report {
        seed,
        lasted,
        struck,
        acknowledged: history.acknowledged(),
        refused: history.refused,
        lost: lost.len(),
    };
    println!("{}", report.in_words());
    if let Some(file) = variable("MADANG_CHAOS_REPORT") {
        std::fs::write(&file, report.in_words()).expect("the report is written");
    }
    assert_eq!(lost, Vec::<String>::new());
    assert_eq!(history.wrong, Vec::<String>::new());
    check_compares_everything_and_finds_nothing(&site.cluster);
    println!("check: no difference");
    site.cluster.stop();
}
