//! Consumer groups that rest: writes go on, readers are told how old things are, and everything catches up.

use std::path::Path;

use serde_json::{Value, json};

use crate::command::{Ended, run};
use crate::server::{ADMIN, Start, TestServer, eventually};
use crate::site_day::{becomes, hot_items, noon_zone, today};
use crate::truth;

const ARTICLES: usize = 5;
const MEMBERS: usize = 4;
/// What the log gets while the groups rest: articles, their likes and comments.
const ENTRIES: usize = ARTICLES * (1 + MEMBERS + 1);

/// What `/readyz` says of a group. It says so with 200, however far the group is behind.
fn readiness(server: &TestServer, group: &str) -> String {
    let parts = server.get("/readyz").json(200);
    assert_eq!(parts["ready"], true);
    let name = format!("group {group}");
    let part = parts["parts"].as_array().unwrap().iter().find(|part| part["name"] == name.as_str()).cloned();
    part.unwrap_or_else(|| panic!("{name} in {parts}"))["detail"].as_str().unwrap().to_owned()
}

fn line(said: &Ended, group: &str) -> String {
    let line = said.stdout.lines().find(|line| line.starts_with(&format!("{group}: ")));
    line.unwrap_or_else(|| panic!("{group} in {said:?}")).to_owned()
}

/// Writes articles that belong on the hot list; gives their ids.
fn write(server: &TestServer, members: &[(i64, String)]) -> Vec<String> {
    let board = server.general();
    let articles: Vec<_> = (0..ARTICLES).map(|_| server.article_id(&board, &members[0].1)).collect();
    for article in &articles {
        let path = format!("/api/v1/articles/{article}");
        // Now the query model holds it, and must follow.
        server.get(&path).json(200);
        for (_, token) in members {
            server.call("PUT", &format!("{path}/like")).token(token).send().json(200);
        }
        let body = json!({"content": "while nobody listens"});
        server.call("POST", &format!("{path}/comments")).token(&members[0].1).json(&body).send().json(201);
    }
    articles
}

fn are_up_to_date(data: &Path) {
    eventually("every group is up to date", || {
        let said = run(data, &["groups", "list"], "").expect(0);
        let lines: Vec<_> = said.stdout.lines().collect();
        (lines.len() == 6 && lines.iter().all(|line| line.ends_with("running, up to date"))).then_some(())
    });
}

#[test]
fn writes_go_on_while_groups_rest_and_everything_catches_up() {
    let directory = tempfile::tempdir().unwrap();
    let (data, zone) = (directory.path(), noon_zone());
    let server = Start::in_directory(data).with_admin().set("time_zone", &zone).start();
    let (members, date) = (server.seeded_members(MEMBERS), today(&zone));
    let first = write(&server, &members[..1]);
    becomes(&truth::hot_list(&truth::articles(data)), || hot_items(&server, date));
    are_up_to_date(data);
    let old = hot_items(&server, date);
    assert_eq!(old.as_array().unwrap().len(), first.len());

    let resting = ["hot-article", "article-read"];
    for group in resting {
        let said = run(data, &["groups", "pause", group], "").expect(0);
        assert!(said.stdout.contains(&format!("madang groups resume {group}")), "{said:?}");
    }
    let second = write(&server, &members);
    for group in resting {
        let behind = format!("paused, {ENTRIES} entries and ");
        let detail = readiness(&server, group);
        assert!(detail.starts_with(&behind) && detail.ends_with(" s behind"), "{group}: {detail}");
        let said = run(data, &["groups", "list"], "").expect(0);
        assert!(line(&said, group).starts_with(&format!("{group}: {behind}")), "{said:?}");
    }
    assert_eq!(hot_items(&server, date), old, "nobody has told the list");
    // People read their own writes all the same: those do not wait for the group.
    let articles = truth::articles(data);
    truth::is_read(&server, &articles);
    let listed = server.get(&format!("/api/v1/boards/{}/articles", server.general())).json(200);
    assert_eq!(listed["items"][0]["article_id"], second[ARTICLES - 1]);
    // What is only on its way is no difference; and a restart forgets that a group rested.
    run(data, &["check"], "").expect(0);

    for group in resting {
        assert!(run(data, &["groups", "resume", group], "").expect(0).stdout.contains("runs again"));
    }
    becomes(&truth::hot_list(&articles), || hot_items(&server, date));
    are_up_to_date(data);
    assert!(readiness(&server, "hot-article").starts_with("up to date"));
    truth::is_read(&server, &articles);
    let said = run(data, &["check"], "").expect(0);
    assert!(said.stdout.contains(&format!("compared {} articles of the query model", 2 * ARTICLES)), "{said:?}");
}

