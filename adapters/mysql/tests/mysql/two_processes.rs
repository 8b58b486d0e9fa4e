//! Two processes on one board: the lock of its counter keeps counts, blocks, versions and idempotency keys exact.

use std::sync::Arc;

use madang_article::{
    Article, ArticleStore, Board, CommentMode, CreateArticle, CreateOutcome, DeleteArticle, DeleteOutcome, NewBoard,
};
use madang_board::{ArticleId, BoardId, MemberId};
use madang_event::{Envelope, Event, Writer};
use madang_kernel::{Created, EventId, Id, Idempotency, Timestamp};
use madang_mysql::{MysqlArticles, Service};
use tokio::task::JoinSet;

use crate::support::{OneServer, TestDb};

const BOARD: i64 = 9 << 22;

fn draft(number: i64, idempotency: Option<Idempotency>) -> CreateArticle {
    let at = Timestamp::from_millis(1_750_000_000_000);
    let article = Article {
        article_id: ArticleId::from_raw(number << 22),
        board_id: BoardId::from_raw(BOARD),
        title: format!("title {number}"),
        content: "content".into(),
        content_html: "<p>content</p>".into(),
        writer: Writer { member_id: MemberId::from_raw(7), name: "somebody".into() },
        created_at: at,
        modified_at: at,
        version: 1,
    };
    CreateArticle { article, event_id: EventId::from_raw(number), idempotency }
}

async fn two_stores(test: &TestDb) -> [Arc<MysqlArticles>; 2] {
    let stores = [MysqlArticles::new(test.db.clone()), MysqlArticles::new(test.another().await)].map(Arc::new);
    let board = Board {
        board_id: BoardId::from_raw(BOARD),
        slug: "board".into(),
        title: "Board".into(),
        comment_mode: CommentMode::Tree,
        description: String::new(),
        position: 0,
        created_at: Timestamp::from_millis(1),
    };
    stores[0].create_board(NewBoard { board, idempotency: None }).await.unwrap();
    stores
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn articles_that_come_and_go_from_both_are_counted_once() {
    let test = TestDb::fresh::<OneServer>(Service::Article).await;
    let stores = two_stores(&test).await;
    let mut tasks = JoinSet::new();
    for task in 0..40 {
        let stores = stores.clone();
        tasks.spawn(async move {
            for turn in 0..20 {
                let number = 1_000 + task * 100 + turn;
                let made = stores[task as usize % 2].create(draft(number, None)).await.unwrap();
                assert!(matches!(made, CreateOutcome::Created(Created::Now(_))));
                if turn % 3 == 0 {
                    // Deleted by the other process.
                    let (article_id, event_id) =
                        (ArticleId::from_raw(number << 22), EventId::from_raw(100_000 + number));
                    let gone = stores[(task as usize + 1) % 2]
                        .delete(DeleteArticle { article_id, expected_version: None, event_id, act: None })
                        .await;
                    assert_eq!(gone.unwrap(), DeleteOutcome::Deleted);
                }
            }
        });
    }
    tasks.join_all().await;
    let board = stores[1].find_board(BoardId::from_raw(BOARD)).await.unwrap().unwrap();
    assert_eq!(board.article_count, 40 * 13);
    assert_eq!(test.article_differences().await, Vec::<String>::new());
    let versions: Vec<u64> = test.outbox().await.iter().map(|message| board_version(&message.payload)).collect();
    assert_eq!(versions, (1..=40 * 27).collect::<Vec<_>>(), "one version a change, in commit order");
}

fn board_version(payload: &bytes::Bytes) -> u64 {
    match Envelope::decode(payload).unwrap().event {
        Event::ArticleCreated(state) | Event::ArticleEdited(state) => state.board_count.version,
        Event::ArticleDeleted(gone) => gone.board_count.version,
        other => panic!("{} is no event of an article store", other.type_name()),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_key_sent_to_both_creates_one_article() {
    let test = TestDb::fresh::<OneServer>(Service::Article).await;
    let stores = two_stores(&test).await;
    let mut tasks = JoinSet::new();
    for number in 1..=32 {
        let store = Arc::clone(&stores[number as usize % 2]);
        let idempotency = Idempotency { caller: 7, scope: "POST /a".into(), key: "same".into(), fingerprint: [1; 32] };
        tasks.spawn(async move { store.create(draft(number, Some(idempotency))).await.unwrap() });
    }
    let made = tasks
        .join_all()
        .await
        .into_iter()
        .filter(|answer| matches!(answer, CreateOutcome::Created(Created::Now(_))))
        .count();
    assert_eq!(made, 1);
    assert_eq!(test.outbox().await.len(), 1);
    assert_eq!(test.article_differences().await, Vec::<String>::new());
}
