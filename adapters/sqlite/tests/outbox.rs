//! The outbox on SQLite keeps the port's promises.

mod support;

use std::sync::Arc;

use madang_conformance::outbox::OutboxHarness;
use madang_kernel::{Clock, ManualClock};
use madang_messaging::{DeadLetters, Message, Outbox};
use madang_sqlite::{Lane, SqliteDeadLetters, SqliteOutbox, insert_outbox};
use support::{TestDb, broken};

struct Harness {
    test: TestDb,
    outbox: SqliteOutbox,
    letters: SqliteDeadLetters,
}

#[async_trait::async_trait]
impl OutboxHarness for Harness {
    async fn fresh() -> Self {
        let test = TestDb::fresh();
        let outbox = SqliteOutbox::new(test.db.clone());
        let letters = SqliteDeadLetters::new(test.db.clone());
        Self { test, outbox, letters }
    }

    fn outbox(&self) -> &dyn Outbox {
        &self.outbox
    }

    fn dead_letters(&self) -> &dyn DeadLetters {
        &self.letters
    }

    fn clock(&self) -> &Arc<ManualClock> {
        &self.test.clock
    }

    async fn insert(&self, messages: &[Message]) {
        let (messages, now) = (messages.to_vec(), self.test.clock.now());
        let insert = self.test.db.write(Lane::People, move |tx| {
            messages.iter().try_for_each(|message| insert_outbox(tx, message, now)).map_err(broken)
        });
        insert.await.unwrap();
    }
}

madang_conformance::outbox_suite!(Harness);
