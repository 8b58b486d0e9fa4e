//! People who write all the time, each of them on articles of their own, and remember what must be true afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{Answered, Client, Request};
use crate::cluster::Cluster;

/// Between two calls of one person; the machine is shared with the servers.
const PAUSE: Duration = Duration::from_millis(8);
/// Articles that one person keeps at most, so that counts grow beyond a few.
const ARTICLES_MAX: usize = 40;

/// What is known of an article by whoever wrote on it.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) likes: BTreeSet<usize>,
    pub(crate) comments: Vec<(String, usize)>,
    pub(crate) views: u64,
    author: usize,
}

/// Everything that was acknowledged.
#[derive(Debug, Default)]
pub(crate) struct Acknowledged {
    pub(crate) articles: BTreeMap<String, Known>,
    pub(crate) deleted: Vec<String>,
    /// Calls that were not answered as they must be.
    pub(crate) failures: Vec<String>,
    /// Calls that were answered by a second attempt.
    pub(crate) retried: usize,
    /// How long each call took.
    pub(crate) took: Vec<Duration>,
}

impl Acknowledged {
    /// The duration that so many of a thousand calls stay under.
    pub(crate) fn permille(&self, permille: usize) -> Duration {
        let mut took = self.took.clone();
        took.sort_unstable();
        took.get((took.len() * permille / 1_000).min(took.len().saturating_sub(1))).copied().unwrap_or_default()
    }

    fn add(&mut self, other: Self) {
        self.articles.extend(other.articles);
        self.deleted.extend(other.deleted);
        self.failures.extend(other.failures);
        self.retried += other.retried;
        self.took.extend(other.took);
    }
}

/// People at work.
pub(crate) struct Load {
    stop: Arc<AtomicBool>,
    calls: Arc<AtomicU64>,
    failed: Arc<Mutex<Vec<String>>>,
    people: Vec<JoinHandle<Acknowledged>>,
}

impl Load {
    /// Starts so many people; each of them acts for any of the members.
    pub(crate) fn start(people: usize, boards: &[String], tokens: &[String], client: impl Fn() -> Client) -> Self {
        let (stop, calls, failed) = (Arc::default(), Arc::default(), Arc::default());
        let mut load = Self { stop, calls, failed, people: Vec::new() };
        for _ in 0..people {
            let person = Person {
                client: client(),
                boards: boards.to_vec(),
                tokens: tokens.to_vec(),
                done: Acknowledged::default(),
            };
            let (stop, calls, failed) = (load.stop.clone(), load.calls.clone(), load.failed.clone());
            load.people.push(std::thread::spawn(move || person.work(&stop, &calls, &failed)));
        }
        load
    }

    /// How many calls were made so far.
    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// What was not answered as it must be, so far.
    pub(crate) fn failures(&self) -> Vec<String> {
        self.failed.lock().unwrap().clone()
    }

    /// Ends the work, and tells what was acknowledged.
    pub(crate) fn finish(mut self) -> Acknowledged {
        self.stop.store(true, Ordering::Relaxed);
        let mut all = Acknowledged::default();
        for person in self.people.drain(..) {
            all.add(person.join().expect("a person who does not panic"));
        }
        all
    }
}

/// A test that fails must not leave people behind.
impl Drop for Load {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

struct Person {
    client: Client,
    boards: Vec<String>,
    tokens: Vec<String>,
    done: Acknowledged,
}

impl Person {
    fn work(mut self, stop: &AtomicBool, calls: &AtomicU64, failed: &Mutex<Vec<String>>) -> Acknowledged {
        while !stop.load(Ordering::Relaxed) {
            let known = self.done.failures.len();
            self.act(rand::random_range(0..100));
            calls.fetch_add(1, Ordering::Relaxed);
            failed.lock().unwrap().extend_from_slice(&self.done.failures[known..]);
            std::thread::park_timeout(PAUSE);
        }
        self.done
    }

    fn act(&mut self, dice: u32) {
        let member = rand::random_range(0..self.tokens.len());
        let any = rand::random_range(0..self.done.articles.len().max(1));
        let Some(article) = self.done.articles.keys().nth(any).cloned() else { return self.write_article(member) };
        match dice {
            0..12 if self.done.articles.len() < ARTICLES_MAX => self.write_article(member),
            0..45 => self.like(&article, member),
            45..55 => self.unlike(&article),
            55..75 => self.comment(&article, member),
            75..80 => self.remove_comment(&article),
            80..85 => self.edit(&article),
            85..88 => self.delete(&article),
            _ => self.read(&article),
        }
    }

