//! Members on SQLite keep the port's promises.

mod support;

use std::sync::Arc;

use madang_conformance::member_store::MemberStoreHarness;
use madang_member::MemberStore;
use madang_sqlite::SqliteMembers;
use support::TestDb;

struct Harness(TestDb);

impl MemberStoreHarness for Harness {
    async fn fresh() -> Self {
        Self(TestDb::fresh())
    }

    fn store(&self) -> Arc<dyn MemberStore> {
        Arc::new(SqliteMembers::new(self.0.db.clone()))
    }
}

madang_conformance::member_store_suite!(Harness);
