//! The comments of one writer, over all articles.

use madang_board::{ArticleId, CommentMode, MemberId};
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
