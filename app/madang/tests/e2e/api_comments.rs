//! Comments over HTTP: both arrangements, lists, and what is left of a deleted one.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::http::Answer;
use crate::server::{ADMIN, Start, TestServer};

const REPLIERS: usize = 64;

fn post(server: &TestServer, token: &str, article: &str, body: &Value) -> Answer {
    server.call("POST", &format!("/api/v1/articles/{article}/comments")).token(token).json(body).send()
}

fn comment(server: &TestServer, token: &str, article: &str, content: &str, parent: Option<&Value>) -> Value {
    let parent_id = parent.map_or(Value::Null, |parent| parent["comment_id"].clone());
    post(server, token, article, &json!({"content": content, "parent_id": parent_id})).json(201)
}

fn path_of(comment: &Value) -> String {
    format!("/api/v1/comments/{}", comment["comment_id"].as_str().expect("ids are strings"))
}

fn items(list: &Value) -> Vec<Value> {
    list["items"].as_array().unwrap().clone()
}

fn count(server: &TestServer, article: &str) -> Value {
    server.get(&format!("/api/v1/articles/{article}/comments/count")).json(200)["count"].clone()
}

#[test]
fn a_comment_is_written_listed_read_and_deleted() {
    let server = TestServer::shared();
    let (member, token) = server.member("dora");
    let article = server.article_id(&server.general(), &token);
    let longest = "🙂".repeat(3_000);
    let written = post(&server, &token, &article, &json!({"content": longest}));
    let first = written.json(201);
    assert_eq!(written.header("location"), Some(path_of(&first).as_str()));
    assert_eq!((&first["content"], &first["article_id"]), (&json!(longest), &json!(article)));
    assert_eq!(first["writer"], json!({"member_id": member, "name": server.own("dora")}));
    let reply = comment(&server, &token, &article, "a reply", Some(&first));
    assert_eq!((&reply["depth"], &reply["parent_id"], &reply["path"]), (&json!(2), &first["comment_id"], &Value::Null));

    let read = server.get(&path_of(&first));
    assert_eq!(read.json(200), first);
    let tag = read.header("etag").expect("a tag").to_owned();
    assert_eq!(server.call("GET", &path_of(&first)).header("if-none-match", &tag).send().status, 304);
    let list = format!("/api/v1/articles/{article}/comments");
    assert_eq!(items(&server.get(&list).json(200)), [first.clone(), reply.clone()]);
    let step = server.get(&format!("{list}?limit=1")).json(200);
    let rest = server.get(&format!("{list}?limit=1&after={}", step["next"].as_str().unwrap())).json(200);
    assert_eq!((items(&rest), &rest["next"]), (vec![reply.clone()], &Value::Null));
    assert_eq!(count(&server, &article), 2);

    let (_, other) = server.member("other");
    server.call("DELETE", &path_of(&reply)).token(&other).send().problem(403, "another's comment");
    server.call("DELETE", &path_of(&reply)).send().problem(401, "nobody");
    assert_eq!(server.call("DELETE", &path_of(&reply)).token(&token).send().status, 204);
    server.get(&path_of(&reply)).problem(404, "gone");
    assert_eq!(count(&server, &article), 1);
}