#[test]
fn a_group_that_rested_when_its_server_was_killed_catches_up_after_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let (data, zone) = (directory.path(), noon_zone());
    let server = Start::in_directory(data).with_admin().set("time_zone", &zone).start();
    let (members, date) = (server.seeded_members(2), today(&zone));
    run(data, &["groups", "pause", "hot-article"], "").expect(0);
    write(&server, &members);
    assert_eq!(hot_items(&server, date), json!([]));
    server.kill();
    let server = Start::in_directory(data).set("time_zone", &zone).start();
    becomes(&truth::hot_list(&truth::articles(data)), || hot_items(&server, date));
}

#[test]
fn a_group_that_is_not_there_is_a_clear_error() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    let server = Start::in_directory(data).with_admin().start();
    for action in ["pause", "resume"] {
        let refused = run(data, &["groups", action, "kitchen"], "").expect(1);
        let said = &refused.stderr;
        assert!(said.contains("\"kitchen\"") && said.contains("article-read, comment, hot-article"), "{refused:?}");
    }
    // Twice is once.
    for _ in 0..2 {
        run(data, &["groups", "pause", "like"], "").expect(0);
    }
    assert!(readiness(&server, "like").starts_with("paused"));
    run(data, &["groups", "resume", "like"], "").expect(0);
    eventually("it goes on", || (!readiness(&server, "like").starts_with("paused")).then_some(()));
    server.stop();

    let listed = run(data, &["groups", "list"], "").expect(0);
    for group in ["article-read", "comment", "hot-article", "like", "view"] {
        assert!(line(&listed, group).starts_with(&format!("{group}: not running, ")), "{listed:?}");
    }
    let refused = run(data, &["groups", "pause", "hot-article"], "").expect(1);
    assert!(refused.stderr.contains("no server is running on this data directory"), "{refused:?}");
    let absent = directory.path().join("absent");
    assert!(run(&absent, &["groups", "list"], "").expect(1).stderr.contains("there is no data directory"));
}

#[test]
fn a_deletion_is_gone_for_readers_also_while_groups_rest() {
    let directory = tempfile::tempdir().unwrap();
    let (data, zone) = (directory.path(), noon_zone());
    let server = Start::in_directory(data).with_admin().set("time_zone", &zone).start();
    let (members, date, token) = (server.seeded_members(2), today(&zone), server.sign_in(ADMIN));
    let articles = write(&server, &members);
    becomes(&truth::hot_list(&truth::articles(data)), || hot_items(&server, date));
    for group in ["article-read", "comment", "hot-article", "like", "view"] {
        run(data, &["groups", "pause", group], "").expect(0);
    }
    let path = format!("/api/v1/articles/{}", articles[0]);
    assert_eq!(server.call("DELETE", &path).token(&token).send().status, 204);
    server.get(&path).problem(404, "the article");
    let items = hot_items(&server, date);
    let listed: Vec<_> = items.as_array().unwrap().iter().map(|item| &item["article_id"]).collect();
    assert_eq!(
        listed,
        articles[1..].iter().map(|id| Value::from(id.as_str())).collect::<Vec<_>>().iter().collect::<Vec<_>>()
    );
    assert_eq!(items[0]["rank"], 1);
    // Its comments and likes wait for the groups, which is no difference.
    run(data, &["check"], "").expect(0);
    for group in ["article-read", "comment", "hot-article", "like", "view"] {
        run(data, &["groups", "resume", group], "").expect(0);
    }
    are_up_to_date(data);
    run(data, &["check"], "").expect(0);
}
