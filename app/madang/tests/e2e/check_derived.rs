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
    assert!(said.contains("query model not compared") && said.contains("3 counters with the hot scores"), "{said}");
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
    let zone = format!("time_zone={zone}");
    let found = run(data, &["check", "--set", &zone], "").expect(1);
    assert!(found.stdout.contains(&expected) && found.stdout.ends_with("1 difference\n"), "{found:?}");
    let said = run(data, &["rebuild", "hot", "--set", &zone], "").expect(0).stdout;
    assert!(said.contains("with likes, comments and views and corrected 1\n"), "{said}");
    run(data, &["check", "--set", &zone], "").expect(0);
}

#[test]
fn a_score_with_a_version_that_no_event_passes_is_lowered_beside_a_server() {
    let directory = tempfile::tempdir().unwrap();
    let (data, zone) = (directory.path(), noon_zone());
    let (server, article) = site(data, &zone);
    damage(data, "UPDATE hot_score SET like_count = 1000, like_version = 1 << 40, score = score + 2991");
    let found = run(data, &["check"], "").expect(1).stdout;
    let expected = format!("article {article} has 3 likes (version 3) and is scored with 1000 (version 1099511627776)");
    assert!(found.contains(&expected), "{found}");
    run(data, &["rebuild", "hot"], "").expect(0);
    run(data, &["check"], "").expect(0);
    let path = format!("/api/v1/articles/{article}/like");
    server.call("PUT", &path).token(&server.sign_in(ADMIN)).send().json(200);
    becomes(&truth::hot_list(&truth::articles(data)), || hot_items(&server, today(&zone)));
}

#[test]
fn marks_of_a_deletion_on_an_article_that_exists_are_found_and_taken_away() {
    let directory = tempfile::tempdir().unwrap();
    let (data, zone) = (directory.path(), noon_zone());
    let (server, article) = site(data, &zone);
    let like = || {
        let path = format!("/api/v1/articles/{article}/like");
        server.call("PUT", &path).token(&server.sign_in(ADMIN)).send()
    };
    damage(data, &format!("INSERT INTO comment_article_gone (article_id, gone_at) VALUES ({article}, 1)"));
    damage(data, &format!("INSERT INTO like_article_gone (article_id) VALUES ({article})"));
    damage(data, &format!("INSERT INTO view_article_gone (article_id) VALUES ({article})"));
    assert_eq!(like().status, 404);
    let found = run(data, &["check"], "").expect(1).stdout;
    for part in ["comments", "likes", "views"] {
        let said = format!("article {article} is there, and its {part} are marked as deleted");
        assert!(found.contains(&said), "{said} in {found}");
    }
    let said = run(data, &["rebuild", "parts"], "").expect(0).stdout;
    assert!(said.contains("no longer marked as deleted: comments of 1, likes of 1, views of 1"), "{said}");
    for derived in ["read-model", "hot"] {
        run(data, &["rebuild", derived], "").expect(0);
    }
    run(data, &["check"], "").expect(0);
    assert_eq!(like().json(200)["like_count"], 4);
    becomes(&truth::hot_list(&truth::articles(data)), || hot_items(&server, today(&zone)));
    run(data, &["check"], "").expect(0);
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
    assert!(found.stdout.contains(&expected) && found.stdout.ends_with("1 difference\n"), "{found:?}");
    // The model is not the source: dropping it is the cure.
    run(data, &["rebuild", "read-model"], "").expect(0);
    run(data, &["check"], "").expect(0);
    let told = server.get(&format!("/api/v1/articles/{article}")).json(200);
    assert_eq!(told["title"], json!("a title that nobody was told"));
    run(data, &["check"], "").expect(0);
}
