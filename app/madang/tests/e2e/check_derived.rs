//! `madang check` looks at derived data too: it says how much it compared, and finds what differs beside a server and
//! without one.

use std::path::Path;

use serde_json::json;

use crate::command::run;
use crate::deleted_article::fill;
use crate::server::{ADMIN, Start, TestServer};
use crate::site_day::{becomes, hot_items, noon_zone, today};
use crate::truth;

/// Changes something behind everybody's back.
fn damage(data: &Path, sql: &str) {
    let file = rusqlite::Connection::open(data.join(madang_sqlite::DATABASE_FILE)).unwrap();
    assert_eq!(file.execute(sql, []).unwrap(), 1, "{sql}");
}

/// A site with one article that has six comments, three likes and a hundred views, all of it scored.
fn site(data: &Path, zone: &str) -> (TestServer, String) {
    let server = Start::in_directory(data).with_admin().set("time_zone", zone).start();
    let article = server.article_id(&server.general(), &server.sign_in(ADMIN));
    fill(&server, &article, &server.seeded_members(3));
    becomes(&truth::hot_list(&truth::articles(data)), || hot_items(&server, today(zone)));
    (server, article)
}

#[test]
fn it_says_what_it_compared_and_how_much() {
    let directory = tempfile::tempdir().unwrap();
    let (data, zone) = (directory.path(), noon_zone());
    let (server, _) = site(data, &zone);
    let said = run(data, &["check"], "").expect(0).stdout;
    for words in [
        "comments, likes and views",
        "hot scores and the query model",
        "compared 1 boards, 1 articles, 1 events, 6 comments, 3 likes, 1 view counts, 1 hot scores",
        "3 counters with the hot scores of today",
        "compared 1 articles of the query model",
        "no difference",
    ] {
        assert!(said.contains(words), "{words:?} in {said}");
    }
    assert!(!said.contains("not compared"), "{said}");
    server.stop();
    let said = run(data, &["check", "--set", &format!("time_zone={zone}")], "").expect(0).stdout;
    assert!(said.contains("there is no query model") && said.contains("3 counters with the hot scores"), "{said}");
}

#[test]
fn a_score_that_missed_an_event_is_found_beside_a_server_and_without_one() {
    let directory = tempfile::tempdir().unwrap();
    let (data, zone) = (directory.path(), noon_zone());
    let (server, article) = site(data, &zone);
    damage(data, "UPDATE hot_score SET like_count = 2, like_version = 2, score = score - 3");
    let expected = format!("article {article} has 3 likes (version 3) and is scored with 2 (version 2)");
    assert!(run(data, &["check"], "").expect(1).stdout.contains(&expected));
    server.stop();
    let found = run(data, &["check", "--set", &format!("time_zone={zone}")], "").expect(1);
    assert!(found.stdout.contains(&expected) && found.stdout.contains("1 differences"), "{found:?}");
}

#[test]
fn a_query_model_that_differs_from_its_owners_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let (data, zone) = (directory.path(), noon_zone());
    let (server, article) = site(data, &zone);
    server.get(&format!("/api/v1/articles/{article}")).json(200);
    damage(data, "UPDATE article SET title = 'a title that nobody was told'");
    let found = run(data, &["check"], "").expect(1);
    let expected = format!("article {article}: the query model has its text as version 1, the owner as version 1");
    assert!(found.stdout.contains(&expected) && found.stdout.contains("1 differences"), "{found:?}");
    // The model is not the source: dropping it is the cure.
    run(data, &["rebuild", "read-model"], "").expect(0);
    run(data, &["check"], "").expect(0);
    let told = server.get(&format!("/api/v1/articles/{article}")).json(200);
    assert_eq!(told["title"], json!("a title that nobody was told"));
    run(data, &["check"], "").expect(0);
}
