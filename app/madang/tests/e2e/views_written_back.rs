//! How long a view may be lost: not at all when the server is stopped, the last five seconds when it is killed.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::database;
use crate::http::{Call, Http};
use crate::server::{ADMIN, Start, TestServer, eventually};

/// So many that no article gathers the hundred views which would be written at once.
const ARTICLES: usize = 40;
/// Between two views: about 200 a second, 5 an article.
const PAUSE: Duration = Duration::from_millis(5);
/// What a killed server may lose: the age that is promised, and the step of the loop that keeps the promise.
const LOSS_MAX: Duration = Duration::from_millis(5_000 + madang_view::FLUSH_STEP_MS);
const RUN: Duration = Duration::from_secs(8);
/// A busy machine takes views more slowly: the run goes on until so many are old enough to be promised, or for this long.
const PROMISED_MIN: usize = 100;
const RUN_MAX: Duration = Duration::from_secs(60);

fn articles(server: &TestServer, count: usize) -> Vec<String> {
    let (board, token) = (server.general(), server.sign_in(ADMIN));
    (0..count).map(|_| server.article_id(&board, &token)).collect()
}

fn written(data: &Path, article: &str) -> u64 {
    let sql = format!("SELECT coalesce(sum(view_count), 0) FROM article_view_count WHERE article_id = {article}");
    database::number(&database::open(data), &sql) as u64
}

#[test]
fn a_stopped_server_loses_no_view() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    let server = Start::in_directory(data).with_admin().start();
    let articles = articles(&server, 3);
    for (number, article) in articles.iter().enumerate() {
        for guest in 0..=number * 7 {
            assert_eq!(server.view(article, &format!("guest {guest}"))["counted"], true);
        }
    }
    server.stop();
    let server = Start::in_directory(data).start();
    for (number, article) in articles.iter().enumerate() {
        let views = number as u64 * 7 + 1;
        assert_eq!((server.view_count(article), written(data, article)), (views, views));
        assert_eq!(server.view(article, "after")["view_count"], views + 1, "and goes on from there");
    }
}

/// Views that were acknowledged, as (article, when), until the run is over.
fn look_at(server: &TestServer, articles: &[String]) -> Vec<(usize, Instant)> {
    let mut http = Http::connect(&server.address).unwrap();
    let (started, mut seen) = (Instant::now(), Vec::new());
    let is_promised = |(_, at): &&(usize, Instant)| at.elapsed() > LOSS_MAX;
    while started.elapsed() < RUN
        || (seen.iter().filter(is_promised).count() <= PROMISED_MIN && started.elapsed() < RUN_MAX)
    {
        let number = seen.len();
        let path = format!("/api/v1/articles/{}/views", articles[number % articles.len()]);
        let call = Call::new(&server.address, "POST", &path).header("user-agent", &format!("guest {number}"));
        assert_eq!(call.send_on(&mut http).unwrap().json(200)["counted"], true);
        seen.push((number % articles.len(), Instant::now()));
        // A steady trickle: the time-based write-back is what this is about.
        std::thread::park_timeout(PAUSE);
    }
    seen
}

#[test]
fn a_killed_server_loses_at_most_the_last_five_seconds_of_views() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    let server = Start::in_directory(data).with_admin().start();
    let articles = articles(&server, ARTICLES);
    let seen = look_at(&server, &articles);
    let killed_at = Instant::now();
    server.kill();
    let in_file: Vec<u64> = articles.iter().map(|article| written(data, article)).collect();

    let server = Start::in_directory(data).start();
    let mut promised_in_all = 0;
    for (number, article) in articles.iter().enumerate() {
        let of_article = || seen.iter().filter(|(article, _)| *article == number);
        let promised = of_article().filter(|(_, at)| killed_at - *at > LOSS_MAX).count() as u64;
        let count = server.view_count(article);
        assert!(count >= promised, "{count} of {promised} views that were older than {LOSS_MAX:?} are left");
        assert!(count <= of_article().count() as u64, "{count} views, more than there were");
        assert_eq!(count, in_file[number], "what was written is what is read back");
        assert_eq!(server.view(article, "after")["view_count"], count + 1);
        promised_in_all += promised;
    }
    assert!(promised_in_all > PROMISED_MIN as u64, "only {promised_in_all} views were old enough to be promised");
    println!("{} views, {promised_in_all} promised, {} kept", seen.len(), in_file.iter().sum::<u64>());
}

#[test]
fn a_count_never_falls_below_what_was_written() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    let mut server = Start::in_directory(data).with_admin().start();
    let article = articles(&server, 1).remove(0);
    let mut last = 0;
    for round in 0..3 {
        for guest in 0..3 {
            let count = server.view(&article, &format!("guest {round} {guest}"))["view_count"].as_u64().unwrap();
            assert_eq!(count, last + 1);
            last = count;
        }
        eventually("the views are written back", || (written(data, &article) == last).then_some(()));
        // Not yet written, so it may be lost; what was written may not.
        server.view(&article, &format!("late guest {round}"));
        server.kill();
        server = Start::in_directory(data).start();
        let count = server.view_count(&article);
        assert!((last..=last + 1).contains(&count), "{count} after {last} were written");
        last = count;
    }
}
