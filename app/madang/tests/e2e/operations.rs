//! What an operator does: locks, commands beside a server and without one, seeding, checking, dead letters.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use madang_kernel::{EventId, Id as _, ShardId, SystemClock, Timestamp};
use madang_messaging::{EventLog as _, Message, header};
use madang_sqlite::{DATABASE_FILE, SqliteLog, SqliteOptions};

use crate::command::run;
use crate::server::{ADMIN, Start, TestServer};

#[test]
fn a_second_server_is_refused_and_told_who_has_the_directory() {
    let server = TestServer::fresh();
    let refused = run(server.data(), &["serve", "--listen", "127.0.0.1:0"], "").expect(1);
    assert!(refused.stderr.contains(&format!("process {}", server.pid())), "{refused:?}");
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn wrong_settings_end_the_program_before_it_touches_anything() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let file = directory.path().join("madang.toml");
    std::fs::write(&file, "lisen = \"127.0.0.1:0\"\n").unwrap();
    let refused = run(&data, &["serve", "--config", file.to_str().unwrap()], "").expect(1);
    assert!(refused.stderr.contains("`lisen`") && refused.stderr.contains("`listen`"), "{refused:?}");
    let refused = run(&data, &["serve", "--roles", "cook"], "").expect(1);
    assert!(refused.stderr.contains("cook") && refused.stderr.contains("--roles"), "{refused:?}");
    assert!(!data.exists());
    let shown = run(&data, &["config"], "").expect(0);
    assert!(shown.stdout.contains("listen = \"127.0.0.1:8080\"  # default"), "{shown:?}");
}

#[test]
fn a_key_that_others_can_read_stops_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    Start::in_directory(&data).start().stop();
    assert_eq!(std::fs::metadata(&data).unwrap().permissions().mode() & 0o777, 0o700);
    let key = data.join("keys/token.key");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let refused = run(&data, &["serve", "--listen", "127.0.0.1:0"], "").expect(1);
    assert!(refused.stderr.contains("chmod 600"), "{refused:?}");
}

#[test]
fn commands_work_beside_a_server_after_a_crash_and_in_a_long_path() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("x".repeat(120)).join("data");
    let server = Start::in_directory(&data).with_admin().start();
    run(&data, &["check"], "").expect(0);
    server.kill();
    assert!(data.join("madang.sock").exists(), "left behind");
    run(&data, &["check"], "").expect(0);
    let server = Start::in_directory(&data).start();
    let said = run(&data, &["check"], "").expect(0);
    assert!(said.stdout.contains("no difference"), "{said:?}");
    let mode = std::fs::metadata(data.join("madang.sock")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    server.stop();
}

#[test]
fn looking_at_a_directory_that_is_not_there_makes_none() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("absent");
    for arguments in [&["check"][..], &["dlq", "list"]] {
        let refused = run(&data, arguments, "").expect(1);
        assert!(refused.stderr.contains("there is no data directory"), "{refused:?}");
    }
    assert!(!data.exists());
}

#[test]
fn the_event_log_of_an_idle_server_is_back_at_its_bound() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    let server = Start::in_directory(data).set("event_log_keep_rows", "100").set("retention_interval_s", "1").start();
    run(data, &["seed", "--boards", "1", "--articles", "5000", "--members", "1"], "").expect(0);
    let file = crate::database::open(data);
    crate::server::eventually("100 entries are left", || (crate::database::log_entries(&file) == 100).then_some(()));
    drop(file);
    run(data, &["check"], "").expect(0);
    server.stop();
}

#[test]
fn a_seeded_site_is_sound_and_its_tokens_work() {
    let directory = tempfile::tempdir().unwrap();
    let (data, tokens) = (directory.path().join("data"), directory.path().join("tokens"));
    let file = tokens.to_str().unwrap().to_owned();
    let seed = ["seed", "--boards", "3", "--articles", "3000", "--members", "7", "--tokens", &file];
    let said = run(&data, &seed, "").expect(0);
    assert!(said.stdout.contains("3000 articles created in"), "{said:?}");
    assert_eq!(std::fs::metadata(&tokens).unwrap().permissions().mode() & 0o777, 0o600);
    // No server has run, so no group has read anything: what they derive is not there to be compared.
    let said = run(&data, &["check", "--full"], "").expect(2);
    assert!(said.stdout.contains("3 boards, 3000 articles, 3000 events"), "{said:?}");

    let server = Start::in_directory(&data).with_admin().start();
    let lines = std::fs::read_to_string(&tokens).unwrap();
    assert_eq!(lines.lines().count(), 7);
    for line in lines.lines() {
        let (id, token) = line.split_once(' ').unwrap();
        let me = server.call("GET", "/api/v1/members/me").token(token).send().json(200);
        assert_eq!(me["member_id"], id);
    }
    // Again, beside the server, on one board: new members, and the old boards stay.
    let again = ["seed", "--board", "big", "--articles", "2000", "--members", "2", "--tokens", &file];
    run(&data, &again, "").expect(0);
    assert_eq!(std::fs::read_to_string(&tokens).unwrap().lines().count(), 2);
    let boards = server.get("/api/v1/boards").json(200);
    let counts: Vec<_> = ["seed-1", "seed-2", "seed-3", "big"].map(|slug| count(&boards, slug)).into();
    assert_eq!(counts, [1_000, 1_000, 1_000, 2_000]);
    run(&data, &["check"], "").expect(0);
    server.stop();
}

