//! Headers that tell a browser to trust nothing are on every answer: calls, pages, assets, errors, and what operators ask.

use crate::http::{Answer, Call};
use crate::server::{ADMIN, TestServer};

const ALWAYS: [&str; 3] = ["x-content-type-options", "referrer-policy", "content-security-policy"];

#[track_caller]
fn is_secured(what: &str, answer: &Answer) {
    for name in ALWAYS {
        assert!(answer.header(name).is_some(), "{what} ({}) lacks {name}", answer.status);
    }
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{what}");
    let policy = answer.header("content-security-policy").expect("there is one");
    assert!(policy.contains("default-src 'none'") || policy.contains("default-src 'self'"), "{what}: {policy}");
    assert!(policy.contains("frame-ancestors 'none'"), "{what}: {policy}");
    assert!(!policy.contains("unsafe-eval"), "{what}: {policy}");
    let kind = answer.header("content-type").unwrap_or_default();
    let is_text = kind.starts_with("text/") || kind.contains("xml");
    assert!(!is_text || kind.to_ascii_lowercase().contains("charset=utf-8"), "{what}: {kind} says no character set");
    assert!(answer.body.is_empty() || !kind.is_empty(), "{what}: a body of no type");
    assert!(answer.header("access-control-allow-origin").is_none(), "{what} is open to other sites");
    assert!(answer.header("server").is_none() && answer.header("x-powered-by").is_none(), "{what} says what serves it");
}

#[test]
fn every_address_answers_every_method_with_them() {
    let server = TestServer::shared();
    let token = server.sign_in(ADMIN);
    let board = server.general();
    let article = server.article_id(&board, &token);
    let description = server.get("/openapi.json").json(200);
    let paths = description["paths"].as_object().expect("paths").keys().map(|path| {
        let filled =
            path.replace("{article_id}", &article).replace("{board_id}", &board).replace("{date}", "2024-01-01");
        filled.replace("{member_id}", "1").replace("{comment_id}", "1").replace("{report_id}", "1")
    });
    let pages = ["/", "/b/general", "/hot", "/sign-in", "/sign-up", "/admin", "/docs/", "/openapi.json", "/robots.txt"];
    let more =
        ["/sitemap.xml", "/favicon.ico", "/assets/madang.css", "/hot/feed.atom", "/setup", "/no/such/address/here"];
    let pages = pages.into_iter().chain(more).map(str::to_owned).chain([format!("/articles/{article}")]);
    for path in paths.chain(pages) {
        for method in ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
            let call = Call::new(&server.address, method, &path).header("connection", "close");
            let answer = call.send();
            assert_ne!(answer.status, 500, "{method} {path}");
            is_secured(&format!("{method} {path}"), &answer);
        }
    }
}

#[test]
fn refusals_have_them_too() {
    let server = TestServer::shared();
    let json = "application/json";
    for (what, answer) in [
        ("malformed", server.call("POST", "/api/v1/sessions").text(json, "{").send()),
        ("too large", server.call("POST", "/api/v1/sessions").text(json, vec![b' '; 300_000]).send()),
        ("not JSON", server.call("POST", "/api/v1/sessions").text("text/plain", "{}").send()),
        ("bad token", server.call("GET", "/api/v1/members/me").token("nonsense").send()),
        ("cross-site form", server.call("POST", "/sign-in").text("application/x-www-form-urlencoded", "name=a").send()),
    ] {
        assert!((400..500).contains(&answer.status), "{what}: {}", answer.status);
        is_secured(what, &answer);
    }
}
