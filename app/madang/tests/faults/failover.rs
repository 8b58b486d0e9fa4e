//! The primary of the only database server is killed while people write, and its replica takes its place.

use std::time::{Duration, Instant};

use madang_test_servers::Pair;

use crate::cluster::Cluster;
use crate::history::Writers;
use crate::load::fill;
use crate::servers::Servers;
use crate::truth::{check_compares_everything_and_finds_nothing, configure, quiet_zone};
use crate::turns::alone;
use crate::waiting::within;

/// Writes are acknowledged again so soon after the primary was killed.
const BACK_MAX: Duration = Duration::from_secs(15);
const AT_WORK: Duration = Duration::from_secs(60);
const PEOPLE: usize = 4;

#[test]
fn a_primary_that_is_killed_loses_nothing_that_was_acknowledged() {
    let _turn = alone();
    let mut pair = Pair::start();
    let servers = Servers { mysql: vec![pair.url()], ..Servers::of_environment() };
    let mut cluster = Cluster::prepared(&servers, &["all", "all"]);
    configure(&cluster, &format!("time_zone = {:?}", quiet_zone()));
    cluster.start();
    let (boards, tokens) = fill(&cluster, 2, 20);
    let writers = Writers::start(PEOPLE, &boards, &tokens, &cluster);
    within(AT_WORK, "people are at work", || (writers.acknowledged() > 100).then_some(()));

    let killed = Instant::now();
    pair.primary_mut().kill();
    pair.promote();
    let promoted = killed.elapsed();
    within(AT_WORK, "writes are back", || writers.first_after(killed + promoted, |_| true));
    let back = writers.first_after(killed + promoted, |_| true).unwrap() - killed;
    let acknowledged = writers.acknowledged();
    within(AT_WORK, "people go on", || (writers.acknowledged() > acknowledged + 100).then_some(()));

    let history = writers.finish();
    assert_eq!(history.wrong, Vec::<String>::new());
    let lost = history.lost(&cluster, &tokens);
    println!(
        "{} acknowledged, {} refused, {} lost; promoted after {promoted:?}, writes were back after {back:?}",
        history.acknowledged(),
        history.refused,
        lost.len()
    );
    assert_eq!(lost, Vec::<String>::new());
    assert!(back < BACK_MAX, "{back:?}");
    check_compares_everything_and_finds_nothing(&cluster);
    cluster.stop();
}
