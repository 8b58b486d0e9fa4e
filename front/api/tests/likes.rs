//! Likes by the contract on a real store: once per member, taken back, listed, and every refusal.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod support;

use serde_json::{Value, json};
use support::board_site::BoardSite;

fn state(liked: bool, like_count: u64) -> Value {
    json!({"liked": liked, "like_count": like_count})
}

#[tokio::test]
async fn a_like_is_given_once_and_taken_back_once() {
    let site = BoardSite::open().await;
    let (ann, bob) = (site.bearer("ann").await, site.bearer("bob").await);
    let article = site.article(&ann).await;
    let [put, delete, get] = ["PUT", "DELETE", "GET"].map(|method| format!("{method} {article}/like"));
    for (who, line, expected) in [
        (&ann, &get, state(false, 0)),
        (&ann, &delete, state(false, 0)),
        (&ann, &put, state(true, 1)),
        (&ann, &put, state(true, 1)),
        (&bob, &get, state(false, 1)),
        (&bob, &put, state(true, 2)),
        (&ann, &delete, state(false, 1)),
        (&ann, &delete, state(false, 1)),
        (&bob, &get, state(true, 1)),
    ] {
        assert_eq!(site.by(who, line, "").await.assert(200).json(), expected, "{line}");
    }
    assert_eq!(site.guest(&get).await.assert(200).json(), state(false, 1), "guests may look");
}

#[tokio::test]
async fn a_bad_token_is_no_guest() {
    let site = BoardSite::open().await;
    let article = site.article(&site.admin).await;
    let [put, delete, get] = ["PUT", "DELETE", "GET"].map(|method| format!("{method} {article}/like"));
    for line in [&put, &delete] {
        site.guest(line).await.assert_problem(401);
    }
    for line in [&put, &delete, &get] {
        site.by("Bearer forged", line, "").await.assert_problem(401);
        site.send(line, &[("cookie", "madang_session=forged")], "").await.assert_problem(401);
    }
    let cookie = format!("madang_session={}", site.member("ann").await);
    site.send(&put, &[("cookie", &cookie)], "").await.assert_problem(403);
    site.send(&put, &[("cookie", &cookie), ("sec-fetch-site", "cross-site")], "").await.assert_problem(403);
    site.send(&put, &[("cookie", &cookie), ("sec-fetch-site", "same-origin")], "").await.assert(200);
    assert_eq!(site.send(&get, &[("cookie", &cookie)], "").await.assert(200).json(), state(true, 1));
}

#[tokio::test]
async fn members_who_like_it_are_listed_by_id() {
    let site = BoardSite::open().await;
    let article = site.article(&site.admin).await;
    let list = format!("GET {article}/likes");
    assert_eq!(site.guest(&list).await.assert(200).json(), json!({"items": [], "next": null}));
    for name in ["ann", "bob", "cem"] {
        let who = site.bearer(name).await;
        site.by(&who, &format!("PUT {article}/like"), "").await.assert(200);
    }
    let first = site.guest(&format!("{list}?limit=2")).await.assert(200).json();
    let liker = &first["items"][0];
    assert_eq!((&liker["member"]["name"], liker["member"]["member_id"].is_string()), (&json!("ann"), true));
    assert!(liker["created_at"].as_str().unwrap().ends_with('Z'));
    assert_eq!(first["next"], first["items"][1]["member"]["member_id"]);
    let rest =
        site.guest(&format!("{list}?limit=2&after={}", first["next"].as_str().unwrap())).await.assert(200).json();
    assert_eq!((&rest["items"][0]["member"]["name"], &rest["next"]), (&json!("cem"), &Value::Null));
    for (query, status) in [("after=x", 400), ("after=0", 400), ("limit=x", 400), ("limit=0", 422), ("limit=101", 422)]
    {
        site.guest(&format!("{list}?{query}")).await.assert_problem(status);
    }
}

#[tokio::test]
async fn likes_of_an_article_that_does_not_exist_or_is_deleted_are_absent() {
    let site = BoardSite::open().await;
    let ann = site.bearer("ann").await;
    let article = site.article(&ann).await;
    site.by(&ann, &format!("PUT {article}/like"), "").await.assert(200);
    site.by(&ann, &format!("DELETE {article}"), "").await.assert(204);
    for path in [article.as_str(), "/api/v1/articles/1"] {
        for line in [format!("PUT {path}/like"), format!("DELETE {path}/like"), format!("GET {path}/like")] {
            site.by(&ann, &line, "").await.assert_problem(404);
        }
        site.guest(&format!("GET {path}/like")).await.assert_problem(404);
        site.guest(&format!("GET {path}/likes")).await.assert_problem(404);
    }
}
