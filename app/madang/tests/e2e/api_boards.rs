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

#[test]
fn an_administrator_edits_archives_and_deletes_a_board() {
    let server = TestServer::shared();
    let admin = server.sign_in(ADMIN);
    let (_, member) = server.member("carl");
    let draft = json!({"slug": server.own("yard"), "title": "Yard", "comment_mode": "tree"});
    let created = server.call("POST", "/api/v1/boards").token(&admin).json(&draft).send().json(201);
    assert_eq!((&created["description"], &created["archived"]), (&json!(""), &json!(false)));
    assert_eq!(created["last_activity_at"], json!(null));
    let id = created["board_id"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/boards/{id}");
    let change =
        |archived: bool| json!({"title": "마당", "description": "모두의 마당 🌳", "position": 7, "archived": archived});
    let put = |body: &serde_json::Value| server.call("PUT", &path).token(&admin).json(body).send();
    for (case, field, value) in [
        ("long", "description", json!("🙂".repeat(501))),
        ("no text", "description", json!(1)),
        ("negative", "position", json!(-1)),
        ("huge", "position", json!(1_000_001)),
        ("blank", "title", json!(" ")),
        ("no bool", "archived", json!("yes")),
    ] {
        let mut body = change(false);
        body[field] = value;
        put(&body).invalid_field(field, case);
    }
    let edited = put(&change(false)).json(200);
    assert_eq!((&edited["title"], &edited["description"]), (&json!("마당"), &json!("모두의 마당 🌳")));
    assert_eq!((&edited["position"], &edited["slug"]), (&json!(7), &created["slug"]));
    assert_eq!(server.get(&path).json(200), edited);

    let articles = format!("{path}/articles");
    let article = server.article_id(&id, &member);
    let (like, comments) = (format!("/api/v1/articles/{article}/like"), format!("/api/v1/articles/{article}/comments"));
    let comment = server.call("POST", &comments).token(&member).json(&json!({"content": "c"})).send().json(201);
    let comment = format!("/api/v1/comments/{}", comment["comment_id"].as_str().unwrap());
    let archived = put(&change(true)).json(200);
    assert_eq!((&archived["archived"], &archived["article_count"]), (&json!(true), &json!(1)));
    assert!(archived["last_activity_at"].is_string());
    let text = json!({"title": "t", "content": "c"});
    let one = format!("/api/v1/articles/{article}");
    for (method, path, body) in [
        ("POST", &articles, Some(&text)),
        ("PUT", &one, Some(&text)),
        ("DELETE", &one, None),
        ("POST", &comments, Some(&text)),
        ("DELETE", &comment, None),
        ("PUT", &like, None),
        ("DELETE", &like, None),
    ] {
        // Services that own no boards learn of it within a second.
        crate::server::eventually(&format!("{method} {path}"), || {
            let call = server.call(method, path).token(&member);
            let call = body.map_or_else(|| server.call(method, path).token(&member), |body| call.json(body));
            let answer = call.send();
            (answer.status == 409).then(|| assert_eq!(answer.json(409)["type"], json!("urn:madang:problem:archived")))
        });
    }
    assert_eq!(server.get(&one).json(200)["article_id"], json!(article), "it is still read");

    let delete = || server.call("DELETE", &path).token(&admin).send();
    put(&change(false)).json(200);
    delete().problem(409, "it has articles");
    assert_eq!(server.call("DELETE", &one).token(&member).send().status, 204);
    assert_eq!(delete().status, 204);
    delete().problem(404, "it is gone");
    put(&change(false)).problem(404, "it is gone");
    server.call("POST", &articles).token(&member).json(&text).send().problem(404, "it is gone");
    crate::server::eventually("the board is gone everywhere", || {
        (server.get(&path).status == 404 && server.get(&articles).status == 404).then_some(())
    });
    let listed = server.get("/api/v1/boards").json(200);
    assert!(listed["items"].as_array().unwrap().iter().all(|board| board["board_id"] != json!(id)));
}

#[test]
fn boards_stand_in_the_order_of_their_positions() {
    let server = TestServer::fresh();
    let admin = server.sign_in(ADMIN);
    let create = |slug: &str| {
        let draft = json!({"slug": slug, "title": slug, "comment_mode": "tree"});
        let made = server.call("POST", "/api/v1/boards").token(&admin).json(&draft).send().json(201);
        made["board_id"].as_str().unwrap().to_owned()
    };
    let (first, second) = (create("first"), create("second"));
    let slugs = || {
        let boards = server.get("/api/v1/boards").json(200);
        let items = boards["items"].as_array().unwrap().clone();
        items.iter().map(|board| board["slug"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(slugs(), ["general", "first", "second"], "a new board is the last");
    for (board, position) in [(&first, 9), (&second, 5)] {
        let body = json!({"title": "t", "description": "", "position": position, "archived": false});
        server.call("PUT", &format!("/api/v1/boards/{board}")).token(&admin).json(&body).send().json(200);
    }
    assert_eq!(slugs(), ["general", "second", "first"]);
    create("third");
    assert_eq!(slugs(), ["general", "second", "first", "third"], "behind the last position");
}

#[test]
fn the_moderators_of_a_board_are_told_to_everybody() {
    let server = TestServer::shared();
    let admin = server.sign_in(ADMIN);
    let (id, _) = server.member("warden");
    let board = server.general();
    let path = format!("/api/v1/boards/{board}/moderators");
    let has = || {
        let found = server.get(&path).json(200);
        found["items"].as_array().unwrap().iter().any(|member| member["member_id"] == json!(id))
    };
    assert!(!has());
    let appointed = server.call("PUT", &format!("{path}/{id}")).token(&admin).send().json(200);
    assert_eq!(appointed["member_id"], json!(id));
    crate::server::eventually("the new moderator is listed", || has().then_some(()));
    assert_eq!(server.call("DELETE", &format!("{path}/{id}")).token(&admin).send().status, 204);
    crate::server::eventually("nobody is listed", || (!has()).then_some(()));
    server.get("/api/v1/boards/123456789/moderators").problem(404, "no such board");
}
