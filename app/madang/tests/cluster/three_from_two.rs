//! Three relational servers are made of two while people write: 21 shards move by the real command, which is killed again and
//! again wherever it is, and nothing that was acknowledged is lost.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::cluster::Cluster;
use crate::http::Answer;
use crate::process::{Process, madang};
use crate::servers::Servers;
use crate::waiting::within;
use madang_test_servers::Relational;

/// 11 shards of the first server and 10 of the second.
const MOVE: [&str; 8] = ["shards", "move", "0-10", "32-41", "--to", "2", "--release-after", "0"];
const KILLS: usize = 20;
/// Far longer than writers wait for a command that is killed and begun again, on a machine that is busy.
const CALL_MAX: Duration = Duration::from_secs(30);
/// Between two calls of one writer; the machine is shared with five servers and the command.
const PAUSE: Duration = Duration::from_millis(8);

/// What one writer was told.
#[derive(Default)]
struct Told {
    articles: Vec<String>,
    calls: u64,
    /// Calls that were refused, and refused once more.
    refused_twice: u64,
    refused: u64,
    longest: Duration,
}

impl Told {
    /// Makes a call until it is answered.
    fn insist(&mut self, status: u16, call: impl Fn() -> Answer) -> Answer {
        let (began, mut attempts) = (Instant::now(), 0);
        loop {
            let answer = call();
            if answer.status == status {
                self.calls += 1;
                self.longest = self.longest.max(began.elapsed());
                std::thread::park_timeout(PAUSE);
                return answer;
            }
            assert_eq!(answer.status, 503, "{}", answer.text());
            assert!(began.elapsed() < CALL_MAX, "{}", answer.text());
            attempts += 1;
            self.refused += 1;
            self.refused_twice += u64::from(attempts == 2);
        }
    }
}

/// Writes articles, comments and likes until it is told to stop.
fn write(process: &Process, token: &str, boards: &[String], writer: usize, done: &AtomicBool) -> Told {
    let mut told = Told::default();
    while !done.load(Ordering::Relaxed) {
        let number = told.articles.len();
        let board = &boards[number % boards.len()];
        let keyed = |method: &str, path: &str, what: &str| {
            process.call(method, path).token(token).header("idempotency-key", &format!("{what}-{writer}-{number}"))
        };
        let body = json!({"title": format!("{writer}/{number}"), "content": "Some *text*."});
        let path = format!("/api/v1/boards/{board}/articles");
        let article = told.insist(201, || keyed("POST", &path, "a").json(&body).send()).json(201);
        let article = article["article_id"].as_str().unwrap().to_owned();
        let path = format!("/api/v1/articles/{article}/comments");
        told.insist(201, || keyed("POST", &path, "c").json(&json!({"content": "a word"})).send());
        let path = format!("/api/v1/articles/{article}/like");
        told.insist(200, || process.call("PUT", &path).token(token).send());
        told.articles.push(article);
    }
    told
}

/// Runs the command and kills it a moment after so many of its lines. Whether it had ended by itself.
fn killed_after(cluster: &Cluster, lines: usize, moment: Duration) -> bool {
    let mut child = madang(&cluster.config()).args(MOVE).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let told = BufReader::new(child.stdout.take().unwrap()).lines().take(lines).count();
    // A line is told between two steps: the moment is within one, as often as not while writers wait.
    std::thread::park_timeout(moment);
    child.kill().unwrap();
    child.wait().unwrap();
    told < lines
}

#[test]
fn twenty_one_shards_move_under_load_by_a_command_that_is_killed_twenty_times() {
    let relational = [Relational::start(), Relational::start(), Relational::start()];
    let mysql = relational[..2].iter().map(Relational::url).collect();
    let mut cluster = Cluster::prepared(&Servers { mysql, ..Servers::of_environment() }, &["all", "all"]);
    cluster.start();
    let boards: Vec<String> = (0..12).map(|number| cluster.board(&format!("board-{number}"), "tree")).collect();
    let tokens: Vec<String> = (0..4).map(|number| cluster.member(&format!("writer{number}"))).collect();
    let third = format!("mysql://127.0.0.1:{}", relational[2].port());
    cluster.command(&["shards", "add-server", &third], "").expect(0);
    let done = AtomicBool::new(false);
    let told: Vec<Told> = std::thread::scope(|scope| {
        let writers: Vec<_> = tokens
            .iter()
            .enumerate()
            .map(|(writer, token)| {
                let (process, boards, done) = (&cluster.processes[writer % 2], &boards, &done);
                scope.spawn(move || write(process, token, boards, writer, done))
            })
            .collect();
        let mut kills = 0;
        // Of its lines two are of each shard of a service: 1 to 13 of them, in an order that looks like chance.
        let moment = |kills: usize| Duration::from_millis((kills as u64 * 37) % 350);
        while kills < KILLS && !killed_after(&cluster, 1 + kills * 7 % 13, moment(kills)) {
            kills += 1;
        }
        let moved = cluster.command(&MOVE, "");
        done.store(true, Ordering::Relaxed);
        let told = writers.into_iter().map(|writer| writer.join().unwrap()).collect();
        println!("{kills} kills; {}", moved.expect(0).stdout.lines().last().unwrap_or_default());
        assert_eq!(kills, KILLS, "there was more to do than so many commands got done");
        told
    });
    let sum = |of: fn(&Told) -> u64| told.iter().map(of).sum::<u64>();
    println!(
        "{} calls, {} refused, {} twice, the longest took {:?}",
        sum(|told| told.calls),
        sum(|told| told.refused),
        sum(|told| told.refused_twice),
        told.iter().map(|told| told.longest).max().unwrap_or_default()
    );
    let listed = cluster.command(&["shards", "list"], "").expect(0).stdout;
    assert!(listed.contains("every service, version 22") && listed.contains("0-10, 32-41 (21 shards)"), "{listed}");
    cluster.command(&["shards", "status"], "").expect(0);
    for article in told.iter().flat_map(|told| &told.articles) {
        within(Duration::from_secs(60), "an acknowledged article with its comment and like", || {
            let read = cluster.read(article);
            (read["comment_count"] == 1 && read["like_count"] == 1).then_some(())
        });
    }
    within(Duration::from_secs(180), "everything is compared, and nothing differs", || {
        (cluster.command(&["check"], "").code == 0).then_some(())
    });
    cluster.stop();
}
