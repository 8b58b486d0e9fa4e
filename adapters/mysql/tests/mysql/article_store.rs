//! Boards and articles on MySQL keep the port's promises.

use std::marker::PhantomData;
use std::sync::Arc;

use madang_article::ArticleStore;
use madang_conformance::article_store::ArticleStoreHarness;
use madang_kernel::ManualClock;
use madang_member::ActSource;
use madang_messaging::Message;
use madang_mysql::{MysqlActs, MysqlArticles, Service};

use crate::support::{TestDb, Topology};

struct Harness<T> {
    test: TestDb,
    articles: MysqlArticles,
    topology: PhantomData<T>,
}

impl<T: Topology> ArticleStoreHarness for Harness<T> {
    async fn fresh() -> Self {
        let test = TestDb::fresh::<T>(Service::Article).await;
        let articles = MysqlArticles::new(test.db.clone());
        Self { test, articles, topology: PhantomData }
    }

    fn store(&self) -> Arc<dyn ArticleStore> {
        Arc::new(self.articles.clone())
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
        self.test.article_differences().await
    }
}

on_one_and_two_servers!(madang_conformance::article_store_suite, Harness);
