//! The roles spread over processes: each serves its own calls, asks the others, and nobody can tell from outside.

use serde_json::json;

use crate::cluster::Cluster;
use crate::servers::Servers;
use crate::waiting::eventually;

#[test]
fn three_processes_serve_one_site() {
    let roles = ["member,article", "comment,like,view", "article-read,hot-article"];
    let mut cluster = Cluster::prepared(&Servers::of_environment(), &roles);
    cluster.processes.iter_mut().for_each(|process| process.set("revocation_poll_ms=500"));
    cluster.start();
    let ann = cluster.member("ann");
    let board = cluster.board("talk", "two_level");
    let article = cluster.article(&board, &ann, "first");
    assert_eq!(cluster.read(&article)["title"], "first", "read in one process what was written in another");
    cluster.comment(&article, &ann, None);
    cluster.like(&article, &ann);
    assert_eq!(cluster.view(&article, "one")["counted"], true);
    eventually("the counts are read", || {
        let read = cluster.read(&article);
        (read["comment_count"] == 1 && read["like_count"] == 1).then_some(())
    });
    eventually("the view is seen by readers", || (cluster.read(&article)["view_count"] == 1).then_some(()));
    eventually("the article is hot", || {
        let days = cluster.get("/api/v1/hot-articles").json(200);
        (days["days"][0]["items"][0]["score"] == 3 + 2 + 1).then_some(())
    });

    // Nobody likes what is not there, wherever that is known.
    let nowhere = cluster.call("PUT", "/api/v1/articles/123456789/like").token(&ann).send();
    nowhere.problem(404, "a like of an article that does not exist");
    assert_eq!(cluster.call("DELETE", &format!("/api/v1/articles/{article}")).token(&ann).send().status, 204);
    eventually("the deletion is known everywhere", || {
        let comment = json!({"content": "late"});
        let path = format!("/api/v1/articles/{article}/comments");
        (cluster.call("POST", &path).token(&ann).json(&comment).send().status == 404).then_some(())
    });

    // A session that has ended is ended everywhere, though only one process has the members.
    assert_eq!(cluster.call("DELETE", "/api/v1/sessions/current").token(&ann).send().status, 204);
    eventually("the ended session is refused by a process without the members", || {
        let path = format!("/api/v1/articles/{article}/like");
        (cluster.call("PUT", &path).token(&ann).send().status == 401).then_some(())
    });
    eventually("a check finds no difference", || (cluster.command(&["check"], "").code == 0).then_some(()));
    cluster.stop();
}

#[test]
fn a_process_that_does_not_know_whom_to_ask_refuses_to_start() {
    let cluster = Cluster::prepared(&Servers::of_environment(), &["comment"]);
    let refused = cluster.command(&["serve", "--roles", "comment"], "").expect(1).stderr;
    assert!(refused.contains("cluster.peers") && refused.contains("role article"), "{refused}");
}

#[test]
fn a_call_of_another_role_is_told_where_it_belongs() {
    let cluster = Cluster::split(&["member,article,comment,like,view,article-read", "hot-article"]);
    let hot = cluster.with_role("hot-article");
    let problem = hot.get("/api/v1/boards").problem(404, "boards are not here");
    assert_eq!(problem["type"], "urn:madang:problem:served-elsewhere");
    assert_eq!(hot.get("/api/v1/hot-articles").status, 200);
    // It listens before it has read who was signed out.
    let names = eventually("it is ready", || {
        let told = hot.get("/readyz");
        (told.status == 200).then(|| told.json(200)["parts"].to_string())
    });
    assert!(names.contains("group hot-article") && !names.contains("group comment"), "{names}");
    assert!(names.contains("peer http://127.0.0.1:"), "{names}");
}
