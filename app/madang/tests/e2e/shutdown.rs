//! Signals: an orderly end answers what is under way, a second signal does not wait.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use crate::http::Http;
use crate::server::{ADMIN, PASSWORD, TestServer, eventually};

/// A sign-in whose body is still to come; the server has said that it waits for it.
fn request_under_way(server: &TestServer) -> (TcpStream, Vec<u8>) {
    let body = json!({"name": ADMIN, "password": PASSWORD}).to_string().into_bytes();
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let head = format!(
        "POST /api/v1/sessions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
         expect: 100-continue\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut go_on = [0; 25];
    stream.read_exact(&mut go_on).unwrap();
    assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    (stream, body)
}

fn no_longer_accepts(server: &TestServer) {
    eventually("new connections are refused", || TcpStream::connect(&server.address).is_err().then_some(()));
}

#[test]
fn a_request_under_way_at_sigterm_is_answered() {
    let mut server = TestServer::fresh();
    let (mut stream, body) = request_under_way(&server);
    server.signal("TERM");
    no_longer_accepts(&server);
    stream.write_all(&body).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
    assert_eq!(server.ended().code(), Some(0));
}

#[test]
fn a_second_signal_ends_at_once() {
    let mut server = TestServer::fresh();
    let (_stream, _) = request_under_way(&server);
    server.signal("TERM");
    no_longer_accepts(&server);
    server.signal("TERM");
    assert_eq!(server.ended().code(), Some(128 + 15));
}

#[test]
fn a_connection_that_only_waits_does_not_hold_the_server() {
    let mut server = TestServer::fresh();
    let mut idle = Http::connect(&server.address).unwrap();
    idle.exchange(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    server.signal("TERM");
    assert_eq!(server.ended().code(), Some(0));
}

#[test]
fn sigint_stops_in_order_too() {
    let mut server = TestServer::fresh();
    server.signal("INT");
    assert_eq!(server.ended().code(), Some(0));
}
