//! A client in front of several processes: finds one that serves a call, keeps connections, and asks once more elsewhere
//! when a connection breaks, as a proxy would.

use std::collections::HashMap;
use std::io;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cluster::Cluster;
use crate::http::{Answer, Call, Http};
use crate::process::Process;
use crate::routes::role_of;

/// What is asked.
pub(crate) struct Request<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) token: Option<&'a str>,
    pub(crate) body: Option<Value>,
}

/// How it was answered.
pub(crate) struct Answered {
    pub(crate) answer: Answer,
    pub(crate) took: Duration,
    /// Whether a connection broke first.
    pub(crate) was_retried: bool,
}

/// One person's connections.
pub(crate) struct Client {
    /// Roles and address of each process.
    places: Vec<(String, String)>,
    open: HashMap<String, Http>,
    turn: usize,
    retries_max: usize,
}

impl Client {
    /// A client that asks once.
    pub(crate) fn new(cluster: &Cluster) -> Self {
        let places = cluster.processes.iter().map(|process| (process.roles.clone(), process.address())).collect();
        Self { places, open: HashMap::new(), turn: 0, retries_max: 0 }
    }

    /// A client of one process.
    pub(crate) fn of_one(process: &Process) -> Self {
        let places = vec![(process.roles.clone(), process.address())];
        Self { places, open: HashMap::new(), turn: 0, retries_max: 0 }
    }

    /// A client that asks a second time when a connection breaks.
    pub(crate) fn with_one_retry(cluster: &Cluster) -> Self {
        Self { retries_max: 1, ..Self::new(cluster) }
    }

    /// Sends a request; an error is a connection that broke, once more than may be.
    pub(crate) fn send(&mut self, request: &Request<'_>) -> io::Result<Answered> {
        let role = role_of(request.method, request.path);
        let serves = |roles: &str| roles.split(',').any(|found| found == role || found == "all");
        let found: Vec<String> =
            self.places.iter().filter(|(roles, _)| serves(roles)).map(|(_, address)| address.clone()).collect();
        assert!(!found.is_empty(), "no process has the role {role}");
        // The same for both attempts, so that a creation that was answered into a broken connection is not made twice.
        let key = format!("{:032x}", rand::random::<u128>());
        let begun = Instant::now();
        self.turn += 1;
        let mut attempt = 0;
        loop {
            let address = &found[(self.turn + attempt) % found.len()];
            match self.attempt(address, request, &key, attempt > 0) {
                Ok(answer) => return Ok(Answered { answer, took: begun.elapsed(), was_retried: attempt > 0 }),
                Err(error) if attempt == self.retries_max => return Err(error),
                Err(_) => attempt += 1,
            }
        }
    }

    fn attempt(&mut self, address: &str, request: &Request<'_>, key: &str, anew: bool) -> io::Result<Answer> {
        let kept = self.open.remove(address).filter(|_| !anew);
        let mut http = kept.map_or_else(|| Http::connect(address), Ok)?;
        let mut call = Call::new(address, request.method, request.path);
        if let Some(token) = request.token {
            call = call.token(token);
        }
        if let Some(body) = &request.body {
            call = call.json(body);
        }
        if request.method == "POST" {
            call = call.header("idempotency-key", key);
        }
        let answer = call.send_on(&mut http)?;
        if answer.header("connection") != Some("close") {
            self.open.insert(address.to_owned(), http);
        }
        Ok(answer)
    }
}
