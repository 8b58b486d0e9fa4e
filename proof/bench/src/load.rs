//! Load: many callers at once for a set time, each waiting for its answer before it asks again.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::client::{Connection, Request};
use crate::samples::{Samples, median};

/// How long after its end a turn waits for answers that are still out.
const LATE_MS: u64 = 10_000;
/// Keeps a server that refuses connections from being hammered instead of measured.
const RECONNECT_PAUSE_MS: u64 = 20;

/// What one turn showed.
#[derive(Debug)]
pub(crate) struct Turn {
    /// Successes per second.
    pub(crate) rate: f64,
    /// Every call of the turn.
    pub(crate) samples: Samples,
}

/// Several turns of the same load.
#[derive(Debug)]
pub(crate) struct Turns {
    rates: Vec<f64>,
    /// Every call of all turns.
    pub(crate) samples: Samples,
}

impl Turns {
    /// None yet.
    pub(crate) fn new() -> Self {
        Self { rates: Vec::new(), samples: Samples::new() }
    }

    /// Adds one.
    pub(crate) fn add(&mut self, turn: &Turn) {
        self.rates.push(turn.rate);
        self.samples.merge(&turn.samples);
    }

    /// The median of the turns' rates.
    pub(crate) fn rate(&self) -> f64 {
        median(&self.rates)
    }
}

/// A load over HTTP.
#[derive(Debug, Clone)]
pub(crate) struct HttpLoad {
    /// The server.
    pub(crate) address: SocketAddr,
    /// Connection number n sends request n, modulo their number, over and over.
    pub(crate) requests: Arc<[Request]>,
    /// How many connections.
    pub(crate) connections: usize,
    /// The length every body must have.
    pub(crate) body_bytes: Option<usize>,
}

impl HttpLoad {
    /// Loads the server for `length`.
    pub(crate) async fn run(&self, length: Duration) -> Turn {
        let load = Arc::new(self.clone());
        run_callers(self.connections, length, move |caller, until| {
            let load = load.clone();
            async move { load.call_until(caller, until).await }
        })
        .await
    }

    async fn call_until(&self, caller: usize, until: Instant) -> Samples {
        let request = &self.requests[caller % self.requests.len()];
        let mut samples = Samples::new();
        while Instant::now() < until {
            if let Err(broken) = self.call_on_one_connection(request, until, &mut samples).await {
                samples.failed(broken.to_string());
                tokio::time::sleep(Duration::from_millis(RECONNECT_PAUSE_MS)).await;
            }
        }
        samples
    }

    async fn call_on_one_connection(
        &self,
        request: &Request,
        until: Instant,
        samples: &mut Samples,
    ) -> Result<(), crate::client::Broken> {
        let mut connection = Connection::open(self.address).await?;
        let mut started = Instant::now();
        while started < until {
            let answer = connection.exchange(request).await?;
            let ended = Instant::now();
            if !(200..300).contains(&answer.status) {
                samples.failed(format!("status {}", answer.status));
            } else if self.body_bytes.is_some_and(|expected| expected != answer.body.len()) {
                samples.failed("a body of another length");
            } else {
                samples.succeeded(ended - started);
            }
            started = ended;
        }
        Ok(())
    }
}

/// Runs callers side by side until the time is over; one that hangs is given up and counted as an error.
pub(crate) async fn run_callers<F>(callers: usize, length: Duration, call: impl Fn(usize, Instant) -> F) -> Turn
where
    F: Future<Output = Samples> + Send + 'static,
{
    let started = Instant::now();
    let until = started + length;
    let mut running = JoinSet::new();
    for caller in 0..callers {
        running.spawn(call(caller, until));
    }
    let mut samples = Samples::new();
    let give_up = tokio::time::Instant::from_std(until + Duration::from_millis(LATE_MS));
    while let Ok(Some(ended)) = tokio::time::timeout_at(give_up, running.join_next()).await {
        match ended {
            Ok(of_caller) => samples.merge(&of_caller),
            Err(error) => samples.failed(format!("caller: {error}")),
        }
    }
    for _ in 0..running.len() {
        samples.failed("no answer");
    }
    let rate = samples.count() as f64 / started.elapsed().as_secs_f64();
    Turn { rate, samples }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// Loads a server that gives every connection the same few answers, then closes it.
    async fn load_against(answers: &'static [&'static str]) -> Samples {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let load = HttpLoad {
            address: listener.local_addr().unwrap(),
            requests: Arc::new([Request::get("/")]),
            connections: 2,
            body_bytes: Some(2),
        };
        let server = async {
            let mut request = [0; 1024];
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                for answer in answers {
                    if stream.read(&mut request).await.unwrap() > 0 {
                        stream.write_all(answer.as_bytes()).await.unwrap();
                    }
                }
            }
        };
        tokio::select! {
            () = server => unreachable!("it serves for ever"),
            turn = load.run(Duration::from_millis(200)) => turn.samples,
        }
    }

    #[tokio::test]
    async fn only_whole_answers_of_the_right_length_count() {
        let samples = load_against(&[
            "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok",
            "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 2\r\n\r\nno",
            "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nbad",
        ])
        .await;
        assert!(samples.count() > 0);
        // A closed connection shows as a cut-off answer or as a reset, as the system likes.
        for kinds in [["status 503", ""], ["a body of another length", ""], ["answer: cut off", "connection: "]] {
            let found = samples
                .errors()
                .keys()
                .any(|error| kinds.iter().any(|kind| !kind.is_empty() && error.starts_with(kind)));
            assert!(found, "{kinds:?} are not in {:?}", samples.errors());
        }
    }
}
