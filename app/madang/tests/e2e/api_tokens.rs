//! Tokens that must not open anything, and what ends one, on the real binary.

use serde_json::json;

use crate::server::{ADMIN, PASSWORD, Start, TestServer, eventually};

fn me(server: &TestServer, token: &str) -> u16 {
    server.call("GET", "/api/v1/members/me").token(token).send().status
}

/// A token with one part of it replaced by that of another.
fn spliced(one: &str, other: &str, part: usize) -> String {
    let mut parts: Vec<&str> = one.split('.').collect();
    parts[part] = other.split('.').nth(part).expect("three parts");
    parts.join(".")
}

#[test]
fn forged_truncated_spliced_and_foreign_tokens_are_refused() {
    let (server, stranger) = (TestServer::fresh(), TestServer::fresh());
    let (_, member) = server.member("mia");
    let (admin, foreign) = (server.sign_in(ADMIN), stranger.sign_in(ADMIN));
    assert_eq!((me(&server, &member), me(&server, &admin), me(&stranger, &foreign)), (200, 200, 200));
    let cases = [
        ("of another site", foreign.clone()),
        ("of another site, under our key's name", spliced(&foreign, &admin, 0)),
        ("a member's with the administrator's claims", spliced(&member, &admin, 1)),
        ("an administrator's with a member's signature", spliced(&admin, &member, 2)),
        ("without a signature", admin.rsplit_once('.').expect("parts").0.to_owned()),
        ("with an empty signature", format!("{}.", admin.rsplit_once('.').expect("parts").0)),
        ("cut by one", admin[..admin.len() - 1].to_owned()),
        ("cut in the middle", admin[..admin.len() / 2].to_owned()),
        ("of an older version", admin.replacen("v2_", "v1_", 1)),
        ("with something behind it", format!("{admin}.{admin}")),
        ("in capitals", admin.to_uppercase()),
        ("a table of another kind", "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.".to_owned()),
    ];
    for (case, token) in cases {
        assert_eq!(me(&server, &token), 401, "{case}");
        let like = server.call("PUT", "/api/v1/articles/1/like").token(&token).send();
        assert_eq!(like.status, 401, "{case}");
        let cookie = format!("madang_session={token}");
        let by_cookie = server.call("GET", "/api/v1/members/me").header("cookie", &cookie).send();
        assert_eq!(by_cookie.status, 401, "{case}, as a cookie");
    }
}

#[test]
fn a_token_in_an_address_or_a_body_opens_nothing() {
    let server = TestServer::shared();
    let token = server.sign_in(ADMIN);
    assert_eq!(me(&server, &token), 200);
    for name in ["token", "access_token", "session", "madang_session", "authorization"] {
        let path = format!("/api/v1/members/me?{name}={token}");
        assert_eq!(server.get(&path).status, 401, "{name}");
    }
    let body = json!({"token": token, "title": "a", "content": "b"});
    let path = format!("/api/v1/boards/{}/articles", server.general());
    assert_eq!(server.call("POST", &path).json(&body).send().status, 401);
}

#[test]
fn a_session_ends_by_itself() {
    let server = Start::fresh().set("session_ttl_s", "60").start();
    let answer = server.call("POST", "/api/v1/sessions").json(&json!({"name": ADMIN, "password": PASSWORD})).send();
    let session = answer.json(201);
    let expires: jiff::Timestamp = session["expires_at"].as_str().expect("a time").parse().expect("a time");
    let left = expires.duration_since(jiff::Timestamp::now()).as_secs();
    assert!((1..=60).contains(&left), "{left} s");
    let cookie = answer.header("set-cookie").expect("a cookie");
    assert!(cookie.contains("Expires=") || cookie.contains("Max-Age="), "the cookie ends with it: {cookie}");
}

#[test]
fn sign_out_ends_one_session_and_a_new_password_all_others() {
    let server = TestServer::shared();
    let (_, first) = server.member("noa");
    let name = server.own("noa");
    let (second, third) = (server.sign_in(&name), server.sign_in(&name));
    assert_eq!(server.call("DELETE", "/api/v1/sessions/current").token(&first).send().status, 204);
    assert_eq!((me(&server, &first), me(&server, &second)), (401, 200));
    let change = |current: &str, new: &str| {
        let body = json!({"current": current, "new": new});
        server.call("PUT", "/api/v1/members/me/password").token(&second).json(&body).send()
    };
    change("not the password", "another horse battery").invalid_field("current", "somebody else at the keyboard");
    change(PASSWORD, "short").invalid_field("new", "too short");
    assert_eq!(change(PASSWORD, "another horse battery").status, 204);
    assert_eq!((me(&server, &second), me(&server, &third)), (200, 401), "the one that changed it goes on");
    let old = server.call("POST", "/api/v1/sessions").json(&json!({"name": name, "password": PASSWORD})).send();
    old.problem(401, "the old password");
    let body = json!({"name": name, "password": "another horse battery"});
    assert_eq!(server.call("POST", "/api/v1/sessions").json(&body).send().status, 201);
}

