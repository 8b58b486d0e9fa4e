//! Every request that cannot be served is answered with a problem that says why, never with silence or a bare 500.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod support;

use axum::body::Body;
use bytes::Bytes;
use madang_server::RequestPolicy;
use support::failing_site::{Store, policy, site};
use support::send;

const JSON: (&str, &str) = ("content-type", "application/json");

#[tokio::test]
async fn unknown_addresses_and_methods_are_problems() {
    let site = site(Store::Away, policy());
    for line in ["GET /nowhere", "GET /api/v1", "POST /api/v1/nothing", "GET /api/v1/boards/", "GET /api/v2/boards"] {
        send(&site, line, &[], "").await.assert_problem(404);
    }
    let wrong = send(&site, "PATCH /api/v1/boards", &[], "").await;
    wrong.assert_problem(405);
    assert_eq!(wrong.header("allow"), "GET,HEAD,POST");
    let wrong = send(&site, "POST /healthz", &[], "").await;
    wrong.assert_problem(405);
    assert_eq!(wrong.header("allow"), "GET,HEAD");
}

#[tokio::test]
async fn ids_that_cannot_be_ids_name_nothing() {
    let site = site(Store::Away, policy());
    for id in ["abc", "0", "-1", "+1", "1.0", "9223372036854775808", "99999999999999999999", "%20", "%FF", "1%00"] {
        for path in ["articles/{}", "boards/{}", "boards/{}/articles", "boards/{}/articles/count", "members/{}"] {
            send(&site, &format!("GET /api/v1/{}", path.replace("{}", id)), &[], "").await.assert_problem(404);
        }
        send(&site, &format!("DELETE /api/v1/articles/{id}"), &[], "").await.assert_problem(404);
        send(&site, &format!("POST /api/v1/boards/{id}/articles"), &[JSON], "{}").await.assert_problem(404);
        for path in ["articles/{}/comments", "articles/{}/comments/count", "comments/{}", "articles/{}/like"] {
            send(&site, &format!("GET /api/v1/{}", path.replace("{}", id)), &[], "").await.assert_problem(404);
        }
        for line in
            ["GET articles/{}/likes", "GET articles/{}/views", "POST articles/{}/views", "POST articles/{}/comments"]
        {
            let line = line.replace(' ', " /api/v1/").replace("{}", id);
            send(&site, &line, &[JSON], "{}").await.assert_problem(404);
        }
        for line in ["PUT articles/{}/like", "DELETE articles/{}/like", "DELETE comments/{}"] {
            let line = line.replace(' ', " /api/v1/").replace("{}", id);
            send(&site, &line, &[], "").await.assert_problem(404);
        }
    }
}

#[tokio::test]
async fn queries_are_unreadable_or_out_of_range() {
    let site = site(Store::Away, policy());
    for (query, status) in [("page=abc", 400), ("before=x", 400), ("page=1&before=2", 400), ("page=0", 422)] {
        send(&site, &format!("GET /api/v1/boards/1/articles?{query}"), &[], "").await.assert_problem(status);
    }
    for (query, status) in [("page=abc", 400), ("page=1&after=2", 400), ("limit=0", 422), ("page_size=101", 422)] {
        send(&site, &format!("GET /api/v1/articles/1/comments?{query}"), &[], "").await.assert_problem(status);
    }
    for (query, status) in [("after=x", 400), ("after=0", 400), ("limit=x", 400), ("limit=101", 422)] {
        send(&site, &format!("GET /api/v1/articles/1/likes?{query}"), &[], "").await.assert_problem(status);
    }
    let refused = send(&site, "GET /api/v1/boards/1/articles?page_size=101", &[], "").await;
    assert_eq!(refused.assert_problem(422).json()["errors"][0]["field"], "page_size");
}

#[tokio::test]
async fn bodies_are_refused_for_what_is_wrong_with_them() {
    let site = site(Store::Away, policy());
    let post = async |headers: &[(&str, &str)], body: &'static [u8]| {
        send(&site, "POST /api/v1/members", headers, Body::from(Bytes::from_static(body))).await
    };
    post(&[], b"{\"name\":\"ann\",\"password\":\"12345678\"}").await.assert_problem(415);
    post(&[("content-type", "text/plain")], b"{}").await.assert_problem(415);
    post(&[("content-type", "application/x-www-form-urlencoded")], b"name=a").await.assert_problem(415);
    post(&[("content-type", "application/json"), ("content-encoding", "gzip")], b"{}").await.assert_problem(415);
    post(&[JSON], b"").await.assert_problem(400);
    post(&[JSON], b"{\"name\":").await.assert_problem(400);
    post(&[JSON], b"{\"name\":\"\xff\xfe\",\"password\":\"12345678\"}").await.assert_problem(400);
    post(&[JSON], b"{\"name\":\"a\",\"name\":\"b\",\"password\":\"12345678\"}").await.assert_problem(400);
    let missing = post(&[JSON], b"{\"name\":\"ann\"}").await;
    assert_eq!(missing.assert_problem(422).json()["errors"][0]["field"], "password");
    let mistyped = post(&[JSON], b"{\"name\":7,\"password\":\"12345678\"}").await;
    assert_eq!(mistyped.assert_problem(422).json()["errors"][0]["field"], "name");
}

