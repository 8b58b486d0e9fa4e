//! A check finds every kind of damage it knows, and nothing on a sound site.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use madang_article::{Article, ArticleStore, Board, CommentMode, CreateArticle, DeleteArticle, EditArticle, NewBoard};
use madang_board::check::{CheckFinding, CheckReport, TableSizes};
use madang_board::{ArticleId, BoardId, MemberId};
use madang_event::Writer;
use madang_kernel::{EventId, Id, StoreError, Timestamp};
use madang_sqlite::{CheckOptions, Priority, SqliteArticles, Tx};
use support::TestDb;

/// More than one block.
const ARTICLES: i64 = 1_200;

#[tokio::test]
async fn a_sound_site_has_no_findings_and_tells_its_sizes() {
    let site = Site::filled().await;
    let report = site.check().await;
    assert_eq!(report.findings, []);
    assert!(report.is_sound());
    assert_eq!((report.boards, report.articles), (2, ARTICLES as u64 - 1));
    assert_eq!((report.sizes.of(TableSizes::EVENT_LOG), report.events), (ARTICLES as u64 + 2, ARTICLES as u64 + 2));
    assert_eq!(report.sizes, madang_sqlite::sizes(&site.test.db).await.unwrap());
}

#[tokio::test]
async fn a_trimmed_log_is_no_damage() {
    assert_eq!(Site::filled().await.after("DELETE FROM event_log WHERE position <= 100").await, []);
}

#[tokio::test]
async fn counters_that_differ_from_rows_are_found() {
    let board_id = BoardId::from_raw(1);
    let rows = ARTICLES - 1;
    let counted = |change: &str| format!("UPDATE board_article_count SET {change} WHERE board_id = 1");
    let found = Site::filled().await.after(&counted("article_count = article_count + 1")).await;
    assert!(found.contains(&CheckFinding::BoardCount { board_id, counted: rows + 1, rows }), "{found:?}");
    assert!(found.contains(&CheckFinding::StrayArticles { rows, counted: rows + 1 }), "{found:?}");
    let found = Site::filled().await.after(&counted("version = 3")).await;
    assert_eq!(found, [CheckFinding::CountVersion { board_id, counted: rows, version: 3 }]);
    let found = Site::filled().await.after(&counted("greatest_id = 5")).await;
    assert_eq!(found, [CheckFinding::GreatestId { board_id, known: 5, greatest: 1_000 + ARTICLES }]);
    let found = Site::filled().await.after("DELETE FROM board_article_count WHERE board_id = 2").await;
    assert_eq!(found, [CheckFinding::NoCounter { board_id: BoardId::from_raw(2) }]);
}

#[tokio::test]
async fn a_pin_whose_article_is_not_on_the_board_is_found() {
    let board_id = BoardId::from_raw(1);
    let kept = "INSERT INTO article_pin VALUES (2000, 1, 5, NULL)";
    assert_eq!(Site::filled().await.after(kept).await, []);
    for (sql, article) in [
        ("INSERT INTO article_pin VALUES (7, 1, 5, NULL)", 7),
        ("INSERT INTO article_pin VALUES (2000, 1, 5, NULL); UPDATE article_pin SET board_id = 2", 2_000),
    ] {
        let found = Site::filled().await.after(sql).await;
        let board_id = if article == 7 { board_id } else { BoardId::from_raw(2) };
        assert_eq!(found, [CheckFinding::PinWithoutArticle { board_id, article_id: ArticleId::from_raw(article) }]);
    }
}

#[tokio::test]
async fn blocks_that_differ_from_rows_are_found() {
    let board_id = BoardId::from_raw(1);
    for level in [1, 2] {
        let sql = format!("UPDATE article_block SET article_count = 7 WHERE level = {level} AND first_id = 0");
        let found = Site::filled().await.after(&sql).await;
        let rows = if level == 1 { 999 } else { ARTICLES - 1 };
        assert_eq!(found, [CheckFinding::Block { board_id, level, first_id: 0, counted: 7, rows }]);
    }
    let found = Site::filled().await.after("UPDATE article_block SET first_id = 1500 WHERE level = 2").await;
    assert!(found.contains(&CheckFinding::Boundary { board_id, first_id: 1_500 }), "{found:?}");
    assert!(found.iter().any(|finding| matches!(finding, CheckFinding::Uncounted { level: 2, .. })), "{found:?}");
}

