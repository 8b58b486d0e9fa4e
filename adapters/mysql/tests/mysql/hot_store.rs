//! Hot articles on MySQL keep the port's promises.

use std::marker::PhantomData;
use std::sync::Arc;

use madang_conformance::hot_store::HotStoreHarness;
use madang_hot_article::HotStore;
use madang_messaging::GroupId;
use madang_mysql::{MysqlHot, Service};
use mysql_async::prelude::Queryable;

use crate::support::{TestDb, Topology};

struct Harness<T> {
    test: TestDb,
    topology: PhantomData<T>,
}

impl<T: Topology> HotStoreHarness for Harness<T> {
    async fn fresh() -> Self {
        Self { test: TestDb::fresh::<T>(Service::HotArticle).await, topology: PhantomData }
    }

    fn store(&self) -> Arc<dyn HotStore> {
        Arc::new(MysqlHot::new(self.test.db.clone()))
    }

    async fn restart(&mut self) {
        self.test.db.close().await;
        self.test.db = self.test.another().await;
    }

    async fn join(&self, _group: &GroupId, _topics: &[String]) {}

    async fn stored_offset(&self, _group: &GroupId, _topic: &str) -> Option<i64> {
        None
    }

    async fn damage_scores(&self) {
        for server in 0..T::SHARDS.len() {
            let mut conn = self.test.connect(server).await;
            let sql = "UPDATE hot_score SET falling_score = -1000 - falling_score WHERE deleted = 0";
            conn.query_drop(sql).await.unwrap();
        }
    }

    async fn differences(&self) -> Vec<String> {
        self.test.hot_differences().await
    }
}

on_one_and_two_servers!(madang_conformance::hot_store_suite, Harness);
