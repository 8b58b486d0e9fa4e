//! Views by the contract: who counts, how often, and every refusal.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod support;

use serde_json::{Value, json};
use support::board_site::BoardSite;

fn viewed(counted: bool, view_count: u64) -> Value {
    json!({"counted": counted, "view_count": view_count})
}

#[tokio::test]
async fn a_viewer_counts_once_as_a_member_or_as_a_guest() {
    let site = BoardSite::open().await;
    let (ann, bob) = (site.bearer("ann").await, site.bearer("bob").await);
    let article = site.article(&ann).await;
    let [look, count] = ["POST", "GET"].map(|method| format!("{method} {article}/views"));
    assert_eq!(site.guest(&count).await.assert(200).json(), json!({"view_count": 0}));
    for (who, expected) in [(&ann, viewed(true, 1)), (&ann, viewed(false, 1)), (&bob, viewed(true, 2))] {
        assert_eq!(site.by(who, &look, "").await.assert(200).json(), expected);
    }
    for (browser, expected) in [("a", viewed(true, 3)), ("a", viewed(false, 3)), ("b", viewed(true, 4))] {
        assert_eq!(site.send(&look, &[("user-agent", browser)], "").await.assert(200).json(), expected);
    }
    assert_eq!(site.guest(&look).await.assert(200).json(), viewed(true, 5), "a browser that says nothing");
    // Nobody is trusted here, so nobody's word about an address counts.
    let told = site.send(&look, &[("user-agent", "a"), ("x-forwarded-for", "192.0.2.1")], "").await;
    assert_eq!(told.assert(200).json(), viewed(false, 5));
    assert_eq!(site.guest(&count).await.assert(200).json(), json!({"view_count": 5}));
}

#[tokio::test]
async fn one_address_with_700_user_agents_counts_as_fifty_guests() {
    let site = BoardSite::open().await;
    let article = site.article(&site.admin).await;
    let look = format!("POST {article}/views");
    let mut counted = 0;
    for browser in 0..700 {
        let answer = site.send(&look, &[("user-agent", format!("browser {browser}").as_str())], "").await;
        counted += u32::from(answer.assert(200).json()["counted"] == true);
    }
    assert_eq!(counted, 50);
    let ann = site.bearer("ann").await;
    assert_eq!(site.by(&ann, &look, "").await.assert(200).json(), viewed(true, 51), "a member is themselves");
}

#[tokio::test]
async fn a_view_with_a_cookie_comes_from_our_own_pages() {
    let site = BoardSite::open().await;
    let look = format!("POST {}/views", site.article(&site.admin).await);
    let cookie = format!("madang_session={}", site.member("ann").await);
    let with = async |extra: &[(&str, &str)]| {
        let headers = [&[("cookie", cookie.as_str())], extra].concat();
        site.send(&look, &headers, "").await
    };
    with(&[]).await.assert_problem(403);
    with(&[("sec-fetch-site", "cross-site")]).await.assert_problem(403);
    assert_eq!(with(&[("sec-fetch-site", "same-origin")]).await.assert(200).json(), viewed(true, 1));
    assert_eq!(with(&[("sec-fetch-site", "same-origin")]).await.assert(200).json(), viewed(false, 1));
    site.send(&look, &[("cookie", "madang_session=forged")], "").await.assert_problem(401);
    site.by("Bearer forged", &look, "").await.assert_problem(401);
}

#[tokio::test]
async fn views_of_an_article_that_does_not_exist_or_is_deleted_are_absent() {
    let site = BoardSite::open().await;
    let ann = site.bearer("ann").await;
    let article = site.article(&ann).await;
    site.by(&ann, &format!("POST {article}/views"), "").await.assert(200);
    site.by(&ann, &format!("DELETE {article}"), "").await.assert(204);
    for path in [article.as_str(), "/api/v1/articles/1"] {
        site.by(&ann, &format!("POST {path}/views"), "").await.assert_problem(404);
        site.guest(&format!("POST {path}/views")).await.assert_problem(404);
        site.guest(&format!("GET {path}/views")).await.assert_problem(404);
    }
}
