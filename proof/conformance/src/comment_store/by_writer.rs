//! Comments over all articles: of one writer, and by their ids.

use madang_board::{ArticleId, CommentId, CommentMode, MemberId};
use madang_kernel::Id;

use super::CommentStoreHarness;
use super::site::{Site, ids, page_size};

const WRITER: i64 = 7;

pub(super) async fn a_writers_comments_are_listed_newest_first<H: CommentStoreHarness>(harness: H) {
    let mut site = Site::open(harness, CommentMode::TwoLevel);
    let mut expected = Vec::new();
    for _ in 0..4 {
        expected.insert(0, site.reply(None).await.comment_id);
    }
    // A mark is nobody's.
    site.reply(Some(expected[1])).await;
    site.delete(expected[1]).await;
    let reply = site.store.by_writer(MemberId::from_raw(WRITER), None, page_size(1)).await.unwrap().items;
    expected.remove(1);
    expected.insert(0, reply[0].comment_id);
    for size in [1, 2, 3, 100] {
        let (mut listed, mut before) = (Vec::new(), None);
        loop {
            let step = site.store.by_writer(MemberId::from_raw(WRITER), before, page_size(size)).await.unwrap();
            listed.extend(ids(&step.items));
            before = step.next;
            if before.is_none() {
                break;
            }
        }
        assert_eq!(listed, expected, "in steps of {size}");
    }
    let first = std::mem::replace(&mut site.article, ArticleId::from_raw(72));
    let elsewhere = site.reply(None).await.comment_id;
    site.store.mark_article_gone(first).await.unwrap();
    let left = site.store.by_writer(MemberId::from_raw(WRITER), None, page_size(10)).await.unwrap();
    assert_eq!((ids(&left.items), left.next), (vec![elsewhere], None), "those of a gone article are not there");
}

pub(super) async fn comments_are_found_in_the_order_asked<H: CommentStoreHarness>(harness: H) {
    let mut site = Site::open(harness, CommentMode::TwoLevel);
    let (first, second) = (site.reply(None).await.comment_id, site.reply(None).await.comment_id);
    // With a reply it leaves a mark, which is found.
    site.reply(Some(second)).await;
    site.delete(second).await;
    let gone_with_its_article = site.article;
    site.article = ArticleId::from_raw(72);
    let third = site.reply(None).await.comment_id;
    let absent = CommentId::from_raw(1);
    let asked = vec![third, absent, second, first, third];
    let found = site.store.find_many(asked.clone()).await.unwrap();
    for (comment, found) in asked.iter().zip(&found) {
        assert_eq!(*found, site.store.find(*comment).await.unwrap(), "{comment}");
    }
    let is_there: Vec<_> = found.iter().map(|found| found.as_ref().map(|comment| comment.deleted)).collect();
    assert_eq!(is_there, [Some(false), None, Some(true), Some(false), Some(false)]);
    site.store.mark_article_gone(gone_with_its_article).await.unwrap();
    let left = site.store.find_many(vec![first, third]).await.unwrap();
    assert!(left[0].is_none() && left[1].is_some(), "those of a gone article are not there");
    assert_eq!(site.store.find_many(Vec::new()).await.unwrap(), []);
}