#[tokio::test]
async fn events_that_differ_from_articles_are_found() {
    let edited = ArticleId::from_raw(1_500);
    let found = Site::filled().await.after("UPDATE article SET version = 9 WHERE article_id = 1500").await;
    assert_eq!(found, [CheckFinding::EventDiffers { article_id: edited, reported: Some(2), stored: Some(9) }]);

    let copy = "INSERT INTO event_log (event_id, topic, key, shard, occurred_at, headers, payload)
                SELECT event_id, topic, key, shard, occurred_at, headers, payload FROM event_log WHERE position = 1";
    let found = Site::filled().await.after(copy).await;
    assert_eq!(found, [CheckFinding::CreatedTwice { article_id: ArticleId::from_raw(1_001) }]);

    let found = Site::filled().await.after("DELETE FROM event_log WHERE position = 2").await;
    assert_eq!(found, [CheckFinding::Unreported { articles: 1 }]);

    let found = Site::filled().await.after("UPDATE event_log SET payload = X'7b' WHERE position = 1").await;
    assert!(matches!(found[0], CheckFinding::UnreadableEvent { position: 1, .. }), "{found:?}");
}

#[tokio::test]
async fn an_offset_past_the_head_is_found() {
    let sql = "INSERT INTO log_group (group_name, topic, done) VALUES ('g', 't', 1000000)";
    let found = Site::filled().await.after(sql).await;
    let head = ARTICLES + 2;
    assert_eq!(found, [CheckFinding::OffsetPastHead { group: "g".into(), topic: "t".into(), done: 1_000_000, head }]);
}

#[tokio::test]
async fn progress_is_told_after_each_board() {
    let site = Site::filled().await;
    let (told, heard) = std::sync::mpsc::channel();
    let tell = move |progress| told.send(progress).unwrap();
    madang_sqlite::check(&site.test.db, CheckOptions::default(), tell).await.unwrap();
    let heard: Vec<_> = heard.iter().map(|progress| (progress.done, progress.total)).collect();
    assert_eq!(heard, [(1, 2), (2, 2)]);
}

struct Site {
    test: TestDb,
}

impl Site {
    /// Two boards, one with articles `1_001..=1_000 + ARTICLES`, of which one is edited and one deleted.
    async fn filled() -> Self {
        let test = TestDb::fresh();
        let store = SqliteArticles::new(test.db.clone());
        for id in [1, 2] {
            store.create_board(NewBoard { board: board(id), idempotency: None }).await.unwrap();
        }
        let articles = (1_001..=1_000 + ARTICLES).map(article).collect();
        assert_eq!(store.create_many(articles).await.unwrap(), ARTICLES as u64);
        let edit = EditArticle {
            article_id: ArticleId::from_raw(1_500),
            title: "t".into(),
            content: "c".into(),
            content_html: "c".into(),
            modified_at: Timestamp::from_millis(1),
            expected_version: None,
            event_id: EventId::from_raw(1),
            act: None,
        };
        store.edit(edit).await.unwrap();
        let gone = DeleteArticle {
            article_id: ArticleId::from_raw(1_600),
            expected_version: None,
            event_id: EventId::from_raw(2),
            act: None,
        };
        store.delete(gone).await.unwrap();
        Self { test }
    }

    /// What is found after `sql` has done its damage.
    async fn after(&self, sql: &str) -> Vec<CheckFinding> {
        let sql = sql.to_owned();
        let damage = move |tx: &Tx| tx.execute_batch(&sql).map_err(|error| StoreError::broken("damage", error));
        self.test.db.write(Priority::Foreground, damage).await.unwrap();
        self.check().await.findings
    }

    async fn check(&self) -> CheckReport {
        madang_sqlite::check(&self.test.db, CheckOptions { integrity: true, ..CheckOptions::default() }, |_| {})
            .await
            .unwrap()
    }
}

fn board(id: i64) -> Board {
    Board {
        board_id: BoardId::from_raw(id),
        slug: format!("board-{id}"),
        title: "Board".into(),
        comment_mode: CommentMode::Tree,
        description: String::new(),
        position: 0,
        created_at: Timestamp::from_millis(0),
    }
}

fn article(id: i64) -> CreateArticle {
    let article = Article {
        article_id: ArticleId::from_raw(id),
        board_id: BoardId::from_raw(1),
        title: "t".into(),
        content: "c".into(),
        content_html: "<p>c</p>".into(),
        writer: Writer { member_id: MemberId::from_raw(1), name: "w".into() },
        created_at: Timestamp::from_millis(0),
        modified_at: Timestamp::from_millis(0),
        version: 1,
    };
    CreateArticle { article, event_id: EventId::from_raw(id), idempotency: None }
}
