//! View counts on MySQL keep the port's promises.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::Arc;

use madang_conformance::view_store::ViewStoreHarness;
use madang_event::{Envelope, Event};
use madang_kernel::{Id, ManualClock};
use madang_messaging::Message;
use madang_mysql::{MysqlViews, Service};
use madang_view::ViewStore;

use crate::support::{TestDb, Topology};

struct Harness<T> {
    test: TestDb,
    views: MysqlViews,
    topology: PhantomData<T>,
}

impl<T: Topology> ViewStoreHarness for Harness<T> {
    async fn fresh() -> Self {
        let test = TestDb::fresh::<T>(Service::View).await;
        let views = MysqlViews::new(test.db.clone());
        Self { test, views, topology: PhantomData }
    }

    fn store(&self) -> Arc<dyn ViewStore> {
        Arc::new(self.views.clone())
    }

    fn clock(&self) -> &ManualClock {
        &self.test.clock
    }

    async fn committed(&self) -> Vec<Message> {
        self.test.outbox().await
    }

    /// Every stored count is the one that its newest event told, and none is stored of an article that is gone.
    async fn differences(&self) -> Vec<String> {
        let mut told: HashMap<i64, (u64, u64)> = HashMap::new();
        for message in self.test.outbox().await {
            let envelope = Envelope::decode(&message.payload).unwrap();
            let Event::ArticleViewed(views) = envelope.event else { panic!("no event of views") };
            let newest = told.entry(envelope.key.raw()).or_default();
            *newest = (*newest).max((envelope.version, views.view_count));
        }
        let sql = "SELECT c.article_id, c.version, c.view_count, g.article_id IS NOT NULL FROM article_view_count c
                   LEFT JOIN view_article_gone g ON g.shard = c.shard AND g.article_id = c.article_id";
        let stored: Vec<(i64, u64, u64, bool)> = self.test.rows(sql).await;
        let wrong = stored
            .into_iter()
            .filter(|(article, version, count, gone)| *gone || told.get(article) != Some(&(*version, *count)));
        wrong.map(|row| format!("{row:?}")).collect()
    }
}

on_one_and_two_servers!(madang_conformance::view_store_suite, Harness);
