//! Search on the real binary: what is written is found, what is deleted is not from the next request on, and a process that is
//! killed while it indexes misses nothing afterwards.

use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use crate::command;
use crate::server::{ADMIN, Start, TestServer, eventually};

fn started(data: &Path) -> TestServer {
    Start::in_directory(data).with_admin().start()
}

fn write(server: &TestServer, board: &str, token: &str, title: &str, content: &str) -> String {
    let path = format!("/api/v1/boards/{board}/articles");
    let body = json!({"title": title, "content": content});
    let article = server.call("POST", &path).token(token).json(&body).send().json(201);
    article["article_id"].as_str().expect("an id").to_owned()
}

fn comment(server: &TestServer, article: &str, token: &str, content: &str) -> String {
    let path = format!("/api/v1/articles/{article}/comments");
    let body = json!({"content": content});
    let comment = server.call("POST", &path).token(token).json(&body).send().json(201);
    comment["comment_id"].as_str().expect("an id").to_owned()
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn search(server: &TestServer, q: &str, rest: &str) -> Value {
    server.get(&format!("/api/v1/search?q={}{rest}", encoded(q))).json(200)
}

/// What is found, as ids: of a comment its own, of an article its own.
fn found(server: &TestServer, q: &str, rest: &str) -> Vec<String> {
    let items = search(server, q, rest)["items"].as_array().expect("a list").clone();
    let id = |item: &Value| match item["comment_id"].as_str() {
        Some(comment) => comment.to_owned(),
        None => item["article_id"].as_str().expect("an id").to_owned(),
    };
    items.iter().map(id).collect()
}

fn becomes(server: &TestServer, q: &str, expected: &[&String]) {
    eventually(&format!("{q} is found"), || {
        let found = found(server, q, "&sort=newest");
        (found.iter().collect::<Vec<_>>() == expected).then_some(())
    });
}

#[test]
fn what_is_written_is_found_and_what_is_deleted_is_not() {
    let directory = tempfile::tempdir().unwrap();
    let server = started(directory.path());
    let (admin, board) = (server.sign_in(ADMIN), server.general());
    let (_, author) = server.member("searched");
    let article = write(
        &server,
        &board,
        &author,
        "대학교 축제 소식",
        "서울**대학교** 축제가 열립니다. <b> C++ 동아리 Running 모임 👍",
    );
    let reply = comment(&server, &article, &author, "우리 형도 갑니다");
    becomes(&server, "대학교", &[&article]);
    becomes(&server, "형", &[&reply]);
    for q in ["축제", "runs", "c++", "👍", "\"서울대학교 축제\"", "동아리 모임"] {
        assert_eq!(found(&server, q, ""), std::slice::from_ref(&article), "{q}");
    }
    let hit = search(&server, "대학교", "");
    assert_eq!(hit["partial"], json!(false));
    assert_eq!(hit["next"], Value::Null);
    let hit = &hit["items"][0];
    assert_eq!(
        (&hit["kind"], &hit["comment_id"], &hit["title"]),
        (&json!("article"), &Value::Null, &json!("대학교 축제 소식"))
    );
    let excerpt = hit["excerpt_html"].as_str().expect("an excerpt");
    assert!(excerpt.contains("서울<mark>대학교</mark> 축제가"), "{excerpt}");
    assert_eq!(found(&server, "형", "&kind=article"), Vec::<String>::new());
    assert_eq!(found(&server, "형", "&kind=comment"), std::slice::from_ref(&reply));

    // Another text, found by its new words alone.
    let path = format!("/api/v1/articles/{article}");
    let body = json!({"title": "바뀐 제목", "content": "운동회 소식"});
    assert_eq!(server.call("PUT", &path).token(&author).json(&body).send().status, 200);
    becomes(&server, "운동회", &[&article]);
    becomes(&server, "축제", &[]);

    // A moderator's removal hides it and its comments from the next request on, and a restore brings both back.
    assert_eq!(server.call("DELETE", &path).token(&admin).send().status, 204);
    assert_eq!(found(&server, "운동회", ""), Vec::<String>::new());
    assert_eq!(found(&server, "형", ""), Vec::<String>::new());
    server.call("POST", &format!("{path}/restore")).token(&admin).send().json(200);
    becomes(&server, "운동회", &[&article]);
    becomes(&server, "형", &[&reply]);

    // What its writer deletes is gone at once.
    assert_eq!(server.call("DELETE", &format!("/api/v1/comments/{reply}")).token(&author).send().status, 204);
    assert_eq!(found(&server, "형", ""), Vec::<String>::new());
    assert_eq!(server.call("DELETE", &path).token(&author).send().status, 204);
    assert_eq!(found(&server, "운동회", ""), Vec::<String>::new());
    let said = command::run(directory.path(), &["check"], "").expect(0);
    assert!(said.stdout.contains("texts of the search index"), "{said:?}");
}

#[test]
fn a_search_is_refused_by_the_words_of_the_contract() {
    let directory = tempfile::tempdir().unwrap();
    let server = started(directory.path());
    for (query, status) in [("", 400), ("q=", 422), ("q=a&kind=x", 400), ("q=a&limit=51", 422), ("q=a&after=x", 400)] {
        server.get(&format!("/api/v1/search?{query}")).problem(status, query);
    }
    let hostile = ["\"", "*", "NEAR(", "a AND", "') --", "\\", "title:", "^", "{}", "\u{0}"];
    for q in hostile {
        assert_eq!(found(&server, q, ""), Vec::<String>::new(), "{q}");
    }
    let page = server.get("/search?q=%EC%97%86%EB%8A%94%EB%A7%90");
    assert_eq!(page.status, 200);
    assert!(page.text().contains("rel=\"search\"") && page.text().contains("없는말"), "{}", page.text());
}

#[test]
fn lists_go_on_and_a_rebuild_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let server = started(directory.path());
    let (board, (_, author)) = (server.general(), server.member("searched"));
    let mut written: Vec<String> =
        (0..25).map(|number| write(&server, &board, &author, &format!("마당 이야기 {number}"), "글")).collect();
    written.push(comment(&server, &written[0], &author, "마당에서"));
    let newest: Vec<&String> = written.iter().rev().collect();
    becomes(&server, "마당", &newest);
    let steps = || {
        let (mut ids, mut after) = (Vec::new(), String::new());
        loop {
            let step = search(&server, "마당", &format!("&limit=7&sort=newest{after}"));
            ids.extend(step["items"].as_array().expect("a list").iter().map(|item| item["article_id"].clone()));
            let Some(next) = step["next"].as_str() else { return ids };
            after = format!("&after={next}");
        }
    };
    assert_eq!(steps().len(), 26);
    let said = command::run(directory.path(), &["rebuild", "search"], "").expect(0);
    assert!(said.stdout.contains("indexed 26"), "{said:?}");
    assert_eq!(steps().len(), 26);
    assert_eq!(search(&server, "마당", "")["partial"], json!(false));
    server.stop();
    // Without a server too.
    command::run(directory.path(), &["rebuild", "search"], "").expect(0);
    command::run(directory.path(), &["check", "--full"], "").expect(0);
}

