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
