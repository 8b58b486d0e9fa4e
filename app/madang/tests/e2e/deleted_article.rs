//! A deleted article takes its comments, likes and views along: out of the tables soon, for ever.

use crate::api_gone::{discuss, is_absent, race};
use crate::database::{MARKS, PARTS, rows_of};
use crate::server::{ADMIN, Start, TestServer, eventually};
use crate::{command, database};

const WRITERS: usize = 64;

/// Gives an article comments, likes and views, the views already written back.
pub(crate) fn fill(server: &TestServer, article: &str, members: &[(i64, String)]) {
    discuss(server, article, members);
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
        is_absent(&server, &article, &comment, &token);
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
