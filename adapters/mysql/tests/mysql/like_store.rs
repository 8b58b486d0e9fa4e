//! Likes on MySQL keep the port's promises.

use std::marker::PhantomData;
use std::sync::Arc;

use madang_board::ArticleId;
use madang_conformance::like_store::LikeStoreHarness;
use madang_kernel::Id;
use madang_like::LikeStore;
use madang_messaging::Message;
use madang_mysql::{Counting, MysqlLikes, Service};

use crate::support::{TestDb, Topology};

/// A way of counting under test.
trait Way: Send + Sync + 'static {
    const COUNTING: Counting;
}

struct Harness<T, W> {
    test: TestDb,
    likes: MysqlLikes,
    stamped: PhantomData<(T, W)>,
}

impl<T: Topology, W: Way> LikeStoreHarness for Harness<T, W> {
    async fn fresh() -> Self {
        let test = TestDb::fresh::<T>(Service::Like).await;
        let likes = MysqlLikes::counting(test.db.clone(), W::COUNTING);
        Self { test, likes, stamped: PhantomData }
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

macro_rules! way {
    ($way:ident) => {
        pub(super) struct $way;

        impl super::Way for $way {
            const COUNTING: madang_mysql::Counting = madang_mysql::Counting::$way;
        }
    };
}

mod grouped {
    way!(Grouped);
    type Harness<T> = super::Harness<T, Grouped>;
    on_one_and_two_servers!(madang_conformance::like_store_suite, Harness);
}

// A transaction a call is slow, and where its shard lives makes no difference to it.
mod in_place {
    way!(UpdateInPlace);
    madang_conformance::like_store_suite!(super::Harness<crate::support::TwoServers, UpdateInPlace>);
}

mod for_update {
    way!(SelectForUpdate);
    madang_conformance::like_store_suite!(super::Harness<crate::support::TwoServers, SelectForUpdate>);
}

mod optimistic {
    way!(Optimistic);
    madang_conformance::like_store_suite!(super::Harness<crate::support::TwoServers, Optimistic>);
}
