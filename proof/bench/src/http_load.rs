//! Load over HTTP: many keep-alive connections, each of which works through its script and waits for every answer.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::client::{Broken, Connection, Request};
use crate::load::{Side, Turn, run_callers};
use crate::samples::Samples;

/// Keeps a server that refuses connections from being hammered instead of measured.
const RECONNECT_PAUSE_MS: u64 = 20;

/// What a connection asks, one request after the other.
pub(crate) trait Script: Send + Sync {
    /// The request that a connection sends after `sent` others.
    fn request(&self, connection: usize, sent: u64) -> Cow<'_, Request>;
}

/// Connection n sends request n, modulo their number, over and over.
impl Script for Vec<Request> {
    fn request(&self, connection: usize, _: u64) -> Cow<'_, Request> {
        Cow::Borrowed(&self[connection % self.len()])
    }
}

/// What an answer must look like, its status aside.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Expect {
    /// Anything.
    Any,
    /// A body of this length.
    Bytes(usize),
    /// A body that holds this text.
    Text(&'static str),
}

/// A load over HTTP. Scripts go on where the turn before stopped.
#[derive(Clone)]
pub(crate) struct HttpLoad {
    address: SocketAddr,
    script: Arc<dyn Script>,
    expect: Expect,
    sent: Arc<[AtomicU64]>,
}

impl HttpLoad {
    /// A load by so many connections.
    pub(crate) fn new(address: SocketAddr, connections: u16, script: impl Script + 'static) -> Self {
        let sent = (0..connections).map(|_| AtomicU64::new(0)).collect();
        Self { address, script: Arc::new(script), expect: Expect::Any, sent }
    }

    /// The same requests to another server, from the first on: what the generator costs is then the same on both sides.
    pub(crate) fn to(&self, address: SocketAddr) -> Self {
        let sent = self.sent.iter().map(|_| AtomicU64::new(0)).collect();
        Self { address, script: Arc::clone(&self.script), expect: Expect::Any, sent }
    }

    /// The same load, with answers looked at.
    pub(crate) fn expecting(self, expect: Expect) -> Self {
        Self { expect, ..self }
    }

    /// How many requests each connection has sent so far.
    pub(crate) fn sent(&self) -> Vec<u64> {
        self.sent.iter().map(|sent| sent.load(Ordering::Relaxed)).collect()
    }

    /// The load as one side of a comparison.
    pub(crate) fn side<'a>(&'a self, name: &'a str) -> Side<'a> {
        Side::new(name, move |length| self.run(length))
    }

    /// Loads the server for `length`.
    pub(crate) async fn run(&self, length: Duration) -> Turn {
        run_callers(self.sent.len(), length, |connection, until| {
            let load = self.clone();
            async move { load.call_until(connection, until).await }
        })
        .await
    }

    async fn call_until(&self, connection: usize, until: Instant) -> Samples {
        let mut samples = Samples::new();
        while Instant::now() < until {
            if let Err(broken) = self.call_on_one_connection(connection, until, &mut samples).await {
                samples.failed(broken.to_string());
                tokio::time::sleep(Duration::from_millis(RECONNECT_PAUSE_MS)).await;
            }
        }
        samples
    }

    async fn call_on_one_connection(&self, number: usize, until: Instant, samples: &mut Samples) -> Result<(), Broken> {
        let mut connection = Connection::open(self.address).await?;
        let mut started = Instant::now();
        while started < until {
            let sent = self.sent[number].fetch_add(1, Ordering::Relaxed);
            let request = self.script.request(number, sent);
            let answer = connection.exchange(&request).await?;
            let ended = Instant::now();
            if !(200..300).contains(&answer.status) {
                samples.failed(format!("status {}", answer.status));
            } else if let Some(objection) = self.expect.objection(answer.body) {
                samples.failed(objection);
            } else {
                samples.succeeded(ended - started);
            }
            started = ended;
        }
        Ok(())
    }
}

impl Expect {
    fn objection(self, body: &[u8]) -> Option<String> {
        match self {
            Self::Any => None,
            Self::Bytes(expected) => (body.len() != expected).then(|| "a body of another length".into()),
            Self::Text(text) => {
                let found = body.windows(text.len()).any(|window| window == text.as_bytes());
                (!found).then(|| format!("a body without {text}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// Loads a server that gives every connection the same few answers, then closes it.
    async fn load_against(answers: &'static [&'static str]) -> Samples {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let load = HttpLoad::new(listener.local_addr().unwrap(), 2, vec![Request::get("/")]);
        let load = load.expecting(Expect::Bytes(2));
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
        for kinds in [["status 503", ""], ["a body of another length", ""], ["response: cut off", "connection: "]] {
            let found = samples
                .errors()
                .keys()
                .any(|error| kinds.iter().any(|kind| !kind.is_empty() && error.starts_with(kind)));
            assert!(found, "{kinds:?} are not in {:?}", samples.errors());
        }
    }

    #[test]
    fn a_body_is_searched_for_its_text() {
        let expect = Expect::Text("\"counted\":true");
        assert_eq!(expect.objection(br#"{"counted":true,"view_count":3}"#), None);
        assert!(expect.objection(br#"{"counted":false,"view_count":3}"#).is_some());
        assert!(expect.objection(b"").is_some());
    }
}
