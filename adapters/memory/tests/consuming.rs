//! Events from the log: merged, skipped when they tell nothing new, refused when they cannot be read.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

mod support;

use bytes::Bytes;
use madang_board::{ArticleId, BoardId};
use madang_event::Event;
use madang_kernel::Id;
use madang_messaging::{Handled, Handler, HandlerError};
use support::{Site, delivery, page, size};

fn board() -> BoardId {
    BoardId::from_raw(1 << 22)
}

fn article(number: i64) -> ArticleId {
    ArticleId::from_raw(number << 22)
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_is_refused_and_holds_up_nothing() {
    let site = Site::open(1 << 24);
    let created = site.world.truth().create(board(), article(1), "text");
    site.article(article(1)).await.unwrap().unwrap();
    let like = site.world.truth().like(article(1), 1).unwrap();
    let mut garbage = delivery(&created);
    garbage.message.payload = Bytes::from_static(b"{\"event_id\":\"1\",\"type\":\"article.pinned\"}");
    let answers = site.consumer.handle(&[delivery(&created), garbage, delivery(&like)]).await;
    assert!(matches!(answers[..], [Ok(Handled::Done), Err(HandlerError::Undecodable(_)), Ok(Handled::Done)]));
    assert_eq!(site.article(article(1)).await.unwrap().unwrap().like_count, 1);
}

#[tokio::test(start_paused = true)]
async fn views_are_no_part_of_the_model() {
    let site = Site::open(1 << 24);
    let mut event = site.world.truth().create(board(), article(1), "text");
    site.article(article(1)).await.unwrap().unwrap();
    let views = madang_event::ArticleViews { article_id: article(1), view_count: 99 };
    event.event = Event::ArticleViewed(views);
    site.deliver(&[event]).await;
    assert_eq!(site.article(article(1)).await.unwrap().unwrap().view_count, 0);
}

#[tokio::test(start_paused = true)]
async fn events_reach_articles_and_lists_that_are_there() {
    let site = Site::open(1 << 24);
    let first = site.world.truth().create(board(), article(1), "text");
    site.service.page(board(), page(1), size(10)).await.unwrap().unwrap();
    let second = site.world.truth().create(board(), article(2), "text");
    let edit = site.world.truth().edit(article(1)).unwrap();
    site.deliver(&[second.clone(), edit.clone(), first, second, edit]).await;
    let read = site.service.page(board(), page(1), size(10)).await.unwrap().unwrap();
    let seen: Vec<_> = read.items.iter().map(|item| (item.head().article_id, item.head().version)).collect();
    assert_eq!((seen, read.known_count), (vec![(article(2), 1), (article(1), 2)], 2));
}

#[tokio::test(start_paused = true)]
async fn a_group_that_fell_behind_drops_the_model_and_reads_the_truth() {
    let site = Site::open(1 << 24);
    site.world.truth().create(board(), article(1), "text");
    site.service.page(board(), page(1), size(10)).await.unwrap().unwrap();
    // Nobody will ever hear of these.
    site.world.truth().create(board(), article(2), "text");
    site.world.truth().like(article(1), 1);
    site.consumer.rebuild().await.unwrap();
    let read = site.service.page(board(), page(1), size(10)).await.unwrap().unwrap();
    assert_eq!((read.items.len(), read.items[1].like_count), (2, 1));
}
