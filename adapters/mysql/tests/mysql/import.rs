//! A site that moves here: rows come by their own keys, twice does no harm, and what comes later goes on above them.

use std::collections::BTreeMap;

use madang_kernel::{Clock, NodeLeases as _, StoreError};
use madang_mysql::{
    Begun, ImportCell, ImportError, ImportTable, Mysql, MysqlCheck, MysqlImport, MysqlLeases, Progress, Service,
};

use crate::support::{TestDb, TwoServers};
use ImportCell::{Int, Null};

const OTHERS: [Service; 5] = [Service::Article, Service::Comment, Service::Like, Service::View, Service::HotArticle];

struct Site {
    /// Drops its databases in the end.
    all: Vec<TestDb>,
    import: MysqlImport,
}

impl Site {
    async fn fresh() -> Self {
        let mut all = Vec::new();
        for service in [Service::Member].into_iter().chain(OTHERS) {
            all.push(TestDb::fresh::<TwoServers>(service).await);
        }
        let others = OTHERS.into_iter().zip(&all[1..]).map(|(service, test)| (service, test.db.clone()));
        let import = MysqlImport::new(all[0].db.clone(), others.collect());
        Self { all, import }
    }

    fn member(&self) -> &Mysql {
        &self.all[0].db
    }

    async fn take(&self, table: &str, rows: &[Vec<ImportCell>], done: u64) -> Result<(), StoreError> {
        let progress = Progress { last_key: format!("[{done}]").into_bytes(), rows: done };
        self.import.take(ImportTable::named(table).unwrap(), rows.to_vec(), &progress).await
    }

    async fn rows(&self, table: &str) -> u64 {
        self.import.counts().await.unwrap()[table]
    }
}

fn text(text: &str) -> ImportCell {
    ImportCell::Bytes(text.as_bytes().to_vec())
}

fn likes(articles: std::ops::Range<i64>) -> Vec<Vec<ImportCell>> {
    articles.map(|article| vec![Int(article << 22), Int(7), text("ann"), Int(1)]).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_copy_goes_on_and_takes_no_row_twice() {
    let site = Site::fresh().await;
    assert!(!MysqlImport::is_half_done(site.member()).await.unwrap());
    assert_eq!(site.import.begin("here", "as it was").await.unwrap(), Begun::Anew);
    assert!(MysqlImport::is_half_done(site.member()).await.unwrap());
    site.take("article_like", &likes(1..401), 400).await.unwrap();
    // The slice was written, and its note was not: it comes again.
    site.take("article_like", &likes(301..501), 500).await.unwrap();
    assert_eq!(site.rows("article_like").await, 500);
    let noted = Progress { last_key: b"[500]".to_vec(), rows: 500 };
    let expected = Begun::Again(BTreeMap::from([("article_like".to_owned(), noted)]));
    assert_eq!(site.import.begin("here", "as it was").await.unwrap(), expected);
    let on_each: Vec<i64> = site.all[3].rows("SELECT COUNT(*) FROM article_like").await;
    assert!(on_each.iter().all(|rows| *rows > 100), "both servers have their share: {on_each:?}");
    site.import.finish().await.unwrap();
    assert!(!MysqlImport::is_half_done(site.member()).await.unwrap());
    assert_eq!(site.import.begin("here", "as it is now").await.unwrap(), Begun::Finished);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_is_not_mixed_with_another_nor_with_what_it_became() {
    let site = Site::fresh().await;
    site.import.begin("here", "as it was").await.unwrap();
    assert!(matches!(site.import.begin("there", "as it was").await, Err(ImportError::OtherSite)));
    assert!(matches!(site.import.begin("here", "changed").await, Err(ImportError::SourceChanged)));
    let used = Site::fresh().await;
    used.take("like_article_gone", &[vec![Int(1 << 22)]], 1).await.unwrap();
    let refused = used.import.begin("here", "as it was").await;
    assert!(matches!(&refused, Err(ImportError::HoldsData { table, rows: 1 }) if table == "like_article_gone"));
    let busy = Site::fresh().await;
    let leases = MysqlLeases::new(busy.member());
    let lease = leases.acquire(60_000).await.unwrap();
    assert!(matches!(busy.import.begin("here", "as it was").await, Err(ImportError::InUse(1))));
    leases.release(lease, lease.from_ms).await.unwrap();
    assert_eq!(busy.import.begin("here", "as it was").await.unwrap(), Begun::Anew);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ids_and_revocations_go_on_above_those_that_came_along() {
    let site = Site::fresh().await;
    site.import.begin("here", "as it was").await.unwrap();
    let ahead = site.all[0].clock.now().as_millis() + 3_600_000;
    site.take("revocation", &[vec![Int(41), Int(9), Int(ahead), Null, Null, Null]], 1).await.unwrap();
    for (end, revocation) in [(ahead, 44), (ahead - 5_000, 1)] {
        site.import.go_on_above(end, revocation).await.unwrap();
    }
    let leases = MysqlLeases::new(site.member());
    for _ in 0..2 {
        let lease = leases.acquire(1_000).await.unwrap();
        assert!(lease.from_ms >= ahead, "no id is below one that came along: {lease:?}");
    }
    let head: Vec<i64> = site.all[0].rows("SELECT position FROM revocation_head").await;
    assert_eq!(head, [44]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scores_open_their_day_and_a_final_day_stays_final() {
    let site = Site::fresh().await;
    site.import.begin("here", "as it was").await.unwrap();
    let score = |day: i64| [day, 7 << 22, 1, 1, 2, 1, 3, 1, 0, 0, 0, 10].map(Int).to_vec();
    site.take("hot_day", &[vec![Int(20_261_114), Int(99)]], 1).await.unwrap();
    site.take("hot_score", &[score(20_261_114), score(20_261_115)], 2).await.unwrap();
    let hot = &site.all[5];
    let mut days: Vec<(i64, Option<i64>)> = hot.rows("SELECT day, finalised_at FROM hot_day").await;
    days.sort_unstable();
    assert_eq!(days, [(20_261_114, Some(99)), (20_261_115, None)]);
    assert_eq!(site.rows("hot_day").await, 1, "only those that are final are counted");
    let scores: Vec<i64> = hot.rows("SELECT falling_score FROM hot_score").await;
    assert_eq!(scores, [-10, -10]);
    assert!(MysqlCheck::new(Service::HotArticle, &hot.db).run(|_| {}).await.unwrap().is_sound());
}
