//! Boards of many articles: filled fast, counted like any other, and no page is far away.

use std::collections::HashMap;

use madang_article::{Article, ArticleStore, Board, CommentMode, CreateArticle, NewBoard};
use madang_board::{ArticleId, BoardId, MemberId};
use madang_event::Writer;
use madang_kernel::{EventId, Id, PageNumber, PageSize, StoreError, Timestamp};
use madang_mysql::{Announce, MysqlArticles, MysqlCheck, Service};
use mysql_async::Conn;
use mysql_async::prelude::Queryable;

use crate::proxy::Proxy;
use crate::support::{OneServer, TestDb, TwoServers};

/// On shard 0.
const BOARD: i64 = 9 << 22;
/// On shard 40, which is on the other of two servers.
const OTHER_BOARD: i64 = 9 << 22 | 40 << 16;

async fn open_board(articles: &MysqlArticles, board: i64) {
    let board = Board {
        board_id: BoardId::from_raw(board),
        slug: format!("b{board}"),
        title: "Board".into(),
        comment_mode: CommentMode::Tree,
        description: String::new(),
        position: 0,
        created_at: Timestamp::from_millis(1),
    };
    articles.create_board(NewBoard { board, idempotency: None }).await.unwrap();
}

fn new(board: i64, number: i64) -> CreateArticle {
    let at = Timestamp::from_millis(1_750_000_000_000);
    let id = number << 22 | board & 63 << 16;
    let article = Article {
        article_id: ArticleId::from_raw(id),
        board_id: BoardId::from_raw(board),
        title: format!("title {number}"),
        content: "content".into(),
        content_html: "<p>content</p>".into(),
        writer: Writer { member_id: MemberId::from_raw(7), name: "somebody".into() },
        created_at: at,
        modified_at: at,
        version: 1,
    };
    CreateArticle { article, event_id: EventId::from_raw(id), idempotency: None }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_articles_at_once_are_counted_like_any_other() {
    let test = TestDb::fresh::<TwoServers>(Service::Article).await;
    let articles = MysqlArticles::new(test.db.clone());
    for board in [BOARD, OTHER_BOARD] {
        open_board(&articles, board).await;
    }
    let many = |numbers: std::ops::Range<i64>| {
        let both = numbers.flat_map(|number| [new(BOARD, number), new(OTHER_BOARD, number)]);
        both.collect::<Vec<_>>()
    };
    assert_eq!(articles.create_many(many(1..2_301), Announce::Each).await.unwrap(), 4_600);
    assert_eq!(test.outbox().await.len(), 4_600);
    assert_eq!(articles.create_many(many(2_301..2_401), Announce::Nothing).await.unwrap(), 200);
    assert_eq!(test.outbox().await.len(), 4_600, "nobody hears of these");
    assert_eq!(articles.create_many(Vec::new(), Announce::Each).await.unwrap(), 0);
    for board in [BOARD, OTHER_BOARD] {
        let found = articles.find_board(BoardId::from_raw(board)).await.unwrap().unwrap();
        assert_eq!(found.article_count, 2_400);
    }
    assert_eq!(test.article_differences().await, Vec::<String>::new());
    assert!(MysqlCheck::new(Service::Article, &test.db).run(|_| {}).await.unwrap().is_sound());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_articles_all_are_created_or_none() {
    let test = TestDb::fresh::<OneServer>(Service::Article).await;
    let articles = MysqlArticles::new(test.db.clone());
    open_board(&articles, BOARD).await;
    articles.create(new(BOARD, 5)).await.unwrap();
    for bad in
        [vec![new(BOARD, 6), new(BOARD, 6)], vec![new(BOARD, 7), new(BOARD, 5)], vec![new(BOARD, 8), new(3 << 22, 9)]]
    {
        let refused = articles.create_many(bad, Announce::Each).await;
        assert!(matches!(refused, Err(StoreError::Broken { .. })), "{refused:?}");
    }
    assert_eq!(test.rows::<i64>("SELECT COUNT(*) FROM article").await, [1]);
    assert_eq!(test.outbox().await.len(), 1);
    assert_eq!(test.article_differences().await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn boards_are_listed_while_the_server_of_some_is_away() {
    let mut test = TestDb::fresh::<TwoServers>(Service::Article).await;
    let direct = test.options.servers[1].url.clone();
    let (proxy, through) = Proxy::start(&direct).await;
    test.options.servers[1].url = through;
    let db = test.another().await;
    test.options.servers[1].url = direct;
    let articles = MysqlArticles::new(db.clone());
    for board in [BOARD, OTHER_BOARD] {
        open_board(&articles, board).await;
        articles.create(new(board, 10)).await.unwrap();
    }
    let counts = async || {
        let boards = articles.boards().await?;
        Ok::<_, StoreError>(boards.iter().map(|board| board.article_count).collect::<Vec<_>>())
    };
    assert_eq!(counts().await.unwrap(), [1, 1]);
    drop(proxy);
    articles.create(new(BOARD, 11)).await.unwrap();
    assert_eq!(counts().await.unwrap(), [2, 1], "one as it is, the other as it was");
    let refused = MysqlArticles::new(db.clone()).boards().await;
    assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "a count that nobody knows is not zero");
    db.close().await;
}

/// Twice as many rows with each statement, and the blocks that such a board has.
async fn fill(conn: &mut Conn, articles: i64) {
    conn.query_drop(format!("INSERT INTO article VALUES (0, 1 << 22, {BOARD}, 1, 1, 1, 1, 'w', 't', 'c', 'h')"))
        .await
        .unwrap();
    let mut there = 1;
    while there < articles {
        let more = there.min(articles - there);
        let double = format!(
            "INSERT INTO article SELECT shard, article_id + ({there} << 22), board_id, writer_id, version, created_at, \
             modified_at, writer_name, title, content, content_html FROM article WHERE article_id <= {more} << 22"
        );
        conn.query_drop(double).await.unwrap();
        there += more;
    }
    for (level, size) in [(1, 1_000), (2, 64_000)] {
        let starts = (0..articles).step_by(size);
        let block = |start: i64| {
            let first_id = if start == 0 { 0 } else { (start + 1) << 22 };
            format!("(0, {BOARD}, {level}, {first_id}, {})", (size as i64).min(articles - start))
        };
        let blocks: Vec<String> = starts.map(block).collect();
        conn.query_drop(format!("INSERT INTO article_block VALUES {}", blocks.join(","))).await.unwrap();
    }
    let count = format!(
        "UPDATE board_article_count SET article_count = {articles}, version = {articles}, greatest_id = {articles} << 22"
    );
    conn.query_drop(count).await.unwrap();
    conn.query_drop("ANALYZE TABLE article, article_block").await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_reads_a_bounded_number_of_rows_however_deep_it_is() {
    const ARTICLES: i64 = 300_020;
    let test = TestDb::fresh::<OneServer>(Service::Article).await;
    let articles = MysqlArticles::new(test.db.clone());
    open_board(&articles, BOARD).await;
    let mut conn = test.connect(0).await;
    fill(&mut conn, ARTICLES).await;
    assert_eq!(MysqlCheck::new(Service::Article, &test.db).run(|_| {}).await.unwrap().findings, []);
    let size = PageSize::new("page_size", 30).unwrap();
    // A block is skipped row by row at most, after one look at each level; then each row of the page is read twice.
    const ROWS_MAX: u64 = 1_000 + 2 * 128 + 3 * 30;
    for (number, rows_max) in [(1, 3 * 30 + 10), (100, ROWS_MAX), (5_000, ROWS_MAX), (10_000, ROWS_MAX)] {
        let page = PageNumber::new("page", number).unwrap();
        conn.query_drop("FLUSH STATUS").await.unwrap();
        let read = MysqlArticles::page_over(&mut conn, BoardId::from_raw(BOARD), page, size).await.unwrap();
        let rows = rows_read(&mut conn).await;
        assert!(rows <= rows_max, "page {number} read {rows} rows");
        let newest = ARTICLES - (number - 1) * 30;
        let expected: Vec<i64> = (0..30).map(|place| (newest - place) << 22).collect();
        assert_eq!(read.items.iter().map(|item| item.article_id.raw()).collect::<Vec<_>>(), expected, "page {number}");
        assert_eq!(articles.page(BoardId::from_raw(BOARD), page, size).await.unwrap().items, read.items);
    }
    conn.disconnect().await.unwrap();
}

async fn rows_read(conn: &mut Conn) -> u64 {
    let read: HashMap<String, u64> =
        conn.query::<(String, u64), _>("SHOW SESSION STATUS LIKE 'Handler_read%'").await.unwrap().into_iter().collect();
    // Reads of the temporary table that holds the page's ids are no reads of articles.
    read.iter().filter(|(name, _)| *name != "Handler_read_rnd_next").map(|(_, count)| count).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_article_carries_the_shard_of_its_board_also_where_one_server_holds_both() {
    let test = TestDb::fresh::<OneServer>(Service::Article).await;
    let articles = MysqlArticles::new(test.db.clone());
    open_board(&articles, BOARD).await;
    let mut strange = new(BOARD, 1);
    strange.article.article_id = ArticleId::from_raw(strange.article.article_id.raw() ^ 1 << 16);
    for refused in [
        articles.create(strange.clone()).await.map(drop),
        articles.create_many(vec![strange], Announce::Nothing).await.map(drop),
    ] {
        let refused = format!("{:?}", refused.unwrap_err());
        assert!(refused.contains("does not carry the shard"), "{refused}");
    }
}
