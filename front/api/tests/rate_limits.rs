//! Who asks too often is told when to come back, and nobody else notices.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;

use madang_kernel::SystemClock;
use madang_server::{Bucket, Limiter, MemoryBuckets, RateLimits, RequestPolicy};
use support::board_site::{BoardSite, JSON};

async fn site(limits: RateLimits) -> BoardSite {
    let limiter = Some(Limiter::new(limits, MemoryBuckets::default(), Arc::new(SystemClock)));
    let trusted_proxies = "0.0.0.0".parse().unwrap();
    BoardSite::open_with(RequestPolicy { limiter, trusted_proxies, ..RequestPolicy::default() }).await
}

#[tokio::test]
async fn past_its_bucket_an_address_is_told_when_to_come_back() {
    let site = site(RateLimits { reads: Bucket::per_hour(60, 2), ..RateLimits::default() }).await;
    let get = async |from: &str| site.send("GET /api/v1/boards", &[("x-forwarded-for", from)], "").await;
    get("192.0.2.1").await.assert(200);
    get("192.0.2.1").await.assert(200);
    let refused = get("192.0.2.1").await;
    refused.assert_problem(429);
    let retry_after: u64 = refused.header("retry-after").parse().unwrap();
    assert!((1..=60).contains(&retry_after), "{retry_after}");
    assert_eq!(refused.header("ratelimit-policy"), "\"default\";q=2;w=120");
    assert_eq!(refused.header("ratelimit"), format!("\"default\";r=0;t={retry_after}"));
    assert_eq!(refused.header("x-content-type-options"), "nosniff");
    get("192.0.2.2").await.assert(200);
    // Operators are never kept out.
    for _ in 0..5 {
        site.send("GET /healthz", &[("x-forwarded-for", "192.0.2.1")], "").await.assert(200);
    }
}

#[tokio::test]
async fn guessing_one_members_password_is_slow_from_however_many_addresses() {
    let site = site(RateLimits { sign_ins_of_name: Bucket::per_hour(1, 3), ..RateLimits::default() }).await;
    let mut statuses = Vec::new();
    for number in 0..5 {
        let from = format!("192.0.2.{number}");
        let body = r#"{"name":"root","password":"wrong horse"}"#;
        let headers = [JSON, ("x-forwarded-for", from.as_str())];
        statuses.push(site.send("POST /api/v1/sessions", &headers, body).await.status.as_u16());
    }
    assert_eq!(statuses, [401, 401, 401, 429, 429]);
}

#[tokio::test]
async fn spellings_of_one_name_share_its_guesses() {
    let site = site(RateLimits { sign_ins_of_name: Bucket::per_hour(1, 3), ..RateLimits::default() }).await;
    let mut statuses = Vec::new();
    for name in ["root", "ROOT", "ｒoot", "rOoT", "ＲＯＯＴ", "𝓻oot"] {
        let body = format!(r#"{{"name":"{name}","password":"wrong horse"}}"#);
        statuses.push(site.send("POST /api/v1/sessions", &[JSON], body).await.status.as_u16());
    }
    assert_eq!(statuses, [401, 401, 401, 429, 429, 429]);
}

#[tokio::test]
async fn changing_a_password_is_a_guess_too() {
    let site = site(RateLimits { sign_ins_of_name: Bucket::per_hour(1, 3), ..RateLimits::default() }).await;
    let anna = site.bearer("anna").await;
    let change = async || {
        let body = r#"{"current":"wrong horse","new":"another horse"}"#;
        site.by(&anna, "PUT /api/v1/members/me/password", body).await.status.as_u16()
    };
    let mut statuses = Vec::new();
    for _ in 0..5 {
        statuses.push(change().await);
    }
    assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 2, "{statuses:?}");
    assert_eq!(statuses[4], 429);
}

#[tokio::test]
async fn a_new_member_writes_as_often_as_new_members_may() {
    let site = site(RateLimits { new_member_writes: Bucket::per_hour(1, 2), ..RateLimits::default() }).await;
    let (anna, ben) = (site.bearer("anna").await, site.bearer("ben").await);
    let draft = r#"{"title":"t","content":"c"}"#;
    site.write(&anna, draft, &[]).await.assert(201);
    site.write(&anna, draft, &[]).await.assert(201);
    site.write(&anna, draft, &[]).await.assert_problem(429);
    site.write(&ben, draft, &[]).await.assert(201);
    site.by(&anna, "GET /api/v1/members/me", "").await.assert(200);
}

#[tokio::test]
async fn a_registration_that_is_refused_for_what_was_typed_costs_none() {
    let site = site(RateLimits { sign_ups: Bucket::per_hour(1, 2), ..RateLimits::default() }).await;
    let register = async |name: &str, password: &str| {
        let body = format!(r#"{{"name":"{name}","password":"{password}"}}"#);
        site.send("POST /api/v1/members", &[JSON], body).await.status.as_u16()
    };
    for _ in 0..5 {
        assert_eq!(register("a b", "short").await, 422);
    }
    let good = "correct horse";
    assert_eq!(
        [register("anna", good).await, register("anna", good).await, register("ben", good).await],
        [201, 409, 429]
    );
}
