//! Reports and the log of moderation over HTTP, wherever the articles and comments are.

use serde_json::{Value, json};

use crate::server::{ADMIN, TestServer};

fn ids(list: &Value, field: &str) -> Vec<String> {
    let items = list["items"].as_array().expect("a list");
    items.iter().map(|item| item[field].as_str().expect("text").to_owned()).collect()
}

#[test]
fn what_members_report_is_settled_and_what_moderators_do_is_told_by_board() {
    let server = TestServer::shared();
    let (admin, board) = (server.sign_in(ADMIN), server.general());
    let (author_id, author) = server.member("author");
    let (_, reporter) = server.member("reporter");
    let article = server.article_id(&board, &author);
    let comments = format!("/api/v1/articles/{article}/comments");
    let comment = server.call("POST", &comments).token(&author).json(&json!({"content": "c"})).send().json(201);
    let comment = comment["comment_id"].as_str().expect("an id");

    let report = |what: &str, reason: &str| {
        let path = format!("/api/v1/{what}/reports");
        server.call("POST", &path).token(&reporter).json(&json!({"reason": reason})).send()
    };
    let of_comment = report(&format!("comments/{comment}"), "rude").json(201);
    let of_article = report(&format!("articles/{article}"), "spam").json(201);
    assert_eq!((&of_comment["board_id"], &of_comment["article_id"]), (&json!(board), &json!(article)));
    assert_eq!(report(&format!("comments/{comment}"), "again").json(201)["report_id"], of_comment["report_id"]);
    report("articles/123456789", "spam").problem(404, "no such article");
    report("comments/123456789", "spam").problem(404, "no such comment");

    let get = |path: &str| server.call("GET", path).token(&admin).send().json(200);
    let open = get(&format!("/api/v1/reports?board_id={board}"));
    let expected = [&of_article, &of_comment].map(|report| report["report_id"].as_str().expect("an id").to_owned());
    assert_eq!(ids(&open, "report_id"), expected);

    let delete =
        |path: String| server.call("DELETE", &path).token(&admin).json(&json!({"reason": "rude"})).send().status;
    assert_eq!(delete(format!("/api/v1/comments/{comment}")), 204);
    report(&format!("comments/{comment}"), "late").problem(404, "a comment that is deleted");
    assert_eq!(delete(format!("/api/v1/articles/{article}")), 204);
    for report in &expected {
        let path = format!("/api/v1/reports/{report}/resolution");
        server.call("PUT", &path).token(&admin).json(&json!({"note": "gone"})).send().json(200);
    }
    assert_eq!(get(&format!("/api/v1/reports?board_id={board}"))["items"], json!([]));
    assert_eq!(ids(&get(&format!("/api/v1/reports?board_id={board}&open=false")), "report_id"), expected);

    let appointed = format!("/api/v1/boards/{board}/moderators/{author_id}");
    assert_eq!(server.call("PUT", &appointed).token(&admin).send().json(200)["member_id"], author_id);
    let nowhere = format!("/api/v1/boards/123456789/moderators/{author_id}");
    server.call("PUT", &nowhere).token(&admin).send().problem(404, "no such board");

    // Step by step, over the logs of all who wrote something into it.
    let (mut told, mut before) = (Vec::new(), String::new());
    loop {
        let step = get(&format!("/api/v1/moderation/log?board_id={board}&limit=2{before}"));
        told.extend(step["items"].as_array().expect("a list").clone());
        let Some(next) = step["next"].as_str() else { break };
        before = format!("&before={next}");
    }
    let kinds: Vec<&str> = told.iter().map(|act| act["kind"].as_str().expect("a kind")).collect();
    let resolved = "report_resolved";
    assert_eq!(kinds, ["moderator_appointed", resolved, resolved, "article_deleted", "comment_deleted"]);
    assert!(told[3..].iter().all(|act| act["reason"] == "rude" && act["moderator_name"] == ADMIN), "{told:?}");
    for method in ["PUT", "POST", "DELETE"] {
        server.call(method, "/api/v1/moderation/log").token(&admin).send().problem(405, "nobody edits the log");
    }
}

#[test]
fn a_members_lists_are_asked_of_whoever_has_them() {
    let server = TestServer::shared();
    let board = server.general();
    let (id, token) = server.member("lia");
    let articles: Vec<String> = (0..3).map(|_| server.article_id(&board, &token)).rev().collect();
    let mut newest_first = articles;
    newest_first.sort_by_key(|id| std::cmp::Reverse(id.parse::<i64>().expect("a number")));
    let first = server.get(&format!("/api/v1/members/{id}/articles?limit=2")).json(200);
    let next = first["next"].as_str().expect("more");
    let rest = server.get(&format!("/api/v1/members/{id}/articles?limit=2&before={next}")).json(200);
    assert_eq!([ids(&first, "article_id"), ids(&rest, "article_id")].concat(), newest_first);
    let path = format!("/api/v1/articles/{}/comments", newest_first[0]);
    let comment = server.call("POST", &path).token(&token).json(&json!({"content": "c"})).send().json(201);
    let comments = server.get(&format!("/api/v1/members/{id}/comments")).json(200);
    assert_eq!(comments["items"][0]["comment_id"], comment["comment_id"]);
}
