//! Every table of a migrated database is named as one whose rows go with their shard, or as a server's own; and rows of a shard
//! that a server does not hold are nobody's.

use std::collections::BTreeSet;

use madang_article::ArticleStore;
use madang_board::{ArticleId, BoardId, MemberId};
use madang_comment::CommentStore;
use madang_kernel::{Id, PageSize, ShardId};
use madang_member::ActSource;
use madang_mysql::{Database, MysqlActs, MysqlArticles, MysqlCheck, MysqlComments, Service};
use mysql_async::prelude::Queryable;

use crate::support::{OneServer, TestDb, TwoServers};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_table_is_named() {
    for service in Service::ALL {
        let test = TestDb::fresh::<OneServer>(service).await;
        let found: BTreeSet<String> = test.rows::<String>("SHOW TABLES").await.into_iter().collect();
        let database = Database::from(service);
        let named = database.moved_tables().chain(database.tables_that_stay()).map(str::to_owned);
        assert_eq!(found, named.collect(), "{}: see moved_tables.rs", service.name());
        let moved: BTreeSet<&str> = database.moved_tables().collect();
        let keys: Vec<(String, String)> = test
            .rows(
                "SELECT TABLE_NAME, COLUMN_NAME FROM information_schema.STATISTICS
                 WHERE TABLE_SCHEMA = DATABASE() AND INDEX_NAME = 'PRIMARY' AND SEQ_IN_INDEX = 1",
            )
            .await;
        for (table, column) in keys.iter().filter(|(table, _)| moved.contains(table.as_str())) {
            assert_eq!(column, "shard", "{table}");
        }
    }
}

/// An id of a shard; the first server holds those below 32.
fn id<T: Id>(shard: u8, number: i64) -> T {
    T::from_raw(1_000 << 22 | i64::from(shard) << 16 | number)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_and_checks_leave_out_what_a_server_does_not_hold() {
    let test = TestDb::fresh::<TwoServers>(Service::Article).await;
    let mut conn = test.connect(0).await;
    for (shard, number) in [(40_u8, 9_i64), (40, 8), (40, 7), (5, 2), (5, 1)] {
        let (board, article): (BoardId, ArticleId) = (id(shard, 0), id(shard, number));
        let counter = format!(
            "INSERT IGNORE INTO board_article_count (shard, board_id, article_count, version, greatest_id) VALUES ({shard}, {}, 99, 99, 1)",
            board.raw()
        );
        let row = format!(
            "INSERT INTO article (shard, article_id, board_id, writer_id, version, created_at, modified_at, writer_name, title, content, content_html) VALUES ({shard}, {}, {}, 77, 1, 1, 1, 'a', 't', '', '')",
            article.raw(),
            board.raw()
        );
        let act = format!(
            "INSERT INTO moderation_act (shard, act_id, kind, moderator_id, moderator_name, subject, acted_at, detail, reason) VALUES ({shard}, {}, 'article_deleted', 1, 'm', 1, 1, '', '')",
            article.raw()
        );
        for sql in [counter, row, act] {
            conn.query_drop(sql).await.unwrap();
        }
    }
    let size = PageSize::new("size", 1).unwrap();
    let store = MysqlArticles::new(test.db.clone());
    let listed = store.by_writer(MemberId::from_raw(77), None, size).await.unwrap();
    let ids: Vec<ArticleId> = listed.items.iter().map(|article| article.article_id).collect();
    assert_eq!(ids, [id::<ArticleId>(5, 2)], "those of shard 40 would come first");
    assert!(listed.next.is_some(), "and there is one more");
    let acts = MysqlActs::new(test.db.clone()).acts(None, None, size).await.unwrap();
    assert_eq!(acts.items.iter().map(|act| act.act_id.shard().number()).collect::<Vec<_>>(), [5]);
    let report = MysqlCheck::new(Service::Article, &test.db).run(|_| {}).await.unwrap();
    assert_eq!((report.boards, report.articles), (1, 2));

    let test = TestDb::fresh::<TwoServers>(Service::Comment).await;
    let mut conn = test.connect(0).await;
    let of_server = |held: bool| {
        (1..).map(ArticleId::from_raw).filter(move |article| (ShardId::of_parts(*article).number() < 32) == held)
    };
    let (foreign, own) = (of_server(false).take(3), of_server(true).take(1));
    for article in foreign.chain(own) {
        let shard = ShardId::of_parts(article).number();
        conn.query_drop(format!("INSERT INTO article_comment_count (shard, article_id, comment_count, row_count, version, greatest_id) VALUES ({shard}, {}, 5, 5, 5, 1)", article.raw())).await.unwrap();
    }
    let counted = MysqlComments::new(test.db.clone()).counted_articles(None, size).await.unwrap();
    assert_eq!(counted, of_server(true).take(1).collect::<Vec<_>>());
    let report = MysqlCheck::new(Service::Comment, &test.db).run(|_| {}).await.unwrap();
    assert_eq!(report.findings.len(), 1, "{:?}", report.findings);
}
