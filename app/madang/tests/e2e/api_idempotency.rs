//! Idempotency keys over HTTP: one effect and one answer, whoever repeats the request and however often.

use serde_json::{Value, json};

use crate::server::{ADMIN, TestServer};

#[test]
fn the_same_key_gives_the_same_answer_and_one_effect() {
    let server = TestServer::shared();
    let (token, board) = (server.sign_in(ADMIN), server.general());
    let path = format!("/api/v1/boards/{board}/articles");
    let post = |key: &str, body: &Value| {
        server.call("POST", &path).token(&token).header("idempotency-key", key).json(body).send()
    };
    let body = json!({"title": "once", "content": "only"});
    let first = post("key-1", &body).json(201);
    assert_eq!(post("key-1", &body).json(201), first);
    post("key-1", &json!({"title": "twice", "content": "only"})).problem(422, "another body");
    assert_ne!(post("key-2", &body).json(201), first, "another key is another article");
    let (_, other) = server.member("elsewhere");
    let theirs = server.call("POST", &path).token(&other).header("idempotency-key", "key-1").json(&body).send();
    assert_ne!(theirs.json(201)["article_id"], first["article_id"], "another member's key is another key");
    assert_eq!(server.get(&format!("{path}/count")).json(200)["count"], 3);
}

#[test]
fn a_key_belongs_to_its_path() {
    let server = TestServer::shared();
    let token = server.sign_in(ADMIN);
    let board = |slug: &str| {
        let body = json!({"slug": server.own(slug), "title": "t", "comment_mode": "tree"});
        let call = server.call("POST", "/api/v1/boards").token(&token).header("idempotency-key", slug);
        call.json(&body).send().json(201)
    };
    let (one, two) = (board("one-board"), board("two-board"));
    assert_eq!(board("one-board"), one, "instead of a conflict");
    let body = json!({"title": "t", "content": "c"});
    let write = |board: &Value| {
        let path = format!("/api/v1/boards/{}/articles", board["board_id"].as_str().unwrap());
        server.call("POST", &path).token(&token).header("idempotency-key", "k").json(&body).send().json(201)
    };
    assert_ne!(write(&one)["article_id"], write(&two)["article_id"]);
}

#[test]
fn sixteen_at_once_with_one_key_have_one_effect() {
    let server = TestServer::shared();
    let (token, board) = (server.sign_in(ADMIN), server.general());
    let path = format!("/api/v1/boards/{board}/articles");
    let body = json!({"title": "race", "content": "one wins"});
    let answers: Vec<Value> = std::thread::scope(|scope| {
        let call = || server.call("POST", &path).token(&token).header("idempotency-key", "race").json(&body).send();
        let callers: Vec<_> = (0..16).map(|_| scope.spawn(call)).collect();
        callers.into_iter().map(|caller| caller.join().unwrap().json(201)).collect()
    });
    assert!(answers.iter().all(|answer| answer == &answers[0]));
    assert_eq!(server.get(&format!("{path}/count")).json(200)["count"], 1);
}

#[test]
fn a_key_is_remembered_through_a_restart() {
    let mut server = TestServer::fresh();
    let body = json!({"title": "once", "content": "only"});
    let post = |server: &TestServer| {
        let path = format!("/api/v1/boards/{}/articles", server.general());
        let token = server.sign_in(ADMIN);
        server.call("POST", &path).token(&token).header("idempotency-key", "k").json(&body).send().json(201)
    };
    let first = post(&server);
    server.crash_and_restart();
    assert_eq!(post(&server), first);
}

#[test]
fn keys_that_cannot_be_one_are_refused() {
    let server = TestServer::shared();
    let token = server.sign_in(ADMIN);
    let path = format!("/api/v1/boards/{}/articles", server.general());
    let body = json!({"title": "t", "content": "c"});
    let post = |key: &str| server.call("POST", &path).token(&token).header("idempotency-key", key).json(&body).send();
    for (case, key) in [("too long", "k".repeat(65)), ("empty", String::new()), ("two words", "a b".to_owned())] {
        post(&key).problem(422, case);
    }
    let foreign = post("schlüssel");
    assert!([400, 422].contains(&foreign.status), "{}", foreign.text());
    post(&"k".repeat(64)).json(201);
    assert_eq!(server.get(&format!("{path}/count")).json(200)["count"], 1);
}

#[test]
fn a_repeated_request_tells_no_text_of_a_deleted_article() {
    let server = TestServer::shared();
    let (_, token) = server.member("writer");
    let path = format!("/api/v1/boards/{}/articles", server.general());
    let body = json!({"title": "a title", "content": "unmistakable secret"});
    let post = || server.call("POST", &path).token(&token).header("idempotency-key", "secret").json(&body).send();
    let article = post().json(201);
    assert_eq!(post().json(201), article, "the same answer while it is there");
    let address = format!("/api/v1/articles/{}", article["article_id"].as_str().unwrap());
    let edited = json!({"title": "another title", "content": "nothing to hide"});
    server.call("PUT", &address).token(&token).header("if-match", "*").json(&edited).send().json(200);
    assert_eq!(post().json(201)["content"], "nothing to hide", "what was edited away is not told either");
    assert_eq!(server.call("DELETE", &address).token(&token).send().status, 204);
    let gone = post();
    gone.problem(404, "it was created, and is deleted since");
    assert!(!gone.text().contains("secret") && !gone.text().contains("title\":\"another"), "{}", gone.text());
}
