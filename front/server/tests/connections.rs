//! The accept loop over real sockets: keep-alive, bounds on what a client may send, and a stop that lets work finish.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::{any, get};
use madang_server::{ConnectionLimits, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

struct Running {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    done: JoinHandle<()>,
}

async fn start(router: Router, drain: Duration) -> Running {
    start_with(router, drain, ConnectionLimits::default()).await
}

#[expect(clippy::disallowed_methods, reason = "the server runs beside the test, which awaits it")]
async fn start_with(router: Router, drain: Duration, limits: ConnectionLimits) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let server = Server::new(listener).with_limits(limits);
    let done = tokio::spawn(server.serve(router, async move { drop(stopped.await) }, drain));
    Running { address, stop, done }
}

async fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let mut text = String::new();
    let mut buffer = [0; 4_096];
    while !text.contains(end) {
        let count = stream.read(&mut buffer).await.unwrap();
        assert!(count > 0, "the connection ended after {text:?}");
        text.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
    text
}

fn hello() -> Router {
    Router::new().route("/", get(async || "hello"))
}

#[tokio::test]
async fn a_connection_serves_several_requests_and_an_idle_one_is_closed_at_the_stop() {
    let server = start(hello(), Duration::from_secs(60)).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    for _ in 0..2 {
        stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
        assert!(read_until(&mut stream, "hello").await.starts_with("HTTP/1.1 200"));
    }
    server.stop.send(()).unwrap();
    // Ends long before the minute that busy connections would be given.
    tokio::time::timeout(Duration::from_secs(10), server.done).await.unwrap().unwrap();
    assert_eq!(stream.read(&mut [0; 1]).await.unwrap(), 0);
}

#[tokio::test]
async fn a_request_in_progress_is_answered_after_the_stop() {
    let (entered, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (entered_there, go_on_there) = (entered.clone(), go_on.clone());
    let slow = async move || {
        entered_there.notify_one();
        go_on_there.notified().await;
        "finished"
    };
    let server = start(Router::new().route("/", get(slow)), Duration::from_secs(60)).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    entered.notified().await;
    server.stop.send(()).unwrap();
    go_on.notify_one();
    assert!(read_until(&mut stream, "finished").await.starts_with("HTTP/1.1 200"));
    tokio::time::timeout(Duration::from_secs(10), server.done).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_request_that_outlasts_the_drain_is_cut_off() {
    let entered = Arc::new(Notify::new());
    let entered_there = entered.clone();
    let endless = async move || {
        entered_there.notify_one();
        std::future::pending::<&'static str>().await
    };
    let server = start(Router::new().route("/", get(endless)), Duration::from_millis(50)).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    entered.notified().await;
    server.stop.send(()).unwrap();
    tokio::time::timeout(Duration::from_secs(10), server.done).await.unwrap().unwrap();
    assert!(matches!(stream.read(&mut [0; 1]).await, Ok(0) | Err(_)));
}

#[tokio::test]
async fn a_head_without_end_is_refused() {
    let server = start(hello(), Duration::from_secs(1)).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\nx: ").await.unwrap();
    let long = vec![b'x'; 64 * 1_024];
    // The server may close while we still write; the answer is there all the same.
    let _ = stream.write_all(&long).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 431"), "{}", String::from_utf8_lossy(&answer));
    server.stop.send(()).unwrap();
    server.done.await.unwrap();
}

/// Asks so many times, one after the other, from a thread that does not wait for the server's: what came back each time.
async fn ask(address: SocketAddr, call: &'static str, times: usize) -> Vec<String> {
    let asked = tokio::task::spawn_blocking(move || {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        let answer = |_| {
            stream.write_all(format!("{call} HTTP/1.1\r\nhost: a\r\n\r\n").as_bytes()).unwrap();
            let mut answer = [0; 4_096];
            let count = stream.read(&mut answer).unwrap();
            String::from_utf8_lossy(&answer[..count]).into_owned()
        };
        (0..times).map(answer).collect()
    });
    asked.await.unwrap()
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "a worker that is blocked is what this is about")]
async fn when_there_is_more_to_do_than_can_be_done_the_rest_is_shed_and_health_is_answered() {
    let limits = ConnectionLimits { scheduling_delay: Duration::from_millis(10), ..ConnectionLimits::default() };
    // Work that lets nobody else run: eight who ask at once keep each other waiting for 40 ms.
    let work = async || std::thread::sleep(Duration::from_millis(5));
    let router = Router::new().route("/", any(work)).route("/healthz", get(async || {}));
    let server = start_with(router, Duration::from_secs(60), limits).await;
    let crowd = futures_util::future::join_all((0..8).map(|_| ask(server.address, "POST /", 100)));
    let (answers, health) = tokio::join!(crowd, ask(server.address, "GET /healthz", 20));
    let answers = answers.concat();
    let with = |status: &str| answers.iter().filter(|answer| answer.starts_with(&format!("HTTP/1.1 {status}"))).count();
    let (done, refused) = (with("200"), with("503"));
    assert_eq!(done + refused, answers.len());
    assert!(done > 0 && refused > 0, "{done} done, {refused} refused");
    let refusal = answers.iter().find(|answer| answer.starts_with("HTTP/1.1 503")).unwrap();
    for header in ["retry-after: 1", "application/problem+json", "cache-control: no-store", "nosniff"] {
        assert!(refusal.contains(header), "no {header} in {refusal}");
    }
    assert!(health.iter().all(|answer| answer.starts_with("HTTP/1.1 200")));
    // Nobody is left who asks for too much, and in a while everybody is let in again.
    let patience = tokio::time::Instant::now() + Duration::from_secs(60);
    while ask(server.address, "POST /", 8).await.iter().any(|answer| !answer.starts_with("HTTP/1.1 200")) {
        assert!(tokio::time::Instant::now() < patience, "still refused");
    }
    server.stop.send(()).unwrap();
    server.done.await.unwrap();
}

#[tokio::test]
async fn a_request_says_once_for_which_host_it_is() {
    let server = start(hello(), Duration::from_secs(60)).await;
    let cases = [
        ("HTTP/1.1", "", 400),
        ("HTTP/1.1", "host: a\r\nhost: a\r\n", 400),
        ("HTTP/1.1", "host: a\r\nHost: b\r\n", 400),
        ("HTTP/1.1", "host: a b\r\n", 400),
        ("HTTP/1.1", "host: me@a\r\n", 400),
        ("HTTP/1.0", "host: a\r\nhost: b\r\n", 400),
        ("HTTP/1.0", "", 200),
        ("HTTP/1.1", "host: a\r\n", 200),
        ("HTTP/1.1", "host: [::1]:8080\r\n", 200),
    ];
    for (version, headers, status) in cases {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let request = format!("GET / {version}\r\n{headers}connection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let answer = read_until(&mut stream, "\r\n\r\n").await;
        assert!(answer.starts_with(&format!("{version} {status} ")), "{headers:?}: {answer}");
    }
}
