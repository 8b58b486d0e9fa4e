//! Articles over HTTP: one by one, and in lists.

use serde_json::{Value, json};

use crate::server::{ADMIN, TestServer};

#[test]
fn an_article_is_written_read_edited_and_deleted() {
    let server = TestServer::shared();
    let (member, token) = server.member("dora");
    let board = server.general();
    let body = json!({"title": "  Hello  ", "content": "Some **text** and <script>alert(1)</script>"});
    let answer = server.call("POST", &format!("/api/v1/boards/{board}/articles")).token(&token).json(&body).send();
    let article = answer.json(201);
    let path = format!("/api/v1/articles/{}", article["article_id"].as_str().unwrap());
    assert_eq!(answer.header("location"), Some(path.as_str()));
    assert_eq!(article["title"], "Hello", "trimmed");
    assert_eq!(article["writer"], json!({"member_id": member, "name": server.own("dora")}));
    assert_eq!(article["version"], 1);
    for count in ["comment_count", "like_count", "view_count"] {
        assert_eq!(article[count], 0);
    }
    let html = article["content_html"].as_str().unwrap();
    assert!(html.contains("<strong>text</strong>") && !html.contains("<script"), "{html}");
    assert_eq!(server.get(&path).json(200), article);
    assert_eq!(server.get(&format!("/api/v1/boards/{board}/articles/count")).json(200), json!({"count": 1}));

    let body = json!({"title": "Hello again", "content": "Other text"});
    let edited = server.call("PUT", &path).token(&token).json(&body).send().json(200);
    assert_eq!((&edited["version"], &edited["created_at"]), (&json!(2), &article["created_at"]));
    assert_eq!(server.get(&path).json(200), edited);

    let reason = json!({"reason": "no longer needed"});
    assert_eq!(server.call("DELETE", &path).token(&token).json(&reason).send().status, 204);
    server.get(&path).problem(404, "gone");
    server.call("DELETE", &path).token(&token).send().problem(404, "gone already");
    server.call("PUT", &path).token(&token).json(&body).send().problem(404, "gone");
    assert_eq!(server.get(&format!("/api/v1/boards/{board}/articles/count")).json(200), json!({"count": 0}));
}

#[test]
fn unacceptable_articles_name_the_field() {
    let server = TestServer::shared();
    let token = server.sign_in(ADMIN);
    let post = format!("/api/v1/boards/{}/articles", server.general());
    let article = server.article(&server.general(), &token, "to edit");
    let put = format!("/api/v1/articles/{}", article["article_id"].as_str().unwrap());
    let cases = [
        ("no title", json!({"content": "c"}), "title"),
        ("title is null", json!({"title": null, "content": "c"}), "title"),
        ("title is a number", json!({"title": 1, "content": "c"}), "title"),
        ("empty title", json!({"title": "", "content": "c"}), "title"),
        ("blank title", json!({"title": " \t ", "content": "c"}), "title"),
        ("long title", json!({"title": "t".repeat(101), "content": "c"}), "title"),
        ("long title of 4 bytes each", json!({"title": "🙂".repeat(101), "content": "c"}), "title"),
        ("no content", json!({"title": "t"}), "content"),
        ("content is an object", json!({"title": "t", "content": {}}), "content"),
        ("empty content", json!({"title": "t", "content": ""}), "content"),
        ("blank content", json!({"title": "t", "content": "\n \n"}), "content"),
        ("long content", json!({"title": "t", "content": "c".repeat(20_001)}), "content"),
        ("long content of 4 bytes each", json!({"title": "t", "content": "🙂".repeat(20_001)}), "content"),
        ("a zero byte", json!({"title": "t", "content": "a\u{0}b"}), "content"),
    ];
    for (case, body, field) in cases {
        server.call("POST", &post).token(&token).json(&body).send().invalid_field(field, case);
        server.call("PUT", &put).token(&token).json(&body).send().invalid_field(field, case);
    }
    let both = server.call("POST", &post).token(&token).json(&json!({"title": "", "content": ""})).send();
    both.invalid_field("title", "all at once");
    both.invalid_field("content", "all at once");
}

#[test]
fn the_longest_article_in_four_byte_characters_comes_back_whole() {
    let server = TestServer::shared();
    let token = server.sign_in(ADMIN);
    let body = json!({"title": "𝒯".repeat(100), "content": "🙂".repeat(20_000)});
    let path = format!("/api/v1/boards/{}/articles", server.general());
    let article = server.call("POST", &path).token(&token).json(&body).send().json(201);
    let read = server.get(&format!("/api/v1/articles/{}", article["article_id"].as_str().unwrap())).json(200);
    assert_eq!((&read["title"], &read["content"]), (&body["title"], &body["content"]));
}

#[test]
fn only_its_author_or_a_moderator_changes_an_article() {
    let server = TestServer::shared();
    let admin = server.sign_in(ADMIN);
    let (_, author) = server.member("author_1");
    let (_, other) = server.member("other_1");
    let article = server.article(&server.general(), &author, "mine");
    let path = format!("/api/v1/articles/{}", article["article_id"].as_str().unwrap());
    let body = json!({"title": "t", "content": "c"});
    server.call("PUT", &path).token(&other).json(&body).send().problem(403, "edit");
    server.call("DELETE", &path).token(&other).send().problem(403, "delete");
    server.call("PUT", &path).json(&body).send().problem(401, "edit by nobody");
    server.call("DELETE", &path).send().problem(401, "delete by nobody");
    server.call("PUT", &path).token("forged").json(&body).send().problem(401, "forged");
    assert_eq!(server.get(&path).json(200)["version"], 1, "nothing happened");
    assert_eq!(server.call("PUT", &path).token(&admin).json(&body).send().json(200)["version"], 2);
    let long = json!({"reason": "r".repeat(501)});
    server.call("DELETE", &path).token(&admin).json(&long).send().invalid_field("reason", "too long");
    assert_eq!(server.call("DELETE", &path).token(&admin).send().status, 204);
}

