//! What a rebuild puts in the place of what is held: versions may fall, and nothing is overwritten that came meanwhile.

use madang_board::ArticleId;
use madang_hot_article::{Counts, HotChange, Reading, Replacement, Tally};
use madang_kernel::Id;

use super::HotStoreHarness;
use super::site::{Site, day, deletion, likes};

fn liked(count: u64, version: u64) -> Tally {
    Tally::Live(Counts { likes: Reading::new(count, version), ..Counts::default() })
}

fn replacement(article: i64, held: Tally, owned: Tally) -> Replacement {
    Replacement { article_id: ArticleId::from_raw(article), held, owned }
}

pub(super) async fn what_the_owners_say_takes_the_place_of_what_was_held<H: HotStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    // A version that no event passes, a deletion that nobody meant, an article that nobody told of, one that is gone.
    site.apply(vec![likes(1, 9, 1 << 40), deletion(2), likes(4, 5, 5)]).await;
    let replaced = site.store.replace(
        day(1),
        vec![
            replacement(1, liked(9, 1 << 40), liked(2, 2)),
            replacement(2, Tally::Gone, liked(4, 4)),
            replacement(3, Tally::default(), liked(1, 1)),
            replacement(4, liked(5, 5), Tally::Gone),
        ],
    );
    assert_eq!(replaced.await.unwrap(), []);
    // Rankings beside a store are made anew at the end of a rebuild.
    site.store.rebuild_ranking(None, 100).await.unwrap();
    assert_eq!(site.ranking(day(1)).await, [(2, 12), (1, 6), (3, 3)]);
    site.apply(vec![likes(1, 3, 3), likes(4, 6, 6)]).await;
    assert_eq!(site.ranking(day(1)).await, [(2, 12), (1, 9), (3, 3)], "events count again, and what is gone stays so");
    site.assert_sound().await;
}

pub(super) async fn what_changed_since_it_was_held_is_not_replaced<H: HotStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    site.apply(vec![likes(1, 3, 3), likes(2, 3, 3), likes(3, 3, 3)]).await;
    // The owners are asked; meanwhile events tell of more.
    site.apply(vec![likes(1, 4, 4), deletion(2)]).await;
    let asked = (1..=3).map(|article| replacement(article, liked(3, 3), liked(2, 2))).collect();
    let changed = site.store.replace(day(1), asked).await.unwrap();
    assert_eq!(changed.iter().map(|article| article.raw()).collect::<Vec<_>>(), [1, 2]);
    site.store.rebuild_ranking(None, 100).await.unwrap();
    assert_eq!(site.ranking(day(1)).await, [(1, 12), (3, 6)]);
    site.assert_sound().await;
}

pub(super) async fn of_a_final_day_a_replacement_only_removes<H: HotStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    site.apply(vec![likes(1, 3, 3), likes(2, 2, 2), HotChange { day: day(2), ..likes(5, 1, 1) }]).await;
    site.store.finalise(day(1)).await.unwrap();
    let asked = vec![replacement(1, liked(3, 3), Tally::Gone), replacement(2, liked(2, 2), liked(9, 9))];
    assert_eq!(site.store.replace(day(1), asked).await.unwrap(), []);
    assert_eq!(site.list(day(1)).await, (vec![(2, 6)], true));
    assert_eq!(site.list(day(2)).await, (vec![(5, 3)], false));
    site.assert_sound().await;
}
