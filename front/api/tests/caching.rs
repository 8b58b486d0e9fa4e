//! What caches and clients are told: for whom an answer is, whether it changed, and that it comes compressed.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod support;

use support::Answer;
use support::board_site::{BoardSite, JSON};

const GZIP: (&str, &str) = ("accept-encoding", "br, gzip;q=0.8");

/// An article that is worth compressing.
async fn long_article(site: &BoardSite, author: &str) -> String {
    let draft = serde_json::json!({ "title": "t", "content": "some text ".repeat(300) }).to_string();
    site.write(author, &draft, &[]).await.assert(201).header("location").to_owned()
}

/// Asked for until it is cached, which takes a second request, and then once more.
async fn read_often(site: &BoardSite, line: &str) -> Answer {
    for _ in 0..3 {
        site.send(line, &[GZIP], "").await.assert(200);
    }
    site.send(line, &[GZIP], "").await
}

#[tokio::test]
async fn a_read_that_depends_on_who_asks_says_so_to_caches() {
    let site = BoardSite::open().await;
    let article = long_article(&site, &site.admin).await;
    let as_admin = [("authorization", site.admin.as_str())];
    for path in [&format!("{article}/like"), "/api/v1/members/me", "/api/v1/reports", "/api/v1/moderation/log"] {
        let read = site.send(&format!("GET {path}"), &as_admin, "").await;
        assert_eq!(read.assert(200).header("vary"), "accept-encoding, authorization, cookie", "{path}");
        assert_eq!(read.header("cache-control"), "private, no-cache", "{path}");
    }
    let sessions = site.send("GET /api/v1/sessions", &as_admin, "").await;
    assert_eq!(sessions.assert(200).header("vary"), "accept-encoding, authorization, cookie");
    assert_eq!(sessions.header("cache-control"), "no-store", "who looks at it later is somebody else");
    for path in [&article, &format!("{article}/comments"), "/api/v1/boards", "/api/v1/hot-articles"] {
        let read = site.send(&format!("GET {path}"), &[], "").await;
        assert_eq!(read.assert(200).header("vary"), "accept-encoding", "{path}");
        assert_eq!(read.header("cache-control"), "private, no-cache", "{path}");
    }
}

