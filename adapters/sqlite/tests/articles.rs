//! What the article store on SQLite offers beyond the port: bulk creation, purging of keys, pages to compare with.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::time::Duration;

use madang_article::{Article, ArticleStore, Board, CommentMode, CreateArticle, CreateOutcome, NewBoard};
use madang_board::check::TableSizes;
use madang_board::{ArticleId, BoardId, MemberId};
use madang_event::Writer;
use madang_kernel::{Clock, Created, EventId, Id, Idempotency, PageNumber, PageSize, Timestamp};
use madang_sqlite::{CheckOptions, PageQuery, SqliteArticles};
use support::TestDb;

const BOARD: i64 = 1;

#[tokio::test]
async fn articles_made_in_bulk_are_counted_and_reported_like_others() {
    let (test, store) = site().await;
    assert_eq!(store.create_many((1..=2_300).map(article).collect()).await.unwrap(), 2_300);
    assert_eq!(store.find_board(board()).await.unwrap().unwrap().article_count, 2_300);
    let report = madang_sqlite::check(&test.db, CheckOptions::default(), |_| {}).await.unwrap();
    assert_eq!((report.findings.len(), report.sizes.of(TableSizes::EVENT_LOG)), (0, 2_300));
}

#[tokio::test]
async fn a_bulk_that_fails_leaves_nothing() {
    let (test, store) = site().await;
    let twice = (1..=10).chain([5]).map(article).collect();
    assert!(store.create_many(twice).await.is_err());
    assert_eq!(store.find(ArticleId::from_raw(1)).await.unwrap(), None);
    let report = madang_sqlite::check(&test.db, CheckOptions::default(), |_| {}).await.unwrap();
    assert_eq!((report.findings.len(), report.articles, report.sizes.of(TableSizes::EVENT_LOG)), (0, 0, 0));
}

#[tokio::test]
async fn what_was_acknowledged_is_there_for_another_opening_of_the_file() {
    let (test, store) = site().await;
    store.create(article(7)).await.unwrap();
    let again = SqliteArticles::new(test.reopen());
    assert_eq!(again.find(ArticleId::from_raw(7)).await.unwrap(), Some(article(7).article));
}

#[tokio::test]
async fn only_answers_older_than_asked_are_purged() {
    let (test, store) = site().await;
    let keyed = |id: i64| {
        let key = format!("key-{}", id % 10_000);
        let idempotency = Idempotency { caller: 1, scope: "POST".into(), key, fingerprint: [0; 32] };
        CreateArticle { idempotency: Some(idempotency), ..article(id) }
    };
    for id in 1..=600 {
        store.create(keyed(id)).await.unwrap();
    }
    test.clock.advance(Duration::from_secs(60));
    store.create(keyed(601)).await.unwrap();
    assert_eq!(store.purge_once(test.clock.now()).await.unwrap(), 600);
    assert_eq!(madang_sqlite::sizes(&test.db).await.unwrap().of(TableSizes::IDEMPOTENCY), 1);
    assert_eq!(
        store.create(keyed(10_601)).await.unwrap(),
        CreateOutcome::Created(Created::Before(article(601).article))
    );
    assert!(matches!(store.create(keyed(10_600)).await.unwrap(), CreateOutcome::Created(Created::Now(_))));
}

#[tokio::test]
async fn the_three_ways_to_a_page_agree() {
    let (_test, store) = site().await;
    store.create_many((1..=3_333).map(article).collect()).await.unwrap();
    let size = PageSize::new("page_size", 30).unwrap();
    for number in [1, 2, 33, 34, 35, 67, 111, 112, 1_000_000_000] {
        let page = PageNumber::new("page", number).unwrap();
        let by_blocks = store.page(board(), page, size).await.unwrap();
        assert_eq!(
            by_blocks,
            store.page_by(PageQuery::CoveringSubquery, board(), page, size).await.unwrap(),
            "page {number}"
        );
        assert_eq!(
            by_blocks,
            store.page_by(PageQuery::PlainOffset, board(), page, size).await.unwrap(),
            "page {number}"
        );
    }
}

async fn site() -> (TestDb, SqliteArticles) {
    let test = TestDb::fresh();
    let store = SqliteArticles::new(test.db.clone());
    let general = Board {
        board_id: board(),
        slug: "general".into(),
        title: "General".into(),
        comment_mode: CommentMode::TwoLevel,
        description: String::new(),
        position: 0,
        created_at: Timestamp::from_millis(0),
    };
    store.create_board(NewBoard { board: general, idempotency: None }).await.unwrap();
    (test, store)
}

fn board() -> BoardId {
    BoardId::from_raw(BOARD)
}

fn article(id: i64) -> CreateArticle {
    let article = Article {
        article_id: ArticleId::from_raw(id),
        board_id: board(),
        title: format!("title {id}"),
        content: "c".into(),
        content_html: "<p>c</p>".into(),
        writer: Writer { member_id: MemberId::from_raw(1), name: "w".into() },
        created_at: Timestamp::from_millis(id),
        modified_at: Timestamp::from_millis(id),
        version: 1,
    };
    CreateArticle { article, event_id: EventId::from_raw(id), idempotency: None }
}
