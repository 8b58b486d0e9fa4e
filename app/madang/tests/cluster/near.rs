//! The near caches of several processes: who writes reads it at once, others soon, also when messages between processes are
//! lost; and a cold article is rebuilt by one process for all.

use std::io::{Read as _, Write as _};
use std::sync::Barrier;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cache::Cache;
use crate::cluster::Cluster;
use crate::http::{Call, Http};
use crate::process::Process;
use crate::servers::Servers;
use crate::stream::Lateness;
use crate::waiting::{eventually, within};

/// Writes of which each is timed.
const SAMPLES: usize = 40;
/// How late another process may be that did not hear of a change.
const UNHEARD_MAX: Duration = Duration::from_secs(1);
/// A machine that is busy.
const PATIENCE: Duration = Duration::from_secs(20);
const CLIENTS: usize = 512;
const CLEARS: &str = "madang_near_clears_total";
const REBUILDS: &str = "madang_read_rebuilds_total{kind=\"article\"}";

fn likes_at(process: &Process, article: &str) -> Value {
    process.get(&format!("/api/v1/articles/{article}")).json(200)["like_count"].clone()
}

fn figure(process: &Process, name: &str) -> f64 {
    let metrics = process.get("/metrics").text();
    let value = metrics.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    value.unwrap_or_default()
}

/// Likes and takes it back in turn at one process; reads the effect there at once, and tells how late the other showed it.
fn toggle(one: &Process, other: &Process, article: &str, token: &str, number: usize) -> Duration {
    let (method, likes) = if number.is_multiple_of(2) { ("PUT", 1) } else { ("DELETE", 0) };
    one.call(method, &format!("/api/v1/articles/{article}/like")).token(token).send().json(200);
    let answered = Instant::now();
    assert_eq!(likes_at(one, article), likes, "who writes reads it at once");
    within(PATIENCE, "the other process shows it", || (likes_at(other, article) == likes).then_some(()));
    answered.elapsed()
}

#[test]
fn own_writes_show_at_once_and_those_of_others_soon() {
    let cluster = Cluster::split(&["all", "all"]);
    let [one, other] = &cluster.processes[..] else { panic!("two processes") };
    let ann = cluster.member("ann");
    let board = cluster.board("talk", "two_level");
    let article = cluster.article(&board, &ann, "liked and not");
    // Both have it in their near caches.
    eventually("both hear of each other", || {
        let hits = [one, other].map(|process| {
            likes_at(process, &article);
            figure(process, "madang_near_hits_total")
        });
        hits.iter().all(|hits| *hits > 0.0).then_some(())
    });
    let lateness = Lateness::watch();
    for number in 0..SAMPLES {
        let took = toggle(one, other, &article, &ann, number);
        let late = lateness.most();
        assert!(took < UNHEARD_MAX + late, "shown after {took:?}, on a machine that was {late:?} late");
    }
    // An edit, and a deletion, which take the way of the text.
    let path = format!("/api/v1/articles/{article}");
    let tag = one.get(&path).header("etag").unwrap().to_owned();
    let body = json!({"title": "edited", "content": "c"});
    one.call("PUT", &path).token(&ann).header("if-match", &tag).json(&body).send().json(200);
    assert_eq!(one.get(&path).json(200)["title"], "edited");
    within(PATIENCE, "the edit", || (other.get(&path).json(200)["title"] == "edited").then_some(()));
    let tag = one.get(&path).header("etag").unwrap().to_owned();
    let deleted = one.call("DELETE", &path).token(&ann).header("if-match", &tag).send();
    assert!(deleted.status < 300, "{}", deleted.text());
    assert_eq!(one.get(&path).status, 404);
    within(PATIENCE, "the deletion", || (other.get(&path).status == 404).then_some(()));
    let list = other.get(&format!("/api/v1/boards/{board}/articles")).json(200);
    assert_eq!(list["items"], json!([]));
}

