//! A reader of an article's event stream, and how late the machine lets anybody be.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

/// What readers are promised, from the answer to the writer.
pub(crate) const TOLD_WITHIN: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks of [`Lateness`].
const TICK: Duration = Duration::from_millis(5);

/// One event, at the moment it arrived.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) at: Instant,
    pub(crate) id: String,
    pub(crate) news: Value,
}

/// An open stream, read by a thread of its own.
pub(crate) struct EventStream {
    events: Receiver<Heard>,
    socket: TcpStream,
}

impl EventStream {
    /// Opens the stream of an article; `last` is the id of the last event that this reader heard.
    pub(crate) fn open(address: &str, article: &str, last: Option<&str>) -> Self {
        let socket = request(address, article, last);
        let mut reader = BufReader::new(socket.try_clone().expect("a socket"));
        let mut status = String::new();
        reader.read_line(&mut status).expect("an answer");
        assert!(status.starts_with("HTTP/1.1 200"), "{status}");
        let (sender, events) = channel();
        std::thread::spawn(move || {
            let mut id = String::new();
            // Sizes of chunks and empty lines stand between the lines of events, and mean nothing here.
            for line in reader.lines().map_while(Result::ok) {
                if let Some(found) = line.strip_prefix("id:") {
                    id = found.trim().to_owned();
                } else if let Some(data) = line.strip_prefix("data:") {
                    let news = serde_json::from_str(data.trim()).expect("an event is JSON");
                    let _ = sender.send(Heard { at: Instant::now(), id: id.clone(), news });
                }
            }
        });
        Self { events, socket }
    }

    /// The next event.
    #[track_caller]
    pub(crate) fn next(&self) -> Heard {
        self.events.recv_timeout(PATIENCE).expect("an event comes")
    }

    /// The first event from now on that says it.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, says: impl Fn(&Value) -> bool) -> Heard {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let heard = self.events.recv_timeout(left).unwrap_or_else(|_| panic!("is never told: {what}"));
            if says(&heard.news) {
                return heard;
            }
        }
    }

    /// The event that names a new comment.
    #[track_caller]
    pub(crate) fn until_created(&self, comment: &str) -> Heard {
        self.until(comment, |news| news["created"].as_array().is_some_and(|ids| ids.iter().any(|id| id == comment)))
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}

/// A reader that has opened a stream, and never reads.
pub(crate) fn who_never_reads(address: &str, article: &str) -> TcpStream {
    request(address, article, None)
}

fn request(address: &str, article: &str, last: Option<&str>) -> TcpStream {
    let mut socket = TcpStream::connect(address).expect("connects");
    let last = last.map(|id| format!("last-event-id: {id}\r\n")).unwrap_or_default();
    let head =
        format!("GET /articles/{article}/live HTTP/1.1\r\nhost: {address}\r\naccept: text/event-stream\r\n{last}\r\n");
    socket.write_all(head.as_bytes()).expect("sends");
    socket
}

/// How late a thread that wants to run now and then was let run: what the machine adds to every promise.
pub(crate) struct Lateness {
    most_us: Arc<AtomicU64>,
    ends: Arc<AtomicBool>,
}

impl Lateness {
    /// Watches from now on.
    pub(crate) fn watch() -> Self {
        let (most_us, ends) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (most, end) = (most_us.clone(), ends.clone());
        std::thread::spawn(move || {
            while !end.load(Ordering::Relaxed) {
                let due = Instant::now() + TICK;
                std::thread::park_timeout(TICK);
                let late = Instant::now().saturating_duration_since(due);
                most.fetch_max(u64::try_from(late.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
            }
        });
        Self { most_us, ends }
    }

    /// The most since the last time it was asked for.
    pub(crate) fn most(&self) -> Duration {
        Duration::from_micros(self.most_us.swap(0, Ordering::Relaxed))
    }
}

impl Drop for Lateness {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
    }
}
