//! Clients who ask for a feed made as large as texts can make it, and take nothing of it: they share its bytes.

use std::io::Write as _;
use std::net::TcpStream;

use serde_json::json;

use crate::server::{ADMIN, Start, TestServer, eventually};

/// As many as made a server grow from 209 MB to 1.1 GB once.
const CLIENTS: u64 = 150;
const ARTICLES: usize = 30;
/// What a client may cost that takes nothing: buffers of its connection, and what the allocator keeps of renderings that were
/// made at the same moment. It was 6 MB once.
const A_CLIENT_MAX_BYTES: u64 = 768 * 1_024;

#[test]
fn those_who_take_nothing_of_a_large_feed_share_its_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let server = Start::in_directory(&directory.path().join("data")).with_admin().start();
    let (token, board) = (server.sign_in(ADMIN), server.general());
    for number in 0..ARTICLES {
        let article = json!({"title": format!("Links {number}"), "content": "www.a.bcdef ".repeat(1_600)});
        let path = format!("/api/v1/boards/{board}/articles");
        server.call("POST", &path).token(&token).json(&article).send().json(201);
    }
    let feed = server.get("/b/general/feed.atom");
    assert_eq!(feed.status, 200);
    let before = resident_bytes(&server);
    let clients: Vec<TcpStream> = (0..CLIENTS).map(|_| asks_for_the_feed(&server)).collect();
    // Each was answered, as far as its connection took it.
    eventually("everybody has the head of an answer", || {
        let answered = clients.iter().filter(|client| client.peek(&mut [0]).is_ok_and(|bytes| bytes == 1));
        (answered.count() == clients.len()).then_some(())
    });
    let grown = resident_bytes(&server).saturating_sub(before);
    println!("{CLIENTS} clients of a feed of {} bytes: {} KiB more than before", feed.body.len(), grown / 1_024);
    assert!(grown < CLIENTS * A_CLIENT_MAX_BYTES, "{grown} bytes");
    assert_eq!(server.get("/healthz").status, 200);
}

fn asks_for_the_feed(server: &TestServer) -> TcpStream {
    let mut client = TcpStream::connect(&server.address).expect("connects");
    client.write_all(b"GET /b/general/feed.atom HTTP/1.1\r\nhost: a\r\n\r\n").expect("is sent");
    client
}

fn resident_bytes(server: &TestServer) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).expect("the process runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line of what is resident");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1_024
}
