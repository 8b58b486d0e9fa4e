//! The budget is honoured, whatever is put in and however it grows, and what is used most stays.

#![allow(clippy::unwrap_used, reason = "the helpers of a test fail the test")]

mod support;

use std::sync::Arc;

use madang_article_read::{Filled, Lookup, NewestArticles, ReadModel};
use madang_board::{ArticleId, BoardId};
use madang_event::{BoardCount, Envelope};
use madang_kernel::{Id, ManualClock, Timestamp};
use madang_memory::MemoryReadModel;
use support::{Site, Truth, noise, page, size};

const MIB: u64 = 1024 * 1024;

fn model(budget_bytes: u64) -> MemoryReadModel {
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_750_000_000_000)));
    MemoryReadModel::new(budget_bytes, clock)
}

/// Articles with texts of many lengths, created one after the other on a thousand boards.
fn creations(from: i64, count: i64) -> impl Iterator<Item = Envelope> {
    let mut truth = Truth::default();
    (from..from + count).map(move |number| {
        let content = noise(number as u64, (number * 7_919 % 4_001) as usize);
        let event = truth.create(board(number % 1_000), article(number), &content);
        truth.articles.clear();
        event
    })
}

fn article(number: i64) -> ArticleId {
    ArticleId::from_raw(number << 22 | (number % 64) << 16)
}

fn board(number: i64) -> BoardId {
    BoardId::from_raw((number + 1) << 22 | (number % 64) << 16)
}

/// Loads the list of a board without articles.
async fn load_list(model: &MemoryReadModel, board: BoardId, ids: Vec<ArticleId>) {
    let reservation = model.reserve_list(board).await.unwrap();
    let count = BoardCount { article_count: ids.len() as u64, version: 0 };
    let filled = model.fill_list(reservation, board, Some(NewestArticles { ids, is_all: true, count })).await.unwrap();
    assert!(matches!(filled, Filled::Stored(Some(_))));
}

#[tokio::test]
async fn far_more_than_fits_stays_within_the_budget() {
    let budget = 8 * MIB;
    let model = model(budget);
    for number in 0..1_000 {
        load_list(&model, board(number), vec![]).await;
    }
    let events: Vec<_> = creations(1, 10_000).collect();
    for events in events.chunks(100) {
        model.merge_committed(events);
        assert!(model.size_now().bytes <= budget, "{:?}", model.size_now());
    }
    let size = model.size_now();
    assert!(size.bytes > budget * 3 / 4, "and the budget is used: {size:?}");
    assert!(size.entries < 5_000 && size.entries > 500, "{size:?}");
}

#[tokio::test]
async fn what_grows_in_place_stays_within_the_budget() {
    let budget = 8 * MIB;
    let model = model(budget);
    // Lists that are small when they come, and articles whose edits are long.
    for number in 0..200 {
        load_list(&model, board(number), vec![]).await;
    }
    let mut truth = Truth::default();
    let short: Vec<_> = (1..=3_000).map(|number| truth.create(board(number % 200), article(number), "s")).collect();
    model.merge_committed(&short);
    for number in 1..=3_000 {
        truth.articles.get_mut(&article(number)).unwrap().text.content = noise(number as u64, 20_000);
        model.merge_committed(&[truth.edit(article(number)).unwrap()]);
        assert!(model.size_now().bytes <= budget, "{:?}", model.size_now());
    }
    let many = (3_001..=60_000).map(|number| truth.create(board(number % 200), article(number), "s"));
    for event in many.collect::<Vec<_>>() {
        model.merge_committed(&[event]);
    }
    assert!(model.size_now().bytes <= budget, "{:?}", model.size_now());
}

#[tokio::test]
async fn an_article_that_fits_nowhere_is_read_all_the_same() {
    let site = Site::open(64 * 1024);
    site.world.truth().create(board(1), article(1), &noise(1, 20_000));
    for _ in 0..3 {
        let read = site.service.article(article(1)).await.unwrap().unwrap();
        assert_eq!(read.text.content.len(), 20_000);
        let listed = site.service.page(board(1), page(1), size(5)).await.unwrap().unwrap();
        assert_eq!(listed.items.len(), 1);
    }
    assert!(site.model.size_now().bytes <= 64 * 1024);
}

#[tokio::test]
async fn what_is_used_most_stays() {
    let model = model(8 * MIB);
    let events: Vec<_> = creations(1, 40_000).collect();
    model.merge_committed(&events[..50]);
    let used: Vec<_> = (1..=50).map(article).collect();
    let mut kept = 0;
    for events in events[50..].chunks(50) {
        model.merge_committed(events);
        kept = model.find(&used).await.unwrap().iter().filter(|look| **look != Lookup::Miss).count();
    }
    assert!(kept >= 45, "{kept} of 50 that are read all the time are left");
    let idempotency: Vec<_> = (1_000..2_000).map(article).collect();
    let left = model.find(&idempotency).await.unwrap().iter().filter(|look| **look != Lookup::Miss).count();
    assert!(left < 500, "{left} of 1000 that nobody reads are left");
}
