//! The broker is away while people write: they do not notice, and afterwards everything is told once.

use std::time::Duration;

use crate::broker::Broker;
use crate::client::Client;
use crate::cluster::Cluster;
use crate::load::{Load, fill};
use crate::servers::Servers;
use crate::truth::{configure, everything_is_right, quiet_zone};
use crate::turns::{alone, is_long, is_very_long, last};
use crate::waiting::eventually;

/// An answer later than this is noticed.
const ANSWER_MAX: Duration = Duration::from_secs(10);

fn outage() -> Duration {
    Duration::from_secs(match (is_very_long(), is_long()) {
        (true, _) => 600,
        (false, true) => 60,
        (false, false) => 10,
    })
}

fn kafka_answers(cluster: &Cluster) -> bool {
    let ready = cluster.processes[0].get("/readyz").json(200);
    let parts = ready["parts"].as_array().unwrap();
    parts.iter().any(|part| part["name"] == "kafka" && part["ok"] == true)
}

#[test]
fn writes_go_on_without_a_broker_and_every_event_is_applied_once_after_its_return() {
    let _turn = alone();
    let mut broker = Broker::start();
    let servers = Servers { kafka: broker.address(), ..Servers::of_environment() };
    let mut cluster = Cluster::prepared(&servers, &["all"]);
    configure(&cluster, &format!("time_zone = {:?}", quiet_zone()));
    cluster.start();
    let (boards, tokens) = fill(&cluster, 3, 40);
    let load = Load::start(6, &boards, &tokens, || Client::new(&cluster));
    eventually("events arrive", || (load.calls() > 300 && kafka_answers(&cluster)).then_some(()));

    broker.kill();
    let before = load.calls();
    eventually("the process knows that the broker is away", || (!kafka_answers(&cluster)).then_some(()));
    last(outage());
    let meanwhile = load.calls() - before;
    broker.start_again();
    let again = load.calls();
    eventually("people go on after its return", || {
        (load.calls() > again + 300 && kafka_answers(&cluster)).then_some(())
    });
    let acknowledged = load.finish();
    println!(
        "{} calls, {meanwhile} of them without a broker; half under {:?}, 99 % under {:?}, all under {:?}",
        acknowledged.took.len(),
        acknowledged.permille(500),
        acknowledged.permille(990),
        acknowledged.permille(1_000)
    );
    assert!(meanwhile > 300, "only {meanwhile} calls were made without a broker");
    assert_eq!(acknowledged.failures, Vec::<String>::new());
    assert!(acknowledged.permille(1_000) < ANSWER_MAX, "{:?}", acknowledged.permille(1_000));
    everything_is_right(&cluster, &acknowledged);
    cluster.stop();
}
