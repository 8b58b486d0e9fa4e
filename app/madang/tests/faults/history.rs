//! People who write while servers fail, and a history of what they were told. A call that was not acknowledged may have happened
//! or not, and is nobody's business; one that was must be there in the end, whatever failed.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use madang_board::ArticleId;
use madang_kernel::{Id as _, ShardId};
use serde_json::{Value, json};

use crate::client::{Client, Request};
use crate::cluster::Cluster;

/// Between two calls of one person; the machine is shared with the servers.
const PAUSE: Duration = Duration::from_millis(10);
/// Articles that one person goes on writing to.
const ARTICLES_MAX: usize = 20;

/// A write that was acknowledged.
#[derive(Debug, Clone)]
struct Acknowledged {
    at: Instant,
    /// The shard that it went to.
    shard: ShardId,
}

/// Everything that was acknowledged.
#[derive(Debug, Default)]
pub(crate) struct History {
    articles: BTreeSet<String>,
    deleted: BTreeSet<String>,
    comments: Vec<(String, String)>,
    likes: Vec<(String, usize)>,
    writes: Vec<Acknowledged>,
    /// Calls that were refused or not answered.
    pub(crate) refused: u64,
    /// Answers that no outage explains.
    pub(crate) wrong: Vec<String>,
}

impl History {
    /// Writes that were acknowledged.
    pub(crate) fn acknowledged(&self) -> usize {
        self.writes.len()
    }

    fn add(&mut self, other: Self) {
        self.articles.extend(other.articles);
        self.deleted.extend(other.deleted);
        self.comments.extend(other.comments);
        self.likes.extend(other.likes);
        self.writes.extend(other.writes);
        self.refused += other.refused;
        self.wrong.extend(other.wrong);
    }

    /// What was acknowledged and is not there, in words.
    pub(crate) fn lost(&self, cluster: &Cluster, tokens: &[String]) -> Vec<String> {
        let status = |path: &str| cluster.get(path).status;
        let articles = self.articles.iter().filter(|article| status(&format!("/api/v1/articles/{article}")) != 200);
        let mut lost: Vec<String> = articles.map(|article| format!("article {article}")).collect();
        let back = self.deleted.iter().filter(|article| status(&format!("/api/v1/articles/{article}")) != 404);
        lost.extend(back.map(|article| format!("the deletion of article {article}")));
        let kept = |article: &String| self.articles.contains(article);
        for (article, comment) in self.comments.iter().filter(|(article, _)| kept(article)) {
            if status(&format!("/api/v1/comments/{comment}")) != 200 {
                lost.push(format!("comment {comment} on article {article}"));
            }
        }
        for (article, member) in self.likes.iter().filter(|(article, _)| kept(article)) {
            let path = format!("/api/v1/articles/{article}/like");
            let told = cluster.call("GET", &path).token(&tokens[*member]).send().json(200);
            if told["liked"] != true {
                lost.push(format!("a like of article {article}"));
            }
        }
        lost
    }
}

/// People at work.
pub(crate) struct Writers {
    stop: Arc<AtomicBool>,
    written: Arc<Mutex<Vec<Acknowledged>>>,
    threads: Vec<JoinHandle<History>>,
}

impl Writers {
    /// Starts so many people, each with clients of their own.
    pub(crate) fn start(people: usize, boards: &[String], tokens: &[String], cluster: &Cluster) -> Self {
        let (stop, written): (Arc<AtomicBool>, Arc<Mutex<Vec<Acknowledged>>>) = Default::default();
        let threads = (0..people).map(|_| {
            let (boards, tokens, done) = (boards.to_vec(), tokens.to_vec(), History::default());
            let person = Person { client: Client::new(cluster), boards, tokens, own: Vec::new(), done };
            let (stop, written) = (Arc::clone(&stop), Arc::clone(&written));
            std::thread::spawn(move || person.work(&stop, &written))
        });
        let threads = threads.collect();
        Self { stop, written, threads }
    }

    /// How many writes were acknowledged so far.
    pub(crate) fn acknowledged(&self) -> usize {
        self.written.lock().unwrap().len()
    }

    /// The moment of the first acknowledged write after another moment, among the shards in question.
    pub(crate) fn first_after(&self, since: Instant, is_of: impl Fn(ShardId) -> bool) -> Option<Instant> {
        let written = self.written.lock().unwrap();
        written.iter().filter(|write| write.at > since && is_of(write.shard)).map(|write| write.at).min()
    }

    /// The longest time between two acknowledged writes since a moment, among the shards in question.
    pub(crate) fn longest_gap(&self, since: Instant, is_of: impl Fn(ShardId) -> bool) -> Duration {
        let written = self.written.lock().unwrap();
        let mut moments: Vec<Instant> =
            written.iter().filter(|write| write.at > since && is_of(write.shard)).map(|write| write.at).collect();
        moments.sort_unstable();
        let ends = moments.iter().copied().chain([Instant::now()]);
        let mut longest = Duration::ZERO;
        let mut last = since;
        for at in ends {
            longest = longest.max(at.saturating_duration_since(last));
            last = at;
        }
        longest
    }

