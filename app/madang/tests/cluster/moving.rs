//! A site that was a data directory is a cluster afterwards, also when the move was interrupted: people find everything
//! as they left it.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::cluster::{Cluster, Ended};
use crate::home::Home;
use crate::http::Answer;
use crate::process::ADMIN;
use crate::servers::Servers;
use crate::waiting::eventually;

/// Enough that a copy in steps of 20 can be interrupted.
const SEEDED: &str = "3000";

/// What is on the site that moves.
struct Known {
    articles: Vec<String>,
    deleted: String,
    /// An article and a comment that a moderator removed.
    removed: [String; 2],
    boards: Vec<String>,
    ann: String,
    bea_id: String,
}

trait Expect {
    /// Makes sure of the status.
    fn is(&self, status: u16);
}

impl Expect for Answer {
    #[track_caller]
    fn is(&self, status: u16) {
        assert_eq!(self.status, status, "{}", self.text());
    }
}

fn run(mut command: Command) -> Ended {
    let output = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output().expect("runs");
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Two boards, people who write, reply, like, look, change their minds and delete.
fn live(home: &Home) -> Known {
    let (ann_id, ann) = home.member("ann");
    let (bea_id, bea) = home.member("bea");
    let admin = home.sign_in(ADMIN);
    let role = json!({"role": "moderator"});
    home.call("PUT", &format!("/api/v1/members/{bea_id}/role")).token(&admin).json(&role).send().is(200);
    let (flat, tree) = (home.board("flat", "two_level"), home.board("tree", "tree"));
    let mut articles = Vec::new();
    for (board, name) in [(&flat, "flat"), (&tree, "tree")] {
        for number in 0..5 {
            let article = home.article(board, &ann, &format!("{name}-{number}"));
            let root = home.comment(&article, &ann, None);
            let reply = home.comment(&article, &bea, Some(&root));
            if name == "tree" {
                home.comment(&article, &ann, Some(&reply));
            }
            // The mark of a deleted comment stays above its replies.
            home.call("DELETE", &format!("/api/v1/comments/{root}")).token(&ann).send().is(204);
            // A corrected one keeps its version and the moment of its correction.
            let corrected = home.call("PUT", &format!("/api/v1/comments/{reply}")).token(&bea);
            corrected.json(&json!({"content": "a better reply"})).send().is(200);
            for token in [&ann, &bea, &admin] {
                home.call("PUT", &format!("/api/v1/articles/{article}/like")).token(token).send().is(200);
            }
            home.call("DELETE", &format!("/api/v1/articles/{article}/like")).token(&bea).send().is(200);
            for browser in 0..=number {
                let views = home.call("POST", &format!("/api/v1/articles/{article}/views"));
                views.header("user-agent", &format!("browser {browser}")).send().is(200);
            }
            articles.push(article);
        }
    }
    let edited = json!({"title": "edited", "content": "other words"});
    let of = home.call("GET", &format!("/api/v1/articles/{}", articles[0])).send();
    let tag = of.header("etag").expect("an ETag").to_owned();
    let edit = home.call("PUT", &format!("/api/v1/articles/{}", articles[0])).header("if-match", &tag);
    edit.token(&ann).json(&edited).send().is(200);
    let deleted = articles.remove(3);
    home.call("DELETE", &format!("/api/v1/articles/{deleted}")).token(&ann).send().is(204);
    let removed = home.article(&flat, &ann, "removed");
    home.call("PUT", &format!("/api/v1/articles/{removed}/like")).token(&bea).send().is(200);
    let removed_comment = home.comment(&articles[0], &ann, None);
    for path in [format!("articles/{removed}"), format!("comments/{removed_comment}")] {
        home.call("DELETE", &format!("/api/v1/{path}")).token(&admin).send().is(204);
    }
    let removed = [removed, removed_comment];
    home.call("PUT", &format!("/api/v1/articles/{}/pin", articles[1])).token(&admin).json(&json!({})).send().is(200);
    home.call("PUT", &format!("/api/v1/articles/{}/lock", articles[2])).token(&admin).send().is(200);
    home.call("DELETE", "/api/v1/sessions/current").token(&bea).send().is(204);
    assert_ne!(ann_id, bea_id);
    Known { articles, deleted, removed, boards: vec![flat, tree], ann, bea_id }
}

/// Everything a guest can see of it, by path.
fn seen(known: &Known, get: impl Fn(&str) -> Value) -> Vec<(String, Value)> {
    let mut paths = vec!["/api/v1/boards".to_owned()];
    for board in &known.boards {
        paths.push(format!("/api/v1/boards/{board}/articles?page=1&page_size=10"));
        paths.push(format!("/api/v1/boards/{board}/articles?limit=3"));
    }
    for article in &known.articles {
        paths.push(format!("/api/v1/articles/{article}"));
        paths.push(format!("/api/v1/articles/{article}/comments?page=1&page_size=30"));
        paths.push(format!("/api/v1/articles/{article}/like"));
    }
    paths.into_iter().map(|path| (path.clone(), get(&path))).collect()
}

/// The articles of the hot lists with their likes and comments; views of the last moment are counted at the stop.
fn hot(list: &Value) -> Vec<(Value, Value, Value)> {
    let days = list["days"].as_array().expect("days");
    let items = days.iter().flat_map(|day| day["items"].as_array().expect("a list"));
    let item = |item: &Value| (item["article_id"].clone(), item["like_count"].clone(), item["comment_count"].clone());
    let mut items: Vec<_> = items.map(item).collect();
    items.sort_by_key(|(id, _, _)| id.to_string());
    items
}

/// Lets a copy go until it is in the middle of the articles, and kills it there.
fn interrupted(home: &Home, cluster: &Cluster) {
    let mut copy = home.copy_to(&cluster.config());
    let mut child = copy.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("starts");
    let (mut said, mut is_there) = (Vec::new(), false);
    for line in BufReader::new(child.stderr.take().expect("piped")).lines() {
        let line = line.expect("text");
        is_there = line.starts_with("article: ");
        said.push(line);
        if is_there {
            child.kill().expect("is killed");
            break;
        }
    }
    assert!(is_there && !child.wait().expect("ends").success(), "it was not interrupted: {said:?}");
}

#[test]
fn a_site_moves_to_a_cluster_and_nobody_misses_anything() {
    let (mut home, mut cluster) = (Home::new(), Cluster::prepared(&Servers::of_environment(), &["all"]));
    home.serve();
    let known = live(&home);
    let hot_before = eventually("the hot list has heard of everything", || {
        let list = home.get("/api/v1/hot-articles");
        let items = hot(&list);
        (items.len() == 9 && items.iter().all(|(_, likes, _)| *likes == 2)).then_some(items)
    });
    let refused = run(home.copy_to(&cluster.config())).expect(1);
    assert!(refused.stderr.contains("in use by process"), "{}", refused.stderr);
    home.stop();
    let seed = ["seed", "--boards", "2", "--articles", SEEDED, "--members", "40"];
    run(home.command(&seed)).expect(0);
    home.serve();
    let before = seen(&known, |path| home.get(path));
    home.stop();

    interrupted(&home, &cluster);
    let check = cluster.command(&["check"], "").expect(1);
    assert!(check.stderr.contains("was interrupted"), "half a site is not served: {}", check.stderr);
    let copied = run(home.copy_to(&cluster.config())).expect(0);
    assert!(copied.stdout.contains("continuing after"), "{}", copied.stdout);
    assert!(copied.stdout.contains("everybody has to sign in again"), "{}", copied.stdout);
    let again = run(home.copy_to(&cluster.config())).expect(0);
    assert!(again.stdout.contains("nothing to do"), "{}", again.stdout);
    run(home.command(&["check"])).expect(0);
    // Nothing has run there yet, so there is no log to tell whether events are under way.
    let checked = cluster.command(&["check"], "").expect(2).stdout;
    assert!(checked.contains("no differences in what was compared"), "{checked}");

    cluster.start();
    let after = seen(&known, |path| cluster.get(path).json(200));
    for ((path, before), (_, after)) in before.iter().zip(&after) {
        assert_eq!(before, after, "{path}");
    }
    assert_eq!(hot(&cluster.get("/api/v1/hot-articles").json(200)), hot_before);
    cluster.get(&format!("/api/v1/articles/{}", known.deleted)).is(404);
    people_go_on(&cluster, &known);
    eventually("a check finds no difference", || (cluster.command(&["check"], "").code == 0).then_some(()));
    cluster.stop();
}

/// Old tokens are no longer known, passwords and roles are; keys of requests and counters go on where they were.
fn people_go_on(cluster: &Cluster, known: &Known) {
    let like = format!("/api/v1/articles/{}/like", known.articles[0]);
    cluster.call("PUT", &like).token(&known.ann).send().is(401);
    let (ann, bea) = (cluster.sign_in("ann"), cluster.sign_in("bea"));
    let body = json!({"title": "flat-1", "content": "Some *text*, 마당."});
    let again = cluster.call("POST", &format!("/api/v1/boards/{}/articles", known.boards[0])).token(&ann);
    let again = again.header("idempotency-key", "flat-1").json(&body).send().json(201);
    assert_eq!(again["article_id"], *known.articles[1], "a request that was repeated after the move is answered");
    let article = cluster.article(&known.boards[0], &ann, "after the move");
    let newest = known.articles.iter().map(|id| id.parse::<i64>().unwrap()).max().unwrap();
    assert!(article.parse::<i64>().unwrap() > newest, "ids go on above those that came along");
    let reply = cluster.comment(&known.articles[0], &ann, None);
    assert_eq!(reply["depth"], 1);
    assert_eq!(cluster.like(&known.articles[0], &bea)["like_count"], 3);
    // What was removed before can still be restored.
    let [removed, removed_comment] = &known.removed;
    cluster.get(&format!("/api/v1/articles/{removed}")).is(404);
    cluster.call("POST", &format!("/api/v1/articles/{removed}/restore")).token(&bea).send().is(200);
    let back =
        cluster.call("POST", &format!("/api/v1/comments/{removed_comment}/restore")).token(&bea).send().json(200);
    assert_eq!(back["writer"]["name"], "ann");
    eventually("it is back with its like", || {
        let read = cluster.get(&format!("/api/v1/articles/{removed}"));
        (read.status == 200 && read.json(200)["like_count"] == 1).then_some(())
    });
    // A moderator may do this to what another wrote.
    cluster.call("DELETE", &format!("/api/v1/articles/{article}")).token(&bea).send().is(204);
    let member = cluster.get(&format!("/api/v1/members/{}", known.bea_id)).json(200);
    assert_eq!(member["role"], "moderator");
}

#[test]
fn a_cluster_that_holds_something_else_takes_no_site_in() {
    let (mut home, cluster) = (Home::new(), Cluster::prepared(&Servers::of_environment(), &["all"]));
    home.serve();
    home.stop();
    run(home.copy_to(&cluster.config())).expect(0);
    let mut other = Home::new();
    other.serve();
    other.stop();
    let refused = run(other.copy_to(&cluster.config())).expect(1);
    assert!(refused.stderr.contains("another site was copied"), "{}", refused.stderr);
    let used = Cluster::prepared(&Servers::of_environment(), &["all"]);
    used.command(&["seed", "--boards", "1", "--members", "2"], "").expect(0);
    let refused = run(home.copy_to(&used.config())).expect(1);
    assert!(refused.stderr.contains("no copy of this site"), "{}", refused.stderr);
}

#[test]
fn a_site_that_changed_since_its_copy_began_is_refused() {
    let (mut home, cluster) = (Home::new(), Cluster::prepared(&Servers::of_environment(), &["all"]));
    home.serve();
    home.stop();
    run(home.command(&["seed", "--boards", "1", "--articles", SEEDED])).expect(0);
    interrupted(&home, &cluster);
    run(home.command(&["check"])).expect(0);
    run(home.command(&["seed", "--boards", "1", "--articles", "1"])).expect(0);
    let refused = run(home.copy_to(&cluster.config())).expect(1);
    assert!(refused.stderr.contains("has changed since its copy began"), "{}", refused.stderr);
}
