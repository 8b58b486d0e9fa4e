//! `kill -9` under a mixed load of articles, comments, likes and views: what was acknowledged is there, counts equal rows.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::json;

use crate::http::{Call, Http};
use crate::server::{ADMIN, Start, TestServer, eventually, is_long_run};
use crate::{command, database};

const WRITERS: usize = 64;
const LIKED: usize = 8;
pub(crate) const SHORT_RUN: Duration = Duration::from_secs(3);
pub(crate) const LONG_RUN: Duration = Duration::from_secs(10);

/// What the server said that it has. A request without an answer may have had its effect or not, so what it was about is
/// not promised either way.
#[derive(Default)]
pub(crate) struct Promised {
    pub(crate) articles: HashSet<i64>,
    pub(crate) comments: HashSet<i64>,
    deleted_comments: HashSet<i64>,
    /// By (article, member): whether it is liked.
    pub(crate) likes: HashMap<(String, i64), bool>,
    /// Views of each article that were answered, and whether one more was under way.
    views: HashMap<String, (u64, u64)>,
}

impl Promised {
    fn merge(&mut self, other: Self) {
        self.articles.extend(other.articles);
        self.comments.extend(other.comments);
        self.deleted_comments.extend(other.deleted_comments);
        self.likes.extend(other.likes);
        for (article, (answered, under_way)) in other.views {
            let views = self.views.entry(article).or_default();
            *views = (views.0 + answered, views.1 + under_way);
        }
    }
}

/// Where the load goes.
pub(crate) struct Site {
    pub(crate) boards: [String; 2],
    /// One article on each kind of board, for comments.
    pub(crate) discussed: [String; 2],
    pub(crate) liked: Vec<String>,
}

struct Writer<'a> {
    address: &'a str,
    site: &'a Site,
    member: i64,
    token: &'a str,
    http: Http,
    promised: Promised,
}

impl Writer<'_> {
    /// Sends one request; `None` when the server is gone or refused.
    fn send(&mut self, method: &str, path: &str, body: Option<serde_json::Value>) -> Option<serde_json::Value> {
        let call = Call::new(self.address, method, path).token(self.token);
        let call = if let Some(body) = body { call.json(&body) } else { call };
        let answer = call.send_on(&mut self.http).ok()?;
        match answer.status {
            204 => Some(serde_json::Value::Null),
            200 | 201 => Some(answer.json(answer.status)),
            _ => None,
        }
    }

    fn article(&mut self, round: usize) -> Option<()> {
        let path = format!("/api/v1/boards/{}/articles", self.site.boards[round % 2]);
        let article = self.send("POST", &path, Some(json!({"title": "crash", "content": "*text*"})))?;
        self.promised.articles.insert(id(&article["article_id"]));
        Some(())
    }

    /// A comment and a reply to it; every fourth time the reply is deleted again.
    fn comment(&mut self, round: usize) -> Option<()> {
        let path = format!("/api/v1/articles/{}/comments", self.site.discussed[round % 2]);
        let root = self.send("POST", &path, Some(json!({"content": "root"})))?;
        self.promised.comments.insert(id(&root["comment_id"]));
        let reply = json!({"content": "reply", "parent_id": root["comment_id"]});
        let reply = id(&self.send("POST", &path, Some(reply))?["comment_id"]);
        if round % 4 != 3 {
            self.promised.comments.insert(reply);
            return Some(());
        }
        self.send("DELETE", &format!("/api/v1/comments/{reply}"), None)?;
        self.promised.deleted_comments.insert(reply);
        Some(())
    }

    fn like(&mut self, round: usize) -> Option<()> {
        let article = self.site.liked[round % self.site.liked.len()].clone();
        let method = if (round / self.site.liked.len()).is_multiple_of(2) { "PUT" } else { "DELETE" };
        self.promised.likes.remove(&(article.clone(), self.member));
        let state = self.send(method, &format!("/api/v1/articles/{article}/like"), None)?;
        let liked = state["liked"].as_bool().unwrap();
        assert_eq!(liked, method == "PUT");
        self.promised.likes.insert((article, self.member), liked);
        Some(())
    }

    fn view(&mut self, round: usize) -> Option<()> {
        let article = self.site.liked[round % self.site.liked.len()].clone();
        let call = Call::new(self.address, "POST", &format!("/api/v1/articles/{article}/views"));
        let views = self.promised.views.entry(article).or_default();
        views.1 += 1;
        let answer = call.header("user-agent", &format!("{} {round}", self.member)).send_on(&mut self.http).ok()?;
        *views = (views.0 + u64::from(answer.status == 200), views.1 - 1);
        Some(())
    }
}

