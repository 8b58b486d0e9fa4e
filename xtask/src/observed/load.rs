//! People who use a site: a few threads that write, read, like, comment and look at pages, whatever they are answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::json;

use crate::http;

/// The administrator of every site that is observed.
pub(crate) const ADMINISTRATOR: &str = "observer";
/// The password of everybody there.
pub(crate) const PASSWORD: &str = "only for this run";
/// People on each site.
const PEOPLE: usize = 2;
/// How long somebody rests between two rounds.
const REST: Duration = Duration::from_millis(200);

/// People at work; they leave with this.
pub(crate) struct Load {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// Who writes where.
#[derive(Clone)]
struct Person {
    address: String,
    token: String,
    board: String,
}

impl Load {
    /// People on each of these sites.
    pub(super) fn on<const SITES: usize>(addresses: [String; SITES]) -> Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let mut load = Self { stop: stop.clone(), threads: Vec::new() };
        for address in addresses {
            let person = arrive(&address).with_context(|| format!("nobody can use the site at {address}"))?;
            for _ in 0..PEOPLE {
                let (person, stop) = (person.clone(), stop.clone());
                load.threads.push(std::thread::spawn(move || {
                    let mut article = None;
                    while !stop.load(Ordering::Relaxed) {
                        // A site that is broken on purpose refuses some of it.
                        let _ = person.round(&mut article);
                        std::thread::park_timeout(REST);
                    }
                }));
            }
        }
        Ok(load)
    }
}

fn arrive(address: &str) -> Result<Person> {
    let who = json!({"name": ADMINISTRATOR, "password": PASSWORD});
    let session = http::send(address, "POST", "/api/v1/sessions", None, Some(&who))?.json()?;
    let token = session["token"].as_str().context("no token in the answer")?.to_owned();
    let board = json!({"slug": "observed", "title": "Observed", "comment_mode": "two_level"});
    let board = http::send(address, "POST", "/api/v1/boards", Some(&token), Some(&board))?.json()?;
    let board = board["board_id"].as_str().context("no board in the answer")?.to_owned();
    Ok(Person { address: address.to_owned(), token, board })
}

impl Person {
    /// One article, or one that is there already, and what people do with it.
    fn round(&self, article: &mut Option<String>) -> Result<()> {
        let ask = |method: &str, path: &str, body: Option<&serde_json::Value>| {
            http::send(&self.address, method, path, Some(&self.token), body)
        };
        let text = json!({"title": "Seen", "content": "What *everybody* sees."});
        let posted = ask("POST", &format!("/api/v1/boards/{}/articles", self.board), Some(&text));
        if let Ok(posted) = posted.and_then(http::Answer::json) {
            *article = posted["article_id"].as_str().map(str::to_owned);
        }
        if let Some(id) = article {
            let of = |what: &str| format!("/api/v1/articles/{id}{what}");
            let _ = ask("PUT", &of("/like"), None);
            let _ = ask("POST", &of("/comments"), Some(&json!({"content": "Yes."})));
            let _ = ask("POST", &of("/views"), None);
            let _ = ask("GET", &of(""), None);
            let _ = ask("GET", &format!("/a/{id}"), None);
        }
        let _ = ask("GET", &format!("/api/v1/boards/{}/articles", self.board), None);
        ask("GET", "/b/observed", None).map(drop)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
