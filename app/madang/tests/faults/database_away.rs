//! One of two relational servers is away: its shards say so at once, and whoever is on the other does not notice.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use madang_board::ArticleId;
use madang_kernel::{Id as _, ShardId};
use serde_json::json;

use crate::client::{Client, Request};
use crate::cluster::Cluster;
use crate::load::fill;
use crate::servers::Servers;
use crate::truth::{check_compares_everything_and_finds_nothing, configure, quiet_zone};
use crate::turns::{alone, is_long, last};
use crate::waiting::within;
use madang_test_servers::Relational;

/// The first shard of the second of two servers.
const SECOND: u8 = 32;
/// Shards that a server has no more are refused within this; the rest of the time is the machine's.
const REFUSAL_MAX: Duration = Duration::from_secs(4);
/// Nobody on the other server waits for longer.
const ANSWER_MAX: Duration = Duration::from_secs(4);
/// A request that was under way when the server went may be answered as late as this.
const GRACE: Duration = Duration::from_secs(2);
/// How long a server may take to be served again.
const BACK: Duration = Duration::from_secs(60);
const ARTICLES: usize = 12;
const PEOPLE: usize = 3;

/// A board and articles of it that live, with all that belongs to them, on one server.
struct Place {
    board: String,
    articles: Vec<String>,
}

/// A site with half of its shards on a server of the test's own.
struct Site {
    second: Relational,
    cluster: Cluster,
    tokens: Vec<String>,
    /// On the server that stays.
    near: Place,
    /// On the other.
    far: Place,
}

fn site() -> Site {
    let mut servers = Servers::of_environment();
    let second = Relational::start();
    servers.mysql = vec![servers.mysql[0].clone(), second.url()];
    let mut cluster = Cluster::prepared(&servers, &["all"]);
    configure(&cluster, &format!("time_zone = {:?}", quiet_zone()));
    give_writes_time(&cluster);
    cluster.start();
    let (_, tokens) = fill(&cluster, 0, 2 * PEOPLE);
    let near = place(&cluster, &tokens[0], |shard| shard.number() < SECOND);
    let far = place(&cluster, &tokens[0], |shard| shard.number() >= SECOND);
    Site { second, cluster, tokens, near, far }
}

/// A write reaches the query model also while the machine is busy: a list with an article that is not in it needs counts
/// whose server may be the one that is away.
fn give_writes_time(cluster: &Cluster) {
    const REDIS: &str = "[cluster.redis]\n";
    let text = std::fs::read_to_string(cluster.config()).unwrap();
    assert!(text.contains(REDIS));
    std::fs::write(cluster.config(), text.replace(REDIS, &format!("{REDIS}own_write_wait_ms = 2000\n"))).unwrap();
}

fn place(cluster: &Cluster, token: &str, is_of: impl Fn(ShardId) -> bool) -> Place {
    let slugs = (0..).map(|number| format!("board-{number}"));
    let slug = slugs.into_iter().find(|slug| is_of(ShardId::for_name(slug))).unwrap();
    let board = cluster.board(&slug, "two_level");
    let mut articles = Vec::new();
    while articles.len() < ARTICLES {
        let article = cluster.article(&board, token, "here");
        let id: ArticleId = article.parse().unwrap();
        assert!(is_of(id.shard()), "an article is where its board is");
        if is_of(ShardId::of_parts(id)) {
            articles.push(article);
        }
    }
    Place { board, articles }
}

/// What people read beside what they write.
#[derive(Clone, Copy, PartialEq)]
enum Reads {
    Nothing,
    Articles,
    /// Lists of a board tell the views of articles whose parts may be on any server.
    ListsToo,
}

/// When a call was made, how it was answered, and after how long.
type Seen = (Instant, u16, Duration, String);

/// Writes and reads in one place until told to stop.
fn work(mut client: Client, place: &Place, token: &str, reads: Reads, stop: &AtomicBool) -> Vec<Seen> {
    let mut seen = Vec::new();
    for turn in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let article = &place.articles[turn / 5 % place.articles.len()];
        let (method, path, body) = match turn % 5 {
            0 => {
                let body = json!({"title": "more", "content": "text"});
                ("POST", format!("/api/v1/boards/{}/articles", place.board), Some(body))
            }
            1 => ("PUT", format!("/api/v1/articles/{article}/like"), None),
            2 => ("POST", format!("/api/v1/articles/{article}/comments"), Some(json!({"content": "a word"}))),
            3 => ("DELETE", format!("/api/v1/articles/{article}/like"), None),
            _ if reads == Reads::ListsToo && turn % 2 == 0 => {
                ("GET", format!("/api/v1/boards/{}/articles", place.board), None)
            }
            _ if reads != Reads::Nothing => ("GET", format!("/api/v1/articles/{article}"), None),
            _ => continue,
        };
        let at = Instant::now();
        let request = Request { method, path: &path, token: Some(token), body };
        let answered = client.send(&request).unwrap();
        seen.push((at, answered.answer.status, answered.took, format!("{method} {path}: {}", answered.answer.text())));
        std::thread::park_timeout(Duration::from_millis(10));
    }
    seen
}

/// How people fared on the server that stayed and on the one that was away, and when it was.
struct Outage {
    here: Vec<Seen>,
    there: Vec<Seen>,
    from: Instant,
    to: Instant,
}

