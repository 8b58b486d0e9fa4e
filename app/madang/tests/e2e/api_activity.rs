//! Lists of the whole site and by activity, over HTTP: who comes first when people comment and take it back.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::{Value, json};

use crate::server::{ADMIN, TestServer, eventually};

fn ids(list: &Value) -> Vec<String> {
    let items = list["items"].as_array().expect("a list").iter();
    items.map(|item| item["article_id"].as_str().expect("an id").to_owned()).collect()
}

/// A comment's id.
fn comment(server: &TestServer, article: &str, token: &str) -> String {
    let path = format!("/api/v1/articles/{article}/comments");
    let created = server.call("POST", &path).token(token).json(&json!({"content": "said"})).send().json(201);
    created["comment_id"].as_str().expect("an id").to_owned()
}

fn take_back(server: &TestServer, comment: &str, token: &str) {
    assert_eq!(server.call("DELETE", &format!("/api/v1/comments/{comment}")).token(token).send().status, 204);
}

/// Every article of a list by its cursor.
fn walk(server: &TestServer, path: &str) -> Vec<Value> {
    let (mut items, mut before) = (Vec::new(), String::new());
    for _ in 0..200 {
        let list = server.get(&format!("{path}&limit=7{before}")).json(200);
        items.extend(list["items"].as_array().expect("a list").iter().cloned());
        match list["next"].as_str() {
            Some(next) => before = format!("&before={next}"),
            None => return items,
        }
    }
    panic!("a list that does not end");
}

#[test]
fn a_comment_brings_its_article_up_and_its_deletion_takes_it_back() {
    let server = TestServer::shared();
    let board = server.new_board("activity", "tree");
    let (id, author) = server.member("activity_author");
    let articles: Vec<String> = (0..3).map(|_| server.article_id(&board, &author)).collect();
    let active = || server.get(&format!("/api/v1/boards/{board}/articles?sort=active")).json(200);
    let [first, second, third] = [&articles[0], &articles[1], &articles[2]].map(Clone::clone);
    eventually("the newest are the most active", || (ids(&active()) == [&*third, &second, &first]).then_some(()));
    let untouched = server.get(&format!("/api/v1/articles/{first}")).json(200);
    assert_eq!((&untouched["last_comment"], &untouched["last_activity_at"]), (&Value::Null, &untouched["created_at"]));

    let said = comment(&server, &first, &author);
    eventually("the commented one is first", || (ids(&active()) == [&*first, &third, &second]).then_some(()));
    let read = server.get(&format!("/api/v1/articles/{first}")).json(200);
    assert_eq!(read["last_comment"]["comment_id"], said);
    assert_eq!(read["last_comment"]["writer"]["member_id"], id);
    assert_eq!(read["last_comment"]["writer"], read["writer"], "its author, by the same name");
    assert_eq!(read["last_activity_at"], read["last_comment"]["created_at"]);
    let summary = active()["items"][0].clone();
    assert_eq!(
        (&summary["last_comment"], &summary["last_activity_at"]),
        (&read["last_comment"], &read["last_activity_at"])
    );
    let site = || server.get("/api/v1/articles?sort=active&limit=100").json(200);
    eventually("on the site too", || {
        let ours: Vec<String> = ids(&site()).into_iter().filter(|id| articles.contains(id)).collect();
        (ours == [&*first, &third, &second]).then_some(())
    });
    take_back(&server, &said, &author);
    eventually("it is back in its place", || (ids(&active()) == [&*third, &second, &first]).then_some(()));
    assert_eq!(server.get(&format!("/api/v1/articles/{first}")).json(200)["last_comment"], Value::Null);

    // A deleted article is in no list, and a restored one has its place again.
    let admin = server.sign_in(ADMIN);
    comment(&server, &second, &author);
    let path = format!("/api/v1/articles/{second}");
    assert_eq!(server.call("DELETE", &path).token(&admin).json(&json!({"reason": "test"})).send().status, 204);
    eventually("what is removed leaves", || (ids(&active()) == [&*third, &first]).then_some(()));
    server.call("POST", &format!("{path}/restore")).token(&admin).send().json(200);
    eventually("and comes back where it was", || (ids(&active()) == [&*second, &third, &first]).then_some(()));
}

