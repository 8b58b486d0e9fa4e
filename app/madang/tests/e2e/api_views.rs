//! Views over HTTP: who counts as one viewer, and whose word about an address is taken.

use serde_json::{Value, json};

use crate::command::run;
use crate::server::{ADMIN, Start, TestServer};

fn viewed(counted: bool, view_count: u64) -> Value {
    json!({"counted": counted, "view_count": view_count})
}

/// One address, a browser for each request. Limits as by default, so some requests are refused.
#[test]
fn one_address_counts_as_fifty_guests_however_many_browsers_it_claims() {
    let server = Start::fresh().set("rate_limit", "on").start();
    let article = server.article_id(&server.general(), &server.sign_in(ADMIN));
    let path = format!("/api/v1/articles/{article}/views");
    let answers =
        (0..700).map(|browser| server.call("POST", &path).header("user-agent", &format!("b {browser}")).send());
    let answered: Vec<Value> = answers.filter(|answer| answer.status == 200).map(|answer| answer.json(200)).collect();
    let counted = answered.iter().filter(|answer| answer["counted"] == true).count();
    println!("700 browsers of one address: {} answered, {counted} counted", answered.len());
    assert!(answered.len() >= 90, "{} were answered", answered.len());
    assert_eq!(counted, 50);
    assert_eq!(server.get(&path).json(200), json!({"view_count": 50}));
}

#[test]
fn a_viewer_counts_once_in_ten_minutes() {
    let server = TestServer::shared();
    let (_, token) = server.member("dora");
    let article = server.article_id(&server.general(), &token);
    let path = format!("/api/v1/articles/{article}/views");
    assert_eq!(server.get(&path).json(200), json!({"view_count": 0}));
    let member = || server.call("POST", &path).token(&token).send().json(200);
    assert_eq!((member(), member()), (viewed(true, 1), viewed(false, 1)));
    assert_eq!((server.view(&article, "a"), server.view(&article, "a")), (viewed(true, 2), viewed(false, 2)));
    assert_eq!(server.view(&article, "b"), viewed(true, 3));
    assert_eq!(server.get(&path).json(200), json!({"view_count": 3}));
    for id in ["1", "abc"] {
        let path = format!("/api/v1/articles/{id}/views");
        server.get(&path).problem(404, id);
        server.call("POST", &path).send().problem(404, id);
    }
    server.call("POST", &path).token("forged").send().problem(401, "not a guest");
    let cookie = format!("madang_session={token}");
    let foreign = server.call("POST", &path).header("cookie", &cookie).header("sec-fetch-site", "cross-site");
    foreign.send().problem(403, "another site's page");
    let own = server.call("POST", &path).header("cookie", &cookie).header("sec-fetch-site", "same-origin");
    assert_eq!(own.send().json(200), viewed(false, 3), "the same member, by cookie");
}

/// Looks at the article through whoever says to forward for `clients`.
fn forwarded(server: &TestServer, article: &str, clients: &str) -> bool {
    let call = server.call("POST", &format!("/api/v1/articles/{article}/views"));
    call.header("x-forwarded-for", clients).send().json(200)["counted"].as_bool().unwrap()
}

#[test]
fn guests_behind_a_trusted_proxy_are_told_apart() {
    let server = Start::fresh().set("trusted_proxies", "127.0.0.1, 10.0.0.0/8").start();
    let article = server.article_id(&server.general(), &server.sign_in(ADMIN));
    assert!(forwarded(&server, &article, "192.0.2.1"));
    assert!(forwarded(&server, &article, "192.0.2.2"));
    assert!(!forwarded(&server, &article, "192.0.2.1"), "the same guest");
    assert!(!forwarded(&server, &article, "192.0.2.9, 192.0.2.1"), "what a client puts in front does not count");
    assert!(!forwarded(&server, &article, "192.0.2.9, 192.0.2.1, 10.0.0.4"), "through two proxies");
    assert!(forwarded(&server, &article, "unknown"), "nothing is known but the proxy");
    assert!(!forwarded(&server, &article, "garbage"), "which counts once");
}

#[test]
fn nobody_else_is_believed_about_an_address() {
    let server = TestServer::shared();
    let article = server.article_id(&server.general(), &server.sign_in(ADMIN));
    assert!(forwarded(&server, &article, "192.0.2.1"));
    assert!(!forwarded(&server, &article, "192.0.2.2"), "the connection tells, not the header");
}

#[test]
fn a_proxy_that_cannot_be_one_stops_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let refused = run(&data, &["serve", "--set", "trusted_proxies=127.0.0.1,10.0.0.1/8"], "").expect(1);
    assert!(refused.stderr.contains("`trusted_proxies`") && refused.stderr.contains("10.0.0.0/8"), "{refused:?}");
    assert!(!data.exists());
}
