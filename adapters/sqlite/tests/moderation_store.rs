//! Reports and the log of moderation on SQLite keep the port's promises, and nobody changes the log.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;

use madang_conformance::moderation_store::ModerationStoreHarness;
use madang_member::{MemberStore, ModerationStore};
use madang_sqlite::{Lane, SqliteMembers, SqliteModeration};
use support::{TestDb, broken};

struct Harness(TestDb);

impl ModerationStoreHarness for Harness {
    async fn fresh() -> Self {
        Self(TestDb::fresh())
    }

    fn store(&self) -> Arc<dyn ModerationStore> {
        Arc::new(SqliteModeration::new(self.0.db.clone()))
    }

    fn members(&self) -> Arc<dyn MemberStore> {
        Arc::new(SqliteMembers::new(self.0.db.clone()))
    }
}

madang_conformance::moderation_store_suite!(Harness);

#[tokio::test]
async fn nobody_changes_or_removes_a_line_of_the_log() {
    let test = TestDb::fresh();
    let line = "INSERT INTO moderation_act VALUES (1, 'role_given', 2, 'ann', 3, NULL, 4, 'admin', '')";
    test.db.write(Lane::People, move |tx| tx.execute(line, []).map_err(broken)).await.unwrap();
    for attempt in ["UPDATE moderation_act SET reason = 'other'", "DELETE FROM moderation_act"] {
        let refused = test.db.write(Lane::People, move |tx| tx.execute(attempt, []).map_err(broken)).await;
        assert!(refused.is_err(), "{attempt}");
    }
}

#[test]
fn no_statement_of_either_database_changes_or_removes_a_line_of_the_log() {
    let adapters = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let (mut folders, mut looked_at) = (vec![adapters.join("sqlite/sql"), adapters.join("mysql/sql")], 0);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let statement = std::fs::read_to_string(&path).unwrap();
            let code: Vec<&str> = statement.lines().filter(|line| !line.starts_with("--")).collect();
            let (code, name) = (code.join(" ").to_uppercase(), path.display());
            looked_at += usize::from(code.contains("MODERATION_ACT"));
            let harmless = code.starts_with("SELECT") || code.starts_with("INSERT INTO MODERATION_ACT");
            assert!(!code.contains("MODERATION_ACT") || harmless && !code.contains("ON DUPLICATE"), "{name}");
        }
    }
    assert_eq!(looked_at, 2 * 3, "one writes, two read, on each");
}
