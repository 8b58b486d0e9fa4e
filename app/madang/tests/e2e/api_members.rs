//! Members and sessions over HTTP.

use serde_json::json;

use crate::server::{ADMIN, PASSWORD, TestServer};

#[test]
fn a_member_registers_signs_in_and_signs_out() {
    let server = TestServer::shared();
    let (id, token) = server.member("준호_4");
    let me = server.call("GET", "/api/v1/members/me").token(&token).send().json(200);
    assert_eq!(
        (&me["member_id"], &me["name"], &me["role"]),
        (&json!(id), &json!(server.own("준호_4")), &json!("member"))
    );
    let seen = server.get(&format!("/api/v1/members/{id}")).json(200);
    assert_eq!(seen["created_at"], me["created_at"]);
    assert_eq!(server.call("DELETE", "/api/v1/sessions/current").token(&token).send().status, 204);
    server.call("GET", "/api/v1/members/me").token(&token).send().problem(401, "signed out");
}

#[test]
fn a_sign_in_gives_a_cookie_that_scripts_and_other_sites_cannot_use() {
    let server = TestServer::shared();
    let body = json!({"name": ADMIN, "password": PASSWORD});
    let answer = server.call("POST", "/api/v1/sessions").json(&body).send();
    let session = answer.json(201);
    assert_eq!(session["member"]["name"], ADMIN);
    assert!(session["expires_at"].is_string());
    let cookies = answer.headers("set-cookie");
    assert_eq!(cookies.len(), 2, "of the session and of the device");
    for cookie in &cookies {
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");
    }
    let cookie = cookies[0].split(';').next().unwrap();
    server.call("GET", "/api/v1/members/me").header("cookie", cookie).send().json(200);
    let board = json!({"slug": server.own("cookie-board"), "title": "By cookie", "comment_mode": "tree"});
    let write = || server.call("POST", "/api/v1/boards").header("cookie", cookie).json(&board);
    write().header("sec-fetch-site", "cross-site").send().problem(403, "another site");
    write().header("origin", "http://evil.example").send().problem(403, "another origin");
    write().header("sec-fetch-site", "same-site").send().problem(403, "a neighbour's site");
    write()
        .header("sec-fetch-site", "cross-site")
        .header("origin", &format!("http://{}", server.address))
        .send()
        .problem(403, "a browser knows better than an origin");
    write().header("origin", "null").send().problem(403, "an origin that hides");
    write().send().problem(403, "silence");
    write().header("sec-fetch-site", "same-origin").send().json(201);
}

#[test]
fn nobody_gives_themselves_a_role_or_an_id_by_fields_that_are_not_asked_for() {
    let server = TestServer::fresh();
    let body = json!({
        "name": "mallory", "password": "a long password", "role": "admin", "member_id": "1", "is_admin": true,
        "moderates": [server.general()], "created_at": "2001-01-01T00:00:00.000Z"
    });
    let member = server.call("POST", "/api/v1/members").json(&body).send().json(201);
    assert_ne!(member["member_id"], "1");
    let body = json!({"name": "mallory", "password": "a long password", "role": "admin"});
    let session = server.call("POST", "/api/v1/sessions").json(&body).send().json(201);
    assert_eq!(session["member"]["role"], "member");
    let token = session["token"].as_str().expect("a token");
    let me = server.call("GET", "/api/v1/members/me").token(token).send().json(200);
    assert_eq!((&me["role"], &me["member_id"]), (&json!("member"), &member["member_id"]));
    let board = json!({"slug": "mine", "title": "Mine", "comment_mode": "tree"});
    server.call("POST", "/api/v1/boards").token(token).json(&board).send().problem(403, "still a member");
}

#[test]
fn unacceptable_registrations_name_the_field() {
    let server = TestServer::shared();
    let good = "a long password";
    let long = "x".repeat(33);
    let cases = [
        ("short name", json!({"name": "a", "password": good}), "name"),
        ("long name", json!({"name": long, "password": good}), "name"),
        ("name with a space", json!({"name": "a b", "password": good}), "name"),
        ("emoji", json!({"name": "a🙂b", "password": good}), "name"),
        ("no name", json!({"password": good}), "name"),
        ("name is a number", json!({"name": 5, "password": good}), "name"),
        ("short password", json!({"name": "fine_1", "password": "1234567"}), "password"),
        ("long password", json!({"name": "fine_2", "password": "p".repeat(129)}), "password"),
        ("common password", json!({"name": "fine_5", "password": "P@ssw0rd123"}), "password"),
        ("one key", json!({"name": "fine_6", "password": "aaaaaaaaaaaa"}), "password"),
        ("counting", json!({"name": "fine_7", "password": "123456789"}), "password"),
        ("the name", json!({"name": "fine_eight", "password": "Fine_Eight1"}), "password"),
        ("no password", json!({"name": "fine_3"}), "password"),
        ("password is null", json!({"name": "fine_4", "password": null}), "password"),
    ];
    for (case, body, field) in cases {
        server.call("POST", "/api/v1/members").json(&body).send().invalid_field(field, case);
    }
    let longest = json!({"name": "𝒜".repeat(32), "password": "🙂🌳🍀🌊".repeat(32)});
    server.call("POST", "/api/v1/members").json(&longest).send().json(201);
}

