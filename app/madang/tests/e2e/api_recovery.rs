//! Forgotten passwords: links by API and by the command line, and what is not configured.

use serde_json::json;

use crate::server::{ADMIN, TestServer, eventually};

const NEW: &str = "a quite new password";

/// What a link ends with.
fn token(url: &str) -> String {
    let (_, token) = url.trim().rsplit_once("/password-reset/").expect("a link");
    token.to_owned()
}

#[test]
fn a_link_lets_a_member_choose_a_new_password_once_and_ends_their_sessions() {
    let server = TestServer::shared();
    let admin = server.sign_in(ADMIN);
    let (id, old_session) = server.member("lost");
    let me = server.call("GET", "/api/v1/members/me").token(&old_session).send().json(200);
    let name = me["name"].as_str().unwrap().to_owned();
    let issue = || server.call("POST", &format!("/api/v1/members/{id}/password-reset")).token(&admin).send();
    let first = token(issue().json(201)["url"].as_str().unwrap());
    let answer = issue().json(201);
    let second = token(answer["url"].as_str().unwrap());
    assert!(answer["expires_at"].as_str().unwrap() > me["created_at"].as_str().unwrap());

    let reset = |token: &str, password: &str| {
        let path = format!("/api/v1/password-resets/{token}");
        server.call("PUT", &path).json(&json!({"password": password})).send()
    };
    for (case, token) in
        [("replaced", first.as_str()), ("made up", "A".repeat(43).as_str()), ("no token", "x"), ("empty", "%20")]
    {
        reset(token, NEW).problem(404, case);
    }
    reset(&second, "short").invalid_field("password", "too short");
    reset(&second, &name).invalid_field("password", "their name");
    let used = reset(&second, NEW);
    assert_eq!(used.status, 204);
    assert!(
        used.header("set-cookie").is_some_and(|set| set.contains("madang_device=")),
        "whoever has the link signs in here while strangers guess"
    );
    reset(&second, NEW).problem(404, "used");

    let sign_in = |password: &str| {
        server.call("POST", "/api/v1/sessions").json(&json!({"name": name, "password": password})).send()
    };
    sign_in(NEW).json(201);
    eventually("the session of before has ended", || {
        (server.call("GET", "/api/v1/members/me").token(&old_session).send().status == 401).then_some(())
    });
    let log = server.call("GET", "/api/v1/moderation/log?limit=100").token(&admin).send().json(200);
    let told = log["items"].as_array().unwrap().iter().any(|act| act["kind"] == json!("password_reset_issued"));
    assert!(told, "who gave out a link is in the log: {log}");
    server.call("POST", "/api/v1/members/123456789/password-reset").token(&admin).send().problem(404, "nobody");
    let own = server.call("GET", "/api/v1/members/me").token(&admin).send().json(200)["member_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let of_admin = server.call("POST", &format!("/api/v1/members/{own}/password-reset")).token(&admin).send();
    of_admin.problem(403, "a session alone makes no link for an administrator");
}

#[test]
fn what_needs_mail_says_that_none_is_configured() {
    let server = TestServer::shared();
    let (_, member) = server.member("mailer");
    let asked = server.call("POST", "/api/v1/password-resets").json(&json!({"email": "a@b.example"})).send();
    let set = server.call("PUT", "/api/v1/members/me/email").token(&member);
    let set = set.json(&json!({"email": "a@b.example", "password": "correct horse battery"})).send();
    for answer in [asked, set] {
        assert_eq!(answer.json(404)["type"], json!("urn:madang:problem:not-configured"));
    }
}

#[test]
fn the_command_line_prints_a_link() {
    let server = TestServer::shared();
    let (_, session) = server.member("loser");
    let me = server.call("GET", "/api/v1/members/me").token(&session).send().json(200);
    let name = me["name"].as_str().unwrap();
    let ended = server.command(&["member", "reset", name], "").expect(0);
    let line = ended.stdout.lines().find(|line| line.contains("/password-reset/")).expect("a link").to_owned();
    let path = format!("/api/v1/password-resets/{}", token(&line));
    assert_eq!(server.call("PUT", &path).json(&json!({"password": NEW})).send().status, 204);
    let ended = server.command(&["member", "reset", "nobody_here"], "");
    assert!(ended.code != 0 && ended.stderr.contains("no member named"), "{ended:?}");
}
