//! Membership on SQLite keeps the port's promises.

mod support;

use std::time::Duration;

use madang_conformance::membership::MembershipHarness;
use madang_messaging::Membership;
use madang_sqlite::SqliteMembership;
use support::TestDb;

struct Harness {
    test: TestDb,
    membership: SqliteMembership,
}

#[async_trait::async_trait]
impl MembershipHarness for Harness {
    async fn fresh() -> Self {
        let test = TestDb::fresh();
        let membership = SqliteMembership::new(test.db.clone());
        Self { test, membership }
    }

    fn membership(&self) -> &dyn Membership {
        &self.membership
    }

    async fn pass(&self, span: Duration) {
        self.test.clock.advance(span);
    }
}

madang_conformance::membership_suite!(Harness);
