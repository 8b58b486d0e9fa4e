//! Many at once.

use std::sync::Arc;

use madang_article_read::{Change, Filled, ListLookup, Step};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::ReadModelHarness;
use super::site::{Site, article, board, created, edited, entry, liked, newest, page};

/// The last version that the owner of the crowd's article gives out.
const LAST: u64 = 400;

/// An owner counts up and reports each step while others rebuild without end: whatever they fill, nothing stays behind.
pub(super) async fn rebuilds_and_events_of_a_crowd_end_with_the_newest<H: ReadModelHarness>(harness: H) {
    let site = Site::open(harness);
    // What the owner has committed; events follow it.
    let (owner, committed) = watch::channel(1_u64);
    let mut crowd = JoinSet::new();
    for _ in 0..4 {
        let (model, committed) = (Arc::clone(&site.model), committed.clone());
        crowd.spawn(async move {
            while *committed.borrow() < LAST {
                let reservation = model.reserve(&[article(5)]).await.unwrap();
                let list_ticket = model.reserve_list(board(1)).await.unwrap();
                let version = *committed.borrow();
                tokio::task::yield_now().await;
                let told = vec![(article(5), Some(entry(5, (version, 0, version))))];
                if let [Filled::Stored(Some(kept))] = &model.fill(reservation, told).await.unwrap()[..] {
                    assert!(kept.live().unwrap().head.version >= version);
                }
                let ids: Vec<_> = (1..=version as i64).rev().collect();
                model.fill_list(list_ticket, board(1), newest(&ids, true, version, version)).await.unwrap();
            }
        });
    }
    let model = Arc::clone(&site.model);
    crowd.spawn(async move {
        for version in 2..=LAST {
            owner.send_replace(version);
            tokio::task::yield_now().await;
            let events = [edited(1, 5, version, version), liked(5, version), created(1, version as i64, version)];
            model.merge(events.into_iter().filter_map(Change::of).collect()).await.unwrap();
        }
    });
    crowd.join_all().await;
    if !site.is_missing(5).await {
        assert_eq!(site.seen(5).await, Some((LAST, 0, LAST)));
    }
    let (ids, count) = match site.list(1, page(4, 100)).await {
        ListLookup::Found { step: Step::Inside { ids, count, .. }, .. } => (ids, count),
        other => panic!("{other:?}"),
    };
    assert_eq!(ids.len(), 100, "none of {LAST} is missing");
    assert!(count == LAST || count == 1_000 + LAST, "{count}");
}
