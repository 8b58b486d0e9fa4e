//! Many articles by their ids, and the newest ids of a board: one read each, of one moment.

use std::sync::Arc;

use madang_article::{FIND_MANY_MAX, NEWEST_MAX};
use madang_board::{ArticleId, BoardId};
use madang_event::BoardCount;
use madang_kernel::Id;
use tokio::task::JoinSet;

use super::ArticleStoreHarness;
use super::site::{LATE_ARTICLE, Site};

pub(super) async fn many_articles_come_in_the_order_asked<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let (low, gone, high) = (site.create().await, site.create().await.article_id, site.create().await);
    let high = site.edit(high.article_id, "edited").await;
    site.delete(gone).await;
    let never = ArticleId::from_raw(3);
    let asked = vec![high.article_id, gone, never, low.article_id, high.article_id];
    let found = site.store.find_many(asked).await.unwrap();
    assert_eq!(found, [Some(high.clone()), None, None, Some(low.clone()), Some(high)]);
    assert_eq!(site.store.find_many(vec![]).await.unwrap(), []);
    let most = site.store.find_many(vec![low.article_id; FIND_MANY_MAX]).await.unwrap();
    assert_eq!(most, vec![Some(low); FIND_MANY_MAX]);
}

/// A writer edits one article, then the other, over and over: no reader sees the second ahead of the first.
pub(super) async fn many_articles_are_of_one_moment<H: ArticleStoreHarness>(harness: H) {
    let site = Arc::new(Site::open(harness).await);
    let (first, second) = (site.create().await.article_id, site.create().await.article_id);
    let mut writer = JoinSet::new();
    let edited = Arc::clone(&site);
    writer.spawn(async move {
        for turn in 0..100 {
            edited.edit(first, &format!("turn {turn}")).await;
            edited.edit(second, &format!("turn {turn}")).await;
        }
    });
    while writer.try_join_next().map(Result::unwrap).is_none() {
        let found = site.store.find_many(vec![second, first]).await.unwrap();
        let versions: Vec<_> = found.iter().flatten().map(|article| article.version).collect();
        assert!(versions[1] == versions[0] || versions[1] == versions[0] + 1, "{versions:?}");
    }
}

pub(super) async fn the_newest_are_ids_newest_first<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let other = site.add_board(2, "other").await;
    let mut expected = Vec::new();
    for _ in 0..10 {
        expected.insert(0, site.create().await.article_id);
        site.create_from(site.draft_at(site.next_id(), other)).await;
    }
    let late = site.create_from(site.draft_at(LATE_ARTICLE, site.board)).await.article_id;
    expected.push(late);
    site.delete(expected.remove(3)).await;
    let newest = site.store.newest(site.board, NEWEST_MAX).await.unwrap().unwrap();
    assert_eq!((newest.ids, newest.is_all), (expected.clone(), true));
    assert_eq!(newest.count, BoardCount { article_count: 10, version: 12 });
    let few = site.store.newest(site.board, 4).await.unwrap().unwrap();
    assert_eq!((few.ids, few.is_all, few.count), (expected[..4].to_vec(), false, newest.count));
}

pub(super) async fn the_newest_tell_whether_they_are_all<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let empty = site.store.newest(site.board, NEWEST_MAX).await.unwrap().unwrap();
    assert_eq!((empty.ids.len(), empty.is_all, empty.count), (0, true, BoardCount { article_count: 0, version: 0 }));
    for _ in 0..5 {
        site.create().await;
    }
    for (limit, listed, is_all) in [(0, 0, false), (1, 1, false), (4, 4, false), (5, 5, true), (6, 5, true)] {
        let newest = site.store.newest(site.board, limit).await.unwrap().unwrap();
        assert_eq!((newest.ids.len(), newest.is_all, newest.count.article_count), (listed, is_all, 5), "of {limit}");
    }
    assert_eq!(site.store.newest(BoardId::from_raw(99), 5).await.unwrap(), None);
}

pub(super) async fn the_newest_and_their_count_are_of_one_moment<H: ArticleStoreHarness>(harness: H) {
    let site = Arc::new(Site::open(harness).await);
    let mut writers = JoinSet::new();
    for _ in 0..4 {
        let site = Arc::clone(&site);
        writers.spawn(async move {
            for _ in 0..25 {
                site.create().await;
            }
        });
    }
    while !writers.is_empty() {
        let newest = site.store.newest(site.board, NEWEST_MAX).await.unwrap().unwrap();
        let listed = newest.ids.len() as u64;
        assert_eq!((newest.count.article_count, newest.count.version), (listed, listed));
        while writers.try_join_next().map(Result::unwrap).is_some() {}
    }
    assert_eq!(site.count().await, 100);
}
