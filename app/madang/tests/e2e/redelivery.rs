//! Delivery is at least once, effects are once: what is delivered again, or read again after a restart, changes nothing.

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
