//! Delivery is at least once, effects are once: what is delivered again, or read again after a restart, changes nothing,
//! and what was never delivered is found.

use std::path::Path;

use serde_json::Value;

use crate::database::{MARKS, PARTS, rows_of};
use crate::deleted_article::fill;
use crate::server::{ADMIN, Start, TestServer, eventually};
use crate::{command, database};

/// Makes every group read the whole log again, as after a crash before any offset was stored.
fn forget_offsets(data: &Path) {
    let file = rusqlite::Connection::open(data.join(madang_sqlite::DATABASE_FILE)).unwrap();
    assert!(file.execute("UPDATE log_group SET done = 0", []).unwrap() >= 3);
}

fn groups_are_at_the_head(data: &Path) {
    eventually("every group has read the log", || {
        let sql = "SELECT count(*) FROM log_group g WHERE done < (SELECT max(position) FROM event_log l \
                   WHERE l.topic = g.topic)";
        (database::number(&database::open(data), sql) == 0).then_some(())
    });
}

/// Everything the API tells of an article's parts.
fn told(server: &TestServer, article: &str) -> Vec<Value> {
    let parts = ["comments", "comments/count", "like", "likes", "views"];
    parts.map(|part| server.get(&format!("/api/v1/articles/{article}/{part}")).json(200)).into()
}

#[test]
fn a_deletion_delivered_again_and_a_restart_change_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    let server = Start::in_directory(data).with_admin().start();
    let (token, board) = (server.sign_in(ADMIN), server.general());
    let members = server.seeded_members(3);
    let (deleted, kept) = (server.article_id(&board, &token), server.article_id(&board, &token));
    fill(&server, &deleted, &members);
    fill(&server, &kept, &members);
    let path = format!("/api/v1/articles/{deleted}");
    assert_eq!(server.call("DELETE", &path).token(&token).send().status, 204);
    let before = told(&server, &kept);
    groups_are_at_the_head(data);
    server.stop();
    let entries = database::log_entries(&database::open(data));

    for _ in 0..2 {
        forget_offsets(data);
        let server = Start::in_directory(data).start();
        groups_are_at_the_head(data);
        assert_eq!(told(&server, &kept), before);
        for part in ["comments", "like", "likes", "views"] {
            server.get(&format!("{path}/{part}")).problem(404, part);
        }
        command::run(data, &["check"], "").expect(0);
        server.stop();
        let file = database::open(data);
        assert_eq!((rows_of(&file, PARTS, &deleted), rows_of(&file, MARKS, &deleted)), ([0; 5], [1; 3]));
        assert_eq!((rows_of(&file, PARTS, &kept), rows_of(&file, MARKS, &kept)), ([6, 1, 3, 1, 1], [0; 3]));
        assert_eq!(database::log_entries(&file), entries, "nothing new is reported");
        drop(file);
        command::run(data, &["check"], "").expect(0);
    }
}

fn by_hand(data: &Path, statements: &str) {
    let file = rusqlite::Connection::open(data.join(madang_sqlite::DATABASE_FILE)).unwrap();
    file.execute_batch(statements).unwrap_or_else(|error| panic!("{statements}: {error}"));
}

#[test]
fn groups_that_fell_behind_find_the_deletions_they_missed() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path();
    let server = Start::in_directory(data).with_admin().start();
    let (token, board) = (server.sign_in(ADMIN), server.general());
    let members = server.seeded_members(3);
    let (deleted, kept) = (server.article_id(&board, &token), server.article_id(&board, &token));
    fill(&server, &deleted, &members);
    fill(&server, &kept, &members);
    let before = told(&server, &kept);
    server.stop();
    // Keeps everything that the deletion takes away, to put it back as if its event had never been heard.
    let copies =
        PARTS.map(|table| format!("CREATE TABLE kept_{table} AS SELECT * FROM {table} WHERE article_id = {deleted};"));
    by_hand(data, &copies.concat());
    let server = Start::in_directory(data).start();
    let path = format!("/api/v1/articles/{deleted}");
    assert_eq!(server.call("DELETE", &path).token(&token).send().status, 204);
    groups_are_at_the_head(data);
    server.stop();
    let restored =
        PARTS.map(|table| format!("INSERT INTO {table} SELECT * FROM kept_{table}; DROP TABLE kept_{table};"));
    let unmarked = MARKS.map(|table| format!("DELETE FROM {table};"));
    let unheard = format!(
        "DELETE FROM event_log WHERE topic = 'madang.article.v1' AND key = '{deleted}';
         UPDATE log_group SET fell_behind = 1 WHERE topic = 'madang.article.v1';"
    );
    by_hand(data, &[restored.concat(), unmarked.concat(), unheard].concat());
    assert_eq!(rows_of(&database::open(data), PARTS, &deleted), [6, 1, 3, 1, 1]);

    let server = Start::in_directory(data).start();
    eventually("the missed deletion is found", || {
        let file = database::open(data);
        (rows_of(&file, MARKS, &deleted) == [1; 3] && rows_of(&file, PARTS, &deleted) == [0; 5]).then_some(())
    });
    assert_eq!((told(&server, &kept), rows_of(&database::open(data), MARKS, &kept)), (before, [0; 3]));
    command::run(data, &["check"], "").expect(0);
}
