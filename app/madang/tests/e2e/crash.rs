//! `kill -9` in the middle of 64 writers: what was acknowledged is there, and everything derived from it agrees.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::http::{Call, Http};
use crate::server::{ADMIN, Start, TestServer, is_long_run};
use crate::{command, database};

const WRITERS: usize = 64;
const SHORT_RUN: Duration = Duration::from_secs(3);
const LONG_RUN: Duration = Duration::from_secs(10);

/// Ids of the articles that the server said it has, written by many at once until the connection breaks.
fn acknowledged(server: TestServer, run: Duration, end: impl FnOnce(TestServer)) -> HashSet<i64> {
    let (token, path, address) =
        (server.sign_in(ADMIN), format!("/api/v1/boards/{}/articles", server.general()), server.address.clone());
    let (all, stop) = (Mutex::new(HashSet::new()), AtomicBool::new(false));
    let begin = Barrier::new(WRITERS + 1);
    let body = json!({"title": "crash", "content": "Written while the server *dies*."});
    std::thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                let mut http = Http::connect(&address).unwrap();
                begin.wait();
                let mut mine: Vec<i64> = Vec::new();
                while !stop.load(Ordering::Relaxed) {
                    let Ok(answer) = Call::new(&address, "POST", &path).token(&token).json(&body).send_on(&mut http)
                    else {
                        break;
                    };
                    // Refused while the server is going is fine; only a 201 is a promise.
                    if answer.status == 201 {
                        let id = answer.json(201)["article_id"].as_str().unwrap().parse().unwrap();
                        mine.push(id);
                    }
                }
                all.lock().unwrap().extend(mine);
            });
        }
        begin.wait();
        let started = Instant::now();
        crate::server::eventually("the run is over", || (started.elapsed() >= run).then_some(()));
        end(server);
        stop.store(true, Ordering::Relaxed);
    });
    all.into_inner().unwrap()
}

fn run_time() -> Duration {
    if is_long_run() { LONG_RUN } else { SHORT_RUN }
}

#[test]
fn what_was_acknowledged_survives_kill_9() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    let server = Start::in_directory(data).with_admin().start();
    let acknowledged = acknowledged(server, run_time(), |server| drop(server.kill()));
    assert!(acknowledged.len() > 100, "only {} articles written", acknowledged.len());

    // The restart recovers what the killed process left; the files are looked at after it has stopped.
    let server = Start::in_directory(data).start();
    let (board, token) = (server.general(), server.sign_in(ADMIN));
    let count = server.get(&format!("/api/v1/boards/{board}/articles/count")).json(200)["count"].as_u64().unwrap();
    let next: i64 = server.article(&board, &token, "after")["article_id"].as_str().unwrap().parse().unwrap();
    server.stop();

    let file = database::open(data);
    let rows = database::article_ids(&file);
    let (last, before) = rows.split_last().unwrap();
    assert_eq!(*last, next, "ids of the next run are greater than all before");
    assert_eq!(count, before.len() as u64, "the board's count equals its rows");
    let lost: Vec<_> = acknowledged.iter().filter(|id| before.binary_search(id).is_err()).collect();
    assert!(lost.is_empty(), "acknowledged and gone: {lost:?}");
    assert_eq!(database::counted(&file), rows.len() as i64);
    let events = database::created_events(&file);
    assert_eq!(events.len(), rows.len());
    for id in &rows {
        assert_eq!(events.get(id), Some(&1), "article {id} has exactly one entry in the log");
    }
    drop(file);
    command::run(data, &["check", "--full"], "").expect(0);
    println!("{} acknowledged, {} rows", acknowledged.len(), before.len());
}

#[test]
fn sigterm_under_load_exits_with_0_and_loses_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    let server = Start::in_directory(data).with_admin().start();
    let acknowledged = acknowledged(server, Duration::from_secs(1), TestServer::stop);
    assert!(acknowledged.len() > 50, "only {} articles written", acknowledged.len());
    let file = database::open(data);
    let rows: HashSet<i64> = database::article_ids(&file).into_iter().collect();
    assert!(acknowledged.is_subset(&rows), "{:?}", acknowledged.difference(&rows));
    drop(file);
    command::run(data, &["check"], "").expect(0);
}