#[test]
fn who_is_suspended_reads_and_does_not_write_until_it_is_lifted() {
    let server = TestServer::shared();
    let (admin, board) = (server.sign_in(ADMIN), server.general());
    let (id, token) = server.member("sam");
    let article = server.article_id(&board, &token);
    let path = format!("/api/v1/members/{id}/suspension");
    let body = json!({"until": "2099-01-01T00:00:00Z", "reason": "spam"});
    server.call("PUT", &path).token(&admin).json(&body).send().json(200);
    let like = || server.call("PUT", &format!("/api/v1/articles/{article}/like")).token(&token).send().status;
    eventually("writes are refused", || (like() == 403).then_some(()));
    assert_eq!(server.call("GET", &format!("/api/v1/articles/{article}")).token(&token).send().status, 200);
    assert_eq!(me(&server, &token), 200);
    assert_eq!(server.call("DELETE", &path).token(&admin).send().status, 204);
    eventually("writes are taken again", || (like() == 200).then_some(()));
    let past = json!({"until": "2020-01-01T00:00:00Z", "reason": "spam"});
    server.call("PUT", &path).token(&admin).json(&past).send().invalid_field("until", "in the past");
    let silent = json!({"until": "2099-01-01T00:00:00Z", "reason": " "});
    server.call("PUT", &path).token(&admin).json(&silent).send().invalid_field("reason", "without a reason");
}

/// One's own sessions, as the API lists them.
fn sessions(server: &TestServer, token: &str) -> Vec<serde_json::Value> {
    let listed = server.call("GET", "/api/v1/sessions").token(token).send().json(200);
    listed["items"].as_array().expect("items").clone()
}

fn sign_in_with(server: &TestServer, name: &str, agent: &str) -> String {
    let body = json!({"name": name, "password": PASSWORD});
    let answer = server.call("POST", "/api/v1/sessions").header("user-agent", agent).json(&body).send().json(201);
    answer["token"].as_str().expect("a token").to_owned()
}

fn status(server: &TestServer, token: &str) -> u16 {
    server.call("GET", "/api/v1/members/me").token(token).send().status
}

#[test]
fn a_member_lists_and_ends_their_own_sessions() {
    let server = TestServer::shared();
    let (_, first) = server.member("sessions_a");
    let name = server.own("sessions_a");
    let (phone, laptop) = (sign_in_with(&server, &name, "Phone/1"), sign_in_with(&server, &name, "Laptop/2"));
    let listed = sessions(&server, &phone);
    let fields: Vec<_> = listed[0].as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(fields, ["agent", "created_at", "current", "last_seen_at", "session_id"]);
    let shown: Vec<_> = listed.iter().map(|item| (item["agent"].as_str(), item["current"] == true)).collect();
    assert_eq!(shown[..2], [(Some("Laptop/2"), false), (Some("Phone/1"), true)]);
    assert_eq!(listed.len(), 3);

    let id =
        |listed: &[serde_json::Value], place: usize| listed[place]["session_id"].as_str().expect("an id").to_owned();
    let end =
        |token: &str, session: &str| server.call("DELETE", &format!("/api/v1/sessions/{session}")).token(token).send();
    let (_, stranger) = server.member("sessions_b");
    end(&stranger, &id(&listed, 0)).problem(404, "another's session");
    end(&phone, "0").problem(404, "nobody's session");
    end(&phone, "nonsense").problem(404, "no id");
    assert_eq!(end(&phone, &id(&listed, 0)).status, 204);
    assert_eq!((status(&server, &laptop), status(&server, &phone)), (401, 200));
    assert_eq!(sessions(&server, &phone).len(), 2);

    assert_eq!(end(&phone, "others").status, 204);
    assert_eq!((status(&server, &first), status(&server, &phone)), (401, 200));
    assert_eq!(sessions(&server, &phone).len(), 1);
    assert_eq!(status(&server, &stranger), 200, "of others nothing ends");
    let again = sign_in_with(&server, &name, "Laptop/3");
    assert_eq!((status(&server, &again), sessions(&server, &again).len()), (200, 2));
    assert_eq!(end(&again, &id(&sessions(&server, &again), 0)).status, 204, "one's own too");
    assert_eq!(status(&server, &again), 401);
}
