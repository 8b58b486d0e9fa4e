//! The whole cluster in one process: what people do, what they read right after, and what is left after a restart.

use serde_json::json;

use crate::cluster::Cluster;
use crate::servers::Servers;
use crate::waiting::eventually;

/// Everything a person does, each effect read at once by the one who caused it; returns board and article.
fn use_the_site(cluster: &Cluster) -> (String, String) {
    let ann = cluster.member("ann");
    let bob = cluster.member("bob");
    let board = cluster.board("talk", "tree");
    let article = cluster.article(&board, &ann, "first");
    assert_eq!(cluster.read(&article)["title"], "first", "who wrote it reads it");
    // A writer waits for the query model for 100 ms at most, which a busy machine may need for itself.
    eventually("and finds it in the list", || {
        let list = cluster.get(&format!("/api/v1/boards/{board}/articles")).json(200);
        (list["items"][0]["article_id"] == article.as_str()).then_some(())
    });

    let root = cluster.comment(&article, &bob, None);
    let reply = cluster.comment(&article, &ann, root["comment_id"].as_str());
    assert_eq!(reply["depth"], 2);
    assert_eq!(cluster.like(&article, &bob), json!({"liked": true, "like_count": 1}));
    assert_eq!(cluster.like(&article, &bob), json!({"liked": true, "like_count": 1}), "a like is given once");
    eventually("the counts are read", || {
        let read = cluster.read(&article);
        (read["comment_count"] == 2 && read["like_count"] == 1).then_some(())
    });

    assert_eq!(cluster.view(&article, "one")["counted"], true);
    assert_eq!(cluster.view(&article, "one")["counted"], false);
    assert_eq!(cluster.view(&article, "two"), json!({"counted": true, "view_count": 2}));

    let path = format!("/api/v1/articles/{article}");
    let edited = cluster.call("PUT", &path).token(&ann).json(&json!({"title": "second", "content": "c"})).send();
    assert_eq!(edited.json(200)["version"], 2);
    eventually("the edit is read", || (cluster.read(&article)["title"] == "second").then_some(()));

    let gone = cluster.article(&board, &ann, "gone");
    assert_eq!(cluster.call("DELETE", &format!("/api/v1/articles/{gone}")).token(&ann).send().status, 204);
    eventually("the deletion is read", || {
        (cluster.get(&format!("/api/v1/articles/{gone}")).status == 404).then_some(())
    });
    assert_eq!(cluster.get(&format!("/api/v1/boards/{board}/articles/count")).json(200)["count"], 1);
    (board, article)
}

/// Waits until the events have reached the scores.
fn wait_until_hot(cluster: &Cluster, article: &str) {
    eventually("the article is hot with all its counts", || {
        let days = cluster.get("/api/v1/hot-articles").json(200);
        let item = days["days"][0]["items"].as_array()?.iter().find(|item| item["article_id"] == article)?.clone();
        (item["score"] == 3 + 2 * 2 + 2).then_some(())
    });
}

fn check_finds_nothing(cluster: &Cluster) {
    // Events are on their way for a moment after the last write; a check says so by naming what they will change.
    eventually("a check finds no difference", || {
        let checked = cluster.command(&["check"], "");
        (checked.code == 0).then_some(()).or_else(|| {
            assert!([1, 2].contains(&checked.code), "{}{}", checked.stdout, checked.stderr);
            None
        })
    });
}

#[test]
fn people_read_what_they_wrote_and_find_it_after_a_restart() {
    let mut cluster = Cluster::one();
    let (board, article) = use_the_site(&cluster);
    wait_until_hot(&cluster, &article);
    check_finds_nothing(&cluster);
    let token = cluster.sign_in("ann");
    let before = cluster.read(&article);
    cluster.stop();
    cluster.start();
    let after = cluster.read(&article);
    for field in ["title", "version", "comment_count", "like_count"] {
        assert_eq!(after[field], before[field], "{field}");
    }
    eventually("every view is there", || (cluster.read(&article)["view_count"] == 2).then_some(()));
    // The same keys are derived again, so the token of before is good.
    cluster.article(&board, &token, "after the restart");
    wait_until_hot(&cluster, &article);
    check_finds_nothing(&cluster);
    cluster.stop();
    check_finds_nothing(&cluster);
}

#[test]
fn the_same_holds_on_a_redis_cluster() {
    let mut cluster = Cluster::prepared(&Servers::with_redis_cluster(), &["all"]);
    cluster.start();
    let (_, article) = use_the_site(&cluster);
    wait_until_hot(&cluster, &article);
    check_finds_nothing(&cluster);
    cluster.stop();
}

#[test]
fn a_process_tells_how_each_of_its_parts_is() {
    let cluster = Cluster::one();
    let ready = eventually("every group is up to date", || {
        let ready = cluster.processes[0].get("/readyz").json(200);
        let parts = ready["parts"].as_array()?;
        let mut groups =
            parts.iter().filter(|part| part["name"].as_str().is_some_and(|name| name.starts_with("group ")));
        groups.all(|group| group["detail"] == "up to date").then_some(ready)
    });
    let names: Vec<_> = ready["parts"].as_array().unwrap().iter().map(|part| part["name"].as_str().unwrap()).collect();
    assert_eq!(names.iter().filter(|name| name.starts_with("mysql ")).count(), 2, "{names:?}");
    for part in ["redis", "kafka", "ids", "group article-read", "group hot-article"] {
        assert!(names.contains(&part), "{names:?}");
    }
}