#[tokio::test]
async fn what_is_read_often_is_compressed_and_says_the_same() {
    let site = BoardSite::open().await;
    let article = long_article(&site, &site.admin).await;
    for number in 0..10 {
        site.write(&site.admin, &format!(r#"{{"title":"{number}","content":"c"}}"#), &[]).await.assert(201);
    }
    for line in [format!("GET {article}"), format!("GET /api/v1/boards/{}/articles", site.board)] {
        let plain = site.send(&line, &[], "").await;
        let zipped = read_often(&site, &line).await;
        assert_eq!((zipped.header("content-encoding"), zipped.header("content-type")), ("gzip", "application/json"));
        assert!(zipped.text == plain.text && zipped.sent_bytes * 2 < plain.sent_bytes, "{line}");
        assert_eq!(plain.header("content-encoding"), "", "who does not ask for it gets none");
    }
}

#[tokio::test]
async fn a_compressed_answer_has_a_tag_of_its_own_that_serves_as_the_plain_one_does() {
    let site = BoardSite::open().await;
    let ann = site.bearer("ann").await;
    let article = long_article(&site, &ann).await;
    let line = format!("GET {article}");
    let plain = site.send(&line, &[], "").await.header("etag").to_owned();
    let zipped = read_often(&site, &line).await.header("etag").to_owned();
    assert_eq!((plain.as_str(), zipped.as_str()), ("\"1.0.0.0\"", "\"1.0.0.0-gzip\""));
    for tag in [&plain, &zipped] {
        let again = site.send(&line, &[GZIP, ("if-none-match", tag)], "").await;
        assert_eq!((again.assert(304).header("etag"), again.header("vary")), (tag.as_str(), "accept-encoding"));
    }
    let edit = [JSON, ("authorization", ann.as_str()), ("if-match", &zipped)];
    let draft = r#"{"title":"new","content":"new"}"#;
    site.send(&format!("PUT {article}"), &edit, draft).await.assert(200);
    site.send(&format!("PUT {article}"), &edit, draft).await.assert_problem(412);
    site.send(&line, &[GZIP, ("if-none-match", &zipped)], "").await.assert(200);
}

#[tokio::test]
async fn a_long_list_is_compressed_for_who_takes_it_and_a_short_one_for_nobody() {
    let site = BoardSite::open().await;
    let article = long_article(&site, &site.admin).await;
    let comments = format!("{article}/comments");
    let short = site.send(&format!("GET {comments}"), &[GZIP], "").await;
    assert_eq!(short.assert(200).header("content-encoding"), "");
    for number in 0..10 {
        let comment = serde_json::json!({ "content": format!("{number} {}", "many words ".repeat(200)) }).to_string();
        let headers = [JSON, ("authorization", site.admin.as_str())];
        site.send(&format!("POST {comments}"), &headers, comment).await.assert(201);
    }
    let plain = site.send(&format!("GET {comments}"), &[], "").await;
    let zipped = site.send(&format!("GET {comments}"), &[GZIP], "").await;
    assert_eq!(zipped.assert(200).header("content-encoding"), "gzip");
    assert!(zipped.text == plain.text && zipped.sent_bytes * 10 < plain.sent_bytes);
    // So long that it is compressed elsewhere.
    let id = plain.json()["items"][0]["comment_id"].as_str().unwrap().to_owned();
    let one = site.send(&format!("GET /api/v1/comments/{id}"), &[GZIP], "").await;
    assert_eq!((one.assert(200).header("etag"), one.header("content-encoding")), ("\"1-gzip\"", "gzip"));
}

#[tokio::test]
async fn the_longest_article_is_compressed_though_it_is_never_cached() {
    let site = BoardSite::open().await;
    let draft = serde_json::json!({ "title": "t", "content": "마당 ".repeat(6_600) }).to_string();
    let article = site.write(&site.admin, &draft, &[]).await.assert(201).header("location").to_owned();
    let plain = site.send(&format!("GET {article}"), &[], "").await;
    let zipped = site.send(&format!("GET {article}"), &[GZIP], "").await;
    assert_eq!(zipped.assert(200).header("content-encoding"), "gzip");
    assert!(zipped.text == plain.text && plain.sent_bytes > 64 * 1_024, "{}", plain.sent_bytes);
}

#[tokio::test]
async fn a_star_matches_whatever_is_there() {
    let site = BoardSite::open().await;
    let ann = site.bearer("ann").await;
    let article = long_article(&site, &ann).await;
    let star = ("if-none-match", "*");
    let list = format!("/api/v1/boards/{}/articles", site.board);
    for path in [&article, &list, &format!("{article}/comments/count"), "/api/v1/boards", "/openapi.json"] {
        let read = site.send(&format!("GET {path}"), &[star], "").await;
        assert_eq!(read.assert(304).sent_bytes, 0, "{path}");
    }
    site.send("GET /api/v1/articles/1", &[star], "").await.assert_problem(404);
    let headers = [JSON, ("authorization", ann.as_str()), star];
    let put = site.send(&format!("PUT {article}"), &headers, r#"{"title":"new","content":"new"}"#).await;
    put.assert_problem(412);
    site.send(&format!("DELETE {article}"), &headers[1..], "").await.assert_problem(412);
}

#[tokio::test]
async fn what_was_changed_meanwhile_is_not_deleted() {
    let site = BoardSite::open().await;
    let (ann, bob) = (site.bearer("ann").await, site.bearer("bob").await);
    let article = long_article(&site, &ann).await;
    let seen = site.send(&format!("GET {article}"), &[], "").await.header("etag").to_owned();
    let change = [JSON, ("authorization", ann.as_str())];
    let edited = site.send(&format!("PUT {article}"), &change, r#"{"title":"new","content":"new"}"#).await;
    let delete = async |path: &str, who: &str, tag: &str| {
        site.send(&format!("DELETE {path}"), &[("authorization", who), ("if-match", tag)], "").await
    };
    let stale = delete(&article, &ann, &seen).await;
    assert_eq!(stale.assert_problem(412).json()["type"], "urn:madang:problem:changed");
    delete(&article, &bob, &seen).await.assert_problem(403);
    delete("/api/v1/articles/1", &ann, &seen).await.assert_problem(404);
    delete(&article, &ann, "no tag").await.assert_problem(400);

    let comment = site.send(&format!("POST {article}/comments"), &change, r#"{"content":"c"}"#).await;
    let (place, tag) = (comment.assert(201).header("location"), comment.header("etag"));
    delete(place, &ann, "\"2\"").await.assert_problem(412);
    delete("/api/v1/comments/1", &ann, "\"2\"").await.assert_problem(404);
    delete(place, &ann, tag).await.assert(204);

    delete(&article, &ann, edited.header("etag")).await.assert(204);
    site.send(&format!("GET {article}"), &[], "").await.assert_problem(404);
}

#[tokio::test]
async fn the_description_and_its_pages_are_compressed_and_not_sent_again() {
    let site = BoardSite::open().await;
    for (path, kind) in [
        ("/openapi.json", "application/json"),
        ("/docs/", "text/html; charset=utf-8"),
        ("/docs/swagger-ui-bundle.js", "text/javascript"),
        ("/docs/swagger-ui.css", "text/css"),
    ] {
        let line = format!("GET {path}");
        let plain = site.send(&line, &[], "").await;
        let zipped = site.send(&line, &[GZIP], "").await;
        assert_eq!((zipped.header("content-encoding"), zipped.header("content-type")), expected(path, kind), "{path}");
        assert!(zipped.text == plain.text && zipped.sent_bytes <= plain.sent_bytes, "{path}");
        assert_eq!((zipped.header("cache-control"), zipped.header("vary")), ("no-cache", "accept-encoding"), "{path}");
        let again = site.send(&line, &[GZIP, ("if-none-match", zipped.header("etag"))], "").await;
        assert_eq!((again.assert(304).sent_bytes, again.header("etag")), (0, plain.header("etag")), "{path}");
    }
    let bundle = site.send("GET /docs/swagger-ui-bundle.js", &[GZIP], "").await;
    assert!(bundle.sent_bytes * 3 < bundle.text.len(), "{} of {}", bundle.sent_bytes, bundle.text.len());
    site.send("GET /docs/nowhere.js", &[], "").await.assert_problem(404);
}

/// Our page is too short to be worth it.
fn expected<'a>(path: &str, kind: &'a str) -> (&'static str, &'a str) {
    (if path == "/docs/" { "" } else { "gzip" }, kind)
}

#[tokio::test]
async fn the_documentation_is_a_page_that_no_other_site_reaches_into() {
    let site = BoardSite::open().await;
    let page = site.send("GET /docs/", &[], "").await;
    assert_eq!(page.header("cross-origin-opener-policy"), "same-origin");
    assert!(page.header("permissions-policy").contains("camera=()"));
}