#[test]
fn a_site_from_before_is_filled_at_its_first_start() {
    let directory = tempfile::tempdir().unwrap();
    let server = started(directory.path());
    let (board, (_, author)) = (server.general(), server.member("searched"));
    let article = write(&server, &board, &author, "옛 글", "마당");
    becomes(&server, "마당", &[&article]);
    server.stop();
    // As if the index had just been made by an upgrade, and the log had been trimmed.
    let file = directory.path().join("madang.db");
    let database = rusqlite::Connection::open(file).unwrap();
    database
        .execute_batch(
            "DELETE FROM search_doc; INSERT INTO search_text_0 (search_text_0) VALUES ('delete-all');
             INSERT INTO search_text_1 (search_text_1) VALUES ('delete-all');
             UPDATE search_state SET active = 0, building = 0, cursor = NULL;",
        )
        .unwrap();
    drop(database);
    let server = started(directory.path());
    becomes(&server, "마당", &[&article]);
    eventually("it is whole", || (search(&server, "마당", "")["partial"] == json!(false)).then_some(()));
}

#[test]
fn kill_9_while_indexing_misses_nothing() {
    const ROUNDS: usize = 6;
    let directory = tempfile::tempdir().unwrap();
    let mut written = Vec::new();
    for round in 0..ROUNDS {
        let server = started(directory.path());
        let (board, (_, author)) = (server.general(), server.member(&format!("searched{round}")));
        let begun = Instant::now();
        let mut number = 0;
        while begun.elapsed().as_millis() < 300 + 70 * round as u128 {
            let article =
                write(&server, &board, &author, &format!("라운드 {round} 번호 {number}"), &"마당 글 ".repeat(40));
            if number % 3 == 0 {
                written.push(comment(&server, &article, &author, "마당 댓글"));
            }
            written.push(article);
            number += 1;
        }
        server.kill();
    }
    let server = started(directory.path());
    let all = || {
        let (mut ids, mut after) = (Vec::new(), String::new());
        loop {
            let step = search(&server, "마당", &format!("&limit=50&sort=newest{after}"));
            ids.extend(step["items"].as_array().expect("a list").iter().map(|item| {
                let id = item["comment_id"].as_str().or(item["article_id"].as_str());
                id.expect("an id").to_owned()
            }));
            let Some(next) = step["next"].as_str() else { return ids };
            after = format!("&after={next}");
        }
    };
    written.sort_unstable();
    eventually("everything that was acknowledged is found", || {
        let mut ids = all();
        ids.sort_unstable();
        (ids == written).then_some(())
    });
    println!("{} texts of {ROUNDS} rounds found", written.len());
    command::run(directory.path(), &["check", "--full"], "").expect(0);
}