#[test]
fn lists_of_the_site_go_by_cursor_and_refuse_what_they_cannot_read() {
    let server = TestServer::shared();
    let (board, other) = (server.new_board("site-list", "tree"), server.new_board("site-list-2", "two_level"));
    let (_, author) = server.member("site_list_author");
    let mut articles: Vec<String> =
        (0..10).map(|number| server.article_id(if number % 2 == 0 { &board } else { &other }, &author)).collect();
    articles.reverse();
    let newest = eventually("all are listed", || {
        let found: Vec<String> = walk(&server, "/api/v1/articles?sort=newest")
            .iter()
            .map(|item| item["article_id"].as_str().expect("an id").to_owned())
            .collect();
        articles.iter().all(|id| found.contains(id)).then_some(found)
    });
    let ours: Vec<&String> = newest.iter().filter(|id| articles.contains(id)).collect();
    assert_eq!(ours, articles.iter().collect::<Vec<_>>(), "newest first, over boards");
    let number = |id: &String| id.parse::<i64>().expect("a number");
    assert!(newest.is_sorted_by(|one, next| number(one) > number(next)));
    for (query, status) in [
        ("sort=hot", 400),
        ("sort=active&before=77", 400),
        ("sort=active&before=x-77", 400),
        ("sort=newest&before=1-77", 400),
        ("limit=0", 422),
        ("limit=101", 422),
    ] {
        server.get(&format!("/api/v1/articles?{query}")).problem(status, query);
    }
    let board_path = format!("/api/v1/boards/{board}/articles");
    server.get(&format!("{board_path}?sort=active&page=2")).problem(400, "no numbered pages");
    server.get("/api/v1/boards/123/articles?sort=active").problem(404, "no such board");
    let empty = server.get("/api/v1/articles?sort=active&before=1-1").json(200);
    assert_eq!(empty, json!({"items": [], "next": null}));
}

/// Eight people comment and take back at once; whatever they did, the order is that of a plain list of what is left.
#[test]
fn the_active_order_is_exact_after_people_commented_and_deleted_at_once() {
    let server = TestServer::shared();
    let board = server.new_board("activity-storm", "tree");
    let (_, author) = server.member("storm_author");
    let articles: Vec<String> = (0..12).map(|_| server.article_id(&board, &author)).collect();
    let left: Mutex<BTreeMap<String, Vec<(String, String)>>> = Mutex::default();
    std::thread::scope(|scope| {
        for person in 0..8_usize {
            let (server, articles, left) = (&server, &articles, &left);
            let (_, token) = server.member(&format!("storm_{person}"));
            scope.spawn(move || {
                for turn in 0..12_usize {
                    let article = &articles[(person * 5 + turn * 7) % articles.len()];
                    let path = format!("/api/v1/articles/{article}/comments");
                    let body = json!({"content": "said"});
                    let made = server.call("POST", &path).token(&token).json(&body).send().json(201);
                    let id = made["comment_id"].as_str().expect("an id").to_owned();
                    if (person + turn) % 3 == 0 {
                        take_back(server, &id, &token);
                    } else {
                        let at = made["created_at"].as_str().expect("a time").to_owned();
                        left.lock().expect("lock").entry(article.clone()).or_default().push((id, at));
                    }
                }
            });
        }
    });
    let left = left.into_inner().expect("lock");
    let created: BTreeMap<String, String> = articles
        .iter()
        .map(|id| {
            let article = server.get(&format!("/api/v1/articles/{id}")).json(200);
            (id.clone(), article["created_at"].as_str().expect("a time").to_owned())
        })
        .collect();
    // The newest comment is the one with the greatest id.
    let newest =
        |id: &String| left.get(id).and_then(|said| said.iter().max_by_key(|(id, _)| id.parse::<i64>().expect("an id")));
    let mut expected: Vec<(String, i64)> = articles
        .iter()
        .map(|id| (newest(id).map_or(&created[id], |(_, at)| at).clone(), id.parse().expect("an id")))
        .collect();
    expected.sort_by(|a, b| b.cmp(a));
    let expected: Vec<String> = expected.into_iter().map(|(_, id)| id.to_string()).collect();
    let path = format!("/api/v1/boards/{board}/articles?sort=active");
    let items = eventually("the order is that of what is left", || {
        let items = walk(&server, &path);
        let order: Vec<&str> = items.iter().map(|item| item["article_id"].as_str().expect("an id")).collect();
        (order == expected).then_some(items)
    });
    for item in items {
        let id = item["article_id"].as_str().expect("an id").to_owned();
        let told = item["last_comment"]["comment_id"].as_str().map(str::to_owned);
        assert_eq!(told, newest(&id).map(|(id, _)| id.clone()), "{item}");
    }
}