fn id(value: &serde_json::Value) -> i64 {
    value.as_str().expect("an id").parse().expect("a number")
}

/// Loads take turns: two at once would leave each too little time to promise much.
static TURN: Mutex<()> = Mutex::new(());

/// Loads the server with everything at once, kills it, and tells what it had promised.
pub(crate) fn load_and_kill(server: TestServer, site: &Site, members: &[(i64, String)], run: Duration) -> Promised {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let (address, stop, begin) = (server.address.clone(), AtomicBool::new(false), Barrier::new(members.len() + 1));
    let all = Mutex::new(Promised::default());
    std::thread::scope(|scope| {
        for (number, (member, token)) in members.iter().enumerate() {
            let (address, stop, begin, all) = (&address, &stop, &begin, &all);
            scope.spawn(move || {
                let http = Http::connect(address).unwrap();
                let promised = Promised::default();
                let mut writer = Writer { address, site, member: *member, token, http, promised };
                begin.wait();
                let kind = [Writer::article, Writer::comment, Writer::like, Writer::view][number % 4];
                let mut rounds = 0..;
                while !stop.load(Ordering::Relaxed)
                    && rounds.next().and_then(|round| kind(&mut writer, round)).is_some()
                {}
                all.lock().unwrap().merge(writer.promised);
            });
        }
        begin.wait();
        let started = Instant::now();
        eventually("the run is over", || (started.elapsed() >= run).then_some(()));
        server.kill();
        stop.store(true, Ordering::Relaxed);
    });
    all.into_inner().unwrap()
}

fn ids(file: &Connection, sql: &str) -> HashSet<i64> {
    let mut rows = file.prepare(sql).unwrap();
    rows.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

fn compare(data: &Path, promised: &Promised) {
    let file = database::open(data);
    let articles = ids(&file, "SELECT article_id FROM article");
    assert!(promised.articles.is_subset(&articles), "{:?}", promised.articles.difference(&articles));
    let comments = ids(&file, "SELECT comment_id FROM comment");
    assert!(promised.comments.is_subset(&comments), "{:?}", promised.comments.difference(&comments));
    assert!(promised.deleted_comments.is_disjoint(&comments), "what was deleted came back");
    for ((article, member), liked) in &promised.likes {
        let sql = format!("SELECT count(*) FROM article_like WHERE article_id = {article} AND member_id = {member}");
        assert_eq!(database::number(&file, &sql), i64::from(*liked), "article {article}, member {member}");
    }
    for (sum, rows) in [
        ("SELECT sum(comment_count) FROM article_comment_count", "SELECT count(*) FROM comment WHERE deleted = 0"),
        ("SELECT sum(row_count) FROM article_comment_count", "SELECT count(*) FROM comment"),
        ("SELECT sum(like_count) FROM article_like_count", "SELECT count(*) FROM article_like"),
        ("SELECT sum(article_count) FROM board_article_count", "SELECT count(*) FROM article"),
    ] {
        assert_eq!(database::number(&file, sum), database::number(&file, rows), "{sum}");
    }
}

#[test]
fn what_was_acknowledged_of_every_kind_survives_kill_9() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    let server = Start::in_directory(data).with_admin().start();
    let (token, members) = (server.sign_in(ADMIN), server.seeded_members(WRITERS));
    let boards = [server.general(), server.trees()];
    let discussed = [0, 1].map(|board: usize| server.article_id(&boards[board], &token));
    let liked = (0..LIKED).map(|_| server.article_id(&boards[0], &token)).collect();
    let site = Site { boards, discussed, liked };
    let promised = load_and_kill(server, &site, &members, if is_long_run() { LONG_RUN } else { SHORT_RUN });
    let answered: u64 = promised.views.values().map(|views| views.0).sum();
    println!(
        "promised: {} articles, {} comments, {} deleted ones, {} likes, {answered} views answered",
        promised.articles.len(),
        promised.comments.len(),
        promised.deleted_comments.len(),
        promised.likes.len(),
    );
    assert!(promised.articles.len() > 50 && promised.comments.len() > 50 && promised.likes.len() > 20);
    assert!(!promised.deleted_comments.is_empty() && answered > 50);

    command::run(data, &["check", "--full"], "").expect(0);
    let server = Start::in_directory(data).start();
    for (article, (answered, under_way)) in &promised.views {
        let count = server.view_count(article);
        assert!(count <= answered + under_way, "{count} views, more than there were");
    }
    // The groups go on where they were; what they do must not look like a difference.
    command::run(data, &["check"], "").expect(0);
    server.stop();
    compare(data, &promised);
    command::run(data, &["check"], "").expect(0);
}
