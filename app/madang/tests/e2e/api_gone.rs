//! A deleted article takes its comments, likes and views along: out of sight in every process, whoever races it.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use crate::composition::Composition;
use crate::http::{Answer, Call, Http};
use crate::server::{ADMIN, TestServer, eventually};

/// Few enough for every composition on a small machine; the embedded one is raced by more elsewhere.
const WRITERS: usize = 24;
/// Requests of each writer at most: by then it was told that the article is gone.
const ROUNDS_MAX: usize = 2_000;

/// Gives an article comments, likes and a hundred views, which are written back at once.
pub(crate) fn discuss(server: &TestServer, article: &str, members: &[(i64, String)]) {
    let path = format!("/api/v1/articles/{article}");
    for (_, token) in members {
        let body = json!({"content": "a comment"});
        let root = server.call("POST", &format!("{path}/comments")).token(token).json(&body).send().json(201);
        let body = json!({"content": "a reply", "parent_id": root["comment_id"]});
        server.call("POST", &format!("{path}/comments")).token(token).json(&body).send().json(201);
        server.call("PUT", &format!("{path}/like")).token(token).send().json(200);
    }
    for guest in 0..100 {
        server.view(article, &format!("guest {guest}"));
    }
}

/// Every call about a deleted article, by what it is.
fn calls(server: &TestServer, article: &str, comment: &str, token: &str) -> Vec<(String, Answer)> {
    let path = format!("/api/v1/articles/{article}");
    let mut answers = Vec::new();
    for part in ["comments", "comments?limit=1", "comments/count", "like", "likes", "views"] {
        answers.push((format!("GET {part}"), server.get(&format!("{path}/{part}"))));
    }
    answers.push(("one comment".to_owned(), server.get(comment)));
    answers.push(("deleting one".to_owned(), server.call("DELETE", comment).token(token).send()));
    let late = server.call("POST", &format!("{path}/comments")).token(token).json(&json!({"content": "late"}));
    answers.push(("a comment".to_owned(), late.send()));
    for method in ["PUT", "DELETE"] {
        let like = server.call(method, &format!("{path}/like")).token(token).send();
        answers.push((format!("{method} like"), like));
    }
    answers.push(("a view".to_owned(), server.call("POST", &format!("{path}/views")).send()));
    answers
}

/// Nothing of a deleted article can be had: at once in the embedded process, between processes within a moment.
#[track_caller]
pub(crate) fn is_absent(server: &TestServer, article: &str, comment: &str, token: &str) {
    if Composition::chosen() != Composition::Embedded {
        eventually("every process knows that the article is gone", || {
            calls(server, article, comment, token).iter().all(|(_, answer)| answer.status == 404).then_some(())
        });
    }
    for (call, answer) in calls(server, article, comment, token) {
        answer.problem(404, &call);
    }
}

/// Writers of all kinds at one article until each is told that it is gone; `delete` runs in the middle of it.
pub(crate) fn race(server: &TestServer, article: &str, members: &[(i64, String)], delete: impl FnOnce()) -> usize {
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
fn nothing_of_a_deleted_article_can_be_had() {
    let server = TestServer::shared();
    let (token, members) = (server.sign_in(ADMIN), server.seeded_members(2));
    for board in [server.general(), server.trees()] {
        let article = server.article_id(&board, &token);
        discuss(&server, &article, &members);
        let path = format!("/api/v1/articles/{article}");
        let comments = server.get(&format!("{path}/comments")).json(200);
        let comment = format!("/api/v1/comments/{}", comments["items"][0]["comment_id"].as_str().unwrap());
        assert_eq!(server.call("DELETE", &path).token(&token).send().status, 204);
        // Readers know at once, in whichever process.
        server.get(&path).problem(404, "the article");
        let list = server.get(&format!("/api/v1/boards/{board}/articles")).json(200);
        assert_eq!(list["items"], json!([]));
        is_absent(&server, &article, &comment, &token);
    }
    server.check();
}

#[test]
fn writers_racing_a_deletion_leave_nothing_behind() {
    let server = TestServer::shared();
    let (token, members) = (server.sign_in(ADMIN), server.seeded_members(WRITERS));
    for board in [server.general(), server.trees()] {
        let article = server.article_id(&board, &token);
        let path = format!("/api/v1/articles/{article}");
        race(&server, &article, &members, || {
            assert_eq!(server.call("DELETE", &path).token(&token).send().status, 204);
        });
    }
    eventually("every part of what was deleted is cleaned up", || {
        let said = server.command(&["check"], "");
        (!said.stdout.contains("are still to be cleaned up")).then_some(())
    });
    server.check();
}
