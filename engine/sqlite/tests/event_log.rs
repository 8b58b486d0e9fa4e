//! The embedded event log keeps the port's promises.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

mod support;

use std::sync::Arc;

use madang_conformance::dead_letters::DeadLettersHarness;
use madang_conformance::event_log::EventLogHarness;
use madang_engine_sqlite::{SqliteDeadLetters, SqliteLog};
use madang_messaging::{DeadLetters, EventLog};
use support::{Plain, TestDb};

struct Harness {
    test: TestDb,
    letters: SqliteDeadLetters<Plain>,
}

impl Harness {
    fn on(test: TestDb) -> Self {
        let letters = SqliteDeadLetters::new(test.db.clone());
        Self { test, letters }
    }
}

#[async_trait::async_trait]
impl EventLogHarness for Harness {
    async fn fresh() -> Self {
        Self::on(TestDb::fresh())
    }

    async fn restarted(self) -> Self {
        self.test.db.close().await;
        let db = self.test.reopen();
        Self::on(TestDb { db, ..self.test })
    }

    fn log(&self) -> Arc<dyn EventLog> {
        Arc::new(SqliteLog::new(self.test.db.clone()))
    }

    fn dead_letters(&self) -> &dyn DeadLetters {
        &self.letters
    }
}

#[async_trait::async_trait]
impl DeadLettersHarness for Harness {
    async fn fresh() -> Self {
        Self::on(TestDb::fresh())
    }

    fn dead_letters(&self) -> &dyn DeadLetters {
        &self.letters
    }

    fn log(&self) -> Arc<dyn EventLog> {
        Arc::new(SqliteLog::new(self.test.db.clone()))
    }
}

madang_conformance::event_log_suite!(Harness);
madang_conformance::dead_letters_suite!(Harness);