fn count(boards: &serde_json::Value, slug: &str) -> u64 {
    let board = boards["items"].as_array().unwrap().iter().find(|board| board["slug"] == slug);
    board.unwrap()["article_count"].as_u64().unwrap()
}

#[test]
fn a_falsified_counter_is_found_beside_a_server_and_without_one() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    let server = Start::in_directory(data).with_admin().start();
    let token = server.sign_in(ADMIN);
    server.article(&server.general(), &token, "counted");
    server.stop();
    let file = rusqlite::Connection::open(data.join(DATABASE_FILE)).unwrap();
    assert_eq!(file.execute("UPDATE board_article_count SET article_count = article_count + 1", []).unwrap(), 1);
    drop(file);
    let found = run(data, &["check"], "").expect(1);
    assert!(found.stdout.contains("counts 2 articles and has 1"), "{found:?}");
    let server = Start::in_directory(data).start();
    let found = run(data, &["check"], "").expect(1);
    assert!(found.stdout.contains("counts 2 articles and has 1"), "{found:?}");
    server.stop();
}

/// Puts letters of a group into a site that nobody serves, the way a consumer would.
fn give_up(data: &Path, group: &str, letters: &[(i64, &'static [u8])]) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let database = madang_sqlite::open(SqliteOptions::in_directory(data), Arc::new(SystemClock)).unwrap();
        // A group that no server runs: what is replayed stays where it was put.
        let message = |(id, payload): &(i64, &'static [u8])| Message {
            event_id: EventId::from_raw(*id),
            topic: "madang.article.v1.retired.dlq".to_owned(),
            key: "77".to_owned(),
            shard: ShardId::HOME,
            occurred_at: Timestamp::from_millis(1_800_000_000_000),
            headers: vec![
                (header::ORIGINAL_TOPIC.to_owned(), "madang.article.v1".to_owned()),
                (header::GROUP.to_owned(), group.to_owned()),
                (header::REASON.to_owned(), "the handler said no".to_owned()),
            ],
            payload: Bytes::from_static(payload),
        };
        let messages: Vec<_> = letters.iter().map(message).collect();
        SqliteLog::new(database.clone()).publish(&messages).await.unwrap();
        database.close().await;
    });
}

#[test]
fn dead_letters_are_listed_shown_and_replayed() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    Start::in_directory(data).start().stop();
    give_up(data, "view", &[(5, b"{\"some\":\"event\"}"), (6, b"\xff\x00"), (7, b"third")]);

    let listed = run(data, &["dlq", "list"], "").expect(0);
    assert!(listed.stdout.contains("the handler said no") && listed.stdout.contains("3 of 3"), "{listed:?}");
    let id = listed.stdout.split_whitespace().next().unwrap().to_owned();
    let shown = run(data, &["dlq", "show", &id], "").expect(0);
    assert!(shown.stdout.contains("{\"some\":\"event\"}") && shown.stdout.contains("event: 5"), "{shown:?}");
    run(data, &["dlq", "show", "999"], "").expect(1);

    let dry = run(data, &["dlq", "replay", &id, "--dry-run"], "").expect(0);
    assert!(dry.stdout.contains("madang.article.v1.view.retry.5s"), "{dry:?}");
    assert!(run(data, &["dlq", "list"], "").expect(0).stdout.contains("3 of 3"), "nothing was done");
    run(data, &["dlq", "replay", &id], "").expect(0);
    run(data, &["dlq", "replay", &id], "").expect(1);

    assert!(run(data, &["dlq", "list"], "").expect(0).stdout.contains("2 of 2"));
    let all = run(data, &["dlq", "replay", "--all"], "").expect(0);
    assert!(all.stdout.contains("2 sent again, 0 failed"), "{all:?}");
    assert!(run(data, &["dlq", "list"], "").expect(0).stdout.contains("0 of 0"));
    let rungs: i64 = crate::database::open(data)
        .query_row("SELECT count(*) FROM event_log WHERE topic = 'madang.article.v1.view.retry.5s'", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(rungs, 3, "on the first rung of its own group");

    give_up(data, "retired", &[(8, b"fourth")]);
    let refused = run(data, &["dlq", "replay", "--all"], "").expect(1).stdout;
    assert!(refused.contains("there is no consumer group retired"), "{refused}");
    assert!(
        run(data, &["dlq", "list"], "").expect(0).stdout.contains("1 of 1"),
        "nobody reads what it would be put on"
    );
}

#[test]
fn a_data_directory_is_its_owners_alone_and_so_is_every_file_in_it() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o755)).unwrap();
    let refused = run(&data, &["serve", "--listen", "127.0.0.1:0"], "").expect(1);
    assert!(refused.stderr.contains(&format!("chmod 700 {}", data.display())), "{refused:?}");
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o700)).unwrap();
    let server = Start::in_directory(&data).with_admin().start();
    let files: Vec<_> = data.read_dir().unwrap().map(|entry| entry.unwrap()).collect();
    assert!(files.iter().any(|file| file.file_name() == DATABASE_FILE) && files.len() >= 4, "{files:?}");
    for file in files {
        let mode = file.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode & 0o077, 0, "{} has mode {mode:o}", file.path().display());
    }
    server.stop();
}
