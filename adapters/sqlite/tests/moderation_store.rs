//! Reports and the log of moderation on SQLite keep the port's promises, and nobody changes the log.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;

use madang_conformance::moderation_store::ModerationStoreHarness;
use madang_member::{MemberStore, ModerationStore};
use madang_sqlite::{Priority, SqliteMembers, SqliteModeration};
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
    test.db.write(Priority::Foreground, move |tx| tx.execute(line, []).map_err(broken)).await.unwrap();
    for attempt in ["UPDATE moderation_act SET reason = 'other'", "DELETE FROM moderation_act"] {
        let refused = test.db.write(Priority::Foreground, move |tx| tx.execute(attempt, []).map_err(broken)).await;
        assert!(refused.is_err(), "{attempt}");
    }
}

#[test]
fn no_statement_of_either_database_changes_or_removes_a_line_of_the_log() {
    let adapters = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let (mut folders, mut adding) = (vec![adapters.join("sqlite/sql"), adapters.join("mysql/sql")], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let statement = std::fs::read_to_string(&path).unwrap();
            let code: Vec<&str> = statement.lines().filter(|line| !line.starts_with("--")).collect();
            let code = code.join(" ").to_uppercase();
            if !code.contains("MODERATION_ACT") || code.starts_with("SELECT") {
                continue;
            }
            // A line that is there already meets this ending, and stays what it is.
            let added = code.trim_end().trim_end_matches("ON DUPLICATE KEY UPDATE ACT_ID = ACT_ID");
            let only_adds = added.starts_with("INSERT INTO MODERATION_ACT") && !added.contains("ON DUPLICATE");
            assert!(only_adds, "{}", path.display());
            adding.push(path.file_name().unwrap().to_owned());
        }
    }
    adding.sort();
    assert_eq!(adding, ["import_acts.sql", "insert_act.sql", "insert_act.sql"]);
}