/// Ends the connections by which processes hear of one another.
fn cut_broadcasts(cache_url: &str) {
    let address = cache_url.trim_start_matches("redis://");
    let mut stream = std::net::TcpStream::connect(address).expect("connects");
    stream.write_all(b"CLIENT KILL TYPE pubsub\r\n").expect("asks");
    let mut answer = [0; 1];
    stream.read_exact(&mut answer).expect("answers");
    assert_eq!(&answer, b":", "so many connections were ended");
}

#[test]
fn a_change_that_was_not_heard_of_shows_within_a_second() {
    let cache = Cache::start();
    let crate::servers::RedisServers::Single(url) = cache.servers() else { panic!("one server") };
    let servers = Servers { redis: cache.servers(), ..Servers::of_environment() };
    let mut cluster = Cluster::prepared(&servers, &["all", "all"]);
    cluster.start();
    let [one, other] = &cluster.processes[..] else { panic!("two processes") };
    let ann = cluster.member("ann");
    let board = cluster.board("talk", "two_level");
    let article = cluster.article(&board, &ann, "liked and not");
    let lateness = Lateness::watch();
    for number in 0..SAMPLES {
        likes_at(other, &article);
        cut_broadcasts(&url);
        let took = toggle(one, other, &article, &ann, number);
        let late = lateness.most();
        assert!(took < UNHEARD_MAX + late, "shown after {took:?}, on a machine that was {late:?} late");
    }
    drop(cluster);
    drop(cache);
}

#[test]
fn without_redis_a_change_shows_within_a_second() {
    let mut cache = Cache::start();
    let servers = Servers { redis: cache.servers(), ..Servers::of_environment() };
    let mut cluster = Cluster::prepared(&servers, &["all", "all"]);
    cluster.start();
    let [one, other] = &cluster.processes[..] else { panic!("two processes") };
    let ann = cluster.member("ann");
    let board = cluster.board("talk", "two_level");
    let article = cluster.article(&board, &ann, "liked and not");
    likes_at(other, &article);
    cache.kill();
    // Until both have noticed, a call may wait for its time-out.
    toggle(one, other, &article, &ann, 0);
    let lateness = Lateness::watch();
    for number in 1..SAMPLES / 2 {
        let took = toggle(one, other, &article, &ann, number);
        let late = lateness.most();
        assert!(took < UNHEARD_MAX + late, "shown after {took:?}, on a machine that was {late:?} late");
    }
}

#[test]
fn a_cold_article_is_rebuilt_by_one_process_for_the_clients_of_three() {
    let cluster = Cluster::split(&["all", "all", "all"]);
    let ann = cluster.member("ann");
    let board = cluster.board("talk", "two_level");
    let article = cluster.article(&board, &ann, "cold");
    let path = format!("/api/v1/articles/{article}");
    for round in 0..3 {
        let clears = || cluster.processes.iter().map(|process| figure(process, CLEARS)).collect::<Vec<_>>();
        let cleared = clears();
        cluster.command(&["rebuild", "read-model"], "").expect(0);
        eventually("every process hears of it", || {
            clears().iter().zip(&cleared).all(|(now, before)| now > before).then_some(())
        });
        let rebuilds = || cluster.processes.iter().map(|process| figure(process, REBUILDS)).sum::<f64>();
        let (before, begin) = (rebuilds(), Barrier::new(CLIENTS * cluster.processes.len()));
        let ask = |address: String| {
            let mut http = Http::connect(&address).unwrap();
            begin.wait();
            Call::new(&address, "GET", &path).send_on(&mut http).unwrap().json(200)
        };
        let told: Vec<Value> = std::thread::scope(|scope| {
            let ask = &ask;
            let addresses = cluster.processes.iter().flat_map(|process| vec![process.address(); CLIENTS]);
            let clients: Vec<_> = addresses.map(|address| scope.spawn(move || ask(address))).collect();
            clients.into_iter().map(|client| client.join().unwrap()).collect()
        });
        assert!(told.iter().all(|told| told["title"] == "cold"), "everybody gets the article");
        assert_eq!(rebuilds() - before, 1.0, "round {round}");
    }
}
