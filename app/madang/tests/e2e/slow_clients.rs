//! Clients that keep a server waiting: each is cut off within its bound, and others are served meanwhile.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::json;
use socket2::{Domain, Socket, Type};
use tempfile::TempDir;

use crate::http::{Call, Http};
use crate::server::{ADMIN, Start, TestServer, eventually};

/// Far past every time-out that is set here, on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// The least that a kernel gives, so that what is not read backs up soon.
const SMALL_BUFFER_BYTES: usize = 2_048;

/// A server, and the directory that goes when it does.
fn embedded(settings: &[(&str, &str)]) -> (TestServer, TempDir) {
    let directory = tempfile::tempdir().expect("temporary directory");
    let start = Start::in_directory(&directory.path().join("data")).with_admin();
    (settings.iter().fold(start, |start, (key, value)| start.set(key, value)).start(), directory)
}

fn connect(server: &TestServer) -> TcpStream {
    let stream = TcpStream::connect(&server.address).expect("connects");
    stream.set_read_timeout(Some(PATIENCE)).expect("is set");
    stream
}

/// A connection whose receive buffer is as small as can be.
fn narrow(server: &TestServer) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    socket.set_recv_buffer_size(SMALL_BUFFER_BYTES).expect("is set");
    let address: SocketAddr = server.address.parse().expect("an address");
    socket.connect(&address.into()).expect("connects");
    socket.into()
}

/// What the server still says before it closes.
fn rest(mut stream: TcpStream) -> String {
    let mut said = Vec::new();
    match stream.read_to_end(&mut said) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        Err(error) => panic!("not closed: {error}"),
    }
    String::from_utf8_lossy(&said).into_owned()
}

#[test]
fn a_body_that_trickles_is_cut_and_takes_no_place_meanwhile() {
    let (server, _data) = embedded(&[("body_timeout_ms", "2000"), ("in_flight_max", "1")]);
    let head =
        "POST /api/v1/sessions HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{";
    // Somebody of the start may still have the only place: then it is refused, and asks again.
    let slow = eventually("it is let in", || {
        let mut slow = connect(&server);
        slow.write_all(head.as_bytes()).unwrap();
        slow.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        let silence = slow.peek(&mut [0]).err()?;
        assert_eq!(silence.kind(), ErrorKind::WouldBlock);
        slow.set_read_timeout(Some(PATIENCE)).unwrap();
        Some(slow)
    });
    // The only place is free while the body is waited for.
    eventually("somebody else is served", || (server.get("/api/v1/boards").status == 200).then_some(()));
    let said = rest(slow);
    assert!(said.starts_with("HTTP/1.1 408") && said.contains("urn:madang:problem:too-slow"), "{said}");
    assert_eq!(server.get("/api/v1/boards").status, 200);
}

#[test]
fn a_head_that_trickles_and_a_connection_that_says_nothing_are_closed() {
    let (server, _data) = embedded(&[("head_timeout_ms", "300")]);
    let silent = connect(&server);
    let mut slow = connect(&server);
    slow.write_all(b"GET / HTTP/1.1\r\n").unwrap();
    assert_eq!(server.get("/healthz").status, 200);
    // A letter at a time keeps nobody: the bound is on the whole head.
    eventually("the slow one is closed", || slow.write_all(b"x").is_err().then_some(()));
    assert!(!rest(silent).contains("200 OK"));
    // One that was served and asks for nothing more is idle, and is closed as well.
    let mut idle = connect(&server);
    idle.write_all(b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n").unwrap();
    assert!(rest(idle).starts_with("HTTP/1.1 200"));
}

/// Whether the other side is gone: it says so only to who still sends it something, because what it had to say before does
/// not fit.
fn is_cut(deaf: &mut TcpStream) -> Option<()> {
    let error = deaf.write_all(b"x").err()?;
    (!matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)).then_some(())
}

#[test]
fn a_client_that_never_reads_is_cut() {
    let (server, _data) = embedded(&[("write_timeout_ms", "500")]);
    let mut deaf = narrow(&server);
    let requests = "GET /openapi.json HTTP/1.1\r\nhost: a\r\n\r\n".repeat(200);
    deaf.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
    let _ = deaf.write_all(requests.as_bytes());
    assert_eq!(server.get("/healthz").status, 200);
    eventually("the deaf one is cut", || is_cut(&mut deaf));
}

