//! Comments on MySQL keep the port's promises.

use std::marker::PhantomData;
use std::sync::Arc;

use madang_comment::CommentStore;
use madang_conformance::comment_store::CommentStoreHarness;
use madang_kernel::ManualClock;
use madang_member::ActSource;
use madang_messaging::Message;
use madang_mysql::{MysqlActs, MysqlComments, Service};

use crate::support::{TestDb, Topology};

struct Harness<T> {
    test: TestDb,
    comments: MysqlComments,
    topology: PhantomData<T>,
}

impl<T: Topology> CommentStoreHarness for Harness<T> {
    async fn fresh() -> Self {
        let test = TestDb::fresh::<T>(Service::Comment).await;
        let comments = MysqlComments::new(test.db.clone());
        Self { test, comments, topology: PhantomData }
    }

    fn store(&self) -> Arc<dyn CommentStore> {
        Arc::new(self.comments.clone())
    }

    fn acts(&self) -> Arc<dyn ActSource> {
        Arc::new(MysqlActs::new(self.test.db.clone()))
    }

    fn clock(&self) -> &ManualClock {
        &self.test.clock
    }

    async fn committed(&self) -> Vec<Message> {
        self.test.outbox().await
    }

    async fn differences(&self) -> Vec<String> {
        self.test.comment_differences().await
    }
}

on_one_and_two_servers!(madang_conformance::comment_store_suite, Harness);
