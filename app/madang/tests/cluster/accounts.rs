//! Two processes: what is decided about a member in one holds in the other soon, and limits hold for both together.

use std::time::Duration;

use serde_json::json;

use crate::cluster::Cluster;
use crate::process::{ADMIN, PASSWORD, Process};
use crate::servers::Servers;
use crate::waiting::within;

/// What is promised.
const EVERYWHERE: Duration = Duration::from_secs(60);
/// Registrations at once from one address.
const SIGN_UPS: usize = 5;

fn sign_in(process: &Process, name: &str, password: &str) -> String {
    let body = json!({"name": name, "password": password});
    let session = process.call("POST", "/api/v1/sessions").json(&body).send().json(201);
    session["token"].as_str().expect("a token").to_owned()
}

fn status(process: &Process, method: &str, path: &str, token: &str) -> u16 {
    process.call(method, path).token(token).send().status
}

#[test]
fn what_ends_or_changes_in_one_process_does_in_the_other_within_a_minute() {
    let cluster = Cluster::split(&["all", "all"]);
    let [one, other] = &cluster.processes[..] else { panic!("two processes") };
    let (admin, board) = (sign_in(one, ADMIN, PASSWORD), cluster.board("talk", "two_level"));
    let ann = cluster.member("ann");
    let id = one.call("GET", "/api/v1/members/me").token(&ann).send().json(200)["member_id"].clone();
    let id = id.as_str().expect("an id");
    let article = cluster.article(&board, &admin, "of another");
    let (like, me) = (format!("/api/v1/articles/{article}/like"), "/api/v1/members/me");
    let path = format!("/api/v1/articles/{article}");
    let edit = |process: &Process| {
        process.call("PUT", &path).token(&ann).json(&json!({"title": "t", "content": "c"})).send().status
    };
    let put = |path: String, body: serde_json::Value| one.call("PUT", &path).token(&admin).json(&body).send().json(200);

    assert_eq!(edit(other), 403);
    put(format!("/api/v1/members/{id}/role"), json!({"role": "moderator"}));
    assert_eq!(edit(one), 200, "at once where it was given");
    within(EVERYWHERE, "the role holds in the other", || (edit(other) == 200).then_some(()));

    put(format!("/api/v1/members/{id}/suspension"), json!({"until": "2099-01-01T00:00:00Z", "reason": "spam"}));
    assert_eq!(status(one, "PUT", &like, &ann), 403, "at once where it was said");
    within(EVERYWHERE, "the suspension holds in the other", || {
        (status(other, "PUT", &like, &ann) == 403).then_some(())
    });

    let second = sign_in(one, "ann", PASSWORD);
    let change = json!({"current": PASSWORD, "new": "another horse battery"});
    assert_eq!(one.call("PUT", "/api/v1/members/me/password").token(&second).json(&change).send().status, 204);
    assert_eq!((status(one, "GET", me, &ann), status(one, "GET", me, &second)), (401, 200));
    within(EVERYWHERE, "the old session has ended in the other", || {
        (status(other, "GET", me, &ann) == 401).then_some(())
    });
    assert_eq!(status(other, "GET", me, &second), 200, "the one that changed the password goes on");

    assert_eq!(status(one, "DELETE", "/api/v1/sessions/current", &second), 204);
    assert_eq!(status(one, "GET", me, &second), 401);
    within(EVERYWHERE, "the sign-out holds in the other", || (status(other, "GET", me, &second) == 401).then_some(()));
}

#[test]
fn strangers_who_guess_at_one_process_keep_no_owner_out_of_another_on_their_own_device() {
    let mut cluster = Cluster::prepared(&Servers::of_environment(), &["all", "all"]);
    for process in &mut cluster.processes {
        process.set("rate_limit=on");
        process.set("trusted_proxies=127.0.0.1");
    }
    cluster.start();
    let [one, other] = &cluster.processes[..] else { panic!("two processes") };
    let sign_in = |process: &Process, password: &str, from: &str, cookie: &str| {
        let body = json!({"name": ADMIN, "password": password});
        let call = process.call("POST", "/api/v1/sessions").header("x-forwarded-for", from);
        call.header("cookie", cookie).json(&body).send()
    };
    let first = sign_in(other, PASSWORD, "198.51.100.7", "none=1");
    let device = first.headers("set-cookie").into_iter().find(|cookie| cookie.starts_with("madang_device="));
    let device = device.expect("a note").split(';').next().expect("a value").to_owned();
    let guesses =
        (0..60).map(|number| sign_in(one, "wrong horse battery", &format!("192.0.2.{}", number / 5), "none=1"));
    let tried = guesses.filter(|answer| answer.status == 401).count();
    assert!((19..=25).contains(&tried), "{tried} of 60: twenty with the owner's own, and one a minute");
    assert_eq!(sign_in(other, PASSWORD, "198.51.100.7", "none=1").status, 429, "strangers wait, at every process");
    assert_eq!(sign_in(other, PASSWORD, "203.0.113.9", &device).status, 201);
    assert_eq!(sign_in(one, PASSWORD, "203.0.113.9", &device).status, 201);
}

#[test]
fn two_processes_share_one_bucket() {
    let mut cluster = Cluster::prepared(&Servers::of_environment(), &["all", "all"]);
    for process in &mut cluster.processes {
        process.set("rate_limit=on");
    }
    cluster.start();
    let register = |process: &Process, number: usize| {
        let body = json!({"name": format!("member_{number}"), "password": PASSWORD});
        process.call("POST", "/api/v1/members").json(&body).send()
    };
    for number in 0..SIGN_UPS {
        let answer = register(&cluster.processes[number % 2], number);
        assert_eq!(answer.status, 201, "{}", answer.text());
    }
    for process in &cluster.processes {
        let refused = register(process, SIGN_UPS);
        refused.problem(429, "the bucket of both is empty");
        let retry_after: u64 = refused.header("retry-after").expect("when").parse().expect("seconds");
        assert!((1..=180).contains(&retry_after), "{retry_after}");
    }
}