/// Takes the second server away and gives it back, while people work on both.
fn while_the_second_is_away(
    reads: Reads,
    away: impl FnOnce(&mut Relational),
    back: impl FnOnce(&mut Relational),
) -> Outage {
    let Site { mut second, mut cluster, tokens, near, far } = site();
    let (stop, outage) = (AtomicBool::new(false), Duration::from_secs(if is_long() { 20 } else { 8 }));
    let (here, there, from, to) = std::thread::scope(|scope| {
        let person = |place, token: usize, reads: Reads| {
            let (client, token, stop) = (Client::new(&cluster), &tokens[token], &stop);
            scope.spawn(move || work(client, place, token, reads, stop))
        };
        let here: Vec<_> = (0..PEOPLE).map(|number| person(&near, number, reads)).collect();
        let there: Vec<_> = (0..PEOPLE).map(|number| person(&far, PEOPLE + number, Reads::Nothing)).collect();
        last(Duration::from_secs(2));
        let from = Instant::now();
        away(&mut second);
        last(outage);
        let to = Instant::now();
        back(&mut second);
        let path = format!("/api/v1/articles/{}/like", far.articles[0]);
        // People stop whatever comes of this, or the test would wait for them for ever.
        let served = (0..BACK.as_secs() * 4).any(|_| {
            last(Duration::from_millis(250));
            cluster.call("PUT", &path).token(&tokens[0]).send().status == 200
        });
        last(Duration::from_secs(2));
        stop.store(true, Ordering::Relaxed);
        assert!(served, "its shards are served again");
        let all = |people: Vec<std::thread::ScopedJoinHandle<'_, Vec<Seen>>>| {
            people.into_iter().flat_map(|person| person.join().unwrap()).collect::<Vec<Seen>>()
        };
        (all(here), all(there), from, to)
    });
    // Everybody reaches it again, not only the first to try.
    let path = format!("/api/v1/boards/{}/articles", far.board);
    within(BACK, "articles are written again where the server was away", || {
        let call = cluster.call("POST", &path).token(&tokens[0]).json(&json!({"title": "back", "content": "text"}));
        (call.send().status == 201).then_some(())
    });
    check_compares_everything_and_finds_nothing(&cluster);
    cluster.stop();
    Outage { here, there, from, to }
}

fn nobody_here_noticed(here: &[Seen]) {
    let slowest = here.iter().map(|(_, _, took, _)| *took).max().unwrap();
    println!("{} calls on the server that stayed, the slowest answered after {slowest:?}", here.len());
    let failed: Vec<_> = here.iter().filter(|(_, status, ..)| !(200..300).contains(status)).collect();
    assert!(failed.is_empty(), "{} failed: {:?}", failed.len(), &failed[..failed.len().min(5)]);
    assert!(slowest < ANSWER_MAX, "{slowest:?}");
}

fn those_there_were_refused_at_once(there: &[Seen], from: Instant, to: Instant) {
    let during: Vec<&Seen> = there.iter().filter(|(at, ..)| (from..to).contains(at)).collect();
    let refused = |seen: &&&Seen| seen.1 == 503;
    let others: Vec<_> = during.iter().filter(|seen| !refused(seen)).collect();
    let mut took: Vec<Duration> = during.iter().map(|(_, _, took, _)| *took).collect();
    took.sort_unstable();
    assert!(!took.is_empty(), "somebody asked");
    let (half, slowest) = (took[took.len() / 2], took[took.len() - 1]);
    println!("{} calls for the server that was away, half refused within {half:?}, all within {slowest:?}", took.len());
    assert!(others.is_empty(), "{} were not refused: {:?}", others.len(), &others[..others.len().min(5)]);
    assert!(slowest < REFUSAL_MAX, "{slowest:?}");
}

#[test]
fn without_one_database_server_its_shards_say_so_and_the_others_do_not_notice() {
    let _turn = alone();
    let Outage { here, there, from, to } =
        while_the_second_is_away(Reads::ListsToo, Relational::kill, Relational::start_again);
    nobody_here_noticed(&here);
    those_there_were_refused_at_once(&there, from + GRACE, to);
}

#[test]
fn a_database_server_that_stands_still_is_refused_and_holds_up_nobody_on_the_other() {
    let _turn = alone();
    let Outage { here, there, from, to } =
        while_the_second_is_away(Reads::Articles, |server| server.signal("STOP"), |server| server.signal("CONT"));
    nobody_here_noticed(&here);
    let others: Vec<_> = there.iter().filter(|(_, status, ..)| ![200, 201, 503].contains(status)).collect();
    assert!(others.is_empty(), "{others:?}");
    // What comes at the very end may be served by the server as it goes on.
    those_there_were_refused_at_once(&there, from + GRACE, to - GRACE);
}

#[test]
fn what_is_in_no_cache_is_read_from_the_server_that_is_there() {
    let _turn = alone();
    let Site { mut second, mut cluster, near, far, .. } = site();
    cluster.command(&["rebuild", "read-model"], "").expect(0);
    cluster.stop();
    second.kill();
    cluster.start();
    let process = &cluster.processes[0];
    // All at once: loads are shared by then, failures must not be.
    std::thread::scope(|scope| {
        let readers = near.articles.iter().map(|article| (200, article));
        let readers = readers.chain(far.articles.iter().map(|article| (503, article)));
        let readers: Vec<_> = readers
            .map(|(expected, article)| {
                let path = format!("/api/v1/articles/{article}");
                (expected, scope.spawn(move || process.get(&path)))
            })
            .collect();
        for (expected, reader) in readers {
            let answer = reader.join().unwrap();
            assert_eq!(answer.status, expected, "{}", answer.text());
        }
    });
    second.start_again();
    for article in &far.articles {
        within(BACK, "what was away is read again", || {
            (cluster.get(&format!("/api/v1/articles/{article}")).status == 200).then_some(())
        });
    }
    cluster.stop();
}
