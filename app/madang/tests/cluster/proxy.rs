//! What the proxy does when an instance fails: a read goes to another, a write is never sent twice, a stream is not held
//! back. The instances are played by listeners that fail in one way each, and count.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::http::{Answer, Call};
use crate::nginx::Nginx;
use madang_test_servers::ports;

/// How an instance takes a request.
#[derive(Clone, Copy)]
enum Habit {
    /// Answers.
    Answers,
    /// Reads the request, and is gone before it answered.
    Dies,
    /// Answers with an event, and stays open.
    Streams,
}

struct Instance {
    address: String,
    requests: Arc<AtomicUsize>,
}

impl Instance {
    fn new(habit: Habit) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let requests = Arc::new(AtomicUsize::new(0));
        let counted = requests.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let counted = counted.clone();
                std::thread::spawn(move || serve(stream, habit, &counted));
            }
        });
        Self { address, requests }
    }

    fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

/// Takes one request after another, each read whole.
fn serve(mut stream: TcpStream, habit: Habit, requests: &AtomicUsize) {
    let mut reader = BufReader::new(stream.try_clone().expect("a socket"));
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        requests.fetch_add(1, Ordering::SeqCst);
        let answer: &[u8] = match habit {
            Habit::Dies => return,
            Habit::Answers => b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-type: application/json\r\n\r\n{}",
            Habit::Streams => b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: one\n\n",
        };
        if stream.write_all(answer).is_err() {
            return;
        }
    }
}

/// A proxy in front of these, whatever the role.
fn proxy(addresses: &[&str]) -> (tempfile::TempDir, Nginx) {
    let directory = tempfile::tempdir().unwrap();
    let addresses: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    let nginx = Nginx::start(directory.path(), |_| addresses.clone());
    (directory, nginx)
}

fn send(nginx: &Nginx, method: &str) -> Answer {
    let call = Call::new(&nginx.address, method, "/api/v1/articles/1/like");
    if method == "GET" { call.send() } else { call.text("application/json", "{}").send() }
}

const WRITES: [&str; 3] = ["POST", "PUT", "DELETE"];

#[test]
fn a_write_whose_answer_was_lost_is_not_sent_again_and_a_read_is() {
    for method in WRITES {
        let instances = [Instance::new(Habit::Dies), Instance::new(Habit::Dies)];
        let (_directory, nginx) = proxy(&instances.each_ref().map(|instance| instance.address.as_str()));
        let answer = send(&nginx, method);
        answer.problem(503, method);
        assert_eq!(answer.header("retry-after"), Some("1"), "{method}");
        assert_eq!(instances.iter().map(Instance::requests).sum::<usize>(), 1, "{method}");
    }
    let instances = [Instance::new(Habit::Dies), Instance::new(Habit::Dies)];
    let (_directory, nginx) = proxy(&instances.each_ref().map(|instance| instance.address.as_str()));
    send(&nginx, "GET").problem(503, "both died");
    assert_eq!(instances.each_ref().map(Instance::requests), [1, 1]);
}

#[test]
fn what_never_left_for_an_instance_goes_to_another() {
    let instance = Instance::new(Habit::Answers);
    let nobody = format!("127.0.0.1:{}", ports::free());
    let (_directory, nginx) = proxy(&[&nobody, &instance.address]);
    let mut sent = 0;
    for _ in 0..10 {
        for method in WRITES.into_iter().chain(["GET"]) {
            assert_eq!(send(&nginx, method).status, 200, "{method}");
            sent += 1;
        }
    }
    assert_eq!(instance.requests(), sent, "each exactly once");
}

#[test]
fn without_any_instance_the_problem_says_when_to_come_back() {
    let nobody = format!("127.0.0.1:{}", ports::free());
    let (_directory, nginx) = proxy(&[&nobody]);
    for method in WRITES.into_iter().chain(["GET"]) {
        let answer = send(&nginx, method);
        answer.problem(503, method);
        assert_eq!(answer.header("retry-after"), Some("1"), "{method}");
    }
}

#[test]
fn an_event_reaches_its_reader_while_the_stream_is_open() {
    let instance = Instance::new(Habit::Streams);
    let (_directory, nginx) = proxy(&[&instance.address]);
    let mut stream = TcpStream::connect(&nginx.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(b"GET /api/v1/articles/1 HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\n\r\n").unwrap();
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains("data: one") {
        let mut some = [0; 1_024];
        let read = stream.read(&mut some).expect("an event");
        assert!(read > 0, "the stream ended: {}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&some[..read]);
    }
}

#[test]
fn what_operators_ask_of_a_process_is_not_public() {
    let instance = Instance::new(Habit::Answers);
    let (_directory, nginx) = proxy(&[&instance.address]);
    for path in ["/readyz", "/metrics"] {
        Call::new(&nginx.address, "GET", path).send().problem(404, path);
    }
    assert_eq!(instance.requests(), 0);
    assert_eq!(Call::new(&nginx.address, "GET", "/healthz").send().status, 200);
}