#[tokio::test]
async fn a_body_past_the_limit_is_too_large_however_it_arrives() {
    let site = site(Store::Away, policy());
    let long = "x".repeat(1_025);
    send(&site, "POST /api/v1/members", &[JSON], long.clone()).await.assert_problem(413);
    send(&site, "POST /api/v1/members", &[JSON, ("content-length", "1025")], long.clone()).await.assert_problem(413);
    // In pieces, and without a length announced.
    let pieces = [Bytes::from(long), Bytes::from_static(b"more")].map(Ok::<_, std::convert::Infallible>);
    let body = Body::from_stream(futures_util::stream::iter(pieces));
    send(&site, "POST /api/v1/members", &[JSON], body).await.assert_problem(413);
    let exact = format!("{{\"name\":\"{}", "x".repeat(1_024 - 9));
    send(&site, "POST /api/v1/members", &[JSON], exact).await.assert_problem(400);
}

#[tokio::test]
async fn nobody_is_signed_in_without_a_good_token() {
    let site = site(Store::Away, policy());
    let authorizations = ["Bearer", "Bearer ", "Basic YTpi", "garbage", "Bearer a b", "Bearer a.b.c", "bearer \t"];
    for value in authorizations {
        let first = ["GET /api/v1/members/me", "POST /api/v1/boards", "DELETE /api/v1/articles/1"];
        let parts = ["POST /api/v1/articles/1/comments", "DELETE /api/v1/comments/1", "PUT /api/v1/articles/1/like"];
        let last = ["DELETE /api/v1/articles/1/like"];
        // Guests may do these, but who sends a bad token does not know that they are one.
        let lenient = ["GET /api/v1/articles/1/like", "POST /api/v1/articles/1/views"];
        for line in first.into_iter().chain(parts).chain(last).chain(lenient) {
            let refused = send(&site, line, &[("authorization", value), JSON], "{}").await;
            assert_eq!(refused.assert_problem(401).header("www-authenticate"), "Bearer");
        }
    }
    send(&site, "GET /api/v1/members/me", &[], "").await.assert_problem(401);
    send(&site, "GET /api/v1/members/me", &[("cookie", "madang_session=x")], "").await.assert_problem(401);
    send(&site, "DELETE /api/v1/sessions/current", &[], "").await.assert_problem(401);
}

#[tokio::test]
async fn a_store_that_is_away_or_broken_tells_no_secrets() {
    let away = site(Store::Away, policy());
    let broken = site(Store::Broken, policy());
    let articles =
        ["GET /api/v1/boards", "GET /api/v1/articles/1", "GET /api/v1/boards/1/articles", "GET /api/v1/members/1"];
    let parts = ["GET /api/v1/articles/1/comments", "GET /api/v1/articles/1/comments/count", "GET /api/v1/comments/1"];
    let counts = ["GET /api/v1/articles/1/like", "GET /api/v1/articles/1/likes", "GET /api/v1/articles/1/views"];
    let writes = ["POST /api/v1/articles/1/views"];
    for line in articles.into_iter().chain(parts).chain(counts).chain(writes) {
        let refused = send(&away, line, &[], "").await;
        assert_eq!(refused.assert_problem(503).header("retry-after"), "1");
        send(&broken, line, &[], "").await.assert_problem(500);
    }
}

#[tokio::test]
async fn too_much_at_once_is_refused_at_once_but_not_to_operators() {
    let full = site(Store::Away, RequestPolicy { in_flight: 0, ..policy() });
    let refused = send(&full, "GET /api/v1/boards", &[], "").await;
    assert_eq!(refused.assert_problem(503).header("retry-after"), "1");
    assert_eq!(send(&full, "GET /healthz", &[], "").await.status, 200);
}

#[tokio::test]
async fn operators_see_each_part_and_the_figures() {
    let site = site(Store::Away, policy());
    assert_eq!(send(&site, "GET /healthz", &[], "").await.text, "ok");
    let ready = send(&site, "GET /readyz", &[], "").await;
    assert_eq!((ready.status.as_u16(), ready.header("retry-after")), (503, "1"));
    assert_eq!(ready.json()["parts"][1]["detail"], "does not answer");
    assert_eq!(send(&site, "GET /metrics", &[], "").await.text, "madang_up 1\n");
}

#[tokio::test]
async fn the_documentation_comes_from_the_binary_under_its_own_policy() {
    let site = site(Store::Away, policy());
    let description = send(&site, "GET /openapi.json", &[], "").await;
    assert_eq!(description.json()["openapi"], "3.1.0");
    assert_eq!(send(&site, "GET /docs", &[], "").await.header("location"), "/docs/");
    let page = send(&site, "GET /docs/", &[], "").await;
    assert!(page.text.contains("swagger-ui") && !page.text.contains("http://") && !page.text.contains("https://"));
    assert!(page.header("content-security-policy").contains("script-src 'self';"));
    assert!(send(&site, "GET /docs/swagger-initializer.js", &[], "").await.text.contains("/openapi.json"));
}

#[tokio::test]
async fn every_answer_tells_browsers_to_trust_nothing() {
    let site = site(Store::Away, policy());
    for line in ["GET /nowhere", "GET /healthz", "GET /openapi.json", "PATCH /api/v1/boards", "GET /api/v1/boards"] {
        let answer = send(&site, line, &[], "").await;
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{line}");
        assert_eq!(answer.header("referrer-policy"), "no-referrer", "{line}");
        assert_eq!(answer.header("content-security-policy"), "default-src 'none'; frame-ancestors 'none'", "{line}");
    }
}
