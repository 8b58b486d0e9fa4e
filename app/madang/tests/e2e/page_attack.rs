//! Whoever reads a page that is meant to be huge, as often as one address may, does not slow other readers down.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::http::{Call, Http};
use crate::large_pages::{attacked_article, sparse_table};
use crate::server::{Start, TestServer};

/// Connections of the one who attacks.
const CONNECTIONS: u32 = 8;
/// As many as one address is allowed, all connections together.
const ATTACKS_PER_SECOND: u32 = 50;
/// What somebody else asks for in each phase.
const READS: usize = 200;
/// Phases of each kind, by turns. What the attack does to others it does in each of them; what other suites do, in some.
const TURNS: usize = 3;
/// Between two of them, so that a phase is long enough to see something.
const PAUSE: Duration = Duration::from_millis(10);
/// Other suites run beside this one, and a reader may have to wait for the scheduler of the system. Without the bounds that
/// this shows, the attack made others wait for 1.4 to 1.9 s.
const NOISE: Duration = Duration::from_millis(250);

#[test]
fn readers_of_such_a_page_do_not_slow_others_down() {
    let directory = tempfile::tempdir().unwrap();
    let server = Start::in_directory(&directory.path().join("data")).with_admin().start();
    let attacked =
        [sparse_table(), dense_links()].map(|text| format!("/articles/{}", attacked_article(&server, &text)));
    let (_, token) = server.member("writer");
    let ordinary = format!("/articles/{}", server.article_id(&server.general(), &token));
    let turns: Vec<(Duration, Duration)> = (0..TURNS)
        .map(|_| (p99(&server, &ordinary), under_attack(&server, &attacked, || p99(&server, &ordinary))))
        .collect();
    let quiet = turns.iter().map(|(quiet, _)| *quiet).max().unwrap();
    let attacked_for = turns.iter().map(|(_, attacked)| *attacked).min().unwrap();
    let bytes = attacked.map(|path| server.get(&path).body.len());
    println!("p99 of others, quiet and during the attack: {turns:?}; {bytes:?} bytes");
    assert!(attacked_for <= 2 * quiet + NOISE, "{attacked_for:?} during the attack, {quiet:?} without it");
}

/// What is measured while somebody attacks.
fn under_attack<T>(server: &TestServer, paths: &[String], measure: impl FnOnce() -> T) -> T {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..CONNECTIONS {
            scope.spawn(|| attack(server, paths, &is_over));
        }
        let measured = measure();
        is_over.store(true, Ordering::Relaxed);
        measured
    })
}

/// As long as a comment may be, and about as much HTML as that may become.
fn dense_links() -> String {
    "www.a.bcdef ".repeat(250)
}

/// Reads the pages over and over, at this connection's share of what one address may.
fn attack(server: &TestServer, paths: &[String], is_over: &AtomicBool) {
    let (mut http, share) = (Http::connect(&server.address).unwrap(), Duration::from_secs(1) * CONNECTIONS);
    let mut next = Instant::now();
    for path in paths.iter().cycle().take_while(|_| !is_over.load(Ordering::Relaxed)) {
        let call = Call::new(&server.address, "GET", path).header("accept-encoding", "gzip");
        assert_eq!(call.send_on(&mut http).expect("an answer").status, 200);
        next += share / ATTACKS_PER_SECOND;
        wait_until(next);
    }
}

/// The slowest of all but one in a hundred reads of a page.
fn p99(server: &TestServer, path: &str) -> Duration {
    let mut http = Http::connect(&server.address).unwrap();
    let mut took: Vec<Duration> = (0..READS)
        .map(|_| {
            let start = Instant::now();
            let answer = Call::new(&server.address, "GET", path).send_on(&mut http).expect("an answer");
            assert_eq!(answer.status, 200);
            let took = start.elapsed();
            wait_until(start + PAUSE);
            took
        })
        .collect();
    took.sort_unstable();
    took[READS - 1 - READS / 100]
}

/// A pace is kept by the clock: there is nothing to wait for.
fn wait_until(moment: Instant) {
    std::thread::park_timeout(moment.saturating_duration_since(Instant::now()));
}
