//! A deleted article takes its comments, likes and views along: out of sight at once, out of the tables soon, for ever.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use crate::database::{MARKS, PARTS, rows_of};
use crate::http::{Call, Http};
use crate::server::{ADMIN, Start, TestServer, eventually};
use crate::{command, database};

const WRITERS: usize = 64;
/// Requests of each writer at least, before it may stop at the first 404.
const ROUNDS_MAX: usize = 500;

/// Gives an article comments, likes and views, the views already written back.
pub(crate) fn fill(server: &TestServer, article: &str, members: &[(i64, String)]) {
    let path = format!("/api/v1/articles/{article}");
    for (_, token) in members {
        let body = json!({"content": "a comment"});
        let root = server.call("POST", &format!("{path}/comments")).token(token).json(&body).send().json(201);
        let body = json!({"content": "a reply", "parent_id": root["comment_id"]});
        server.call("POST", &format!("{path}/comments")).token(token).json(&body).send().json(201);
        server.call("PUT", &format!("{path}/like")).token(token).send().json(200);
    }
    // A hundred views are written back at once.
    for guest in 0..100 {
        server.view(article, &format!("guest {guest}"));
    }
    eventually("views are written back", || {
        (rows_of(&database::open(server.data()), ["article_view_count"], article) == [1]).then_some(())
    });
}

/// Waits until the owners have marked the article and nothing of it is left.
fn is_cleaned_up(server: &TestServer, article: &str) {
    eventually("nothing is left of the article", || {
        let file = database::open(server.data());
        (rows_of(&file, MARKS, article) == [1; 3] && rows_of(&file, PARTS, article) == [0; 5]).then_some(())
    });
}

#[test]
fn its_comments_likes_and_views_are_absent_at_once_and_removed_soon() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    let server = Start::in_directory(data).with_admin().start();
    let token = server.sign_in(ADMIN);
    let members = server.seeded_members(5);
    for board in [server.general(), server.trees()] {
        let (article, other) = (server.article_id(&board, &token), server.article_id(&board, &token));
        fill(&server, &article, &members);
        fill(&server, &other, &members[..1]);
        let path = format!("/api/v1/articles/{article}");
        let comments = server.get(&format!("{path}/comments")).json(200);
        let comment = format!("/api/v1/comments/{}", comments["items"][0]["comment_id"].as_str().unwrap());
        // Views that are not yet written must not come back at the next write-back either.
        server.view(&article, "the last guest");
        assert_eq!(server.call("DELETE", &path).token(&token).send().status, 204);
        for path in ["comments", "comments?limit=1", "comments/count", "like", "likes", "views"] {
            server.get(&format!("/api/v1/articles/{article}/{path}")).problem(404, path);
        }
        server.get(&comment).problem(404, "one comment");
        server.call("DELETE", &comment).token(&token).send().problem(404, "deleting one");
        let body = json!({"content": "late"});
        server.call("POST", &format!("{path}/comments")).token(&token).json(&body).send().problem(404, "a comment");
        for method in ["PUT", "DELETE"] {
            server.call(method, &format!("{path}/like")).token(&token).send().problem(404, "a like");
        }
        server.call("POST", &format!("{path}/views")).send().problem(404, "a view");
        is_cleaned_up(&server, &article);
        assert_eq!(rows_of(&database::open(data), PARTS, &other), [2, 1, 1, 1, 1], "another article keeps its own");
        assert_eq!(rows_of(&database::open(data), MARKS, &other), [0; 3]);
    }
    command::run(data, &["check"], "").expect(0);
    server.stop();
    let left = "SELECT count(*) FROM article_view_count WHERE article_id IN (SELECT article_id FROM view_article_gone)";
    assert_eq!(database::number(&database::open(data), left), 0, "the last write-back brought nothing back");
    command::run(data, &["check"], "").expect(0);
}

/// Writers of all kinds at one article until each is told that it is gone; `delete` runs in the middle of it.
fn race(server: &TestServer, article: &str, members: &[(i64, String)], delete: impl FnOnce()) -> usize {
    let (begin, done) = (Barrier::new(members.len() + 1), AtomicUsize::new(0));
    let path = format!("/api/v1/articles/{article}");
    std::thread::scope(|scope| {
        for (writer, (_, token)) in members.iter().enumerate() {
            let (begin, done, path) = (&begin, &done, &path);
            scope.spawn(move || {
                let mut http = Http::connect(&server.address).unwrap();
                begin.wait();
                for round in 0..ROUNDS_MAX {
                    let call = |method: &str, part: &str| Call::new(&server.address, method, &format!("{path}/{part}"));
                    let call = match (writer % 3, round % 2) {
                        (0, _) => call("POST", "comments").token(token).json(&json!({"content": "racing"})),
                        (1, 0) => call("PUT", "like").token(token),
                        (1, _) => call("DELETE", "like").token(token),
                        _ => call("POST", "views").header("user-agent", &format!("guest {writer} {round}")),
                    };
                    let answer = call.send_on(&mut http).unwrap();
                    if answer.status == 404 {
                        return;
                    }
                    assert!([200, 201].contains(&answer.status), "{}", answer.text());
                    done.fetch_add(1, Ordering::Relaxed);
                }
                panic!("the article was never gone");
            });
        }
        begin.wait();
        eventually("everybody is at work", || (done.load(Ordering::Relaxed) >= 2 * members.len()).then_some(()));
        delete();
    });
    done.into_inner()
}

#[test]
fn writers_racing_its_deletion_leave_no_orphan() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    let server = Start::in_directory(data).with_admin().start();
    let token = server.sign_in(ADMIN);
    let members = server.seeded_members(WRITERS);
    let mut articles = Vec::new();
    for board in [server.general(), server.trees()] {
        for _ in 0..2 {
            let article = server.article_id(&board, &token);
            let path = format!("/api/v1/articles/{article}");
            let done = race(&server, &article, &members, || {
                assert_eq!(server.call("DELETE", &path).token(&token).send().status, 204);
            });
            assert!(done >= 2 * WRITERS, "only {done} were in time");
            articles.push(article);
        }
    }
    for article in &articles {
        is_cleaned_up(&server, article);
    }
    command::run(data, &["check"], "").expect(0);
    server.stop();
    let file = database::open(data);
    for article in &articles {
        assert_eq!(rows_of(&file, PARTS, article), [0; 5], "also after the last write-back");
    }
    drop(file);
    command::run(data, &["check"], "").expect(0);
}
