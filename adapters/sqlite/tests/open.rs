//! A file of the version before opens with everything in it, and without the tables that nothing uses any more.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use madang_board::check::TableSizes;
use madang_board::{CommentId, MemberId, Role};
use madang_comment::{CommentStore as _, EditComment, EditOutcome};
use madang_kernel::{EventId, Id as _, StoreError, SystemClock, Timestamp};
use madang_member::{CreateMember, Member, MemberStore as _, NewMember, name_skeleton};
use madang_sqlite::{DATABASE_FILE, SqliteComments, SqliteLog, SqliteMembers, SqliteOptions};
use rusqlite::Connection;

mod embedded {
    refinery::embed_migrations!("migrations");
}

/// The last version that had an outbox, an inbox and instances.
const BEFORE: i32 = 7;

const ROWS: &str = "
INSERT INTO event_log VALUES (41, 1, 'madang.article.v1', '7', 0, 5, '[]', x'7b7d');
INSERT INTO log_group VALUES ('readers', 'madang.article.v1', 40, 0);
INSERT INTO node_lease VALUES (0, 1, 2);
INSERT INTO once_answer VALUES (1, 'POST /', 'key', x'00', x'00', 3);
INSERT INTO processed_event VALUES ('readers', 1, 1);
INSERT INTO instance VALUES ('relay', 'a', 1);";

const MEMBERS: &str = "
INSERT INTO member VALUES (1, 'admin', 'admin', 'admin', 'h', 1, NULL);
INSERT INTO member VALUES (2, 'аdmin', 'аdmin', 'member', 'h', 1, NULL);
INSERT INTO member VALUES (3, 'root_admin', 'root_admin', 'member', 'h', 1, NULL);
INSERT INTO member VALUES (4, 'root_admin\u{fe0f}', 'root_admin\u{fe0f}', 'member', 'h', 1, NULL);";

#[tokio::test]
async fn members_from_before_skeletons_keep_their_names_and_nobody_else_gets_their_looks() {
    let directory = tempfile::tempdir().unwrap();
    let mut file = Connection::open(directory.path().join(DATABASE_FILE)).unwrap();
    let mut migrations = embedded::migrations::runner().get_migrations().clone();
    migrations.retain(|step| i64::from(step.version()) <= 8);
    refinery::Runner::new(&migrations).run(&mut file).unwrap();
    file.execute_batch(MEMBERS).unwrap();
    drop(file);

    let db = madang_sqlite::open(SqliteOptions::in_directory(directory.path()), Arc::new(SystemClock)).unwrap();
    let members = SqliteMembers::new(db.clone());
    let mut given = Vec::new();
    for _ in 0..3 {
        given.push(members.give_skeletons(3).await.unwrap());
    }
    assert_eq!(given, [3, 1, 0], "and none is left");
    for name in ["admin", "аdmin", "root_admin", "root_admin\u{fe0f}"] {
        assert!(members.find_credentials(name).await.unwrap().is_some(), "{name}");
    }
    for (id, name) in [(5, "adrnin"), (6, "rооt_аdmin")] {
        let created_at = Timestamp::from_millis(1);
        let member = Member { member_id: MemberId::from_raw(id), name: name.into(), role: Role::Member, created_at };
        let (name_key, skeleton) = (name.to_owned(), name_skeleton(name));
        let new = NewMember { member, name_key, skeleton, password_hash: "h".into() };
        assert_eq!(members.create(new).await.unwrap(), CreateMember::NameTaken, "{name}");
    }
    db.close().await;
}

const COMMENTS: &str = "
INSERT INTO comment VALUES (5, 77, 5, 1, 0, 1000, NULL, 3, 'anna', 'Hello', '<p>Hello</p>');
INSERT INTO comment VALUES (6, 77, 6, 1, 1, 2000, NULL, NULL, NULL, NULL, NULL);
INSERT INTO comment VALUES (7, 77, 6, 2, 0, 3000, NULL, 3, 'anna', 'Reply', NULL);
INSERT INTO article_comment_count VALUES (77, 2, 3, 4, 7);";

#[tokio::test]
async fn comments_from_before_versions_are_at_their_first_and_can_be_corrected() {
    let directory = tempfile::tempdir().unwrap();
    let mut file = Connection::open(directory.path().join(DATABASE_FILE)).unwrap();
    let mut migrations = embedded::migrations::runner().get_migrations().clone();
    migrations.retain(|step| i64::from(step.version()) <= 13);
    refinery::Runner::new(&migrations).run(&mut file).unwrap();
    file.execute_batch(COMMENTS).unwrap();
    drop(file);

    let db = madang_sqlite::open(SqliteOptions::in_directory(directory.path()), Arc::new(SystemClock)).unwrap();
    let comments = SqliteComments::new(db.clone());
    for (id, version, written_ms) in [(5, 1, 1_000), (6, 2, 2_000), (7, 1, 3_000)] {
        let found = comments.find(CommentId::from_raw(id)).await.unwrap().unwrap();
        assert_eq!((found.version, found.modified_at.as_millis()), (version, written_ms), "comment {id}");
    }
    let edit = EditComment {
        comment_id: CommentId::from_raw(5),
        content: "Hello again".into(),
        content_html: "<p>Hello again</p>".into(),
        modified_at: Timestamp::from_millis(9_000),
        expected_version: Some(1),
        event_id: EventId::from_raw(8),
        act: None,
    };
    let EditOutcome::Edited(edited) = comments.edit(edit).await.unwrap() else { panic!("must be edited") };
    assert_eq!((edited.version, edited.modified_at.as_millis(), edited.created_at.as_millis()), (2, 9_000, 1_000));
    assert_eq!(comments.find(edited.comment_id).await.unwrap(), Some(edited));
    db.close().await;
}

fn history(file: &Connection) -> Vec<(i32, String)> {
    let mut all = file.prepare("SELECT version, checksum FROM refinery_schema_history ORDER BY version").unwrap();
    let rows = all.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

#[tokio::test]
async fn a_file_of_the_version_before_keeps_what_is_in_it() {
    let directory = tempfile::tempdir().unwrap();
    let mut file = Connection::open(directory.path().join(DATABASE_FILE)).unwrap();
    let mut migrations = embedded::migrations::runner().get_migrations().clone();
    migrations.retain(|step| i64::from(step.version()) <= i64::from(BEFORE));
    refinery::Runner::new(&migrations).run(&mut file).unwrap();
    file.execute_batch(ROWS).unwrap();
    let before = history(&file);
    assert_eq!(before.len(), BEFORE.unsigned_abs() as usize);

    let db = madang_sqlite::open(SqliteOptions::in_directory(directory.path()), Arc::new(SystemClock)).unwrap();
    let lag = SqliteLog::new(db.clone()).lag().await.unwrap();
    assert_eq!((lag.len(), lag[0].topics.entries), (1, 1));
    assert_eq!(madang_sqlite::sizes(&db).await.unwrap().of(TableSizes::IDEMPOTENCY), 1);
    let left = db.read(|reader| {
        let sql = "SELECT count(*) FROM sqlite_master
                   WHERE name IN ('outbox', 'outbox_parked_key', 'processed_event', 'instance')";
        reader.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(|error| StoreError::broken("test", error))
    });
    assert_eq!(left.await.unwrap(), 0);
    db.close().await;
    assert_eq!(history(&file)[..before.len()], before, "the history of the version before is as it was");
}
