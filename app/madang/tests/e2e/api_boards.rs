//! Boards over HTTP.

use serde_json::json;

use crate::composition::Composition;
use crate::server::{ADMIN, TestServer};

#[test]
fn a_new_site_has_one_board() {
    let server = TestServer::fresh();
    let boards = server.get("/api/v1/boards").json(200);
    let board = &boards["items"][0];
    assert_eq!(boards["items"].as_array().unwrap().len(), 1);
    assert_eq!((&board["slug"], &board["article_count"]), (&json!("general"), &json!(0)));
    let one = server.get(&format!("/api/v1/boards/{}", board["board_id"].as_str().unwrap())).json(200);
    assert_eq!(&one, board);
}

#[test]
fn an_administrator_creates_boards_and_nobody_else() {
    let server = TestServer::shared();
    let admin = server.sign_in(ADMIN);
    let (_, member) = server.member("carl");
    let draft = json!({"slug": server.own("tea-house"), "title": "찻집 🍵", "comment_mode": "tree", "ignored": 1});
    let create = || server.call("POST", "/api/v1/boards").json(&draft);
    create().send().problem(401, "nobody");
    create().token(&member).send().problem(403, "a member");
    let answer = create().token(&admin).send();
    let board = answer.json(201);
    let path = format!("/api/v1/boards/{}", board["board_id"].as_str().unwrap());
    assert_eq!(answer.header("location"), Some(path.as_str()));
    assert_eq!(server.get(&path).json(200), board);
    assert_eq!((&board["title"], &board["comment_mode"]), (&json!("찻집 🍵"), &json!("tree")));
    create().token(&admin).send().problem(409, "the slug is taken");
}

#[test]
fn unacceptable_boards_name_the_field() {
    let server = TestServer::shared();
    let admin = server.sign_in(ADMIN);
    let cases = [
        ("short slug", json!({"slug": "a", "title": "t", "comment_mode": "tree"}), "slug"),
        ("long slug", json!({"slug": "a".repeat(33), "title": "t", "comment_mode": "tree"}), "slug"),
        ("capitals", json!({"slug": "Tea", "title": "t", "comment_mode": "tree"}), "slug"),
        ("dash first", json!({"slug": "-tea", "title": "t", "comment_mode": "tree"}), "slug"),
        ("no slug", json!({"title": "t", "comment_mode": "tree"}), "slug"),
        ("slug is a list", json!({"slug": [], "title": "t", "comment_mode": "tree"}), "slug"),
        ("empty title", json!({"slug": "tea", "title": "", "comment_mode": "tree"}), "title"),
        ("blank title", json!({"slug": "tea", "title": "  ", "comment_mode": "tree"}), "title"),
        ("long title", json!({"slug": "tea", "title": "🙂".repeat(101), "comment_mode": "tree"}), "title"),
        ("no title", json!({"slug": "tea", "comment_mode": "tree"}), "title"),
        ("unknown mode", json!({"slug": "tea", "title": "t", "comment_mode": "spiral"}), "comment_mode"),
        ("no mode", json!({"slug": "tea", "title": "t"}), "comment_mode"),
    ];
    for (case, body, field) in cases {
        server.call("POST", "/api/v1/boards").token(&admin).json(&body).send().invalid_field(field, case);
    }
    let longest = json!({"slug": "9".repeat(32), "title": "🙂".repeat(100), "comment_mode": "two_level"});
    server.call("POST", "/api/v1/boards").token(&admin).json(&longest).send().json(201);
}

#[test]
fn ids_that_name_no_board_are_absent_everywhere() {
    let server = TestServer::shared();
    let admin = server.sign_in(ADMIN);
    let body = json!({"title": "t", "content": "c"});
    let mut ids = vec!["1", "0", "-1", "+1", "abc", "1.0", "9223372036854775808", "99999999999999999999999", "%C3%A9"];
    if Composition::chosen() != Composition::Seven {
        // nginx refuses a zero byte itself, as malformed.
        ids.push("%00");
    }
    for id in ids {
        for path in [format!("/api/v1/boards/{id}"), format!("/api/v1/boards/{id}/articles")] {
            server.get(&path).problem(404, &path);
        }
        server.get(&format!("/api/v1/boards/{id}/articles/count")).problem(404, id);
        let path = format!("/api/v1/boards/{id}/articles");
        server.call("POST", &path).token(&admin).json(&body).send().problem(404, &path);
    }
}

#[test]
fn a_board_that_was_seen_already_is_not_sent_again() {
    let server = TestServer::shared();
    let admin = server.sign_in(ADMIN);
    let (board, path) = (server.general(), format!("/api/v1/boards/{}", server.general()));
    let first = server.get(&path);
    let tag = first.header("etag").expect("a tag").to_owned();
    let again = server.call("GET", &path).header("if-none-match", &tag).send();
    assert_eq!((again.status, again.body.len()), (304, 0));
    server.article(&board, &admin, "changes the count");
    let changed = server.call("GET", &path).header("if-none-match", &tag).send();
    assert_eq!(changed.json(200)["article_count"], 1);
}
