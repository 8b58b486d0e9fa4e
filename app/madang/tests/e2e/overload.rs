//! A crowd that asks for more than the processors can do: some are refused at once, and let in again when it has gone.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::http::{Call, Http};
use crate::server::{Start, TestServer, eventually};

/// Each asks as soon as it has an answer, so that as many wait for one another.
const CROWD: usize = 128;
/// Refusals after which the crowd goes home.
const REFUSED: usize = 100;
/// Far past what the crowd needs, on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A write that costs next to nothing, and is never acceptable.
fn write(server: &TestServer, http: &mut Http) -> u16 {
    let call = Call::new(&server.address, "POST", "/api/v1/sessions").json(&json!({}));
    let answer = call.send_on(http).expect("an answer");
    if answer.status == 503 {
        answer.problem(503, "try again shortly");
        assert_eq!(answer.header("retry-after"), Some("1"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    }
    answer.status
}

#[test]
fn a_crowd_is_refused_in_part_and_let_in_again_and_health_is_always_answered() {
    let directory = tempfile::tempdir().unwrap();
    let server = Start::in_directory(&directory.path().join("data")).set("scheduling_delay_max_ms", "8").start();
    let (done, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let give_up = Instant::now() + PATIENCE;
    let goes_on = || refused.load(Ordering::Relaxed) < REFUSED && Instant::now() < give_up;
    std::thread::scope(|crowd| {
        for _ in 0..CROWD {
            crowd.spawn(|| {
                let mut http = Http::connect(&server.address).unwrap();
                while goes_on() {
                    match write(&server, &mut http) {
                        503 => refused.fetch_add(1, Ordering::Relaxed),
                        422 => done.fetch_add(1, Ordering::Relaxed),
                        other => panic!("{other}"),
                    };
                }
            });
        }
        while goes_on() {
            assert_eq!(server.get("/healthz").status, 200);
        }
    });
    assert!(refused.into_inner() >= REFUSED && done.into_inner() > 0, "some are refused, and some are not");
    eventually("everybody is let in again", || {
        let mut http = Http::connect(&server.address).unwrap();
        (0..8).all(|_| write(&server, &mut http) == 422).then_some(())
    });
    let metrics = server.get("/metrics").text();
    for metric in ["madang_http_shed_total", "madang_http_wait_seconds"] {
        assert!(metrics.contains(metric), "{metric}");
    }
}
