//! Pins and locks over HTTP: who may, what it means to lists, articles and comments, and what the log tells.

use serde_json::{Value, json};

use crate::http::Answer;
use crate::server::{ADMIN, TestServer, eventually};

fn ids(items: &Value) -> Vec<&str> {
    items.as_array().expect("a list").iter().map(|item| item["article_id"].as_str().expect("an id")).collect()
}

/// Somebody who moderates this board and no other.
fn board_moderator(server: &TestServer, admin: &str, board: &str, name: &str) -> String {
    let (id, token) = server.member(name);
    let path = format!("/api/v1/boards/{board}/moderators/{id}");
    server.call("PUT", &path).token(admin).send().json(200);
    token
}

#[test]
fn a_pinned_article_stands_on_top_of_its_board_until_its_pin_is_over() {
    let server = TestServer::shared();
    let admin = server.sign_in(ADMIN);
    let (board, other) = (server.new_board("pins", "tree"), server.new_board("pins-elsewhere", "tree"));
    let (_, author) = server.member("pin_author");
    let moderator = board_moderator(&server, &admin, &board, "pin_mod");
    let stranger = board_moderator(&server, &admin, &other, "pin_stranger");
    let articles: Vec<String> = (0..3).map(|_| server.article_id(&board, &author)).collect();
    let pin = |article: &str, token: &str, body: &Value| -> Answer {
        server.call("PUT", &format!("/api/v1/articles/{article}/pin")).token(token).json(body).send()
    };
    let forever = json!({"until": null});
    let unpin = |article: &str, token: &str| {
        server.call("DELETE", &format!("/api/v1/articles/{article}/pin")).token(token).send()
    };
    // To take away what is not there changes nothing.
    eventually("the moderator is known", || (unpin(&articles[0], &moderator).status == 200).then_some(()));
    server.call("PUT", &format!("/api/v1/articles/{}/pin", articles[0])).json(&forever).send().problem(401, "a guest");
    for token in [&author, &stranger] {
        pin(&articles[0], token, &forever).problem(403, "no moderator of the board");
    }
    pin("123456789", &moderator, &forever).problem(404, "no such article");
    pin(&articles[0], &moderator, &json!({"until": "2020-01-01T00:00:00Z"})).problem(422, "in the past");
    pin(&articles[0], &moderator, &json!({"until": "tomorrow"})).problem(422, "no time");

    let pinned = pin(&articles[0], &moderator, &forever).json(200);
    assert_eq!((&pinned["pinned"], &pinned["edited"], &pinned["version"]), (&json!(true), &json!(false), &json!(2)));
    assert_eq!(pin(&articles[1], &admin, &json!({"until": "2099-01-01T00:00:00Z"})).json(200)["pinned"], true);
    let listed = |on_top: &[&String]| {
        // Another process may have cached what is pinned for a moment.
        eventually("the list shows what is pinned, the last first", || {
            let list = server.get(&format!("/api/v1/boards/{board}/articles")).json(200);
            (ids(&list["pinned"]) == on_top).then_some(list)
        })
    };
    let list = listed(&[&articles[1], &articles[0]]);
    assert_eq!(ids(&list["items"]), [&articles[2], &articles[1], &articles[0]], "and each has its place below");
    let marks: Vec<&Value> = list["items"].as_array().expect("a list").iter().map(|item| &item["pinned"]).collect();
    assert_eq!(marks, [false, true, true]);
    let step = server.get(&format!("/api/v1/boards/{board}/articles?limit=1")).json(200);
    assert_eq!(ids(&step["pinned"]).len(), 2);
    let second = server.get(&format!("/api/v1/boards/{board}/articles?page=2")).json(200);
    assert!(second.get("pinned").is_none(), "{second}");
    assert_eq!(server.get(&format!("/api/v1/boards/{other}/articles")).json(200)["pinned"], json!([]));
    assert_eq!(server.get(&format!("/api/v1/articles/{}", articles[0])).json(200)["pinned"], true);

    // What is edited keeps its pin, and says that it was edited.
    let edit = server.call("PUT", &format!("/api/v1/articles/{}", articles[0])).token(&author);
    let edited = edit.json(&json!({"title": "t", "content": "c"})).send().json(200);
    assert_eq!((&edited["pinned"], &edited["edited"]), (&json!(true), &json!(true)));
    unpin(&articles[0], &author).problem(403, "no moderator");
    for _ in 0..2 {
        assert_eq!(unpin(&articles[0], &moderator).json(200)["pinned"], false);
    }
    server.call("DELETE", &format!("/api/v1/articles/{}", articles[1])).token(&author).send();
    listed(&[]);
    let log = server.call("GET", &format!("/api/v1/moderation/log?board_id={board}")).token(&admin).send().json(200);
    let kinds: Vec<&str> =
        log["items"].as_array().expect("a list").iter().map(|act| act["kind"].as_str().expect("a kind")).collect();
    assert_eq!(kinds, ["article_unpinned", "article_pinned", "article_pinned", "moderator_appointed"]);
    assert_eq!(log["items"][1]["detail"], "2099-01-01T00:00:00.000Z");
}

