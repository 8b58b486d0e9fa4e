//! The node leases on SQLite keep the port's promises.

mod support;

use std::sync::Arc;

use madang_conformance::node_leases::NodeLeasesHarness;
use madang_engine_sqlite::SqliteLeases;
use madang_kernel::{ManualClock, NodeLeases};
use support::{Plain, TestDb};

struct Harness {
    test: TestDb,
    leases: SqliteLeases<Plain>,
}

#[async_trait::async_trait]
impl NodeLeasesHarness for Harness {
    async fn fresh() -> Self {
        let test = TestDb::fresh();
        let leases = SqliteLeases::new(test.db.clone());
        Self { test, leases }
    }

    fn leases(&self) -> &dyn NodeLeases {
        &self.leases
    }

    fn clock(&self) -> &Arc<ManualClock> {
        &self.test.clock
    }
}

madang_conformance::node_leases_suite!(Harness);
