//! Comments by the contract on a real store: both arrangements, lists, deletion, and every refusal.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

mod support;

use serde_json::{Value, json};
use support::Answer;
use support::board_site::{BoardSite, JSON};

/// A comment on the article at `path`, or a reply.
async fn comment(site: &BoardSite, who: &str, path: &str, parent: Option<&Value>) -> Answer {
    let body = match parent {
        Some(parent) => json!({"content": "a *reply*", "parent_id": parent["comment_id"]}),
        None => json!({"content": "한마디 😀"}),
    };
    site.by(who, &format!("POST {path}/comments"), &body.to_string()).await
}

async fn ids(site: &BoardSite, line: &str) -> Vec<Value> {
    let list = site.guest(line).await.assert(200).json();
    list["items"].as_array().unwrap().iter().map(|item| item["comment_id"].clone()).collect()
}

async fn count(site: &BoardSite, path: &str) -> Value {
    site.guest(&format!("GET {path}/comments/count")).await.assert(200).json()["count"].clone()
}

#[tokio::test]
async fn a_comment_is_written_read_and_deleted() {
    let site = BoardSite::open().await;
    let (ann, bob) = (site.bearer("ann").await, site.bearer("bob").await);
    let article = site.article(&ann).await;
    let written = comment(&site, &ann, &article, None).await;
    let found = written.assert(201).json();
    let path = format!("/api/v1/comments/{}", found["comment_id"].as_str().unwrap());
    assert_eq!(written.header("location"), path);
    assert!(article.ends_with(found["article_id"].as_str().unwrap()));
    assert_eq!((&found["content"], &found["writer"]["name"]), (&json!("한마디 😀"), &json!("ann")));
    assert_eq!((&found["parent_id"], &found["depth"], &found["path"]), (&Value::Null, &json!(1), &Value::Null));
    assert_eq!((&found["version"], &found["modified_at"]), (&json!(1), &found["created_at"]));
    assert_eq!(found["content_html"], "<p>한마디 😀</p>\n");
    assert_eq!((found["deleted"].as_bool(), found.as_object().unwrap().len()), (Some(false), 12), "no more, no less");

    let read = site.guest(&format!("GET {path}")).await;
    assert_eq!((read.assert(200).json(), read.header("etag")), (found, written.header("etag")));
    let seen = site.send(&format!("GET {path}"), &[("if-none-match", read.header("etag"))], "").await;
    assert_eq!((seen.assert(304).text.as_str(), seen.header("etag")), ("", read.header("etag")));
    assert_eq!(count(&site, &article).await, 1);

    site.by(&bob, &format!("DELETE {path}"), "").await.assert_problem(403);
    site.guest(&format!("DELETE {path}")).await.assert_problem(401);
    site.by(&site.admin, &format!("DELETE {path}"), "").await.assert(204);
    site.by(&ann, &format!("DELETE {path}"), "").await.assert_problem(404);
    // What a moderator removed keeps its place for as long as it can be restored; what its writer deletes is gone.
    let mark = site.guest(&format!("GET {path}")).await.assert(200).json();
    assert_eq!((&mark["deleted"], &mark["content"], &mark["writer"]), (&json!(true), &Value::Null, &Value::Null));
    assert_eq!(count(&site, &article).await, 0);
    let own = comment(&site, &ann, &article, None).await.assert(201).json();
    let own = format!("/api/v1/comments/{}", own["comment_id"].as_str().unwrap());
    site.by(&ann, &format!("DELETE {own}"), "").await.assert(204);
    site.guest(&format!("GET {own}")).await.assert_problem(404);
}

#[tokio::test]
async fn a_list_of_small_texts_that_become_much_html_ends_its_html_early() {
    let site = BoardSite::open().await;
    let ann = site.bearer("ann").await;
    let article = site.article(&ann).await;
    let dense = json!({"content": "www.a.bcdef ".repeat(250)}).to_string();
    for _ in 0..60 {
        site.by(&ann, &format!("POST {article}/comments"), &dense).await.assert(201);
    }
    let list = site.guest(&format!("GET {article}/comments?limit=100")).await;
    let items = list.assert(200).json()["items"].as_array().unwrap().clone();
    let html = |item: &Value| item["content_html"].as_str().map_or(0, str::len);
    assert!(html(&items[0]) > 0 && items.iter().map(html).sum::<usize>() <= 512 * 1_024);
    let last = items.last().unwrap();
    assert_eq!((&last["content_html"], last["content"].as_str().map(str::len)), (&Value::Null, Some(3_000)));
    let itself = format!("GET /api/v1/comments/{}", last["comment_id"].as_str().unwrap());
    assert!(html(&site.guest(&itself).await.assert(200).json()) > 0);
}

