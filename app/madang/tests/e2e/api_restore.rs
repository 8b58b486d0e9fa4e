//! What moderators removed comes back whole, over HTTP: who may, what readers see meanwhile, and that nothing of it is lost.

use serde_json::json;

use crate::api_gone::{discuss, is_absent};
use crate::server::{ADMIN, TestServer, eventually};

#[test]
fn a_removed_article_is_gone_for_readers_and_comes_back_with_all_that_belongs_to_it() {
    let server = TestServer::shared();
    let admin = server.sign_in(ADMIN);
    let board = server.new_board("restores", "tree");
    let (_, author) = server.member("restore_author");
    let members = server.seeded_members(3);
    let (article, other) = (server.article_id(&board, &author), server.article_id(&board, &author));
    discuss(&server, &article, &members);
    let path = format!("/api/v1/articles/{article}");
    let counted = || {
        let read = server.get(&path).json(200);
        (read["comment_count"].clone(), read["like_count"].clone(), read["view_count"].clone())
    };
    let expected = (json!(6), json!(3), json!(100));
    eventually("everything is counted", || (counted() == expected).then_some(()));
    let comments = server.get(&format!("{path}/comments")).json(200);
    let comment = format!("/api/v1/comments/{}", comments["items"][0]["comment_id"].as_str().expect("an id"));
    let restore = |token: &str| server.call("POST", &format!("{path}/restore")).token(token).send();
    restore(&admin).problem(404, "nothing was removed");
    let listed = || {
        let list = server.get(&format!("/api/v1/boards/{board}/articles")).json(200);
        let items = list["items"].as_array().expect("a list").clone();
        items.iter().map(|item| item["article_id"].as_str().expect("an id").to_owned()).collect::<Vec<_>>()
    };
    let count = || server.get(&format!("/api/v1/boards/{board}/articles/count")).json(200)["count"].clone();
    for round in 1..=2u64 {
        let removed = server.call("DELETE", &path).token(&admin).json(&json!({"reason": "spam"})).send();
        assert_eq!(removed.status, 204);
        // What a process took that had not heard of it would belong to the article, so each is asked without a change first.
        for part in ["comments", "like", "views"] {
            eventually("its process knows", || (server.get(&format!("{path}/{part}")).status == 404).then_some(()));
        }
        is_absent(&server, &article, &comment, &admin);
        eventually("it is off the list", || (listed() == [other.clone()] && count() == 1).then_some(()));
        restore(&author).problem(403, "its author");
        server.call("POST", &format!("{path}/restore")).send().problem(401, "a guest");
        let back = restore(&admin).json(200);
        assert_eq!((&back["article_id"], &back["version"]), (&json!(article), &json!(1 + 2 * round)));
        assert_eq!(back["writer"]["name"].as_str().map(|name| name.starts_with("restore_author")), Some(true));
        eventually("it is back with its counts", || {
            let read = server.get(&path);
            (read.status == 200 && counted() == expected).then_some(())
        });
        eventually("it is listed", || (listed() == [other.clone(), article.clone()] && count() == 2).then_some(()));
        eventually("its comments are", || {
            let found = server.get(&format!("{path}/comments"));
            (found.status == 200 && found.json(200)["items"] == comments["items"]).then_some(())
        });
        restore(&admin).problem(404, "it is there");
    }
    // It takes what readers do again.
    let late = || {
        let call = server.call("POST", &format!("{path}/comments"));
        call.token(&author).json(&json!({"content": "again"})).send()
    };
    eventually("it takes comments", || (late().status == 201).then_some(()));
    let log = server.call("GET", &format!("/api/v1/moderation/log?board_id={board}")).token(&admin).send().json(200);
    let kinds: Vec<_> = log["items"].as_array().expect("a list").iter().map(|act| act["kind"].clone()).collect();
    assert_eq!(
        kinds,
        ["article_restored", "article_deleted", "article_restored", "article_deleted"].map(|it| json!(it))
    );
    // What its writer removes is gone.
    assert_eq!(server.call("DELETE", &path).token(&author).send().status, 204);
    restore(&admin).problem(404, "its writer removed it");
}

#[test]
fn a_removed_comment_keeps_its_place_and_comes_back_with_text_and_writer() {
    let server = TestServer::shared();
    let admin = server.sign_in(ADMIN);
    let board = server.new_board("comment-restores", "two_level");
    let (_, author) = server.member("restore_commenter");
    let article = server.article_id(&board, &author);
    let path = format!("/api/v1/articles/{article}/comments");
    let written = server.call("POST", &path).token(&author).json(&json!({"content": "**hers**"})).send().json(201);
    let comment = format!("/api/v1/comments/{}", written["comment_id"].as_str().expect("an id"));
    let restore = |token: &str| server.call("POST", &format!("{comment}/restore")).token(token).send();
    restore(&admin).problem(404, "nothing was removed");
    let removed = server.call("DELETE", &comment).token(&admin).json(&json!({"reason": "spam"})).send();
    assert_eq!(removed.status, 204);
    let mark = server.get(&comment).json(200);
    assert_eq!((&mark["deleted"], &mark["content"], &mark["writer"]), (&json!(true), &json!(null), &json!(null)));
    assert_eq!(server.get(&format!("{path}/count")).json(200)["count"], 0);
    restore(&author).problem(403, "its author");
    let back = restore(&admin).json(200);
    for field in ["content", "content_html", "writer", "created_at", "modified_at", "parent_id"] {
        assert_eq!(back[field], written[field], "{field}");
    }
    assert_eq!((&back["deleted"], &back["version"]), (&json!(false), &json!(3)));
    assert_eq!(server.get(&format!("{path}/count")).json(200)["count"], 1);
    restore(&admin).problem(404, "it is there");
    assert_eq!(server.call("DELETE", &comment).token(&author).send().status, 204);
    restore(&admin).problem(404, "its writer removed it");
}
