//! Reading through the model: loads are shared, failures forgotten, lists true, and people read their own writes.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

mod support;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use madang_article_read::{ABSENT_TTL_MS, ENTRY_TTL_MS, LIST_MAX, ReadArticle, VIEW_FRESH_MS, VIEW_TTL_MS};
use madang_board::{ArticleId, BoardId};
use madang_kernel::{Id, StoreError};
use support::{BOARD, Site, page, size};
use tokio::task::JoinSet;

const ROOM_BYTES: u64 = 64 * 1024 * 1024;

fn board() -> BoardId {
    BoardId::from_raw(BOARD)
}

fn article(raw: i64) -> ArticleId {
    ArticleId::from_raw(raw)
}

/// A site with articles 1 to `articles`, of which the model knows nothing.
fn site(articles: i64) -> Site {
    let site = Site::open(ROOM_BYTES);
    let mut truth = site.world.truth();
    for raw in 1..=articles {
        truth.create(board(), article(raw), "content");
    }
    drop(truth);
    site
}

/// Many readers of one article, all as far as they come.
async fn crowd(site: &Site) -> JoinSet<Result<Option<ReadArticle>, StoreError>> {
    let mut readers = JoinSet::new();
    for _ in 0..512 {
        let service = Arc::clone(&site.service);
        readers.spawn(async move { service.article(article(1)).await });
    }
    site.settle().await;
    readers
}

