//! The inbox on MySQL keeps the port's promises.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::program;
use crate::support::{TestDb, Topology};
use madang_conformance::inbox::InboxHarness;
use madang_engine_mysql::{MysqlEffect, MysqlInbox};
use madang_kernel::ManualClock;
use madang_messaging::HandlerError;
use mysql_async::prelude::Queryable;

struct Harness<T> {
    test: TestDb,
    inbox: Arc<MysqlInbox>,
    topology: PhantomData<T>,
}

fn write_down(text: &str, fails: bool) -> MysqlEffect {
    let text = text.to_owned();
    Box::new(move |mut tx| {
        let text = text.clone();
        Box::pin(async move {
            tx.execute("INSERT INTO written (text) VALUES (?)", (text,)).await?;
            if fails { Err(HandlerError::Failed("as asked".into()).into()) } else { Ok(()) }
        })
    })
}

#[async_trait::async_trait]
impl<T: Topology> InboxHarness for Harness<T> {
    type Inbox = MysqlInbox;

    async fn fresh() -> Self {
        let test = TestDb::fresh::<T>(program::tallies()).await;
        for server in 0..test.options.servers.len() {
            let table = "CREATE TABLE written (number BIGINT AUTO_INCREMENT PRIMARY KEY, text VARCHAR(64) NOT NULL)";
            let mut conn = test.connect(server).await;
            conn.query_drop(table).await.unwrap();
            conn.disconnect().await.unwrap();
        }
        let inbox = Arc::new(MysqlInbox::new(&test.db));
        Self { test, inbox, topology: PhantomData }
    }

    fn inbox(&self) -> Arc<MysqlInbox> {
        Arc::clone(&self.inbox)
    }

    fn clock(&self) -> &Arc<ManualClock> {
        &self.test.clock
    }

    fn effect(&self, text: &str) -> MysqlEffect {
        write_down(text, false)
    }

    fn failing_effect(&self, text: &str) -> MysqlEffect {
        write_down(text, true)
    }

    async fn written(&self) -> Vec<String> {
        self.test.rows("SELECT text FROM written ORDER BY number").await
    }
}

on_one_and_two_servers!(madang_conformance::inbox_suite, Harness);
