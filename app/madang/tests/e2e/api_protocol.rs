//! HTTP itself: routes, methods, content types, sizes, garbage, and what operators ask.

use serde_json::{Value, json};

use crate::composition::Composition;
use crate::http::Http;
use crate::server::TestServer;

/// What it is, method, path, content type, body, and the status it gets.
type Case<'a> = (&'a str, &'a str, &'a str, &'a str, &'a [u8], u16);

#[test]
fn what_cannot_be_a_request_is_a_clear_problem() {
    let server = TestServer::shared();
    let token = server.sign_in(crate::server::ADMIN);
    let articles = format!("/api/v1/boards/{}/articles", server.general());
    let json = "application/json";
    let cases: [Case<'_>; 20] = [
        ("unknown route", "GET", "/api/v1/nothing", json, b"", 404),
        ("unknown root", "GET", "/nothing", json, b"", 404),
        ("no base", "GET", "/api/v2/boards", json, b"", 404),
        ("wrong method", "PATCH", "/api/v1/boards", json, b"{}", 405),
        ("wrong method on an article", "POST", "/api/v1/articles/1", json, b"{}", 405),
        ("wrong method on health", "POST", "/healthz", json, b"{}", 405),
        ("no JSON", "POST", &articles, json, b"not json", 400),
        ("empty body", "POST", &articles, json, b"", 400),
        ("half of JSON", "POST", &articles, json, b"{\"title\": \"a\"", 400),
        ("more than JSON", "POST", &articles, json, b"{\"title\":\"a\",\"content\":\"b\"} x", 400),
        ("invalid UTF-8", "POST", &articles, json, b"{\"title\":\"\xff\",\"content\":\"b\"}", 400),
        ("half a surrogate pair", "POST", &articles, json, b"{\"title\":\"\\ud800\",\"content\":\"b\"}", 400),
        ("a field twice", "POST", &articles, json, b"{\"title\":\"a\",\"title\":\"b\",\"content\":\"c\"}", 400),
        ("a list", "POST", &articles, json, b"[]", 422),
        ("a number", "POST", &articles, json, b"5", 422),
        ("null", "POST", &articles, json, b"null", 422),
        ("wrong content type", "POST", &articles, "text/plain", b"{\"title\":\"a\",\"content\":\"b\"}", 415),
        ("a form", "POST", &articles, "application/x-www-form-urlencoded", b"title=a", 415),
        ("wrong content type on sign-in", "POST", "/api/v1/sessions", "text/plain", b"{}", 415),
        ("too deep", "POST", &articles, json, &[b'['; 10_000], 400),
    ];
    for (case, method, path, content_type, body, status) in cases {
        server.call(method, path).token(&token).text(content_type, body).send().problem(status, case);
    }
    let untyped = server.call("POST", &articles).token(&token);
    untyped.send().problem(415, "no content type");
}

#[test]
fn a_body_past_the_limit_is_refused_and_one_below_is_read() {
    let server = TestServer::shared();
    let token = server.sign_in(crate::server::ADMIN);
    let articles = format!("/api/v1/boards/{}/articles", server.general());
    let large = json!({"title": "a", "content": "b".repeat(256 * 1_024)});
    server.call("POST", &articles).token(&token).json(&large).send().problem(413, "too large");
    let below = json!({"title": "a", "content": "b".repeat(200 * 1_024)});
    server.call("POST", &articles).token(&token).json(&below).send().invalid_field("content", "read, and too long");
}

#[test]
fn a_wrong_method_is_told_the_right_ones() {
    let server = TestServer::shared();
    let answer = server.call("DELETE", "/api/v1/boards").send();
    answer.problem(405, "boards");
    let allow = answer.header("allow").expect("an Allow header");
    assert!(allow.contains("GET") && allow.contains("POST"), "{allow}");
}

#[test]
fn bytes_that_are_not_http_do_no_harm() {
    let server = TestServer::shared();
    for garbage in [&b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n"[..], b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"] {
        let mut http = Http::connect(&server.address).unwrap();
        if let Ok(answer) = http.exchange(garbage) {
            assert!((400..=505).contains(&answer.status) && answer.status != 500, "{answer:?}");
        }
    }
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn operators_see_health_readiness_and_metrics() {
    let server = TestServer::shared();
    assert_eq!(server.get("/healthz").status, 200);
    let ready = server.ask("article", "/readyz").json(200);
    let parts = ready["parts"].as_array().unwrap();
    let names = match Composition::chosen() {
        Composition::Embedded => ["store", "log", "ids"],
        Composition::Cluster | Composition::Seven => ["redis", "kafka", "ids"],
    };
    for name in names {
        assert!(parts.iter().any(|part| part["name"] == name && part["ok"] == true), "{name} in {ready}");
    }
    server.get("/api/v1/boards").json(200);
    let metrics = server.ask("article", "/metrics");
    assert_eq!(metrics.status, 200);
    assert!(metrics.text().contains("madang_http_request"), "{}", metrics.text());
}

#[test]
fn the_description_lists_every_call() {
    let server = TestServer::shared();
    let description: Value = server.get("/openapi.json").json(200);
    assert!(description["openapi"].as_str().unwrap().starts_with("3.1"));
    for (path, methods) in [
        ("/api/v1/members", &["post"][..]),
        ("/api/v1/sessions", &["post"]),
        ("/api/v1/sessions/current", &["delete"]),
        ("/api/v1/members/me", &["get"]),
        ("/api/v1/members/{member_id}", &["get"]),
        ("/api/v1/members/{member_id}/role", &["put"]),
        ("/api/v1/boards", &["get", "post"]),
        ("/api/v1/boards/{board_id}", &["get"]),
        ("/api/v1/boards/{board_id}/articles", &["get", "post"]),
        ("/api/v1/boards/{board_id}/articles/count", &["get"]),
        ("/api/v1/articles/{article_id}", &["get", "put", "delete"]),
        ("/api/v1/articles/{article_id}/comments", &["get", "post"]),
        ("/api/v1/articles/{article_id}/comments/count", &["get"]),
        ("/api/v1/comments/{comment_id}", &["get", "put", "delete"]),
        ("/api/v1/articles/{article_id}/like", &["get", "put", "delete"]),
        ("/api/v1/articles/{article_id}/likes", &["get"]),
        ("/api/v1/articles/{article_id}/views", &["get", "post"]),
    ] {
        for method in methods {
            assert!(description["paths"][path][method].is_object(), "{method} {path}");
        }
    }
    assert!([200, 303, 307, 308].contains(&server.get("/docs").status));
    let docs = server.get("/docs/");
    assert_eq!(docs.status, 200);
    assert!(docs.text().contains("name=\"viewport\"") && docs.text().contains("swagger-ui-bundle.js"));
}
