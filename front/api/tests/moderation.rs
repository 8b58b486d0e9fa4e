//! What moderators may do to one another, what the log tells of them, and the lists of a member.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use madang_board::Role;
use support::board_site::BoardSite;

const REASON: &str = r#"{"reason":"spam"}"#;

fn last(path: &str) -> String {
    path.rsplit('/').next().unwrap().to_owned()
}

#[tokio::test]
async fn nobody_suspends_their_like_and_the_last_administrator_stays() {
    let site = BoardSite::open().await;
    let (first, moderator) = site.register("first", Role::Moderator).await;
    let (second, _) = site.register("second", Role::Moderator).await;
    let suspend = async |who: &str, whom: &str| {
        let body = r#"{"until":"2099-01-01T00:00:00Z","reason":"spam"}"#;
        site.by(who, &format!("PUT /api/v1/members/{whom}/suspension"), body).await.status.as_u16()
    };
    assert_eq!(suspend(&moderator, &second).await, 403);
    assert_eq!(suspend(&moderator, &first).await, 403);
    assert_eq!(suspend(&site.admin, &second).await, 200);
    let root =
        site.by(&site.admin, "GET /api/v1/members/me", "").await.json()["member_id"].as_str().unwrap().to_owned();
    assert_eq!(suspend(&site.admin, &root).await, 403);
    let role = |role: &str| format!(r#"{{"role":"{role}"}}"#);
    let promote = site.by(&site.admin, &format!("PUT /api/v1/members/{second}/role"), &role("admin")).await;
    promote.assert_problem(409);
    let (third, admin) = site.register("third", Role::Admin).await;
    site.by(&admin, &format!("PUT /api/v1/members/{root}/role"), &role("member")).await.assert(200);
    site.by(&admin, &format!("PUT /api/v1/members/{third}/role"), &role("member")).await.assert_problem(403);
    site.by(&site.admin, &format!("PUT /api/v1/members/{third}/role"), &role("member")).await.assert_problem(403);
}

#[tokio::test]
async fn who_is_suspended_is_told_until_when() {
    let site = BoardSite::open().await;
    let (id, member) = site.register("rude", Role::Member).await;
    let until = r#"{"until":"2099-01-01T00:00:00Z","reason":"spam"}"#;
    site.by(&site.admin, &format!("PUT /api/v1/members/{id}/suspension"), until).await.assert(200);
    let board = site.by(&member, "GET /api/v1/boards", "").await.json()["items"][0]["board_id"].clone();
    let line = format!("POST /api/v1/boards/{}/articles", board.as_str().unwrap());
    let refused = site.by(&member, &line, r#"{"title":"a","content":"b"}"#).await;
    let detail = refused.assert_problem(403).json()["detail"].clone();
    assert_eq!(
        detail,
        "Your account is suspended until 2099-01-01T00:00:00.000Z. Until then you can read, but not write."
    );
}

#[tokio::test]
async fn what_moderators_do_is_told_in_the_log_with_its_reason() {
    let site = BoardSite::open().await;
    let (author, (moderator_id, moderator)) =
        (site.bearer("author").await, site.register("mod", Role::Moderator).await);
    let article = last(&site.article(&author).await);
    site.by(&moderator, &format!("DELETE /api/v1/articles/{article}"), REASON).await.assert(204);
    let own = last(&site.article(&moderator).await);
    site.by(&moderator, &format!("DELETE /api/v1/articles/{own}"), REASON).await.assert(204);
    let log = site.by(&site.admin, "GET /api/v1/moderation/log", "").await.json();
    assert_eq!(log["items"].as_array().unwrap().len(), 1, "what one wrote oneself is nobody's business: {log}");
    let act = &log["items"][0];
    assert_eq!(
        (&act["kind"], &act["reason"], &act["subject_id"]),
        (&"article_deleted".into(), &"spam".into(), &article.into())
    );
    assert_eq!((&act["moderator_id"], &act["moderator_name"]), (&moderator_id.into(), &"mod".into()));
    for line in ["DELETE /api/v1/moderation/log", "PUT /api/v1/moderation/log", "POST /api/v1/moderation/log"] {
        site.by(&site.admin, line, "").await.assert_problem(405);
    }
    let too_long = format!(r#"{{"reason":"{}"}}"#, "x".repeat(501));
    let article = last(&site.article(&author).await);
    site.by(&moderator, &format!("DELETE /api/v1/articles/{article}"), &too_long).await.assert_problem(422);
}

#[tokio::test]
async fn a_members_lists_are_theirs_newest_first() {
    let site = BoardSite::open().await;
    let (id, author) = site.register("author", Role::Member).await;
    let other = site.bearer("other").await;
    let mut articles = Vec::new();
    for _ in 0..3 {
        articles.insert(0, last(&site.article(&author).await));
        site.article(&other).await;
    }
    let list = async |path: &str| site.guest(&format!("GET /api/v1/members/{id}/{path}")).await.assert(200).json();
    let first = list("articles?limit=2").await;
    let rest = list(&format!("articles?limit=2&before={}", first["next"].as_str().unwrap())).await;
    let ids = |list: &serde_json::Value, field: &str| {
        list["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item[field].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!([ids(&first, "article_id"), ids(&rest, "article_id")].concat(), articles);
    assert!(rest["next"].is_null() && first["items"][0]["like_count"] == 0);
    let line = format!("POST /api/v1/articles/{}/comments", articles[0]);
    let comment = last(site.by(&author, &line, r#"{"content":"c"}"#).await.assert(201).header("location"));
    site.by(&other, &line, r#"{"content":"c"}"#).await.assert(201);
    assert_eq!(ids(&list("comments").await, "comment_id"), [comment]);
    site.guest(&format!("GET /api/v1/members/{id}/articles?before=x")).await.assert_problem(400);
    site.guest(&format!("GET /api/v1/members/{id}/comments?limit=0")).await.assert_problem(422);
    site.guest("GET /api/v1/members/x/articles").await.assert_problem(404);
}