    /// Ends the work, and tells what was acknowledged.
    pub(crate) fn finish(mut self) -> History {
        self.stop.store(true, Ordering::Relaxed);
        let mut all = History::default();
        for person in self.threads.drain(..) {
            all.add(person.join().expect("a person who does not panic"));
        }
        all
    }
}

/// A test that fails must not leave people behind.
impl Drop for Writers {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

struct Person {
    client: Client,
    boards: Vec<String>,
    tokens: Vec<String>,
    /// The articles that they go on writing to, each with its author and the first member who has not liked it.
    own: Vec<(String, usize, usize)>,
    done: History,
}

impl Person {
    fn work(mut self, stop: &AtomicBool, written: &Mutex<Vec<Acknowledged>>) -> History {
        while !stop.load(Ordering::Relaxed) {
            let known = self.done.writes.len();
            self.act(rand::random_range(0..100));
            written.lock().unwrap().extend_from_slice(&self.done.writes[known..]);
            std::thread::park_timeout(PAUSE);
        }
        self.done
    }

    fn act(&mut self, dice: u32) {
        let member = rand::random_range(0..self.tokens.len());
        let place = rand::random_range(0..self.own.len().max(1));
        if self.own.is_empty() || dice < 12 {
            return self.write_article(member);
        }
        match dice {
            12..45 => self.comment(place, member),
            45..82 => self.like(place),
            82..85 => self.delete(place),
            _ => {
                let path = format!("/api/v1/articles/{}", self.own[place].0);
                self.call("GET", &path, None, None);
            }
        }
    }

    /// Makes a call; its answer where it was acknowledged.
    fn call(&mut self, method: &str, path: &str, member: Option<usize>, body: Option<Value>) -> Option<Value> {
        let token = member.map(|member| self.tokens[member].clone());
        let request = Request { method, path, token: token.as_deref(), body };
        match self.client.send(&request).map(|answered| answered.answer) {
            Ok(answer) if (200..300).contains(&answer.status) => {
                Some(serde_json::from_slice(&answer.body).unwrap_or_default())
            }
            // Overload, an outage, or a COMMIT of which nobody knows what became.
            Ok(answer) if answer.status >= 500 || answer.status == 429 => {
                self.done.refused += 1;
                None
            }
            // What a call before it did, or did not, without being acknowledged.
            Ok(answer) if answer.status == 404 => {
                self.done.refused += 1;
                None
            }
            Ok(answer) => {
                self.done.wrong.push(format!("{method} {path}: {} {}", answer.status, answer.text()));
                None
            }
            Err(_) => {
                self.done.refused += 1;
                None
            }
        }
    }

    fn note(&mut self, shard: ShardId) {
        self.done.writes.push(Acknowledged { at: Instant::now(), shard });
    }

    fn write_article(&mut self, member: usize) {
        let board = self.boards[rand::random_range(0..self.boards.len())].clone();
        let body = json!({"title": "while servers fail", "content": "Some *text*."});
        let told = self.call("POST", &format!("/api/v1/boards/{board}/articles"), Some(member), Some(body));
        let Some(article) = told else { return };
        let id = article["article_id"].as_str().expect("an id").to_owned();
        self.note(shard_of_article(&id));
        self.done.articles.insert(id.clone());
        if self.own.len() == ARTICLES_MAX {
            self.own.swap_remove(rand::random_range(0..ARTICLES_MAX));
        }
        self.own.push((id, member, 0));
    }

    fn comment(&mut self, place: usize, member: usize) {
        let article = self.own[place].0.clone();
        let body = json!({"content": "a word"});
        let told = self.call("POST", &format!("/api/v1/articles/{article}/comments"), Some(member), Some(body));
        if let Some(comment) = told {
            self.note(shard_of_parts(&article));
            self.done.comments.push((article, comment["comment_id"].as_str().expect("an id").to_owned()));
        }
    }

    fn like(&mut self, place: usize) {
        let (article, _, next) = &mut self.own[place];
        let (article, member) = (article.clone(), *next);
        // Whatever becomes of it: nobody likes an article twice here.
        *next += 1;
        if member >= self.tokens.len() {
            self.own.swap_remove(place);
            return;
        }
        if self.call("PUT", &format!("/api/v1/articles/{article}/like"), Some(member), None).is_some() {
            self.note(shard_of_parts(&article));
            self.done.likes.push((article, member));
        }
    }

    fn delete(&mut self, place: usize) {
        let (article, author, _) = self.own.swap_remove(place);
        // From here on it may be gone.
        self.done.articles.remove(&article);
        if self.call("DELETE", &format!("/api/v1/articles/{article}"), Some(author), None).is_some() {
            self.note(shard_of_article(&article));
            self.done.deleted.insert(article);
        }
    }
}

fn shard_of_article(id: &str) -> ShardId {
    id.parse::<ArticleId>().expect("an id").shard()
}

fn shard_of_parts(id: &str) -> ShardId {
    ShardId::of_parts(id.parse::<ArticleId>().expect("an id"))
}
