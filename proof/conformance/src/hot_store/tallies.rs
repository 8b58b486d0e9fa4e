//! What a ranking beside the store follows by: a store need not tell, but what it tells is what it holds.

use madang_board::ArticleId;
use madang_hot_article::{Counts, HotChange, Reading, Tally};
use madang_kernel::Id;

use super::HotStoreHarness;
use super::site::{Site, change, day, deletion, likes, views};

pub(super) async fn a_store_that_tells_tallies_tells_them_as_they_are<H: HotStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let tomorrow = |change: HotChange| HotChange { day: day(2), ..change };
    site.apply(vec![likes(1, 5, 4), views(1, 9, 2), likes(2, 3, 3), tomorrow(likes(3, 1, 1))]).await;
    site.apply(vec![likes(1, 4, 5), deletion(2)]).await;
    let asked = [3, 2, 1, 2].map(ArticleId::from_raw).to_vec();
    let Some(told) = site.store.tallies(day(1), asked).await.unwrap() else { return };
    let counts = Counts { likes: Reading::new(4, 5), views: Reading::new(9, 2), ..Counts::default() };
    assert_eq!(told, [Tally::default(), Tally::Gone, Tally::Live(counts), Tally::Gone]);
    assert_eq!(site.store.tallies(day(1), vec![]).await.unwrap(), Some(vec![]));
}

pub(super) async fn tallies_of_a_day_come_in_slices<H: HotStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let mut changes: Vec<_> = (1..=25).map(|article| likes(article, article as u64, 1)).collect();
    changes.push(deletion(26));
    changes.push(HotChange { day: day(2), ..likes(30, 1, 1) });
    changes.push(change(27, Counts::default()));
    site.apply(changes).await;
    let (mut after, mut told) = (None, Vec::new());
    while let Some(slice) = site.store.tallies_after(day(1), after, 10).await.unwrap() {
        assert!(slice.len() <= 10);
        let is_last = slice.len() < 10;
        after = slice.last().map(|(article, _)| *article).or(after);
        told.extend(slice);
        if is_last {
            let ids: Vec<_> = told.iter().map(|(article, _)| article.raw()).collect();
            assert_eq!(ids, (1..=27).collect::<Vec<_>>());
            assert_eq!((told[24].1.score(), told[25].1), (75, Tally::Gone));
            return;
        }
    }
    assert!(told.is_empty(), "a store that tells, tells to the end");
}
