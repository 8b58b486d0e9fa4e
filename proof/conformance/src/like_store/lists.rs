//! Lists: who likes an article, the counters of many, and which articles have one.

use madang_board::{ArticleId, MemberId};
use madang_kernel::Id;
use madang_like::LikeCount;

use super::LikeStoreHarness;
use super::site::{ARTICLE, Site, article, page_size};

pub(super) async fn likers_are_listed_by_member_and_exclude_the_cursor<H: LikeStoreHarness>(harness: H) {
    let site = Site::open(harness);
    for member in [5, 3, 9, 1, 7] {
        site.answer(article(), member, true).await;
    }
    for size in [1, 2, 4, 5, 100] {
        assert_eq!(site.members(article(), size).await, [1, 3, 5, 7, 9], "by {size}");
    }
    // A cursor is a place, not a row: it also works when its member no longer likes the article.
    site.answer(article(), 5, false).await;
    let after = Some(MemberId::from_raw(5));
    let step = site.store.likers(article(), after, page_size(1)).await.unwrap().unwrap();
    assert_eq!((step.items[0].member.member_id.raw(), step.next), (7, Some(MemberId::from_raw(7))));
}

pub(super) async fn counts_come_in_the_order_asked<H: LikeStoreHarness>(harness: H) {
    let site = Site::open(harness);
    let [low, never, high, gone] = [ARTICLE, ARTICLE + 1, ARTICLE + 2, ARTICLE + 3].map(ArticleId::from_raw);
    site.answer(low, 1, true).await;
    site.answer(high, 1, true).await;
    site.answer(high, 2, true).await;
    site.answer(gone, 1, true).await;
    site.store.mark_article_gone(gone).await.unwrap();
    let counts = site.store.counts(vec![high, gone, never, low, high]).await.unwrap();
    let two = Some(LikeCount { like_count: 2, version: 2 });
    assert_eq!(counts, [two, None, Some(LikeCount::default()), Some(LikeCount { like_count: 1, version: 1 }), two]);
    assert_eq!(site.store.counts(vec![]).await.unwrap(), []);
}

pub(super) async fn counted_articles_are_listed_after_the_cursor<H: LikeStoreHarness>(harness: H) {
    let site = Site::open(harness);
    let articles = [5, 6, 9].map(ArticleId::from_raw);
    for article in articles {
        site.answer(article, 1, true).await;
    }
    assert_eq!(site.store.counted_articles(None, page_size(2)).await.unwrap(), articles[..2]);
    assert_eq!(site.store.counted_articles(Some(articles[1]), page_size(2)).await.unwrap(), articles[2..]);
    assert_eq!(site.store.counted_articles(Some(articles[2]), page_size(2)).await.unwrap(), []);
}
