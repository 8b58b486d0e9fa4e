//! The inbox on SQLite keeps the port's promises, and stores the offset with the effect.

mod support;

use std::sync::Arc;

use madang_conformance::inbox::InboxHarness;
use madang_kernel::{EventId, Id, ManualClock};
use madang_messaging::{Applied, GroupId, HandlerError, Inbox, Position};
use madang_sqlite::{Lane, SqliteEffect, SqliteInbox, SqliteLog};
use support::{TestDb, broken};

struct Harness {
    test: TestDb,
    inbox: Arc<SqliteInbox>,
}

fn write_down(text: &str, then: Result<(), HandlerError>) -> SqliteEffect {
    let text = text.to_owned();
    Box::new(move |tx| {
        tx.execute("INSERT INTO written (text) VALUES (?1)", [text])
            .map_err(|error| HandlerError::Failed(error.to_string()))?;
        then
    })
}

#[async_trait::async_trait]
impl InboxHarness for Harness {
    type Inbox = SqliteInbox;

    async fn fresh() -> Self {
        let test = TestDb::fresh();
        let table = "CREATE TABLE written (number INTEGER PRIMARY KEY, text TEXT NOT NULL)";
        test.db.write(Lane::People, |tx| tx.execute_batch(table).map_err(broken)).await.unwrap();
        let inbox = Arc::new(SqliteInbox::new(test.db.clone()));
        Self { test, inbox }
    }

    fn inbox(&self) -> Arc<SqliteInbox> {
        Arc::clone(&self.inbox)
    }

    fn clock(&self) -> &Arc<ManualClock> {
        &self.test.clock
    }

    fn effect(&self, text: &str) -> SqliteEffect {
        write_down(text, Ok(()))
    }

    fn failing_effect(&self, text: &str) -> SqliteEffect {
        write_down(text, Err(HandlerError::Failed("as asked".into())))
    }

    async fn written(&self) -> Vec<String> {
        let read = self.test.db.read(|snapshot| {
            let mut all = snapshot.prepare("SELECT text FROM written ORDER BY number").map_err(broken)?;
            let texts = all.query_map([], |row| row.get(0)).map_err(broken)?;
            texts.collect::<Result<_, _>>().map_err(broken)
        });
        read.await.unwrap()
    }
}

madang_conformance::inbox_suite!(Harness);

fn position(offset: i64) -> Position {
    Position { topic: "topic".into(), partition: 0, offset }
}

#[tokio::test]
async fn the_offset_commits_with_the_effect_or_not_at_all() {
    let harness = Harness::fresh().await;
    let (group, log) = (GroupId::new("readers"), SqliteLog::new(harness.test.db.clone()));
    log.register_group(&group, &["topic".to_owned()]).await.unwrap();
    let event = EventId::from_raw;

    let effect = harness.effect("one");
    harness.inbox.apply_once(&group, event(1), Some(&position(7)), effect).await.unwrap();
    assert_eq!(log.groups().await.unwrap()[0].done, 7);

    let effect = harness.failing_effect("two");
    harness.inbox.apply_once(&group, event(2), Some(&position(8)), effect).await.unwrap_err();
    assert_eq!(log.groups().await.unwrap()[0].done, 7);

    // A duplicate has no effect and is still done.
    let effect = harness.effect("one again");
    let applied = harness.inbox.apply_once(&group, event(1), Some(&position(9)), effect).await.unwrap();
    assert_eq!((applied, log.groups().await.unwrap()[0].done), (Applied::Before, 9));
}

#[tokio::test]
async fn a_merge_stores_its_offset_in_its_own_transaction() {
    let harness = Harness::fresh().await;
    let (group, log) = (GroupId::new("readers"), SqliteLog::new(harness.test.db.clone()));
    log.register_group(&group, &["topic".to_owned()]).await.unwrap();

    log.apply_with_offset(&group, &[position(3)], write_down("kept", Ok(()))).await.unwrap();
    let failing = write_down("lost", Err(HandlerError::Failed("as asked".into())));
    let failed = log.apply_with_offset(&group, &[position(4)], failing).await;
    assert!(matches!(failed, Err(HandlerError::Failed(_))));
    assert_eq!(log.groups().await.unwrap()[0].done, 3);
    assert_eq!(harness.written().await, ["kept"]);
}
