//! Reads that miss: absences believed for a moment only, and a small budget that costs time and never truth.

use crate::http::{Call, Http};
use crate::server::{ADMIN, Start, TestServer, eventually};
use crate::truth::{self, figure};
use crate::{command, database};

const REBUILDS: &str = "madang_read_rebuilds_total{kind=\"article\"}";
const ARTICLES: usize = 4_000;
/// Readers at once of the site that does not fit.
const READERS: usize = 8;

#[test]
fn an_article_asked_for_before_it_exists_is_found_once_it_does() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    let server = Start::in_directory(data).with_admin().start();
    let article = server.article(&server.general(), &server.sign_in(ADMIN), "the first");
    let id: i64 = article["article_id"].as_str().unwrap().parse().unwrap();
    let path = format!("/api/v1/articles/{}", id + 1);
    let rebuilds = figure(&server, REBUILDS);
    for _ in 0..50 {
        server.get(&path).problem(404, "not yet");
    }
    assert!(figure(&server, REBUILDS) - rebuilds < 25.0, "an absence is believed for a moment");
    // As another process of the same site would write it: this one hears nothing of it.
    let file = rusqlite::Connection::open(data.join(madang_sqlite::DATABASE_FILE)).unwrap();
    let copy = format!(
        "INSERT INTO article (article_id, board_id, writer_id, version, created_at, modified_at, writer_name, title,
             content, content_html)
         SELECT {}, board_id, writer_id, version, created_at, modified_at, writer_name, 'the second', content,
             content_html FROM article WHERE article_id = {id}",
        id + 1
    );
    assert_eq!(file.execute(&copy, []).unwrap(), 1);
    let found = eventually("the absence has lapsed", || {
        let answer = server.get(&path);
        (answer.status == 200).then(|| answer.json(200))
    });
    assert_eq!(found["title"], "the second");
}

/// Every page of a board, as ids, and the count it claims to know.
fn pages(server: &TestServer, board: &str) -> Vec<i64> {
    let mut http = Http::connect(&server.address).unwrap();
    let mut ids = Vec::new();
    for page in 1.. {
        let path = format!("/api/v1/boards/{board}/articles?page={page}&page_size=100");
        let told = Call::new(&server.address, "GET", &path).send_on(&mut http).unwrap().json(200);
        let items = told["items"].as_array().unwrap();
        if items.is_empty() {
            break;
        }
        ids.extend(items.iter().map(|item| item["article_id"].as_str().unwrap().parse::<i64>().unwrap()));
    }
    ids
}

#[test]
fn a_site_that_does_not_fit_into_memory_answers_everything_right() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    let server = Start::in_directory(data).with_admin().set("read_model_mb", "1").start();
    command::run(data, &["seed", "--board", "big", "--articles", &ARTICLES.to_string()], "").expect(0);
    let token = server.sign_in(ADMIN);
    let articles = truth::articles(data);
    assert_eq!(articles.len(), ARTICLES);
    let board = articles[0]["board_id"].as_str().unwrap();
    // Likes and comments on some of them, while others read everything in every order.
    let touched: Vec<_> = articles.iter().step_by(100).map(|article| article["article_id"].as_str().unwrap()).collect();
    std::thread::scope(|scope| {
        for reader in 0..READERS {
            let (server, articles) = (&server, &articles);
            scope.spawn(move || {
                let turned = (0..ARTICLES / READERS).map(|step| (step * READERS + reader) * 7 % ARTICLES);
                let mine: Vec<_> =
                    turned.filter(|place| place % 100 != 0).map(|place| articles[place].clone()).collect();
                truth::is_read(server, &mine);
            });
        }
        for article in &touched {
            let path = format!("/api/v1/articles/{article}");
            server.call("PUT", &format!("{path}/like")).token(&token).send().json(200);
            assert_eq!(server.get(&path).json(200)["like_count"], 1, "their own write, in the middle of it");
        }
    });
    let articles = truth::articles(data);
    truth::is_read(&server, &articles);
    let mut ids = database::article_ids(&database::open(data));
    ids.reverse();
    assert_eq!(pages(&server, board), ids);
    // The figure is taken every few seconds.
    eventually("the figures are told", || (figure(&server, "madang_read_entries") > 0.0).then_some(()));
    assert!(figure(&server, "madang_read_bytes") <= 1_000_000.0);
    assert!(figure(&server, "madang_read_entries") < ARTICLES as f64 * 0.75, "many of them left");
    command::run(data, &["check"], "").expect(0);
}