#[test]
fn a_board_has_eight_pins_at_most() {
    let server = TestServer::shared();
    let admin = server.sign_in(ADMIN);
    let board = server.new_board("many-pins", "tree");
    let articles: Vec<String> = (0..9).map(|_| server.article_id(&board, &admin)).collect();
    let pin = |article: &str| {
        server.call("PUT", &format!("/api/v1/articles/{article}/pin")).token(&admin).json(&json!({})).send()
    };
    for article in &articles[..8] {
        pin(article).json(200);
    }
    pin(&articles[8]).problem(409, "as many as a board can have");
    server.call("DELETE", &format!("/api/v1/articles/{}/pin", articles[3])).token(&admin).send().json(200);
    pin(&articles[8]).json(200);
}

#[test]
fn a_locked_article_takes_comments_of_its_moderators_alone() {
    let server = TestServer::shared();
    let admin = server.sign_in(ADMIN);
    let (board, other) = (server.new_board("locks", "two_level"), server.new_board("locks-elsewhere", "two_level"));
    let (_, author) = server.member("lock_author");
    let moderator = board_moderator(&server, &admin, &board, "lock_mod");
    let stranger = board_moderator(&server, &admin, &other, "lock_stranger");
    let article = server.article_id(&board, &author);
    let lock = |method: &str, token: &str| {
        server.call(method, &format!("/api/v1/articles/{article}/lock")).token(token).send()
    };
    let comment = |token: &str| {
        let path = format!("/api/v1/articles/{article}/comments");
        server.call("POST", &path).token(token).json(&json!({"content": "c"})).send()
    };
    let first = comment(&author).json(201);
    // To open what is open changes nothing.
    eventually("the moderator is known", || (lock("DELETE", &moderator).status == 200).then_some(()));
    server.call("PUT", &format!("/api/v1/articles/{article}/lock")).send().problem(401, "a guest");
    for token in [&author, &stranger] {
        lock("PUT", token).problem(403, "no moderator of the board");
    }
    server.call("PUT", "/api/v1/articles/123456789/lock").token(&admin).send().problem(404, "no such article");
    let tag = server.get(&format!("/api/v1/articles/{article}")).header("etag").expect("an ETag").to_owned();
    for _ in 0..2 {
        let locked = lock("PUT", &moderator).json(200);
        assert_eq!(
            (&locked["locked"], &locked["version"], &locked["comment_count"]),
            (&json!(true), &json!(1), &json!(1))
        );
    }
    for token in [&author, &stranger] {
        let refused = comment(token);
        assert_eq!(refused.problem(409, "locked")["type"], "urn:madang:problem:locked");
    }
    comment(&moderator).json(201);
    // What is there can be corrected, and liked, and taken back.
    let path = format!("/api/v1/comments/{}", first["comment_id"].as_str().expect("an id"));
    server.call("PUT", &path).token(&author).json(&json!({"content": "better"})).send().json(200);
    server.call("PUT", &format!("/api/v1/articles/{article}/like")).token(&author).send().json(200);
    server.call("DELETE", &path).token(&author).send();
    let read = |locked: bool| {
        eventually("readers see the lock", || {
            let read = server.get(&format!("/api/v1/articles/{article}"));
            let (list, body) = (server.get(&format!("/api/v1/boards/{board}/articles")).json(200), read.json(200));
            (body["locked"] == locked && list["items"][0]["locked"] == locked).then_some(read)
        })
    };
    assert_ne!(read(true).header("etag"), Some(tag.as_str()));
    assert_eq!(lock("DELETE", &moderator).json(200)["locked"], false);
    comment(&author).json(201);
    read(false);
    let log = server.call("GET", &format!("/api/v1/moderation/log?board_id={board}")).token(&admin).send().json(200);
    let kinds: Vec<&str> =
        log["items"].as_array().expect("a list").iter().map(|act| act["kind"].as_str().expect("a kind")).collect();
    assert_eq!(kinds, ["article_unlocked", "article_locked", "moderator_appointed"]);

    let archived = json!({"title": "t", "description": "", "position": 0, "archived": true});
    server.call("PUT", &format!("/api/v1/boards/{board}")).token(&admin).json(&archived).send().json(200);
    // Another process may have cached for a moment that the board is open.
    let refused = eventually("the board is known to be archived", || {
        Some(lock("PUT", &moderator)).filter(|answer| answer.status != 200)
    });
    assert_eq!(refused.problem(409, "archived")["type"], "urn:madang:problem:archived");
}