#[test]
fn a_comment_is_corrected_by_its_version_and_read_so_everywhere() {
    let server = TestServer::shared();
    let (_, writer) = server.member("corrector");
    for board in [server.general(), server.trees()] {
        let article = server.article_id(&board, &writer);
        let list = format!("/api/v1/articles/{article}/comments");
        let call = || server.call("POST", &list).token(&writer).header("idempotency-key", "once");
        let written = call().json(&json!({"content": "*frist*"})).send().json(201);
        assert_eq!((&written["version"], &written["modified_at"]), (&json!(1), &written["created_at"]));
        assert_eq!(written["content_html"], "<p><em>frist</em></p>\n");
        let edit = |tag: &str, text: &str| {
            let call = server.call("PUT", &path_of(&written)).token(&writer).header("if-match", tag);
            call.json(&json!({"content": text})).send()
        };
        let answer = edit("\"1\"", "*first*");
        assert_eq!(answer.header("etag"), Some("\"2\""));
        let edited = answer.json(200);
        assert_eq!((&edited["version"], &edited["content"]), (&json!(2), &json!("*first*")));
        assert_eq!(edited["content_html"], "<p><em>first</em></p>\n");
        for field in ["comment_id", "article_id", "parent_id", "depth", "path", "writer", "created_at", "deleted"] {
            assert_eq!(edited[field], written[field], "{field}");
        }
        edit("\"1\"", "too late").problem(412, "changed meanwhile");
        edit("\"2\"", " ").invalid_field("content", "blank");
        server.call("PUT", &path_of(&written)).json(&json!({"content": "c"})).send().problem(401, "nobody");
        assert_eq!(server.get(&path_of(&written)).json(200), edited);
        for query in ["", "?limit=10", "?page=1&page_size=10"] {
            assert_eq!(items(&server.get(&format!("{list}{query}")).json(200)), std::slice::from_ref(&edited));
        }
        let again = call().json(&json!({"content": "*frist*"})).send().json(201);
        assert_eq!(again, edited, "the repeated request tells the comment as it is");
        assert_eq!(count(&server, &article), 1);
        let delete =
            |tag: &str| server.call("DELETE", &path_of(&written)).token(&writer).header("if-match", tag).send();
        delete("\"1\"").problem(412, "changed meanwhile");
        assert_eq!(delete("\"2\"").status, 204);
        edit("\"2\"", "back").problem(404, "gone");
    }
    server.check();
}

#[test]
fn what_cannot_be_a_comment_is_a_clear_problem() {
    let server = TestServer::shared();
    let token = server.sign_in(ADMIN);
    let article = server.article_id(&server.general(), &token);
    let root = comment(&server, &token, &article, "root", None);
    let reply = comment(&server, &token, &article, "reply", Some(&root));
    for (case, body, field) in [
        ("a reply to a reply", json!({"content": "c", "parent_id": reply["comment_id"]}), "parent_id"),
        ("no such parent", json!({"content": "c", "parent_id": "7"}), "parent_id"),
        ("empty", json!({"content": ""}), "content"),
        ("too long", json!({"content": "🙂".repeat(3_001)}), "content"),
        ("no content", json!({}), "content"),
    ] {
        post(&server, &token, &article, &body).invalid_field(field, case);
    }
    let list = format!("/api/v1/articles/{article}/comments");
    server.call("POST", &list).json(&json!({"content": "c"})).send().problem(401, "nobody");
    server.call("POST", &list).token(&token).text("text/plain", "c").send().problem(415, "no JSON");
    let large = json!({"content": "c".repeat(256 * 1_024)});
    server.call("POST", &list).token(&token).json(&large).send().problem(413, "too large");
    for (query, status) in
        [("after=x", 400), ("page=x", 400), ("page=0", 422), ("page_size=101", 422), ("limit=0", 422)]
    {
        server.get(&format!("{list}?{query}")).problem(status, query);
    }
    for id in ["1", "0", "abc", "9223372036854775808"] {
        server.get(&format!("/api/v1/comments/{id}")).problem(404, id);
        server.call("DELETE", &format!("/api/v1/comments/{id}")).token(&token).send().problem(404, id);
        let edit = server.call("PUT", &format!("/api/v1/comments/{id}")).token(&token);
        edit.json(&json!({"content": "c"})).send().problem(404, id);
        server.get(&format!("/api/v1/articles/{id}/comments")).problem(404, id);
        server.get(&format!("/api/v1/articles/{id}/comments/count")).problem(404, id);
        post(&server, &token, id, &json!({"content": "c"})).problem(404, id);
    }
}

#[test]
fn a_tree_grows_as_deep_as_configured() {
    let server = Start::fresh().set("comment_depth_max", "3").start();
    let token = server.sign_in(ADMIN);
    let article = server.article_id(&server.trees(), &token);
    let mut last = comment(&server, &token, &article, "1", None);
    for depth in 2..=3 {
        last = comment(&server, &token, &article, "deeper", Some(&last));
        assert_eq!((&last["depth"], last["path"].as_str().unwrap().len()), (&json!(depth), 5 * depth));
    }
    let body = json!({"content": "too deep", "parent_id": last["comment_id"]});
    post(&server, &token, &article, &body).invalid_field("parent_id", "too deep");
}