#[test]
fn a_name_belongs_to_one_member_however_it_is_written() {
    let server = TestServer::shared();
    server.member("Ann_1");
    for name in ["Ann_1", "ann_1", "ANN_1"] {
        let name = &server.own(name);
        let body = json!({"name": name, "password": PASSWORD});
        server.call("POST", "/api/v1/members").json(&body).send().problem(409, name);
    }
    let wrong = |name: &str, password: &str| {
        let body = json!({"name": name, "password": password});
        server.call("POST", "/api/v1/sessions").json(&body).send().problem(401, name)
    };
    assert_eq!(
        wrong(&server.own("Ann_1"), "not her password"),
        wrong("nobody_here", "not her password"),
        "tells nothing"
    );
}

#[test]
fn a_name_that_looks_like_anothers_is_taken() {
    let server = TestServer::shared();
    server.member("adela");
    for look_alike in ["ade1a", "adeIa", "ADELA"] {
        let body = json!({"name": server.own(look_alike), "password": PASSWORD});
        server.call("POST", "/api/v1/members").json(&body).send().problem(409, look_alike);
    }
    let other = json!({"name": server.own("adele"), "password": PASSWORD});
    server.call("POST", "/api/v1/members").json(&other).send().json(201);
}

#[test]
fn invisible_marks_mixed_scripts_and_reserved_names_are_refused() {
    let server = TestServer::shared();
    let names = [
        "root_admin\u{fe0f}",
        "ann\u{34f}a",
        "аdela",
        "Ivаn",
        "admin",
        "ADMIN",
        "adrnin",
        "r00t",
        "운영자",
        "_관리자_",
    ];
    for name in names {
        let body = json!({"name": name, "password": PASSWORD});
        server.call("POST", "/api/v1/members").json(&body).send().invalid_field("name", name);
    }
}

#[test]
fn tokens_that_are_missing_forged_or_garbage_are_refused() {
    let server = TestServer::shared();
    let token = server.sign_in(ADMIN);
    let (head, last) = token.split_at(token.len() - 1);
    let forged = format!("{head}{}", if last == "A" { "B" } else { "A" });
    let mut headers = vec![
        ("forged".to_owned(), format!("Bearer {forged}")),
        ("empty".to_owned(), "Bearer ".to_owned()),
        ("garbage".to_owned(), "Bearer abc".to_owned()),
        ("basic".to_owned(), "Basic YTpi".to_owned()),
        ("endless".to_owned(), format!("Bearer {}", "x".repeat(20_000))),
        ("truncated".to_owned(), format!("Bearer {}", &token[..token.len() / 2])),
    ];
    // Every third character changed, one at a time.
    for place in (0..token.len()).step_by(3) {
        let mut bytes = token.clone().into_bytes();
        bytes[place] = if bytes[place] == b'x' { b'y' } else { b'x' };
        headers.push((format!("changed at {place}"), format!("Bearer {}", String::from_utf8(bytes).unwrap())));
    }
    for (case, value) in headers {
        let answer = server.call("GET", "/api/v1/members/me").header("authorization", &value).send();
        answer.problem(401, &case);
        assert!(answer.header("www-authenticate").is_some_and(|value| value.starts_with("Bearer")), "{case}");
    }
    server.get("/api/v1/members/me").problem(401, "missing");
    server.call("DELETE", "/api/v1/sessions/current").send().problem(401, "nobody to sign out");
}

#[test]
fn an_administrator_gives_roles_and_they_hold_at_once() {
    let server = TestServer::shared();
    let admin = server.sign_in(ADMIN);
    let (id, token) = server.member("bea");
    let path = format!("/api/v1/members/{id}/role");
    let put = |token: &str, role: &str| server.call("PUT", &path).token(token).json(&json!({"role": role})).send();
    put(&token, "admin").problem(403, "not by oneself");
    server.call("PUT", &path).json(&json!({"role": "admin"})).send().problem(401, "nobody");
    assert_eq!(put(&admin, "moderator").json(200)["role"], "moderator");
    let me = server.call("GET", "/api/v1/members/me").token(&token).send().json(200);
    assert_eq!(me["role"], "moderator", "although the token is older");
    put(&admin, "emperor").problem(422, "no such role");
    server.call("PUT", &path).token(&admin).json(&json!({})).send().invalid_field("role", "missing");
    let own = server.call("GET", "/api/v1/members/me").token(&admin).send().json(200);
    let own = format!("/api/v1/members/{}/role", own["member_id"].as_str().unwrap());
    let answer = server.call("PUT", &own).token(&admin).json(&json!({"role": "member"})).send();
    assert!([403, 409].contains(&answer.status), "an administrator remains: {}", answer.text());
    for id in ["1", "abc", "0", "-1", "9223372036854775808"] {
        let path = format!("/api/v1/members/{id}/role");
        server.call("PUT", &path).token(&admin).json(&json!({"role": "member"})).send().problem(404, id);
        server.get(&format!("/api/v1/members/{id}")).problem(404, id);
    }
}
