//! Connections to the internal listener by whoever has not the secret: they are bounded, they end, and they take nothing from
//! the public.

use std::io::Read as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::cluster::Cluster;
use crate::servers::Servers;
use crate::waiting::within;

/// Connections that say nothing.
const STRANGERS: usize = 1_500;
/// Files that the process may have open: fewer than there are strangers.
const FILES: u64 = 1_024;
/// How long a connection without a request lasts, and a while for a busy machine.
const HEAD_MAX: Duration = Duration::from_secs(30);

/// This program holds the other ends.
fn allow_many_files() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(maximum.unwrap_or(8_192).min(8_192)), maximum }).unwrap();
}

/// Whether the other side still has the connection open.
fn is_open(mut stranger: &TcpStream) -> bool {
    stranger.set_nonblocking(true).unwrap();
    // A refusal may have been written before the end.
    loop {
        match stranger.read(&mut [0; 512]) {
            Ok(0) => return false,
            Ok(_) => {}
            Err(error) => return error.kind() == std::io::ErrorKind::WouldBlock,
        }
    }
}

#[test]
fn idle_connections_to_the_internal_listener_take_none_of_the_public_ones() {
    allow_many_files();
    let mut cluster = Cluster::prepared(&Servers::of_environment(), &["all"]);
    cluster.processes[0].limit_files(FILES);
    cluster.start();
    let (ann, board) = (cluster.member("ann"), cluster.board("talk", "two_level"));
    let article = cluster.article(&board, &ann, "first");
    let internal = format!("127.0.0.1:{}", cluster.processes[0].internal);
    let strangers: Vec<TcpStream> = (0..STRANGERS).map(|_| TcpStream::connect(&internal).unwrap()).collect();
    let held = within(HEAD_MAX, "most of them are refused", || {
        let held = strangers.iter().filter(|stranger| is_open(stranger)).count();
        (held < STRANGERS / 2).then_some(held)
    });
    let begun = Instant::now();
    for _ in 0..50 {
        assert_eq!(cluster.read(&article)["title"], "first");
    }
    cluster.like(&article, &ann);
    println!("{held} of {STRANGERS} strangers hold a connection; 50 reads and a like took {:?}", begun.elapsed());
    within(HEAD_MAX, "a connection without a request ends", || (!strangers.iter().any(is_open)).then_some(()));
    assert!(!cluster.processes[0].log().contains("cannot be accepted"), "it never ran out of files");
    cluster.stop();
}
