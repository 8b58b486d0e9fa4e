//! The calls of the contract on a real store: members, sessions, boards and articles, from registration to deletion.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod support;

use support::board_site::{BoardSite, JSON};

#[tokio::test]
async fn members_register_sign_in_and_out() {
    let site = BoardSite::open().await;
    let body = r#"{"name":"앤","password":"correct horse"}"#;
    site.send("POST /api/v1/members", &[JSON], r#"{"name":"앤_1","password":"correct horse"}"#).await.assert(201);
    let short = site.send("POST /api/v1/members", &[JSON], body).await;
    assert_eq!(short.assert_problem(422).json()["errors"][0]["field"], "name");
    let again = r#"{"name":"앤_1","password":"other password"}"#;
    site.send("POST /api/v1/members", &[JSON], again).await.assert_problem(409);
    let wrong = site.send("POST /api/v1/sessions", &[JSON], again).await;
    assert_eq!(wrong.assert_problem(401).json()["type"], "urn:madang:problem:wrong-password");
    assert_eq!(wrong.header("www-authenticate"), "Bearer");

    let session = site.send("POST /api/v1/sessions", &[JSON], r#"{"name":"앤_1","password":"correct horse"}"#).await;
    assert_eq!(session.assert(201).header("cache-control"), "no-store");
    let token = session.json()["token"].as_str().unwrap().to_owned();
    let bearer = format!("Bearer {token}");
    let me = site.send("GET /api/v1/members/me", &[("authorization", &bearer)], "").await;
    assert_eq!(me.assert(200).json(), session.json()["member"]);
    let id = me.json()["member_id"].as_str().unwrap().to_owned();
    assert_eq!(site.send(&format!("GET /api/v1/members/{id}"), &[], "").await.json(), me.json());

    let forged = format!("Bearer {}x", &token[..token.len() - 1]);
    let refused = site.send("GET /api/v1/members/me", &[("authorization", &forged)], "").await;
    assert_eq!(refused.assert_problem(401).json()["type"], "urn:madang:problem:not-signed-in");
    let out = site.send("DELETE /api/v1/sessions/current", &[("authorization", &bearer)], "").await;
    assert!(out.assert(204).header("set-cookie").starts_with("madang_session=; "));
    site.send("GET /api/v1/members/me", &[("authorization", &bearer)], "").await.assert_problem(401);
}

#[tokio::test]
async fn signing_in_sets_a_cookie_unless_it_is_declined() {
    let site = BoardSite::open().await;
    site.member("ann").await;
    let sign_in = async |more: &str| {
        let body = format!(r#"{{"name":"ann","password":"correct horse"{more}}}"#);
        site.send("POST /api/v1/sessions", &[JSON], body).await
    };
    for asked in ["", r#","cookie":true"#] {
        let session = sign_in(asked).await;
        assert!(session.assert(201).cookie("madang_session").starts_with("madang_session=v"), "{asked}");
        session.cookie("madang_device");
    }
    let declined = sign_in(r#","cookie":false"#).await;
    assert_eq!(declined.assert(201).header("set-cookie"), "");
    let bearer = format!("Bearer {}", declined.json()["token"].as_str().unwrap());
    site.send("GET /api/v1/members/me", &[("authorization", &bearer)], "").await.assert(200);
    assert_eq!(sign_in(r#","cookie":1"#).await.assert_problem(422).json()["errors"][0]["field"], "cookie");
}

#[tokio::test]
async fn the_cookie_reads_anywhere_and_writes_from_our_own_pages() {
    let site = BoardSite::open().await;
    let cookie = format!("other=1; madang_session={}", site.member("ann").await);
    site.send("GET /api/v1/members/me", &[("cookie", &cookie)], "").await.assert(200);
    let path = format!("POST /api/v1/boards/{}/articles", site.board);
    let draft = r#"{"title":"t","content":"c"}"#;
    let write = async |extra: &[(&str, &str)]| {
        let headers = [&[("cookie", cookie.as_str()), JSON], extra].concat();
        site.send(&path, &headers, draft).await
    };
    write(&[]).await.assert_problem(403);
    write(&[("sec-fetch-site", "cross-site")]).await.assert_problem(403);
    write(&[("origin", "http://evil.example"), ("host", "board.example")]).await.assert_problem(403);
    write(&[("origin", "http://board.example"), ("host", "board.example")]).await.assert(201);
    write(&[("sec-fetch-site", "same-origin")]).await.assert(201);
}

#[tokio::test]
async fn administrators_create_boards_and_give_roles() {
    let site = BoardSite::open().await;
    let (admin, ann) = (site.admin.clone(), site.bearer("ann").await);
    let draft = r#"{"slug":"rust","title":"Rust","comment_mode":"tree"}"#;
    site.send("POST /api/v1/boards", &[JSON, ("authorization", &ann)], draft).await.assert_problem(403);
    let board = site.send("POST /api/v1/boards", &[JSON, ("authorization", &admin)], draft).await;
    let found = site.send(&format!("GET {}", board.assert(201).header("location")), &[], "").await;
    assert_eq!(found.assert(200).json(), board.json());
    assert_eq!(found.header("etag"), board.header("etag"));
    let seen = [("if-none-match", found.header("etag"))];
    site.send(&format!("GET {}", board.header("location")), &seen, "").await.assert(304);
    site.send("POST /api/v1/boards", &[JSON, ("authorization", &admin)], draft).await.assert_problem(409);
    let unknown = r#"{"slug":"more","title":"More","comment_mode":"spiral"}"#;
    let refused = site.send("POST /api/v1/boards", &[JSON, ("authorization", &admin)], unknown).await;
    assert_eq!(refused.assert_problem(422).json()["errors"][0]["field"], "comment_mode");
    let boards = site.send("GET /api/v1/boards", &[], "").await.json();
    assert_eq!(boards["items"].as_array().unwrap().len(), 2);

    let me = site.send("GET /api/v1/members/me", &[("authorization", &ann)], "").await.json();
    let role = format!("PUT /api/v1/members/{}/role", me["member_id"].as_str().unwrap());
    let moderator = r#"{"role":"moderator"}"#;
    site.send(&role, &[JSON, ("authorization", &ann)], moderator).await.assert_problem(403);
    let changed = site.send(&role, &[JSON, ("authorization", &admin)], moderator).await;
    assert_eq!(changed.assert(200).json()["role"], "moderator");
    let nobody = site.send("PUT /api/v1/members/1/role", &[JSON, ("authorization", &admin)], moderator).await;
    nobody.assert_problem(404);
}

#[tokio::test]
async fn an_article_is_written_read_edited_and_deleted() {
    let site = BoardSite::open().await;
    let (ann, bob) = (site.bearer("ann").await, site.bearer("bob").await);
    let written = site.write(&ann, r#"{"title":"😀","content":"*hi* <script>x</script>"}"#, &[]).await;
    let path = written.assert(201).header("location").to_owned();
    let article = written.json();
    assert_eq!((&article["version"], &article["writer"]["name"]), (&1.into(), &"ann".into()));
    assert!(!article["content_html"].as_str().unwrap().contains("<script"));
    let read = site.send(&format!("GET {path}"), &[], "").await;
    assert_eq!((read.assert(200).json(), read.header("etag")), (article, written.header("etag")));
    let seen = site.send(&format!("GET {path}"), &[("if-none-match", read.header("etag"))], "").await;
    assert_eq!((seen.assert(304).text.as_str(), seen.header("etag")), ("", read.header("etag")));

    let put = async |who: &str, tag: Option<&str>| {
        let mut headers = vec![JSON, ("authorization", who)];
        headers.extend(tag.map(|tag| ("if-match", tag)));
        site.send(&format!("PUT {path}"), &headers, r#"{"title":"new","content":"new"}"#).await
    };
    put(&bob, None).await.assert_problem(403);
    put(&ann, Some("W/\"1.0.0.0\"")).await.assert_problem(412);
    put(&ann, Some("not a tag")).await.assert_problem(400);
    let edited = put(&ann, Some(read.header("etag"))).await;
    assert_eq!(edited.assert(200).json()["version"], 2);
    put(&ann, Some(read.header("etag"))).await.assert_problem(412);
    put(&ann, Some(&format!("{}, {}", read.header("etag"), edited.header("etag")))).await.assert(200);
    put(&ann, Some("*")).await.assert(200);

    let delete = format!("DELETE {path}");
    let long = format!(r#"{{"reason":"{}"}}"#, "x".repeat(501));
    site.send(&delete, &[JSON, ("authorization", &ann)], long).await.assert_problem(422);
    site.send(&delete, &[("authorization", &bob)], "").await.assert_problem(403);
    site.send(&delete, &[JSON, ("authorization", &site.admin)], r#"{"reason":"spam"}"#).await.assert(204);
    site.send(&delete, &[("authorization", &ann)], "").await.assert_problem(404);
    site.send(&format!("GET {path}"), &[], "").await.assert_problem(404);
    put(&ann, None).await.assert_problem(404);
}

#[tokio::test]
async fn a_key_makes_a_creation_happen_once() {
    let site = BoardSite::open().await;
    let (ann, bob) = (site.bearer("ann").await, site.bearer("bob").await);
    let (one, two) = (r#"{"title":"1","content":"1"}"#, r#"{"title":"2","content":"2"}"#);
    let key = [("idempotency-key", "k-1")];
    let first = site.write(&ann, one, &key).await;
    let second = site.write(&ann, one, &key).await;
    assert_eq!(
        (first.assert(201).json(), first.header("location")),
        (second.assert(201).json(), second.header("location"))
    );
    site.write(&ann, two, &key).await.assert_problem(422);
    site.write(&bob, two, &key).await.assert(201);
    assert_eq!(site.count().await, 2);
    for (key, status) in [("", 422), ("a b", 422), ("é", 400), (&"k".repeat(65), 422), (&"k".repeat(64), 201)] {
        let answer = site.write(&ann, one, &[("idempotency-key", key)]).await;
        assert_eq!(answer.status.as_u16(), status, "{key:?}: {}", answer.text);
    }
}

#[tokio::test]
async fn lists_go_by_page_or_by_cursor() {
    let site = BoardSite::open().await;
    let ann = site.bearer("ann").await;
    for number in 0..5 {
        site.write(&ann, &format!(r#"{{"title":"{number}","content":"c"}}"#), &[]).await.assert(201);
    }
    let list = async |query: &str| {
        let path = format!("GET /api/v1/boards/{}/articles{query}", site.board);
        site.send(&path, &[], "").await.assert(200).json()
    };
    let titles = |list: &serde_json::Value| -> Vec<String> {
        list["items"].as_array().unwrap().iter().map(|item| item["title"].as_str().unwrap().to_owned()).collect()
    };
    let page = list("?page=2&page_size=2").await;
    assert_eq!(titles(&page), ["2", "1"]);
    assert_eq!((&page["page"], &page["page_size"], &page["known_count"]), (&2.into(), &2.into(), &5.into()));
    assert!(page["items"][0].get("content").is_none());
    assert_eq!(titles(&list("").await).len(), 5);
    assert_eq!(titles(&list("?page=1000000000").await).len(), 0);
    let step = list("?limit=3").await;
    assert_eq!(titles(&step), ["4", "3", "2"]);
    let rest = list(&format!("?limit=3&before={}", step["next"].as_str().unwrap())).await;
    assert_eq!((titles(&rest), &rest["next"]), (vec!["1".to_owned(), "0".to_owned()], &serde_json::Value::Null));
    assert_eq!(site.count().await, 5);
    site.send("GET /api/v1/boards/1/articles", &[], "").await.assert_problem(404);
    site.send("GET /api/v1/boards/1/articles/count", &[], "").await.assert_problem(404);
}
