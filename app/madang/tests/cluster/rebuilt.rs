//! What somebody with access to the broker can do to derived data, found by `madang check` and put right by `madang rebuild`,
//! which asks the owners: offsets set past events, events that nobody of the site wrote, marks that nobody meant.

use madang_board::ArticleId;
use madang_kernel::ShardId;
use serde_json::Value;

use crate::cluster::Cluster;
use crate::first_article::FirstArticle;
use crate::planted::damage;
use crate::records::{deletion, forged, likes, publish, reset_to_latest};
use crate::servers::Servers;
use crate::waiting::eventually;

/// A version far ahead of any counter's.
const FAR_AHEAD: u64 = 1 << 40;
/// Articles with a like, a comment and a view each: three counters.
const ARTICLES: usize = 55;

/// How many differences a check names once it could compare everything: events on their way keep it from that.
fn differences(cluster: &Cluster) -> usize {
    let said = eventually("everything is compared", || {
        let checked = cluster.command(&["check"], "");
        (checked.code < 2).then_some(checked.stdout)
    });
    let counted = |line: &str| line.strip_suffix("s").unwrap_or(line).strip_suffix(" difference")?.parse().ok();
    said.lines().find_map(counted).unwrap_or(0)
}

/// Waits until events have arrived, and nothing differs.
fn settles(cluster: &Cluster) {
    eventually("nothing differs", || (cluster.command(&["check"], "").code == 0).then_some(()));
}

fn hot(cluster: &Cluster) -> Vec<Value> {
    cluster.get("/api/v1/hot-articles").json(200)["days"][0]["items"].as_array().unwrap().clone()
}

fn hot_likes(cluster: &Cluster, article: &str) -> Value {
    hot(cluster)
        .iter()
        .find(|item| item["article_id"] == article)
        .map_or(Value::Null, |item| item["like_count"].clone())
}

#[test]
fn hot_scores_are_right_again_after_offsets_were_reset_past_their_events() {
    const HOT: usize = 1;
    let others = "member,article,comment,like,view,article-read,web";
    let FirstArticle { servers, mut cluster, ann, board, article } = FirstArticle::on(&[others, "hot-article"]);
    cluster.like(&article, &ann);
    eventually("the list tells of it", || (hot_likes(&cluster, &article) == 1).then_some(()));
    cluster.processes[HOT].stop();
    let unheard: Vec<String> = (0..ARTICLES).map(|number| cluster.article(&board, &ann, &number.to_string())).collect();
    for article in &unheard {
        cluster.like(article, &ann);
        cluster.comment(article, &ann, None);
        assert_eq!(cluster.view(article, "a browser")["counted"], true);
    }
    // Orderly, so that views are stored and every event is sent.
    cluster.processes[0].stop();
    let skipped = reset_to_latest(&servers, &cluster, "hot-article");
    cluster.processes.iter_mut().for_each(crate::process::Process::spawn);
    cluster.processes.iter_mut().for_each(crate::process::Process::wait_until_up);

    let before = differences(&cluster);
    cluster.command(&["rebuild", "read-model"], "").expect(0);
    let between = differences(&cluster);
    let said = cluster.command(&["rebuild", "hot"], "").expect(0).stdout;
    let after = differences(&cluster);
    println!(
        "{skipped} events skipped; differences: {before}, after `rebuild read-model` {between}, after `rebuild hot` {after}"
    );
    assert_eq!((before, between, after), (3 * ARTICLES, 3 * ARTICLES, 0), "{said}");
    assert!(said.contains(&format!("with likes, comments and views and corrected {ARTICLES}\n")), "{said}");
    let listed = hot(&cluster);
    assert_eq!(listed.len(), 10);
    assert!(listed.iter().all(|item| item["score"] == 6), "a like, a comment and a view: {listed:?}");
    let bob = cluster.member("bob");
    cluster.like(&unheard[7], &bob);
    eventually("events count again", || (hot_likes(&cluster, &unheard[7]) == 2).then_some(()));
    assert_eq!(differences(&cluster), 0);
    cluster.stop();
}

#[test]
fn a_forged_version_is_found_and_lowered_wherever_it_was_merged() {
    let FirstArticle { servers, mut cluster, ann, article, board } = FirstArticle::on_one_process();
    let other = cluster.article(&board, &ann, "second");
    cluster.like(&article, &ann);
    assert_eq!(cluster.read(&article)["like_count"], 1);
    cluster.get(&format!("/api/v1/boards/{board}/articles")).json(200);
    settles(&cluster);
    let known_count = || cluster.get(&format!("/api/v1/boards/{board}/articles")).json(200)["known_count"].clone();
    assert_eq!(known_count(), 2);

    publish(&servers, &cluster, forged(&article, FAR_AHEAD, likes(&article, 1_000)));
    // About an article that never was, so that the board's count is all that it changes.
    let never = (article.parse::<i64>().unwrap() - 1).to_string();
    publish(&servers, &cluster, forged(&never, 2, deletion(&never, &board, FAR_AHEAD)));
    eventually("the query model believes it", || (cluster.read(&article)["like_count"] == 1_000).then_some(()));
    eventually("the board's list believes it", || (known_count() == 0).then_some(()));
    eventually("the hot list believes it", || (hot_likes(&cluster, &article) == 1_000).then_some(()));
    let bob = cluster.member("bob");
    assert_eq!(cluster.like(&article, &bob)["like_count"], 2, "the owner counts what is");
    assert_eq!(cluster.read(&article)["like_count"], 1_000, "and no event lowers what was forged");

    let found = cluster.command(&["check"], "").expect(1).stdout;
    for said in [
        format!("article {article} has 2 likes (version 2) and is scored with 1000 (version {FAR_AHEAD})"),
        format!(
            "article {article}: the query model has its likes as 1000 (version {FAR_AHEAD}), the owner as 2 (version 2)"
        ),
        format!("board {board}: the query model counts 0 articles (version {FAR_AHEAD}), the owner 2 (version 2)"),
        "3 differences".to_owned(),
    ] {
        assert!(found.contains(&said), "{said} in {found}");
    }
    cluster.command(&["rebuild", "read-model"], "").expect(0);
    cluster.command(&["rebuild", "hot"], "").expect(0);
    assert_eq!(differences(&cluster), 0);
    eventually("the query model is right", || (cluster.read(&article)["like_count"] == 2).then_some(()));
    eventually("the board's list is right", || (known_count() == 2).then_some(()));
    eventually("the hot list is right", || (hot_likes(&cluster, &article) == 2).then_some(()));
    let carol = cluster.member("carol");
    cluster.like(&article, &carol);
    eventually("and events count again", || {
        (cluster.read(&article)["like_count"] == 3 && hot_likes(&cluster, &article) == 3).then_some(())
    });
    assert_eq!(cluster.read(&other)["like_count"], 0);
    cluster.stop();
}

