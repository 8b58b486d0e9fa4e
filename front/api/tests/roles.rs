//! A process serves the calls of its roles, and says of the others who does.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use support::failing_site::{Store, policy, site, site_without};

#[tokio::test]
async fn a_call_of_a_role_that_is_not_here_says_who_serves_it() {
    let site = site_without(Store::Away, &["comment", "article"]);
    for (line, role) in [
        ("GET /api/v1/articles/1/comments", "comment"),
        ("DELETE /api/v1/comments/1", "comment"),
        ("GET /api/v1/boards", "article"),
        ("PUT /api/v1/articles/1", "article"),
    ] {
        let answer = support::send(&site, line, &[], "").await;
        let problem = answer.assert_problem(404).json();
        assert_eq!(problem["type"], "urn:madang:problem:served-elsewhere", "{line}");
        assert!(problem["detail"].as_str().unwrap().ends_with(&format!("the role {role}.")), "{line}: {problem}");
    }
    // Another group's call under the same address is served.
    support::send(&site, "GET /api/v1/articles/1", &[], "").await.assert_problem(503);
    // And a method that nobody takes is told so.
    support::send(&site, "PATCH /api/v1/articles/1", &[], "").await.assert_problem(405);
}

#[tokio::test]
async fn the_description_is_whole_in_every_process() {
    let whole = support::send(&site(Store::Away, policy()), "GET /openapi.json", &[], "").await.text;
    let part = site_without(Store::Away, &["member", "article", "article-read", "comment", "like", "view"]);
    assert_eq!(support::send(&part, "GET /openapi.json", &[], "").await.text, whole);
}