#[tokio::test(start_paused = true)]
async fn a_crowd_on_a_cold_article_asks_each_owner_once() {
    let site = site(1);
    let gate = site.world.closed().await;
    let readers = crowd(&site).await;
    assert_eq!(readers.len(), 512);
    drop(gate);
    for read in readers.join_all().await {
        assert_eq!(read.unwrap().unwrap().text.head.article_id, article(1));
    }
    assert_eq!(site.world.calls.all(), [1, 1, 1, 1, 0, 0]);
    site.article(article(1)).await.unwrap().unwrap();
    assert_eq!(site.world.calls.all(), [1, 1, 1, 1, 0, 0], "a hit asks nobody");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_on_several_threads_asks_each_owner_once() {
    let site = site(1);
    site.world.slow.store(5, Ordering::SeqCst);
    let mut readers = JoinSet::new();
    for _ in 0..512 {
        let service = Arc::clone(&site.service);
        readers.spawn(async move { service.article(article(1)).await.unwrap().unwrap() });
    }
    assert_eq!(readers.join_all().await.len(), 512);
    assert_eq!(site.world.calls.all(), [1, 1, 1, 1, 0, 0]);
}

#[tokio::test(start_paused = true)]
async fn a_crowd_at_the_moment_of_expiry_causes_one_refresh_and_does_not_wait() {
    let site = site(1);
    site.article(article(1)).await.unwrap();
    assert_eq!(site.world.calls.all()[..3], [1, 1, 1]);
    // Just before the article's day ends its views are read, so that they are fresh when it does.
    site.pass(ENTRY_TTL_MS - VIEW_FRESH_MS / 2);
    site.article(article(1)).await.unwrap();
    site.settle().await;
    assert_eq!(site.world.calls.all()[..3], [1, 1, 1]);
    site.pass(VIEW_FRESH_MS / 2);
    let gate = site.world.closed().await;
    let readers = crowd(&site).await;
    let read = readers.join_all().await;
    assert_eq!(read.len(), 512, "nobody waited for the gate");
    assert!(read.into_iter().all(|read| read.unwrap().is_some()));
    assert_eq!(site.world.calls.all()[..3], [2, 2, 2], "one refresh");
    drop(gate);
    site.settle().await;
    site.article(article(1)).await.unwrap();
    site.settle().await;
    assert_eq!(site.world.calls.all()[..3], [2, 2, 2], "and then it is fresh");
}

#[tokio::test(start_paused = true)]
async fn a_crowd_on_a_cold_board_asks_each_owner_once() {
    let site = site(50);
    let gate = site.world.closed().await;
    let mut readers = JoinSet::new();
    for _ in 0..512 {
        let service = Arc::clone(&site.service);
        readers.spawn(async move { service.page(board(), page(1), size(30)).await.unwrap().unwrap() });
    }
    site.settle().await;
    drop(gate);
    for read in readers.join_all().await {
        assert_eq!((read.items.len(), read.known_count), (30, 50));
    }
    assert_eq!(site.world.calls.all(), [1, 1, 1, 1, 1, 0], "30 articles by one question to each");
}

#[tokio::test(start_paused = true)]
async fn a_stale_list_is_answered_while_its_owner_is_slow() {
    let site = site(3);
    site.service.page(board(), page(1), size(3)).await.unwrap();
    site.pass(ENTRY_TTL_MS - VIEW_FRESH_MS / 2);
    site.service.articles(&[1, 2, 3].map(article)).await.unwrap();
    site.settle().await;
    site.pass(VIEW_FRESH_MS / 2);
    let gate = site.world.closed().await;
    let mut readers = JoinSet::new();
    for _ in 0..512 {
        let service = Arc::clone(&site.service);
        readers.spawn(async move { service.page(board(), page(1), size(3)).await.unwrap().unwrap().items.len() });
    }
    assert_eq!(readers.join_all().await, vec![3; 512]);
    site.settle().await;
    assert_eq!(site.world.calls.newest.load(Ordering::SeqCst), 2);
    drop(gate);
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_told_and_never_kept() {
    let site = site(40);
    for failing in [2, 1] {
        // Every owner fails, and a batch that is broken is tried once more.
        site.world.failing.store(100 + failing, Ordering::SeqCst);
        assert!(site.article(article(1)).await.is_err());
        assert!(site.service.page(board(), page(1), size(30)).await.is_err());
        site.world.failing.store(0, Ordering::SeqCst);
        assert_eq!(site.model.size_now().placeholders, 0, "no placeholder is left behind");
    }
    assert!(site.article(article(1)).await.unwrap().is_some());
    assert_eq!(site.service.page(board(), page(1), size(30)).await.unwrap().unwrap().items.len(), 30);
}

#[tokio::test(start_paused = true)]
async fn what_is_absent_is_asked_for_once_a_second() {
    let site = site(1);
    for _ in 0..10 {
        assert_eq!(site.article(article(7)).await.unwrap(), None);
        assert_eq!(site.service.page(BoardId::from_raw(8), page(1), size(5)).await.unwrap(), None);
        assert_eq!(site.service.scroll(BoardId::from_raw(8), None, size(5)).await.unwrap(), None);
    }
    assert_eq!(site.world.calls.all(), [1, 1, 1, 0, 1, 0]);
    site.pass(ABSENT_TTL_MS);
    assert_eq!(site.article(article(7)).await.unwrap(), None);
    assert_eq!(site.world.calls.all()[0], 2);
}

#[tokio::test(start_paused = true)]
async fn pages_inside_the_list_never_touch_the_store_and_older_ones_do() {
    let site = site(LIST_MAX as i64 + 205);
    let total = LIST_MAX as u64 + 205;
    let read = site.service.page(board(), page(1), size(30)).await.unwrap().unwrap();
    assert_eq!(read.items[0].head().article_id, article(total as i64));
    for number in 1..=10 {
        let read = site.service.page(board(), page(number), size(100)).await.unwrap().unwrap();
        assert_eq!((read.items.len(), read.known_count), (100, 1_001));
    }
    assert_eq!(site.world.calls.older.load(Ordering::SeqCst), 0);
    let older = site.service.page(board(), page(13), size(100)).await.unwrap().unwrap();
    assert_eq!((older.items.len(), older.known_count), (5, total));
    assert_eq!(older.items[4].head().article_id, article(1));
    assert_eq!(site.world.calls.older.load(Ordering::SeqCst), 1);
    // A cursor goes through both without a seam.
    let (mut seen, mut before) = (Vec::new(), None);
    loop {
        let step = site.service.scroll(board(), before, size(70)).await.unwrap().unwrap();
        seen.extend(step.items.iter().map(|item| item.head().article_id.raw()));
        before = step.next;
        if before.is_none() {
            break;
        }
    }
    assert_eq!(seen, (1..=total as i64).rev().collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn short_pages_of_a_complete_list_ask_nobody() {
    let site = site(5);
    site.service.page(board(), page(1), size(30)).await.unwrap();
    let calls = site.world.calls.all();
    for number in 1..5 {
        let read = site.service.page(board(), page(number), size(3)).await.unwrap().unwrap();
        assert_eq!(read.items.len(), [3, 2, 0, 0][number as usize - 1]);
    }
    let step = site.service.scroll(board(), Some(article(3)), size(30)).await.unwrap().unwrap();
    assert_eq!((step.items.len(), step.next), (2, None));
    assert_eq!(site.world.calls.all(), calls);
}

#[tokio::test(start_paused = true)]
async fn a_candidate_that_is_gone_leaves_and_the_next_moves_up() {
    let site = site(40);
    site.service.page(board(), page(1), size(10)).await.unwrap();
    // Deleted, and nothing heard of it; the model knows two of them and forgets them by time.
    for raw in [40, 39, 20, 5] {
        site.world.truth().delete(article(raw));
    }
    site.pass(ENTRY_TTL_MS);
    site.service.page(board(), page(1), size(10)).await.unwrap();
    site.settle().await;
    let read = site.service.page(board(), page(1), size(30)).await.unwrap().unwrap();
    let ids: Vec<_> = read.items.iter().map(|item| item.head().article_id.raw()).collect();
    assert_eq!(ids, (1..=38).rev().filter(|raw| ![20, 5].contains(raw)).take(30).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn people_read_their_own_writes() {
    let site = site(3);
    site.service.page(board(), page(1), size(30)).await.unwrap();
    let calls = site.world.calls.all();
    let commit = |event| site.model.merge_committed(&[event]);
    commit(site.world.truth().create(board(), article(100), "new"));
    let read = site.article(article(100)).await.unwrap().unwrap();
    assert_eq!((read.text.content.as_str(), read.comment_count, read.like_count), ("new", 0, 0));
    let listed = site.service.page(board(), page(1), size(30)).await.unwrap().unwrap();
    assert_eq!((listed.items[0].head().article_id, listed.known_count), (article(100), 4));
    let edit = site.world.truth().edit(article(100)).unwrap();
    let comment = site.world.truth().comment(article(100), 1).unwrap();
    let like = site.world.truth().like(article(100), 1).unwrap();
    site.model.merge_committed(&[edit, comment, like]);
    let read = site.article(article(100)).await.unwrap().unwrap();
    assert_eq!((read.text.head.version, read.comment_count, read.like_count), (2, 1, 1));
    let listed = site.service.page(board(), page(1), size(30)).await.unwrap().unwrap();
    assert_eq!(listed.items[0].head().version, 2);
    let deletion = site.world.truth().delete(article(100)).unwrap();
    commit(deletion);
    assert_eq!(site.article(article(100)).await.unwrap(), None);
    let listed = site.service.page(board(), page(1), size(30)).await.unwrap().unwrap();
    assert_eq!((listed.items.len(), listed.known_count), (3, 3));
    assert_eq!(site.world.calls.all()[..3], calls[..3], "none of it asked an owner of the model");
}

#[tokio::test(start_paused = true)]
async fn an_article_committed_while_someone_looks_for_it_is_found() {
    let site = site(0);
    site.world.truth().create(board(), article(1), "first");
    let gate = site.world.closed().await;
    let mut readers = JoinSet::new();
    let service = Arc::clone(&site.service);
    readers.spawn(async move { service.article(article(5)).await });
    site.settle().await;
    drop(gate);
    // The owner has said that there is none, and the answer is on its way.
    let event = site.world.truth().create(board(), article(5), "second");
    site.model.merge_committed(&[event]);
    readers.join_all().await.pop().unwrap().unwrap();
    assert_eq!(site.article(article(5)).await.unwrap().unwrap().text.content, "second");
}

#[tokio::test(start_paused = true)]
async fn a_dropped_model_comes_back_as_it_was() {
    let site = site(60);
    let before = (
        site.service.page(board(), page(1), size(50)).await.unwrap(),
        site.service.articles(&(1..=60).map(article).collect::<Vec<_>>()).await.unwrap(),
    );
    site.service.clear().await.unwrap();
    assert_eq!(site.model.size_now().bytes, 0);
    let after = (
        site.service.page(board(), page(1), size(50)).await.unwrap(),
        site.service.articles(&(1..=60).map(article).collect::<Vec<_>>()).await.unwrap(),
    );
    assert_eq!(before, after);
}

#[tokio::test(start_paused = true)]
async fn with_the_owner_of_views_away_known_articles_stay_readable() {
    let site = site(2);
    site.article(article(1)).await.unwrap();
    site.world.failing.store(1_000, Ordering::SeqCst);
    site.pass(10 * VIEW_TTL_MS);
    assert!(site.article(article(1)).await.unwrap().is_some(), "views only grow: the last count still holds");
    assert!(site.article(article(2)).await.is_err(), "unknown is not zero");
}
