//! A token that was ended stays ended in a process that cannot ask: it believes none until it knows which were ended, and
//! none again once what it knows is older than promised.

use std::time::Duration;

use crate::cluster::Cluster;
use crate::process::Process;
use crate::servers::Servers;
use crate::waiting::{eventually, within};

/// Within this time a revocation is in force everywhere; after it nobody is believed without having asked.
const PROMISED: Duration = Duration::from_secs(60);
/// Beside the bound: a busy machine.
const ROOM: Duration = Duration::from_secs(30);

/// The states of a process and of its part that knows sessions.
fn readiness(process: &Process) -> (u16, bool) {
    let answer = process.get("/readyz");
    let (status, parts) = (answer.status, answer.text());
    let parts: serde_json::Value = serde_json::from_str(&parts).expect("JSON");
    let parts = parts["parts"].as_array().expect("parts");
    (status, parts.iter().any(|part| part["name"] == "sessions" && part["ok"] == true))
}

#[test]
fn while_nobody_can_tell_who_was_signed_out_no_token_is_believed_and_the_process_is_not_ready() {
    let roles = ["member", "article,comment,like,view,article-read,hot-article"];
    let mut cluster = Cluster::prepared(&Servers::of_environment(), &roles);
    cluster.processes.iter_mut().for_each(|process| process.set("revocation_poll_ms=500"));
    cluster.start();
    let (ann, ben) = (cluster.member("ann"), cluster.member("ben"));
    let board = cluster.board("talk", "two_level");
    let article = cluster.article(&board, &ann, "first");
    let like = format!("/api/v1/articles/{article}/like");
    assert_eq!(cluster.call("DELETE", "/api/v1/sessions/current").token(&ann).send().status, 204);
    cluster.stop();

    cluster.processes[1].spawn();
    cluster.processes[1].wait_until_up();
    let put = |cluster: &Cluster, token: &str| cluster.processes[1].call("PUT", &like).token(token).send().status;
    println!("without members, never asked: signed out {}, signed in {}", put(&cluster, &ann), put(&cluster, &ben));
    assert_eq!((put(&cluster, &ann), put(&cluster, &ben)), (503, 503), "it cannot tell one from the other");
    assert_eq!(readiness(&cluster.processes[1]), (503, false));
    assert_eq!(cluster.processes[1].get(&format!("/api/v1/articles/{article}")).status, 200, "guests read on");

    cluster.processes[0].spawn();
    cluster.processes[0].wait_until_up();
    eventually("it has asked", || (put(&cluster, &ben) == 200).then_some(()));
    assert_eq!((put(&cluster, &ann), readiness(&cluster.processes[1])), (401, (200, true)));

    cluster.processes[0].kill();
    assert_eq!(put(&cluster, &ben), 200, "what is known stays in force for a while");
    let gone = std::time::Instant::now();
    within(PROMISED + ROOM, "nobody is believed past the promise", || (put(&cluster, &ben) == 503).then_some(()));
    println!("the members gone, tokens were refused after {:?}", gone.elapsed());
    assert!(gone.elapsed() > PROMISED / 2, "{:?}", gone.elapsed());
    assert_eq!(readiness(&cluster.processes[1]), (503, false));
    cluster.processes[1].stop();
}