#[test]
fn ids_that_name_no_article_are_absent() {
    let server = TestServer::shared();
    let token = server.sign_in(ADMIN);
    let body = json!({"title": "t", "content": "c"});
    for id in
        ["1", "0", "-1", "+1", "abc", "1e3", "9223372036854775807", "9223372036854775808", "184467440737095516160"]
    {
        let path = format!("/api/v1/articles/{id}");
        server.get(&path).problem(404, id);
        server.call("PUT", &path).token(&token).json(&body).send().problem(404, id);
        server.call("DELETE", &path).token(&token).send().problem(404, id);
    }
}

#[test]
fn an_edit_of_what_somebody_else_changed_is_refused() {
    let server = TestServer::shared();
    let token = server.sign_in(ADMIN);
    let article = server.article(&server.general(), &token, "contested");
    let path = format!("/api/v1/articles/{}", article["article_id"].as_str().unwrap());
    let tag = server.get(&path).header("etag").expect("a tag").to_owned();
    let put = |tag: &str| {
        let body = json!({"title": "t", "content": "c"});
        server.call("PUT", &path).token(&token).header("if-match", tag).json(&body).send()
    };
    let answer = put(&tag);
    assert_eq!(answer.json(200)["version"], 2);
    assert_ne!(answer.header("etag"), Some(tag.as_str()), "the answer carries the new tag");
    put(&tag).problem(412, "the old tag");
    put(&format!("W/{tag}")).problem(412, "a weak tag");
    put("\"no such tag\"").problem(412, "a foreign tag");
    let garbage = put("garbage");
    assert!([400, 412].contains(&garbage.status), "{}", garbage.text());
    assert_eq!(put("*").json(200)["version"], 3);
    assert_eq!(server.get(&path).json(200)["version"], 3);
}

#[test]
fn an_article_that_was_seen_already_is_not_sent_again() {
    let server = TestServer::shared();
    let token = server.sign_in(ADMIN);
    let article = server.article(&server.general(), &token, "seen");
    let path = format!("/api/v1/articles/{}", article["article_id"].as_str().unwrap());
    let tag = server.get(&path).header("etag").unwrap().to_owned();
    for value in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".to_owned()] {
        let again = server.call("GET", &path).header("if-none-match", &value).send();
        assert_eq!((again.status, again.body.len()), (304, 0), "{value}");
    }
    server.call("GET", &path).header("if-none-match", "\"x\"").send().json(200);
}

#[test]
fn pages_and_cursors_walk_the_same_articles_newest_first() {
    let server = TestServer::shared();
    let token = server.sign_in(ADMIN);
    let board = server.general();
    let mut ids: Vec<Value> =
        (0..23).map(|i| server.article(&board, &token, &format!("number {i}"))["article_id"].clone()).collect();
    ids.reverse();
    let list = format!("/api/v1/boards/{board}/articles");
    let items = |list: &Value| -> Vec<Value> {
        list["items"].as_array().unwrap().iter().map(|item| item["article_id"].clone()).collect()
    };
    let mut paged = Vec::new();
    for page in 1..=5 {
        let answer = server.get(&format!("{list}?page={page}&page_size=5")).json(200);
        assert_eq!((&answer["page"], &answer["page_size"]), (&json!(page), &json!(5)));
        assert_eq!(answer["known_count"], 23);
        paged.extend(items(&answer));
    }
    assert_eq!(paged, ids);
    let mut scrolled = Vec::new();
    let mut next = server.get(&format!("{list}?limit=5")).json(200);
    loop {
        scrolled.extend(items(&next));
        let Some(before) = next["next"].as_str() else { break };
        next = server.get(&format!("{list}?limit=5&before={before}")).json(200);
    }
    assert_eq!(scrolled, ids);
    let plain = server.get(&list).json(200);
    assert_eq!((&plain["page"], &plain["page_size"]), (&json!(1), &json!(30)), "a page list unless asked otherwise");
    assert_eq!(items(&plain), ids);
    assert!(plain["items"][0].get("content").is_none(), "lists carry no text");
    assert_eq!(plain["items"][0]["like_count"], 0);
    for past in ["6", "1000000000"] {
        assert_eq!(items(&server.get(&format!("{list}?page={past}&page_size=5")).json(200)), Vec::<Value>::new());
    }
    let capped = server.get(&format!("{list}?page=1&page_size=1")).json(200);
    assert_eq!(capped["known_count"], 11, "the next ten pages and whether there are more");
}

#[test]
fn queries_out_of_range_or_senseless_are_told_apart() {
    let server = TestServer::shared();
    let list = format!("/api/v1/boards/{}/articles", server.general());
    for (query, status) in [
        ("page=0", 422),
        ("page=-1", 422),
        ("page=1000000001", 422),
        ("page=1&page_size=0", 422),
        ("page=1&page_size=-5", 422),
        ("page=1&page_size=101", 422),
        ("limit=0", 422),
        ("limit=101", 422),
        ("limit=-1", 422),
        ("page=abc", 400),
        ("page=", 400),
        ("page=1.5", 400),
        ("page_size=ten", 400),
        ("limit=many", 400),
        ("before=abc", 400),
        ("page=1&before=5", 400),
        ("page=%FF", 400),
    ] {
        server.get(&format!("{list}?{query}")).problem(status, query);
    }
    for query in ["page=1&page_size=100", "limit=100", "before=1", "before=9223372036854775807", "other=1"] {
        server.get(&format!("{list}?{query}")).json(200);
    }
}
