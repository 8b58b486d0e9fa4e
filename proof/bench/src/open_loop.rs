//! Load that does not wait for answers: requests are due at an even pace, whatever becomes of those before. A closed loop
//! slows down with what it measures, and so never asks for more than is there.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use futures_util::{StreamExt, TryStreamExt, stream};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::client::{Broken, Connection, Request};
use crate::samples::Samples;

/// An answer that came later than this is no good to anybody who waits for a page.
const GOOD_MAX: Duration = Duration::from_secs(1);
/// How long a connection may wait for its last answer.
const LATE_MAX: Duration = Duration::from_secs(15);
/// Between the opening of the connections and the first request.
const GET_READY: Duration = Duration::from_millis(500);
/// Connections on their way at the same time: fewer than a listener lets wait.
const OPENED_AT_ONCE: usize = 128;

/// Requests in an even mix, over so many connections that an answer which is late holds up none that is due.
#[derive(Clone)]
pub(crate) struct OpenLoop {
    address: SocketAddr,
    connections: u32,
    requests: Arc<[Request]>,
}

/// What became of a turn.
#[derive(Debug)]
pub(crate) struct OpenTurn {
    length: Duration,
    /// Requests that were due.
    pub(crate) due: u64,
    /// Requests that were not sent, because their connection still waited for an answer.
    pub(crate) held_back: u64,
    /// Answers of 2xx in time, from when they were due; what was neither good nor refused is an error.
    pub(crate) good: Samples,
    /// Those of them that were writes.
    pub(crate) good_writes: u64,
    /// Answers of 429 and 503.
    pub(crate) refused: Samples,
}

impl OpenTurn {
    fn new(length: Duration) -> Self {
        Self { length, due: 0, held_back: 0, good: Samples::new(), good_writes: 0, refused: Samples::new() }
    }

    fn merge(&mut self, other: &Self) {
        self.due += other.due;
        self.held_back += other.held_back;
        self.good.merge(&other.good);
        self.good_writes += other.good_writes;
        self.refused.merge(&other.refused);
    }

    /// Good answers a second.
    pub(crate) fn goodput(&self) -> f64 {
        self.good.count() as f64 / self.length.as_secs_f64()
    }

    /// Good answers to writes a second.
    pub(crate) fn written(&self) -> f64 {
        self.good_writes as f64 / self.length.as_secs_f64()
    }

    /// Refusals a second.
    pub(crate) fn refusals(&self) -> f64 {
        self.refused.count() as f64 / self.length.as_secs_f64()
    }
}

impl OpenLoop {
    /// A load on a server.
    pub(crate) fn new(address: SocketAddr, connections: u32, requests: Vec<Request>) -> Self {
        Self { address, connections, requests: requests.into() }
    }

    /// Asks at this rate for so long.
    pub(crate) async fn run(&self, per_second: f64, length: Duration) -> Result<OpenTurn> {
        let open = self.open().await?;
        let pause = Duration::from_secs_f64(f64::from(self.connections) / per_second);
        let start = Instant::now() + GET_READY;
        let mut tasks = JoinSet::new();
        for (number, connection) in (0..self.connections).zip(open) {
            let first = start + pause.mul_f64(f64::from(number) / f64::from(self.connections));
            let pace = Pace { first, pause, until: start + length };
            tasks.spawn(self.clone().ask(number as usize, connection, pace, length));
        }
        let mut turn = OpenTurn::new(length);
        let gather = async {
            while let Some(done) = tasks.join_next().await {
                turn.merge(&done?);
            }
            Ok(turn)
        };
        tokio::select! {
            turn = gather => turn,
            never = stay_awake() => match never {},
        }
    }

    /// All connections, many at a time: one that waits for the last of thousands would be cut off as idle.
    async fn open(&self) -> Result<Vec<Connection>> {
        let opening = (0..self.connections).map(|_| Connection::open(self.address));
        Ok(stream::iter(opening).buffer_unordered(OPENED_AT_ONCE).try_collect().await?)
    }

    async fn ask(self, number: usize, mut connection: Connection, pace: Pace, length: Duration) -> OpenTurn {
        let mut turn = OpenTurn::new(length);
        let mut due = pace.first;
        // Neighbours start at different places of the mix.
        let mut next = number * 7;
        while due < pace.until {
            tokio::time::sleep_until(due).await;
            turn.due += 1;
            let request = &self.requests[next % self.requests.len()];
            next += 1;
            let answered = match tokio::time::timeout(LATE_MAX, connection.exchange(request)).await {
                Ok(answered) => answered.map(|answer| answer.status),
                Err(_elapsed) => Err(Broken::Malformed("none in time")),
            };
            let now = Instant::now();
            match answered {
                Ok(200..300) if now - due <= GOOD_MAX => {
                    turn.good.succeeded(now - due);
                    turn.good_writes += u64::from(!request.is_get());
                }
                Ok(200..300) => turn.good.failed("too late"),
                Ok(429 | 503) => turn.refused.succeeded(now - due),
                Ok(status) => turn.good.failed(format!("status {status}")),
                Err(broken) => {
                    turn.good.failed(broken.to_string());
                    match Connection::open(self.address).await {
                        Ok(fresh) => connection = fresh,
                        Err(_) => return turn,
                    }
                }
            }
            due += pace.pause;
            while due < pace.until && due + pace.pause < Instant::now() {
                turn.due += 1;
                turn.held_back += 1;
                due += pace.pause;
            }
        }
        turn
    }
}

/// Keeps this program from falling asleep between two answers. Each would wake it, which costs the server an interrupt of
/// another processor: where people are on machines of their own, it does not pay for that.
async fn stay_awake() -> Infallible {
    loop {
        tokio::task::yield_now().await;
    }
}

#[derive(Clone, Copy)]
struct Pace {
    first: Instant,
    pause: Duration,
    until: Instant,
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn what_is_due_is_sent_refused_or_held_back_and_nothing_is_forgotten() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let load = OpenLoop::new(listener.local_addr().unwrap(), 2, vec![Request::get("/")]);
        let server = async {
            let mut streams = JoinSet::new();
            for answer in ["200 OK", "503 Service Unavailable"] {
                let (mut stream, _) = listener.accept().await.unwrap();
                streams.spawn(async move {
                    let mut request = [0; 1_024];
                    while stream.read(&mut request).await.unwrap_or(0) > 0 {
                        let answer = format!("HTTP/1.1 {answer}\r\ncontent-length: 0\r\n\r\n");
                        stream.write_all(answer.as_bytes()).await.unwrap();
                    }
                });
            }
            while streams.join_next().await.is_some() {}
        };
        let (turn, ()) = tokio::join!(load.run(200.0, Duration::from_millis(500)), server);
        let turn = turn.unwrap();
        assert_eq!(turn.due, turn.good.count() + turn.refused.count() + turn.held_back);
        assert!(turn.good.errors().is_empty(), "{:?}", turn.good.errors());
        assert!(turn.good.count() > 0 && turn.refused.count() > 0);
        assert!((90..=110).contains(&turn.due), "{} due", turn.due);
    }
}
