//! Likes on MySQL keep the port's promises.

use std::marker::PhantomData;
use std::sync::Arc;

use madang_board::ArticleId;
use madang_conformance::like_store::LikeStoreHarness;
use madang_kernel::Id;
use madang_like::LikeStore;
use madang_messaging::Message;
use madang_mysql::{MysqlLikes, Service};

use crate::support::{TestDb, Topology};

struct Harness<T> {
    test: TestDb,
    likes: MysqlLikes,
    topology: PhantomData<T>,
}

impl<T: Topology> LikeStoreHarness for Harness<T> {
    async fn fresh() -> Self {
        let test = TestDb::fresh::<T>(Service::Like).await;
        let likes = MysqlLikes::new(test.db.clone());
        Self { test, likes, topology: PhantomData }
    }

    fn store(&self) -> Arc<dyn LikeStore> {
        Arc::new(self.likes.clone())
    }

    async fn committed(&self) -> Vec<Message> {
        self.test.outbox().await
    }

    async fn count_and_rows(&self, article: ArticleId) -> (Option<u64>, u64) {
        let id = article.raw();
        let sql = format!(
            "SELECT (SELECT like_count FROM article_like_count WHERE article_id = {id}),
                    (SELECT COUNT(*) FROM article_like WHERE article_id = {id})"
        );
        // The other servers know nothing of it.
        let rows: Vec<(Option<u64>, u64)> = self.test.rows(&sql).await;
        rows.into_iter().fold((None, 0), |(count, rows), (c, r)| (count.or(c), rows + r))
    }

    async fn differences(&self) -> Vec<String> {
        self.test.like_differences().await
    }
}

on_one_and_two_servers!(madang_conformance::like_store_suite, Harness);