#[tokio::test]
async fn a_deleted_comment_with_replies_tells_neither_text_nor_writer() {
    let site = BoardSite::open().await;
    let (ann, bob) = (site.bearer("ann").await, site.bearer("bob").await);
    for article in [site.article(&ann).await, site.tree_article(&ann).await] {
        let root = comment(&site, &ann, &article, None).await.assert(201).json();
        let reply = comment(&site, &bob, &article, Some(&root)).await.assert(201).json();
        let path = format!("/api/v1/comments/{}", root["comment_id"].as_str().unwrap());
        let before = site.guest(&format!("GET {path}")).await;
        site.by(&ann, &format!("DELETE {path}"), "").await.assert(204);
        let mark = json!({
            "comment_id": root["comment_id"], "article_id": root["article_id"], "parent_id": null, "depth": 1,
            "path": root["path"], "content": null, "content_html": null, "deleted": true, "writer": null,
            "created_at": root["created_at"], "modified_at": root["modified_at"], "version": 2,
        });
        let read = site.send(&format!("GET {path}"), &[("if-none-match", before.header("etag"))], "").await;
        assert_eq!(read.assert(200).json(), mark, "its entity tag has changed with it");
        for query in ["", "?limit=30"] {
            let list = site.guest(&format!("GET {article}/comments{query}")).await.assert(200).json();
            assert_eq!(list["items"], json!([mark, reply]));
        }
        assert_eq!(count(&site, &article).await, 1);
        comment(&site, &bob, &article, Some(&root)).await.assert_problem(422);
        site.by(&ann, &format!("DELETE {path}"), "").await.assert_problem(404);
        // The last reply takes the mark along.
        site.by(&bob, &format!("DELETE /api/v1/comments/{}", reply["comment_id"].as_str().unwrap()), "")
            .await
            .assert(204);
        site.guest(&format!("GET {path}")).await.assert_problem(404);
        assert_eq!(ids(&site, &format!("GET {article}/comments")).await, Vec::<Value>::new());
    }
}

