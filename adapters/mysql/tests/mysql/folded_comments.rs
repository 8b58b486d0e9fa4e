//! Comments of one batch see one another: what is deleted together leaves what would be left one by one.

use std::collections::HashMap;

use madang_board::{ArticleId, BoardId, CommentId, CommentMode, MemberId};
use madang_comment::{CommentStore, CreateComment, CreateOutcome, DeleteComment, DeleteOutcome, DepthMax};
use madang_event::{Envelope, Writer};
use madang_kernel::{Created, EventId, Id, ShardId, Timestamp};
use madang_mysql::{MysqlComments, Service};
use mysql_async::Conn;
use mysql_async::prelude::Queryable;
use tokio::task::JoinSet;

use crate::support::{OneServer, TestDb};

const ARTICLE: i64 = 71;

fn id(number: i64) -> i64 {
    let shard = i64::from(ShardId::of_parts(ArticleId::from_raw(ARTICLE)).number());
    number << 22 | shard << 16
}

fn new(number: i64, parent: Option<i64>) -> CreateComment {
    CreateComment {
        despite_lock: false,
        comment_id: CommentId::from_raw(id(number)),
        article_id: ArticleId::from_raw(ARTICLE),
        board_id: BoardId::from_raw(9),
        parent_id: parent.map(|parent| CommentId::from_raw(id(parent))),
        mode: CommentMode::Tree,
        depth_max: DepthMax::DEFAULT,
        content: format!("text {number}"),
        content_html: format!("<p>text {number}</p>\n"),
        writer: Writer { member_id: MemberId::from_raw(7), name: "w".into() },
        created_at: Timestamp::from_millis(1_750_000_000_000),
        event_id: EventId::from_raw(id(number)),
        idempotency: None,
    }
}

fn delete(number: i64) -> DeleteComment {
    DeleteComment {
        comment_id: CommentId::from_raw(id(number)),
        expected_version: None,
        event_id: EventId::from_raw(id(number + 10_000)),
        act: None,
    }
}

/// A store whose lane waits for a lock for as long as a slow machine may take to let it go.
async fn patient() -> (TestDb, MysqlComments) {
    let mut test = TestDb::fresh::<OneServer>(Service::Comment).await;
    test.options.lock_wait_s = 12;
    let comments = MysqlComments::new(test.another().await);
    (test, comments)
}

/// Holds the article's counter, so that calls gather in the lane until it is let go.
async fn held(test: &TestDb) -> Conn {
    let mut holder = test.connect(0).await;
    holder.query_drop("START TRANSACTION").await.unwrap();
    holder.query_drop("SELECT * FROM article_comment_count FOR UPDATE").await.unwrap();
    holder
}

/// Waits until the lane waits for the lock, so that what comes after it is in the next batch.
async fn let_go(test: &TestDb, mut holder: Conn) {
    let waiting = format!(
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = '{}' AND INFO LIKE '%article_comment_count%'
         AND ID <> CONNECTION_ID()",
        test.database()
    );
    crate::support::eventually("the lane waits", async || test.rows::<i64>(&waiting).await == [1]).await;
    holder.query_drop("COMMIT").await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tree_deleted_in_few_batches_leaves_nothing() {
    let (test, comments) = patient().await;
    // Five levels: each comment replies to the one with half its number.
    for number in 1..=31 {
        let parent = (number > 1).then_some(number / 2);
        let created = comments.create(new(number, parent)).await.unwrap();
        assert!(matches!(created, CreateOutcome::Created(Created::Now(_))), "{created:?}");
    }
    let holder = held(&test).await;
    let mut calls = JoinSet::new();
    // Neither from the root nor from the leaves: every number comes once, each far from the one before.
    for turn in 1..=31 {
        let (comments, number) = (comments.clone(), turn * 12 % 31 + 1);
        calls.spawn(async move { comments.delete(delete(number)).await });
    }
    let_go(&test, holder).await;
    for outcome in calls.join_all().await {
        assert!(matches!(outcome, Ok(DeleteOutcome::Deleted(_))), "{outcome:?}");
    }
    assert_eq!(test.rows::<i64>("SELECT COUNT(*) FROM comment").await, [0]);
    let counts: Vec<(i64, i64, i64)> =
        test.rows("SELECT comment_count, row_count, version FROM article_comment_count").await;
    assert_eq!(counts, [(0, 0, 62)]);
    let versions: Vec<u64> =
        test.outbox().await.iter().map(|message| Envelope::decode(&message.payload).unwrap().version).collect();
    assert_eq!(versions, (1..=62).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replies_and_deletions_of_one_parent_in_one_batch_agree() {
    let (test, comments) = patient().await;
    for (number, parent) in [(1, None), (2, Some(1)), (3, Some(1))] {
        comments.create(new(number, parent)).await.unwrap();
    }
    let holder = held(&test).await;
    let (mut created, mut deleted) = (JoinSet::new(), JoinSet::new());
    for number in 1..=3 {
        let comments = comments.clone();
        deleted.spawn(async move { comments.delete(delete(number)).await });
    }
    for number in 100..140 {
        let comments = comments.clone();
        created.spawn(async move { (number, comments.create(new(number, Some(1))).await.unwrap()) });
    }
    let_go(&test, holder).await;
    for outcome in deleted.join_all().await {
        assert!(matches!(outcome, Ok(DeleteOutcome::Deleted(_))), "{outcome:?}");
    }
    // Who came before the parent was deleted is there, under a path of their own; the others were refused.
    let created: HashMap<i64, CreateOutcome> = created.join_all().await.into_iter().collect();
    let there = created.values().filter(|outcome| matches!(outcome, CreateOutcome::Created(Created::Now(_)))).count();
    let rows: Vec<i64> = test.rows("SELECT comment_id FROM comment WHERE deleted = 0").await;
    assert_eq!(rows.len(), there);
    let marks: Vec<i64> = test.rows("SELECT comment_id FROM comment WHERE deleted = 1").await;
    assert_eq!(marks, if there == 0 { Vec::new() } else { vec![id(1)] });
    assert_eq!(test.comment_differences().await, Vec::<String>::new());
}
