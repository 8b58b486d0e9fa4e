//! The outbox on MySQL keeps the port's promises.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::program;
use crate::support::{TestDb, Topology};
use madang_conformance::outbox::OutboxHarness;
use madang_engine_mysql::{MysqlDeadLetters, MysqlOutbox};
use madang_kernel::ManualClock;
use madang_messaging::{DeadLetters, Message, Outbox};

struct Harness<T> {
    test: TestDb,
    outbox: MysqlOutbox,
    letters: MysqlDeadLetters,
    topology: PhantomData<T>,
}

#[async_trait::async_trait]
impl<T: Topology> OutboxHarness for Harness<T> {
    async fn fresh() -> Self {
        let test = TestDb::fresh::<T>(program::tallies()).await;
        let (outbox, letters) = (MysqlOutbox::new(&test.db), MysqlDeadLetters::new(&test.db));
        Self { test, outbox, letters, topology: PhantomData }
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
        self.outbox.insert(messages).await.unwrap();
    }
}

on_one_and_two_servers!(madang_conformance::outbox_suite, Harness);