#[test]
fn a_forged_deletion_removes_nothing_and_what_believed_it_is_rebuilt() {
    let FirstArticle { servers, mut cluster, ann, article, board } = FirstArticle::on_one_process();
    cluster.like(&article, &ann);
    cluster.comment(&article, &ann, None);
    assert_eq!(cluster.view(&article, "a browser")["counted"], true);
    assert_eq!(cluster.read(&article)["like_count"], 1);
    eventually("all of it is scored", || hot(&cluster).first().is_some_and(|item| item["score"] == 6).then_some(()));
    settles(&cluster);

    publish(&servers, &cluster, forged(&article, 2, deletion(&article, &board, 2)));
    eventually("its owners refuse to believe it", || {
        let log = cluster.processes[0].log();
        let refusals = log.lines().filter(|line| line.contains("says that an article is deleted")).count();
        (refusals == 3).then_some(())
    });
    eventually("the query model believes it", || {
        (cluster.get(&format!("/api/v1/articles/{article}")).status == 404).then_some(())
    });
    eventually("the hot list believes it", || hot(&cluster).is_empty().then_some(()));
    let found = cluster.command(&["check"], "").expect(1).stdout;
    assert!(found.contains(&format!("article {article} is there and scored as deleted")), "{found}");
    assert!(found.contains(&format!("article {article}: the query model has its text as deleted")), "{found}");

    cluster.command(&["rebuild", "read-model"], "").expect(0);
    cluster.command(&["rebuild", "hot"], "").expect(0);
    assert_eq!(differences(&cluster), 0);
    eventually("it is there with everything", || {
        let answer = cluster.get(&format!("/api/v1/articles/{article}"));
        let read = (answer.status == 200).then(|| answer.json(200))?;
        (read["like_count"] == 1 && read["comment_count"] == 1 && read["view_count"] == 1).then_some(())
    });
    eventually("and scores", || hot(&cluster).first().is_some_and(|item| item["score"] == 6).then_some(()));
    cluster.stop();
}

#[test]
fn marks_of_a_deletion_on_an_article_that_exists_are_found_and_taken_away() {
    let FirstArticle { servers, mut cluster, ann, article, .. } = FirstArticle::on_one_process();
    cluster.like(&article, &ann);
    cluster.comment(&article, &ann, None);
    settles(&cluster);
    // As they are left where a wrong deletion was believed: nothing counts any more, and nobody can add anything.
    let id: ArticleId = article.parse().unwrap();
    let shard = ShardId::of_parts(id).number();
    let here = Servers {
        mysql: vec![servers.mysql[usize::from(shard) * servers.mysql.len() / 64].clone()],
        ..servers.clone()
    };
    for service in ["comment", "like", "view"] {
        let mark = format!("INSERT INTO {service}_article_gone (shard, article_id) VALUES ({shard}, {article})");
        assert_eq!(damage(&here, &cluster, service, &mark), 1);
    }
    damage(&here, &cluster, "comment", &format!("DELETE FROM article_comment_count WHERE article_id = {article}"));
    let like = |token: &str| cluster.call("PUT", &format!("/api/v1/articles/{article}/like")).token(token).send();
    let bob = cluster.member("bob");
    assert_eq!(like(&bob).status, 404);

    let found = cluster.command(&["check"], "").expect(1).stdout;
    for part in ["comments", "likes", "views"] {
        let said = format!("article {article} is there, and its {part} are marked as deleted");
        assert!(found.contains(&said), "{said} in {found}");
    }
    let said = cluster.command(&["rebuild", "parts"], "").expect(0).stdout;
    assert!(said.contains("no longer marked as deleted: comments of 1, likes of 1, views of 1"), "{said}");
    assert!(said.contains("madang rebuild hot"), "{said}");
    for derived in ["read-model", "hot"] {
        cluster.command(&["rebuild", derived], "").expect(0);
    }
    assert_eq!(differences(&cluster), 0);
    assert_eq!(like(&bob).json(200)["like_count"], 2, "what was left counts again");
    cluster.comment(&article, &bob, None);
    eventually("and people read it", || {
        let read = cluster.read(&article);
        (read["like_count"] == 2 && read["comment_count"] == 2).then_some(())
    });
    eventually("and it is scored", || (hot_likes(&cluster, &article) == 2).then_some(()));
    settles(&cluster);
    cluster.stop();
}