    /// Makes a call; the answer when it is one of those that must come.
    fn call(&mut self, method: &str, path: &str, member: Option<usize>, body: Option<Value>) -> Option<Value> {
        let token = member.map(|member| self.tokens[member].clone());
        let request = Request { method, path, token: token.as_deref(), body };
        let Answered { answer, took, was_retried } = match self.client.send(&request) {
            Ok(answered) => answered,
            Err(error) => {
                self.done.failures.push(format!("{method} {path}: {error}"));
                return None;
            }
        };
        self.done.took.push(took);
        self.done.retried += usize::from(was_retried);
        // What was deleted by an attempt whose answer was lost is not there for the next.
        let is_gone_by_us = was_retried && method == "DELETE" && answer.status == 404;
        if !(200..300).contains(&answer.status) && !is_gone_by_us {
            let text = answer.text();
            self.done.failures.push(format!("{method} {path}: {} after {took:?}: {text}", answer.status));
            return None;
        }
        Some(serde_json::from_slice(&answer.body).unwrap_or_default())
    }

    fn known(&mut self, article: &str) -> &mut Known {
        self.done.articles.entry(article.to_owned()).or_default()
    }

    fn write_article(&mut self, member: usize) {
        let board = &self.boards[rand::random_range(0..self.boards.len())];
        let path = format!("/api/v1/boards/{board}/articles");
        let body = json!({"title": "under load", "content": "Some *text*."});
        if let Some(article) = self.call("POST", &path, Some(member), Some(body)) {
            let id = article["article_id"].as_str().expect("an id").to_owned();
            self.known(&id).author = member;
        }
    }

    fn like(&mut self, article: &str, member: usize) {
        if self.call("PUT", &format!("/api/v1/articles/{article}/like"), Some(member), None).is_some() {
            self.known(article).likes.insert(member);
        }
    }

    fn unlike(&mut self, article: &str) {
        let Some(member) = self.known(article).likes.first().copied() else { return };
        if self.call("DELETE", &format!("/api/v1/articles/{article}/like"), Some(member), None).is_some() {
            self.known(article).likes.remove(&member);
        }
    }

    fn comment(&mut self, article: &str, member: usize) {
        let body = json!({"content": "a word"});
        if let Some(comment) =
            self.call("POST", &format!("/api/v1/articles/{article}/comments"), Some(member), Some(body))
        {
            let id = comment["comment_id"].as_str().expect("an id").to_owned();
            self.known(article).comments.push((id, member));
        }
    }

    fn remove_comment(&mut self, article: &str) {
        let Some((comment, member)) = self.known(article).comments.pop() else { return };
        self.call("DELETE", &format!("/api/v1/comments/{comment}"), Some(member), None);
    }

    fn edit(&mut self, article: &str) {
        let author = self.known(article).author;
        let body = json!({"title": "edited", "content": "Other *text*."});
        self.call("PUT", &format!("/api/v1/articles/{article}"), Some(author), Some(body));
    }

    fn delete(&mut self, article: &str) {
        let author = self.known(article).author;
        if self.call("DELETE", &format!("/api/v1/articles/{article}"), Some(author), None).is_some() {
            self.done.articles.remove(article);
            self.done.deleted.push(article.to_owned());
        }
    }

    fn read(&mut self, article: &str) {
        self.call("GET", &format!("/api/v1/articles/{article}"), None, None);
    }
}

/// A site with boards and members: their tokens, and the boards' ids.
pub(crate) fn fill(cluster: &Cluster, boards: usize, members: usize) -> (Vec<String>, Vec<String>) {
    let file = cluster.directory().join("tokens");
    let (boards, members) = (boards.to_string(), members.to_string());
    let seed = ["seed", "--boards", &boards, "--members", &members, "--tokens", file.to_str().unwrap()];
    cluster.command(&seed, "").expect(0);
    let tokens = std::fs::read_to_string(file).unwrap();
    let tokens = tokens.lines().map(|line| line.rsplit(' ').next().unwrap().to_owned()).collect();
    let boards = cluster.get("/api/v1/boards").json(200);
    let boards = boards["items"].as_array().unwrap().iter();
    (boards.map(|board| board["board_id"].as_str().unwrap().to_owned()).collect(), tokens)
}