#[tokio::test]
async fn a_comment_is_corrected_and_a_moderator_is_named_in_the_log() {
    let site = BoardSite::open().await;
    let (ann, bob) = (site.bearer("ann").await, site.bearer("bob").await);
    let article = site.article(&ann).await;
    let written = comment(&site, &ann, &article, None).await.assert(201).json();
    let path = format!("/api/v1/comments/{}", written["comment_id"].as_str().unwrap());
    let put = async |who: &str, tag: &str, body: &str| {
        let mut headers = vec![JSON, ("authorization", who)];
        headers.extend((!tag.is_empty()).then_some(("if-match", tag)));
        site.send(&format!("PUT {path}"), &headers, body.to_owned()).await
    };
    let edited = put(&ann, "\"1\"", r#"{"content":"*better*"}"#).await;
    assert_eq!(edited.assert(200).header("etag"), "\"2\"");
    let read = site.guest(&format!("GET {path}")).await;
    assert_eq!((read.assert(200).json(), read.header("etag")), (edited.json(), "\"2\""));
    assert_eq!(edited.json()["content_html"], "<p><em>better</em></p>\n");

    let stale = put(&ann, "\"1\"", r#"{"content":"late"}"#).await;
    assert_eq!(stale.assert_problem(412).json()["type"], "urn:madang:problem:changed");
    put(&ann, "W/\"2\"", r#"{"content":"weak"}"#).await.assert_problem(412);
    put(&ann, "2", r#"{"content":"no tag"}"#).await.assert_problem(400);
    put(&ann, "\"1\", \"2\"", r#"{"content":"one of two"}"#).await.assert(200);
    put(&bob, "", r#"{"content":"not mine"}"#).await.assert_problem(403);
    site.send(&format!("PUT {path}"), &[JSON], r#"{"content":"c"}"#).await.assert_problem(401);
    for content in [json!(""), json!("a\u{0}b"), json!("😀".repeat(3_001)), json!(null)] {
        let refused = put(&ann, "", &json!({"content": content}).to_string()).await;
        assert_eq!(refused.assert_problem(422).json()["errors"][0]["field"], "content");
    }
    put(&ann, "", "{}").await.assert_problem(422);
    put(&site.admin, "", r#"{"content":"tidied"}"#).await.assert(200);
    let found = site.guest(&format!("GET {path}")).await.assert(200).json();
    assert_eq!((&found["version"], &found["writer"]["name"]), (&json!(4), &json!("ann")), "it stays its writer's");
    let log = site.by(&site.admin, "GET /api/v1/moderation/log", "").await.assert(200).json();
    let acts: Vec<_> = log["items"].as_array().unwrap().iter().map(|act| act["kind"].as_str().unwrap()).collect();
    assert_eq!(acts, ["comment_edited"], "what writers do is not told");
    assert_eq!(count(&site, &article).await, 1);
}

#[tokio::test]
async fn replies_go_as_deep_as_the_board_allows() {
    let site = BoardSite::open().await;
    let ann = site.bearer("ann").await;
    for (article, levels) in [(site.article(&ann).await, 2), (site.tree_article(&ann).await, 5)] {
        let mut last = comment(&site, &ann, &article, None).await.assert(201).json();
        for depth in 2..=levels {
            let reply = comment(&site, &ann, &article, Some(&last)).await.assert(201).json();
            assert_eq!((&reply["parent_id"], &reply["depth"]), (&last["comment_id"], &json!(depth)));
            assert_eq!(reply["path"].as_str().map(str::len), (levels == 5).then_some(5 * depth));
            last = reply;
        }
        let refused = comment(&site, &ann, &article, Some(&last)).await;
        assert_eq!(refused.assert_problem(422).json()["errors"][0]["field"], "parent_id");
    }
}

#[tokio::test]
async fn a_parent_must_be_a_comment_of_the_same_article() {
    let site = BoardSite::open().await;
    let ann = site.bearer("ann").await;
    let (one, other) = (site.article(&ann).await, site.article(&ann).await);
    let elsewhere = comment(&site, &ann, &other, None).await.assert(201).json();
    for parent in [elsewhere["comment_id"].clone(), json!("1"), json!("x"), json!(5), json!("")] {
        let body = json!({"content": "c", "parent_id": parent}).to_string();
        let refused = site.by(&ann, &format!("POST {one}/comments"), &body).await;
        assert_eq!(refused.assert_problem(422).json()["errors"][0]["field"], "parent_id", "{parent}");
    }
    let root = json!({"content": "c", "parent_id": null}).to_string();
    site.by(&ann, &format!("POST {one}/comments"), &root).await.assert(201);
}

#[tokio::test]
async fn unacceptable_bodies_are_refused_for_what_is_wrong_with_them() {
    let site = BoardSite::open().await;
    let ann = site.bearer("ann").await;
    let post = format!("POST {}/comments", site.article(&ann).await);
    for content in [json!(""), json!(" \n"), json!("😀".repeat(3_001)), json!("a\u{0}b"), json!(null), json!(1)] {
        let refused = site.by(&ann, &post, &json!({"content": content}).to_string()).await;
        assert_eq!(refused.assert_problem(422).json()["errors"][0]["field"], "content");
    }
    site.by(&ann, &post, &json!({"content": "😀".repeat(3_000)}).to_string()).await.assert(201);
    site.by(&ann, &post, "{\"content\":").await.assert_problem(400);
    site.by(&ann, &post, "{}").await.assert_problem(422);
    let auth = ("authorization", ann.as_str());
    site.send(&post, &[auth, ("content-type", "text/plain")], r#"{"content":"c"}"#).await.assert_problem(415);
    site.send(&post, &[auth], r#"{"content":"c"}"#).await.assert_problem(415);
    site.by(&ann, &post, &json!({"content": "x".repeat(256 * 1_024)}).to_string()).await.assert_problem(413);
    site.send(&post, &[JSON], r#"{"content":"c"}"#).await.assert_problem(401);
}

#[tokio::test]
async fn pages_and_cursors_walk_the_same_comments_depth_first() {
    let site = BoardSite::open().await;
    let ann = site.bearer("ann").await;
    for article in [site.article(&ann).await, site.tree_article(&ann).await] {
        let mut expected = Vec::new();
        let mut roots = Vec::new();
        for _ in 0..3 {
            roots.push(comment(&site, &ann, &article, None).await.assert(201).json());
        }
        for root in &roots {
            let replies = [(); 2].map(|()| comment(&site, &ann, &article, Some(root)));
            expected.push(root["comment_id"].clone());
            for reply in replies {
                expected.push(reply.await.assert(201).json()["comment_id"].clone());
            }
        }
        let list = format!("GET {article}/comments");
        assert_eq!(ids(&site, &list).await, expected);
        let page = site.guest(&format!("{list}?page=2&page_size=4")).await.assert(200).json();
        assert_eq!((&page["page"], &page["page_size"], &page["known_count"]), (&json!(2), &json!(4), &json!(9)));
        let mut paged = Vec::new();
        for page in 1..=4 {
            paged.extend(ids(&site, &format!("{list}?page={page}&page_size=4")).await);
        }
        assert_eq!(paged, expected, "the fourth page is past the end");
        let mut walked = Vec::new();
        let mut step = site.guest(&format!("{list}?limit=4")).await.assert(200).json();
        loop {
            walked.extend(step["items"].as_array().unwrap().iter().map(|item| item["comment_id"].clone()));
            let Some(next) = step["next"].as_str() else { break };
            step = site.guest(&format!("{list}?limit=4&after={next}")).await.assert(200).json();
        }
        assert_eq!(walked, expected);
        for (query, status) in
            [("after=nonsense", 400), ("after=", 400), ("after=1", 400), ("page=0", 422), ("limit=0", 422)]
        {
            site.guest(&format!("{list}?{query}")).await.assert_problem(status);
        }
    }
}

#[tokio::test]
async fn a_cursor_of_the_other_arrangement_is_none() {
    let site = BoardSite::open().await;
    let ann = site.bearer("ann").await;
    let articles = [site.article(&ann).await, site.tree_article(&ann).await];
    let mut cursors = Vec::new();
    for article in &articles {
        comment(&site, &ann, article, None).await.assert(201);
        comment(&site, &ann, article, None).await.assert(201);
        let step = site.guest(&format!("GET {article}/comments?limit=1")).await.assert(200).json();
        cursors.push(step["next"].as_str().unwrap().to_owned());
    }
    site.guest(&format!("GET {}/comments?after={}", articles[0], cursors[1])).await.assert_problem(400);
    site.guest(&format!("GET {}/comments?after={}", articles[1], cursors[0])).await.assert_problem(400);
}

#[tokio::test]
async fn a_key_makes_a_comment_happen_once_and_tells_no_deleted_text() {
    let site = BoardSite::open().await;
    let (ann, bob) = (site.bearer("ann").await, site.bearer("bob").await);
    let article = site.article(&ann).await;
    let post = async |who: &str, key: &str, body: &str| {
        let headers = [JSON, ("authorization", who), ("idempotency-key", key)];
        site.send(&format!("POST {article}/comments"), &headers, body.to_owned()).await
    };
    let (one, two) = (r#"{"content":"one"}"#, r#"{"content":"two"}"#);
    let (mut first, mut again) = (post(&ann, "k-1", one).await, post(&ann, "k-1", one).await);
    for answer in [&mut first, &mut again] {
        assert!(answer.headers.remove("x-request-id").is_some(), "each request has its own");
    }
    assert_eq!((first.assert(201).json(), &first.headers), (again.assert(201).json(), &again.headers));
    post(&ann, "k-1", two).await.assert_problem(422);
    post(&bob, "k-1", two).await.assert(201);
    post(&ann, "a b", one).await.assert_problem(422);
    assert_eq!(count(&site, &article).await, 2);

    let id = first.json()["comment_id"].as_str().unwrap().to_owned();
    site.by(&ann, &format!("DELETE /api/v1/comments/{id}"), "").await.assert(204);
    let after = post(&ann, "k-1", one).await.assert(201).json();
    assert_eq!((&after["comment_id"], &after["deleted"]), (&json!(id), &json!(true)));
    assert_eq!((&after["content"], &after["writer"]), (&Value::Null, &Value::Null));
    assert_eq!(count(&site, &article).await, 1, "and nothing came back");
}

#[tokio::test]
async fn comments_of_an_article_that_does_not_exist_or_is_deleted_are_absent() {
    let site = BoardSite::open().await;
    let ann = site.bearer("ann").await;
    let article = site.article(&ann).await;
    let id = comment(&site, &ann, &article, None).await.assert(201).json()["comment_id"].as_str().unwrap().to_owned();
    site.by(&ann, &format!("DELETE {article}"), "").await.assert(204);
    for path in [article.as_str(), "/api/v1/articles/1"] {
        comment(&site, &ann, path, None).await.assert_problem(404);
        for line in [format!("GET {path}/comments"), format!("GET {path}/comments?limit=1")] {
            site.guest(&line).await.assert_problem(404);
        }
        site.guest(&format!("GET {path}/comments/count")).await.assert_problem(404);
    }
    for id in [id.as_str(), "1"] {
        site.guest(&format!("GET /api/v1/comments/{id}")).await.assert_problem(404);
        site.by(&ann, &format!("DELETE /api/v1/comments/{id}"), "").await.assert_problem(404);
    }
}
