//! `kill -9` under a mixed load: derived data equals its sources after a restart, and after another kill at once.

use std::path::Path;

use serde_json::Value;

use crate::crash_mixed::{LONG_RUN, SHORT_RUN, Site, load_and_kill};
use crate::server::{ADMIN, Start, TestServer, is_long_run};
use crate::site_day::{becomes, hot_items, noon_zone, today};
use crate::{command, truth};

const WRITERS: usize = 32;
/// More than a hot list shows.
const LIKED: usize = 14;

/// Starts again and waits until the hot list is the truth; then reads every article.
fn restarted(data: &Path, zone: &str, articles: &[Value]) -> TestServer {
    let server = Start::in_directory(data).set("time_zone", zone).start();
    becomes(&truth::hot_list(articles), || hot_items(&server, today(zone)));
    truth::is_read(&server, articles);
    server
}

#[test]
fn hot_list_and_articles_equal_their_sources_after_kill_9() {
    let directory = tempfile::tempdir().unwrap();
    let (data, zone) = (directory.path(), noon_zone());
    let server = Start::in_directory(data).with_admin().set("time_zone", &zone).start();
    let (token, members) = (server.sign_in(ADMIN), server.seeded_members(WRITERS));
    let boards = [server.general(), server.trees()];
    let discussed = [0, 1].map(|board: usize| server.article_id(&boards[board], &token));
    let liked = (0..LIKED).map(|_| server.article_id(&boards[0], &token)).collect();
    let site = Site { boards, discussed, liked };
    let promised = load_and_kill(server, &site, &members, if is_long_run() { LONG_RUN } else { SHORT_RUN });
    assert!(promised.articles.len() > 20 && promised.comments.len() > 20 && promised.likes.len() > 20);

    let alone = || command::run(data, &["check", "--set", &format!("time_zone={zone}")], "").expect(0);
    alone();
    let articles = truth::articles(data);
    let listed = truth::hot_list(&articles);
    assert_eq!(listed.as_array().unwrap().len(), 10, "{listed:#}");
    // Killed as soon as it listens: groups are in the middle of catching up.
    Start::in_directory(data).set("time_zone", &zone).start().kill();
    alone();
    assert_eq!(truth::articles(data), articles, "a start and a kill change nothing");

    let server = restarted(data, &zone, &articles);
    let said = command::run(data, &["check", "--full"], "").expect(0);
    assert!(!said.stdout.contains("not compared"), "{said:?}");
    server.kill();
    alone();
    let server = restarted(data, &zone, &articles);
    command::run(data, &["check"], "").expect(0);
    server.stop();
    alone();
}

#[test]
fn a_check_beside_a_server_under_load_finds_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let (data, zone) = (directory.path(), noon_zone());
    let server = Start::in_directory(data).with_admin().set("time_zone", &zone).start();
    let (token, members) = (server.sign_in(ADMIN), server.seeded_members(WRITERS));
    let boards = [server.general(), server.trees()];
    let discussed = [0, 1].map(|board: usize| server.article_id(&boards[board], &token));
    let liked = (0..LIKED).map(|_| server.article_id(&boards[0], &token)).collect();
    let site = Site { boards, discussed, liked };
    std::thread::scope(|scope| {
        let checks = scope.spawn(|| {
            // As long as the server is there; the kill ends the last of them in the middle.
            let mut sound = 0;
            loop {
                let ended = command::run(data, &["check"], "");
                if ended.code == 0 && ended.stdout.contains("articles of the query model") {
                    sound += 1;
                } else {
                    return (sound, ended);
                }
            }
        });
        load_and_kill(server, &site, &members, if is_long_run() { LONG_RUN } else { SHORT_RUN });
        let (sound, last) = checks.join().unwrap();
        assert!(sound > 0, "not one check ended: {last:?}");
        let is_count = |line: &str| line.ends_with(" difference") || line.ends_with(" differences");
        assert!(!last.stdout.lines().any(|line| is_count(line) && !line.starts_with("no ")), "{last:?}");
        println!("{sound} checks beside the load");
    });
}
