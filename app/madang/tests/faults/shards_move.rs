//! Three processes of one role share the shards: when one dies, stands still or leaves, the others have its shards soon.

use std::time::{Duration, Instant};

use crate::cluster::Cluster;
use crate::process::Process;
use crate::turns::alone;
use crate::waiting::eventually;

/// A process that died or stands still has no shards after this.
const DEAD_MAX: Duration = Duration::from_secs(10);
/// One that leaves has none after this.
const LEFT_MAX: Duration = Duration::from_secs(1);
/// What a look at three processes takes at most on a machine that is not busy.
const LOOK: Duration = Duration::from_millis(50);
const SHARDS: u64 = 64;

/// The shards of the relays of likes that a process says it has.
fn shards_of(process: &Process) -> std::ops::Range<u64> {
    let metrics = process.get("/metrics").text();
    let value = |name: &str| {
        let line = metrics.lines().find(|line| line.starts_with(&format!("{name}{{service=\"like\"}}")));
        line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or(0)
    };
    value("madang_relay_shards_from")..value("madang_relay_shards_to")
}

/// How many processes say that they have each shard.
fn owners(processes: &[&Process]) -> Vec<usize> {
    let shares: Vec<_> = processes.iter().map(|process| shards_of(process)).collect();
    (0..SHARDS).map(|shard| shares.iter().filter(|share| share.contains(&shard)).count()).collect()
}

/// Waits until each shard has one owner among these, and each of these has some.
fn shared_out(processes: &[&Process]) {
    eventually("each shard has one owner", || {
        let each_has_some = processes.iter().all(|process| !shards_of(process).is_empty());
        (each_has_some && owners(processes).iter().all(|owners| *owners == 1)).then_some(())
    });
}

/// Waits until those who are left have every shard; tells how long that took, without what the machine took to look.
fn taken_over(left: &[&Process], since: Instant) -> Duration {
    let mut held_up = Duration::ZERO;
    let mut looked = Instant::now();
    eventually("those who are left have every shard", || {
        held_up = held_up.max(looked.elapsed().saturating_sub(LOOK));
        looked = Instant::now();
        owners(left).iter().all(|owners| *owners > 0).then_some(())
    });
    since.elapsed().saturating_sub(held_up)
}

#[test]
fn shards_move_when_a_process_is_killed_stands_still_or_leaves() {
    let _turn = alone();
    let rest = "member,article,comment,view,hot-article,article-read";
    let mut cluster = Cluster::split(&["like", "like", "like", rest]);
    let all = |cluster: &Cluster| shared_out(&cluster.processes[..3].iter().collect::<Vec<_>>());
    all(&cluster);

    let since = Instant::now();
    cluster.processes[0].kill();
    let killed = taken_over(&[&cluster.processes[1], &cluster.processes[2]], since);
    shared_out(&[&cluster.processes[1], &cluster.processes[2]]);
    cluster.processes[0].spawn();
    cluster.processes[0].wait_until_up();
    all(&cluster);

    let since = Instant::now();
    cluster.processes[1].signal("STOP");
    let stood_still = taken_over(&[&cluster.processes[0], &cluster.processes[2]], since);
    cluster.processes[1].signal("CONT");
    // It finds out that others have its shards, and comes back as a newcomer.
    all(&cluster);

    let since = Instant::now();
    cluster.processes[2].signal("TERM");
    let left = taken_over(&[&cluster.processes[0], &cluster.processes[1]], since);
    assert!(cluster.processes[2].ended().success());
    println!(
        "its shards had other owners {killed:?} after a kill, {stood_still:?} after a stop, {left:?} after leaving"
    );
    assert!(killed <= DEAD_MAX && stood_still <= DEAD_MAX, "{killed:?}, {stood_still:?}");
    assert!(left <= LEFT_MAX, "{left:?}");
    // Each of the others ends as orderly, whoever is left.
    for number in [0, 1, 3] {
        cluster.processes[number].stop();
    }
}
