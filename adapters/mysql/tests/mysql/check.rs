//! A check finds nothing on a sound site, and every kind of damage.

use madang_board::ArticleId;
use madang_board::check::{CheckProgress, CheckReport};
use madang_kernel::{Id, ShardId};
use madang_mysql::{Mysql, MysqlCheck, Service};
use mysql_async::prelude::Queryable;

use crate::support::{OneServer, TestDb, Topology, TwoServers};

/// An article on shard 0 of a board whose articles are there too.
const ARTICLE: i64 = 71 << 22;

fn parts_shard() -> u8 {
    ShardId::of_parts(ArticleId::from_raw(ARTICLE)).number()
}

/// A small sound site.
fn site(service: Service) -> Vec<String> {
    let (shard, id) = (parts_shard(), ARTICLE);
    let statements: &[String] = match service {
        Service::Article => &[
            "INSERT INTO board (shard, board_id, slug, title, comment_mode, created_at) VALUES (0, 1, 'b', 'b', 'tree', 1)".into(),
            "INSERT INTO board_article_count (shard, board_id, article_count, version, greatest_id) VALUES (0, 1, 3, 3, 3)".into(),
            "INSERT INTO article_block VALUES (0, 1, 1, 0, 2), (0, 1, 1, 3, 1), (0, 1, 2, 0, 3)".into(),
            "INSERT INTO article VALUES (0, 1, 1, 1, 1, 1, 1, 'w', 't', 'c', 'h'),
                (0, 2, 1, 1, 1, 1, 1, 'w', 't', 'c', 'h'), (0, 3, 1, 1, 1, 1, 1, 'w', 't', 'c', 'h')"
                .into(),
        ],
        Service::Comment => &[
            format!(
                "INSERT INTO article_comment_count (shard, article_id, comment_count, row_count, version, greatest_id, locked) VALUES ({shard}, {id}, 2, 3, 5, 9, 0)"
            ),
            format!(
                "INSERT INTO comment (shard, comment_id, article_id, parent_id, depth, deleted, created_at, path, writer_id, writer_name, content, content_html) VALUES ({shard}, 1, {id}, 1, 1, 1, 1, '00000', NULL, NULL, NULL, NULL),
                    ({shard}, 2, {id}, 1, 2, 0, 1, '0000000000', 1, 'w', 'c', NULL), ({shard}, 9, {id}, 9, 1, 0, 1, '00001', 1, 'w', 'c', NULL)"
            ),
        ],
        Service::Like => &[
            format!("INSERT INTO article_like_count VALUES ({shard}, {id}, 2, 4)"),
            format!("INSERT INTO article_like VALUES ({shard}, {id}, 1, 'm', 1), ({shard}, {id}, 2, 'n', 1)"),
        ],
        Service::View => &[format!("INSERT INTO article_view_count VALUES ({shard}, {id}, 7, 3)")],
        _ => &[],
    };
    statements.to_vec()
}

async fn checked(service: Service, db: &Mysql) -> CheckReport {
    MysqlCheck::new(service, db).run(|_| {}).await.unwrap()
}

