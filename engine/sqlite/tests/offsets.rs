//! The offsets of a group commit with its effect, or not at all.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

mod support;

use madang_engine_sqlite::{Priority, SqliteLog};
use madang_kernel::StoreError;
use madang_messaging::{GroupId, Position};
use support::{Plain, TestDb, broken};

/// Has the group `readers` write something down and store how far it is, in a call that then ends so.
async fn apply(test: &TestDb, text: &'static str, offset: i64, end: Result<(), StoreError>) -> Result<(), StoreError> {
    let apply = test.db.write(Priority::Background, move |tx| {
        tx.execute("INSERT INTO written VALUES (?1)", [text]).map_err(broken)?;
        tx.store_offsets(&GroupId::new("readers"), &[Position { topic: "topic".into(), partition: 0, offset }])?;
        end
    });
    apply.await
}

#[tokio::test]
async fn an_effect_stores_its_offset_in_its_own_transaction() {
    let test = TestDb::fresh();
    let table = "CREATE TABLE written (text TEXT NOT NULL)";
    test.db.write(Priority::Foreground, |tx| tx.execute_batch(table).map_err(broken)).await.unwrap();
    let log = SqliteLog::<Plain>::new(test.db.clone());
    log.register_group(&GroupId::new("readers"), &["topic".to_owned()]).await.unwrap();

    apply(&test, "kept", 3, Ok(())).await.unwrap();
    apply(&test, "lost", 4, Err(StoreError::unavailable("test", "as asked"))).await.unwrap_err();
    assert_eq!(log.groups().await.unwrap()[0].done, 3);
    let written = test.db.read(|snapshot| {
        snapshot.query_row("SELECT group_concat(text) FROM written", [], |row| row.get::<_, String>(0)).map_err(broken)
    });
    assert_eq!(written.await.unwrap(), "kept");
}
