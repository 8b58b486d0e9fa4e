//! Every process is restarted, one after another, while people go on through a client that asks once more.

use crate::client::Client;
use crate::cluster::Cluster;
use crate::load::{Load, fill};
use crate::servers::Servers;
use crate::truth::{configure, everything_is_right, quiet_zone};
use crate::turns::alone;
use crate::waiting::eventually;

#[test]
fn a_rolling_restart_fails_no_request_and_loses_nothing() {
    let _turn = alone();
    let (first, second) = ("member,article,article-read", "comment,like,view,hot-article");
    let mut cluster = Cluster::prepared(&Servers::of_environment(), &[first, second, first, second]);
    configure(&cluster, &format!("time_zone = {:?}", quiet_zone()));
    cluster.start();
    let (boards, tokens) = fill(&cluster, 3, 40);
    let load = Load::start(4, &boards, &tokens, || Client::with_one_retry(&cluster));
    eventually("people are at work", || (load.calls() > 200).then_some(()));
    for number in 0..cluster.processes.len() {
        let process = &mut cluster.processes[number];
        process.stop();
        process.spawn();
        process.wait_until_up();
        eventually("it is ready", || (process.get("/readyz").status == 200).then_some(()));
        let calls = load.calls();
        eventually("people go on", || (load.calls() > calls + 100).then_some(()));
        assert_eq!(load.failures(), Vec::<String>::new(), "after the restart of process {number}");
    }
    let acknowledged = load.finish();
    println!(
        "{} calls over four restarts, {} of them healed by a second attempt, all under {:?}",
        acknowledged.took.len(),
        acknowledged.retried,
        acknowledged.permille(1_000)
    );
    assert_eq!(acknowledged.failures, Vec::<String>::new());
    everything_is_right(&cluster, &acknowledged);
    cluster.stop();
}