/// Writes a secret and deletes it, on both arrangements, and looks for it wherever comments are told.
pub(crate) fn delete_a_secret(server: &TestServer, secret: &str, name: &str) {
    let token = server.sign_in(ADMIN);
    let (_, writer) = server.member(name);
    for board in [server.general(), server.trees()] {
        let article = server.article_id(&board, &token);
        let call = server.call("POST", &format!("/api/v1/articles/{article}/comments")).token(&writer);
        let root = call.header("idempotency-key", "k").json(&json!({"content": secret})).send().json(201);
        let reply = comment(server, &token, &article, "a reply", Some(&root));
        assert_eq!(server.call("DELETE", &path_of(&root)).token(&writer).send().status, 204);
        let mark = server.get(&path_of(&root)).json(200);
        assert_eq!((&mark["deleted"], &mark["content"], &mark["writer"]), (&json!(true), &Value::Null, &Value::Null));
        for query in ["", "?limit=10", "?page=1&page_size=10"] {
            let list = server.get(&format!("/api/v1/articles/{article}/comments{query}")).json(200);
            assert_eq!(items(&list), [mark.clone(), reply.clone()]);
        }
        let call = server.call("POST", &format!("/api/v1/articles/{article}/comments")).token(&writer);
        let again = call.header("idempotency-key", "k").json(&json!({"content": secret})).send().json(201);
        assert_eq!(again, mark, "the repeated request tells its mark");
        assert_eq!(count(server, &article), 1);
    }
}

#[test]
fn the_text_of_a_deleted_comment_is_told_nowhere() {
    delete_a_secret(&TestServer::shared(), "unmistakable secret", "whistleblower");
}

#[test]
fn concurrent_repliers_to_one_parent_all_get_a_place_of_their_own() {
    let server = TestServer::shared();
    let token = server.sign_in(ADMIN);
    for board in [server.trees(), server.general()] {
        let article = server.article_id(&board, &token);
        let root = comment(&server, &token, &article, "root", None);
        let replies: Vec<Value> = std::thread::scope(|scope| {
            let reply = || comment(&server, &token, &article, "me too", Some(&root));
            let repliers: Vec<_> = (0..REPLIERS).map(|_| scope.spawn(reply)).collect();
            repliers.into_iter().map(|replier| replier.join().unwrap()).collect()
        });
        let ids: HashSet<_> = replies.iter().map(|reply| reply["comment_id"].to_string()).collect();
        assert_eq!(ids.len(), REPLIERS);
        let paths: HashSet<_> = replies.iter().filter_map(|reply| reply["path"].as_str()).collect();
        assert!(paths.is_empty() || paths.len() == REPLIERS, "{paths:?}");
        assert_eq!(count(&server, &article), REPLIERS + 1);
        let listed = items(&server.get(&format!("/api/v1/articles/{article}/comments?page_size=100")).json(200));
        assert_eq!(listed.len(), REPLIERS + 1);
    }
    server.check();
}

#[test]
fn sixteen_at_once_with_one_key_write_one_comment() {
    let server = TestServer::shared();
    let token = server.sign_in(ADMIN);
    let article = server.article_id(&server.trees(), &token);
    let path = format!("/api/v1/articles/{article}/comments");
    let body = json!({"content": "one wins"});
    let answers: Vec<Value> = std::thread::scope(|scope| {
        let call = || server.call("POST", &path).token(&token).header("idempotency-key", "race").json(&body).send();
        let callers: Vec<_> = (0..16).map(|_| scope.spawn(call)).collect();
        callers.into_iter().map(|caller| caller.join().unwrap().json(201)).collect()
    });
    assert!(answers.iter().all(|answer| answer == &answers[0]));
    let other = server.call("POST", &path).token(&token).header("idempotency-key", "race");
    other.json(&json!({"content": "another"})).send().problem(422, "another body");
    assert_eq!(count(&server, &article), 1);
}
