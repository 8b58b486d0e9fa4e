//! Reading your own write: right after the answer, every read on any connection to the process shows it, and soon after every
//! read in another one does.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http::{Call, Http};
use crate::server::{TestServer, is_long_run};

const WRITERS: usize = 8;
const ROUNDS: usize = 25;
const LONG_ROUNDS: usize = 120;
/// How late another process may be at most, a second, and as much again for a busy machine.
const LATE_MAX: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(5);

/// A member with two connections: what is written on one is read on the other.
struct Author<'a> {
    server: &'a TestServer,
    board: &'a str,
    token: String,
    writes: Http,
    reads: Http,
}

impl Author<'_> {
    fn write(&mut self, method: &str, path: &str, body: Option<Value>, status: u16) -> Value {
        let call = Call::new(&self.server.address, method, path).token(&self.token);
        let call = if let Some(body) = body { call.json(&body) } else { call };
        let answer = call.send_on(&mut self.writes).unwrap();
        if status == 204 {
            assert_eq!(answer.status, 204, "{}", answer.text());
            return Value::Null;
        }
        answer.json(status)
    }

    fn read(&mut self, path: &str) -> Option<Value> {
        let answer = Call::new(&self.server.address, "GET", path).send_on(&mut self.reads).unwrap();
        (answer.status != 404).then(|| answer.json(200))
    }

    /// The article by itself, on the first page and at the front of the cursor list: all of them the same, or what differs.
    fn look(&mut self, article: &str) -> Result<Option<Value>, String> {
        let mut alone = self.read(&format!("/api/v1/articles/{article}"));
        let board = format!("/api/v1/boards/{}/articles", self.board);
        let lists = [format!("{board}?page=1&page_size=100"), format!("{board}?limit=100")];
        let listed = lists.map(|list| {
            let list = self.read(&list).expect("a list");
            list["items"].as_array().unwrap().iter().find(|item| item["article_id"] == article).cloned()
        });
        let shown = alone.clone();
        if let Some(alone) = alone.as_mut().and_then(Value::as_object_mut) {
            alone.retain(|field, _| field != "content" && field != "content_html");
        }
        let agree = listed.iter().all(|listed| *listed == alone);
        if agree { Ok(shown) } else { Err(format!("article and lists differ: {alone:?}, {listed:?}")) }
    }

    /// Looks until the article is as expected, for as long as this site may be late.
    #[track_caller]
    fn seen(&mut self, article: &str, is_expected: impl Fn(Option<&Value>) -> bool) {
        let deadline = Instant::now() + if self.server.is_spread() { LATE_MAX } else { Duration::ZERO };
        loop {
            let outcome = self.look(article).and_then(|shown| match is_expected(shown.as_ref()) {
                true => Ok(()),
                false => Err(format!("not as it was written: {shown:?}")),
            });
            match outcome {
                Ok(()) => return,
                Err(_) if Instant::now() < deadline => std::thread::park_timeout(LOOK),
                Err(differs) => panic!("{differs}"),
            }
        }
    }

    #[track_caller]
    fn shows(&mut self, article: &str, fields: &Value) {
        let fields = fields.as_object().unwrap();
        self.seen(article, |shown| {
            shown.is_some_and(|shown| fields.iter().all(|(field, expected)| shown[field] == *expected))
        });
    }

    fn round(&mut self, round: usize) {
        let board = format!("/api/v1/boards/{}/articles", self.board);
        let created = self.write("POST", &board, Some(json!({"title": format!("t {round}"), "content": "c"})), 201);
        let article = created["article_id"].as_str().unwrap().to_owned();
        let path = format!("/api/v1/articles/{article}");
        self.seen(&article, |shown| shown == Some(&created));

        let edited = self.write("PUT", &path, Some(json!({"title": "edited", "content": "*new*"})), 200);
        assert_eq!(edited["version"], 2);
        self.seen(&article, |shown| shown == Some(&edited));

        let comments = format!("{path}/comments");
        let comment = self.write("POST", &comments, Some(json!({"content": "one"})), 201);
        self.shows(&article, &json!({"comment_count": 1}));
        self.write("POST", &comments, Some(json!({"content": "two"})), 201);
        self.shows(&article, &json!({"comment_count": 2}));
        let of_comment = format!("/api/v1/comments/{}", comment["comment_id"].as_str().unwrap());
        let corrected = self.write("PUT", &of_comment, Some(json!({"content": "uno"})), 200);
        assert_eq!(self.read(&of_comment).as_ref(), Some(&corrected));
        self.shows(&article, &json!({"comment_count": 2}));
        self.write("DELETE", &of_comment, None, 204);
        self.shows(&article, &json!({"comment_count": 1, "like_count": 0, "title": "edited"}));

        let like = format!("{path}/like");
        assert_eq!(self.write("PUT", &like, None, 200)["like_count"], 1);
        self.shows(&article, &json!({"like_count": 1, "comment_count": 1}));
        let goes = round.is_multiple_of(2);
        if goes {
            self.write("DELETE", &like, None, 200);
            self.shows(&article, &json!({"like_count": 0}));
        }
        // Half of them stay, so that the lists grow.
        if goes {
            self.write("DELETE", &path, None, 204);
            self.seen(&article, |shown| shown.is_none());
        }
    }
}

#[test]
fn every_write_is_read_at_once_on_every_connection() {
    let server = TestServer::shared();
    let (board, members) = (server.general(), server.seeded_members(WRITERS));
    let rounds = if is_long_run() { LONG_ROUNDS } else { ROUNDS };
    std::thread::scope(|scope| {
        for (_, token) in &members {
            let (server, board) = (&server, &board);
            scope.spawn(move || {
                let [writes, reads] = [0, 1].map(|_| Http::connect(&server.address).unwrap());
                let mut author = Author { server, board, token: token.clone(), writes, reads };
                (0..rounds).for_each(|round| author.round(round));
            });
        }
    });
    let count = server.get(&format!("/api/v1/boards/{board}/articles/count")).json(200);
    assert_eq!(count["count"], WRITERS * (rounds / 2));
    server.check();
}