/// Of each damage the beginning of what is said of it, alone.
async fn find_damages(service: Service, damages: &[(String, &str)]) {
    let test = TestDb::fresh::<OneServer>(service).await;
    let mut conn = test.connect(0).await;
    for (sql, expected) in damages {
        for statement in site(service) {
            conn.query_drop(statement).await.unwrap();
        }
        let sound = checked(service, &test.db).await;
        assert!(sound.is_sound() && sound.rows() > 0, "{:?}", sound.findings);
        conn.query_drop(sql).await.unwrap();
        let found: Vec<String> = checked(service, &test.db).await.findings.iter().map(ToString::to_string).collect();
        assert!(found.len() == 1 && found[0].contains(expected), "{sql}: {found:?}");
        for table in conn.query::<String, _>("SHOW TABLES").await.unwrap() {
            if !["topology", "lane_batch", "schema_backbone", "schema_history"].contains(&table.as_str()) {
                conn.query_drop(format!("DELETE FROM {table}")).await.unwrap();
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn boards_that_count_wrong_are_found() {
    let damages = [
        ("UPDATE board_article_count SET article_count = 2", "board 1 counts 2 articles and has 3"),
        ("UPDATE board_article_count SET version = 2", "board 1 counts 3 articles after only 2 changes"),
        ("UPDATE board_article_count SET greatest_id = 2", "board 1 knows of ids up to 2 and has 3"),
        (
            "UPDATE article_block SET article_count = 5 WHERE first_id = 3",
            "block 3 of level 1 counts 5 articles and has 1",
        ),
        ("UPDATE article_block SET first_id = 2 WHERE level = 2", "has 1 articles before its first block of level 2"),
        ("DELETE FROM board_article_count", "board 1 has"),
        (
            "INSERT INTO board (shard, board_id, slug, title, comment_mode, created_at) VALUES (0, 2, 'c', 'c', 'tree', 1)",
            "board 2 has no counter",
        ),
        ("INSERT INTO article_pin VALUES (0, 9, 1, 1, NULL)", "article 9 is pinned on board 1 and is not there"),
    ];
    let [counted, version, greatest, block, first, uncounted, directory, pin] = damages;
    let alone = [counted, version, greatest, block, directory, pin].map(|(sql, said)| (sql.to_owned(), said));
    find_damages(Service::Article, &alone).await;
    // These two say more than one thing.
    let test = TestDb::fresh::<OneServer>(Service::Article).await;
    let mut conn = test.connect(0).await;
    for statement in site(Service::Article) {
        conn.query_drop(statement).await.unwrap();
    }
    for (sql, expected) in [first, uncounted] {
        conn.query_drop(sql).await.unwrap();
        let found: Vec<String> =
            checked(Service::Article, &test.db).await.findings.iter().map(ToString::to_string).collect();
        assert!(found.iter().any(|found| found.contains(expected)), "{sql}: {found:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn comments_that_are_counted_wrong_or_hang_in_the_air_are_found() {
    let shard = parts_shard();
    find_damages(
        Service::Comment,
        &[
            ("UPDATE article_comment_count SET comment_count = 3".into(), "counts 3 comments in 3 rows and has 2 in 3"),
            ("UPDATE article_comment_count SET row_count = 2".into(), "counts 2 comments in 2 rows and has 2 in 3"),
            ("UPDATE article_comment_count SET greatest_id = 1".into(), "knows of ids up to 1 and has 9"),
            (
                "UPDATE article_comment_count SET noted_version = version, last_comment_id = 777".into(),
                "has comment 777 noted as its newest",
            ),
            ("DELETE FROM article_comment_count".into(), "counts 0 comments in 0 rows and has 2 in 3"),
            (
                format!("INSERT INTO comment_article_gone (shard, article_id) VALUES ({shard}, {ARTICLE})"),
                "is gone and its comments are still counted",
            ),
            (
                "UPDATE comment SET parent_id = 5 WHERE comment_id = 2".into(),
                "comment 2 replies to one that is not there",
            ),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn likes_and_views_that_are_counted_wrong_are_found() {
    let shard = parts_shard();
    find_damages(
        Service::Like,
        &[
            ("UPDATE article_like_count SET like_count = 3".into(), "counts 3 likes and has 2"),
            ("DELETE FROM article_like".into(), "counts 2 likes and has 0"),
            ("DELETE FROM article_like_count".into(), "has 2 likes and no counter"),
        ],
    )
    .await;
    find_damages(
        Service::View,
        &[
            ("UPDATE article_view_count SET version = 8".into(), "counts 7 views after 8 changes"),
            (
                format!("INSERT INTO view_article_gone (shard, article_id) VALUES ({shard}, {ARTICLE})"),
                "is gone and still counts 7 views",
            ),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scores_and_lists_that_differ_are_found() {
    use madang_hot_article::{Counts, Day, HotChange, HotStore, Offsets, Reading, Tally};
    use madang_messaging::GroupId;
    use madang_mysql::MysqlHot;

    let day: Day = "2026-03-01".parse().unwrap();
    for (damage, expected) in [
        ("UPDATE hot_score SET falling_score = -7 WHERE article_id = 3", "has a score of 7 and counts 0"),
        ("UPDATE hot_day SET finalised_at = NULL", "2026-03-01 has a final list and is not final"),
        (
            "DELETE FROM hot_final WHERE article_id = 1",
            "the final list of 2026-03-01 has article 2 in place 1, where the scores have 1",
        ),
        (
            "UPDATE hot_final SET like_count = 1 WHERE article_id = 2",
            "has article 2 in place 2, where the scores have it with other counts",
        ),
    ] {
        let test = TestDb::fresh::<OneServer>(Service::HotArticle).await;
        let hot = MysqlHot::new(test.db.clone());
        let live = |count| Tally::Live(Counts { likes: Reading::new(count, 1), ..Counts::default() });
        let change = |(article, tally)| HotChange { day, article_id: ArticleId::from_raw(article), tally };
        let changes = [(1, live(9)), (2, live(8)), (3, Tally::Gone)].map(change).to_vec();
        hot.apply(changes, Offsets { group: GroupId::new("hot-article"), positions: vec![] }).await.unwrap();
        assert!(hot.finalise(day).await.unwrap());
        let sound = checked(Service::HotArticle, &test.db).await;
        assert!(sound.is_sound() && sound.hot_scores == 3, "{:?}", sound.findings);
        test.connect(0).await.query_drop(damage).await.unwrap();
        let found: Vec<String> =
            checked(Service::HotArticle, &test.db).await.findings.iter().map(ToString::to_string).collect();
        assert!(found.iter().any(|found| found.contains(expected)), "{damage}: {found:?}");
    }
}

async fn progress_of<T: Topology>(service: Service) -> (u64, u64) {
    let test = TestDb::fresh::<T>(service).await;
    let mut last = (0, 0);
    let progress = |so_far: CheckProgress| last = (so_far.done, so_far.total);
    let report = MysqlCheck::new(service, &test.db).run(progress).await.unwrap();
    assert!(report.is_sound());
    last
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_check_tells_how_far_it_is() {
    assert_eq!(progress_of::<TwoServers>(Service::Like).await, (64, 64));
    assert_eq!(progress_of::<TwoServers>(Service::Comment).await, (2, 2));
    assert_eq!(progress_of::<OneServer>(Service::Article).await, (0, 0), "there is no board");
}