#[test]
fn a_follower_that_never_reads_is_cut() {
    let (server, _data) = embedded(&[("write_timeout_ms", "1000")]);
    let token = server.sign_in(ADMIN);
    let article = server.article_id(&server.general(), &token);
    let mut deaf = narrow(&server);
    let request = format!("GET /articles/{article}/live HTTP/1.1\r\nhost: a\r\n\r\n");
    deaf.write_all(request.as_bytes()).unwrap();
    deaf.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
    let mut turns = ["PUT", "DELETE"].into_iter().cycle();
    let like = format!("/api/v1/articles/{article}/like");
    eventually("the deaf one is cut", || {
        let method = turns.next().expect("endless");
        assert_eq!(server.call(method, &like).token(&token).send().status, 200);
        is_cut(&mut deaf)
    });
}

#[test]
fn heads_past_their_bounds_are_refused() {
    let (server, _data) = embedded(&[]);
    let long = "x".repeat(70_000);
    let many: String = (0..100).map(|number| format!("x-{number}: y\r\n")).collect();
    for (what, request) in [
        ("a long header", format!("GET / HTTP/1.1\r\nhost: a\r\nx: {long}\r\n\r\n")),
        ("many headers", format!("GET / HTTP/1.1\r\nhost: a\r\n{many}\r\n")),
        ("a long address", format!("GET /{long} HTTP/1.1\r\nhost: a\r\n\r\n")),
    ] {
        let mut stream = connect(&server);
        let _ = stream.write_all(request.as_bytes());
        let said = rest(stream);
        // Closed while we still write, the answer may be lost to the reset.
        let refused = ["HTTP/1.1 431", "HTTP/1.1 414"].iter().any(|status| said.starts_with(status));
        assert!(refused || said.is_empty(), "{what}: {said}");
    }
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn a_flood_of_requests_on_one_connection_is_answered_in_order() {
    const REQUESTS: usize = 2_000;
    let (server, _data) = embedded(&[]);
    let stream = connect(&server);
    let mut writer = stream.try_clone().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let (one, last) = (
                "GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n",
                "DELETE /healthz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
            );
            writer.write_all((one.repeat(REQUESTS) + last).as_bytes()).unwrap();
        });
        assert_eq!(server.get("/api/v1/boards").status, 200, "others are served");
        let said = rest(stream);
        assert_eq!(said.matches("HTTP/1.1 200 OK").count(), REQUESTS);
        assert!(said.rfind("HTTP/1.1 405") > said.rfind("HTTP/1.1 200"), "the last comes last");
    });
}

#[test]
fn connections_past_the_bound_are_told_so_at_once() {
    let (server, _data) = embedded(&[("connections_max", "4")]);
    let mut four: Vec<_> = (0..4).map(|_| Http::connect(&server.address).unwrap()).collect();
    for http in &mut four {
        let ask = Call::new(&server.address, "GET", "/healthz");
        assert_eq!(ask.send_on(http).unwrap().status, 200);
    }
    let fifth = Call::new(&server.address, "GET", "/healthz").send();
    fifth.problem(503, "no place");
    assert_eq!(fifth.header("retry-after"), Some("1"));
    four.pop();
    eventually("a place that was given up is taken again", || {
        (Call::new(&server.address, "GET", "/healthz").send().status == 200).then_some(())
    });
}

#[test]
fn a_client_that_leaves_in_the_middle_of_a_body_does_no_harm() {
    let (server, _data) = embedded(&[("in_flight_max", "1")]);
    for _ in 0..20 {
        let mut leaver = connect(&server);
        let head = "POST /api/v1/sessions HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{\"na";
        leaver.write_all(head.as_bytes()).unwrap();
    }
    eventually("the only place is free", || (server.get("/api/v1/boards").status == 200).then_some(()));
    let body = json!({"name": ADMIN, "password": crate::server::PASSWORD});
    eventually("and sign-in works", || {
        (server.call("POST", "/api/v1/sessions").json(&body).send().status == 201).then_some(())
    });
}
