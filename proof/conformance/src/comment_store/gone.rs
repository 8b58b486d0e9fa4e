//! Articles that are gone: nothing is added, nothing is shown, and in the end nothing is left.

use std::sync::Arc;

use madang_board::{ArticleId, CommentMode};
use madang_comment::{COUNTS_MAX, CommentCount, CreateOutcome, DeleteOutcome};
use madang_kernel::{Id, PageSize};
use tokio::task::JoinSet;

use super::CommentStoreHarness;
use super::site::Site;

const WRITERS: usize = 64;
const SLICE_ROWS: u32 = 7;

pub(super) async fn counts_come_in_the_order_asked<H: CommentStoreHarness>(harness: H) {
    let mut site = Site::open(harness, CommentMode::TwoLevel);
    let [low, high, gone, never] = [71, 74, 73, 72].map(ArticleId::from_raw);
    for (article, comments) in [(low, 1), (high, 3), (gone, 2)] {
        site.article = article;
        for _ in 0..comments {
            site.reply(None).await;
        }
    }
    site.store.mark_article_gone(gone).await.unwrap();
    site.article = high;
    let root = site.walk(10).await[0].comment_id;
    site.reply(Some(root)).await;
    site.delete(root).await;
    let counts = site.store.counts(vec![high, gone, never, low, high]).await.unwrap();
    let counts: Vec<_> = counts.into_iter().map(|counted| counted.map(|counted| counted.count)).collect();
    let three = Some(CommentCount { comment_count: 3, row_count: 4, version: 5, locked: false });
    let one = Some(CommentCount { comment_count: 1, row_count: 1, version: 1, locked: false });
    assert_eq!(counts, [three, None, Some(CommentCount::default()), one, three]);
    assert_eq!(site.store.counts(vec![]).await.unwrap(), []);
    let many = site.store.counts(vec![low; COUNTS_MAX]).await.unwrap();
    assert!(
        many.len() == COUNTS_MAX && many.iter().all(|counted| counted.as_ref().map(|counted| counted.count) == one)
    );
}

pub(super) async fn a_gone_article_takes_no_comment_and_shows_none<H: CommentStoreHarness>(harness: H) {
    let mut site = Site::open(harness, CommentMode::TwoLevel);
    for (mode, article) in [(CommentMode::TwoLevel, 71), (CommentMode::Tree, 72)] {
        (site.mode, site.article) = (mode, ArticleId::from_raw(article));
        let comment = site.reply(None).await.comment_id;
        let reported = site.events().await.len();
        for _ in 0..2 {
            site.store.mark_article_gone(site.article).await.unwrap();
        }
        assert_eq!(site.store.create(site.draft(None)).await.unwrap(), CreateOutcome::Gone);
        assert_eq!(site.store.create(site.draft(Some(comment))).await.unwrap(), CreateOutcome::Gone);
        assert_eq!(site.delete(comment).await, DeleteOutcome::Gone);
        assert_eq!(site.store.find(comment).await.unwrap(), None);
        assert_eq!((site.walk(10).await, site.page(1, 10).await), (Vec::new(), Vec::new()));
        assert_eq!((site.count().await, site.events().await.len()), (CommentCount::default(), reported));
    }
    site.assert_sound().await;
}

pub(super) async fn an_article_that_was_never_gone_shows_what_is_left<H: CommentStoreHarness>(harness: H) {
    let site = Site::open(harness, CommentMode::TwoLevel);
    let (marked, other) = (site.article, ArticleId::from_raw(1 << 41));
    let root = site.reply(None).await.comment_id;
    site.reply(Some(root)).await;
    site.delete(root).await;
    let before = site.walk(10).await;
    for article in [marked, other] {
        site.store.mark_article_gone(article).await.unwrap();
    }
    assert_eq!(site.store.gone_articles(None, PageSize::DEFAULT).await.unwrap(), [marked, other]);
    assert_eq!(site.store.gone_articles(Some(marked), PageSize::DEFAULT).await.unwrap(), [other]);
    for _ in 0..2 {
        site.store.restore_article(marked).await.unwrap();
        let counts = site.store.counts(vec![marked, other]).await.unwrap();
        let left = CommentCount { comment_count: 1, row_count: 2, version: 4, locked: false };
        let last = before.last().map(|comment| comment.comment_id);
        let told: Vec<_> = counts.iter().map(|counted| counted.as_ref().map(|counted| counted.count)).collect();
        assert_eq!(told, [Some(left), None], "above every version before");
        let newest = counts[0].as_ref().and_then(|counted| counted.last.as_ref()).map(|last| last.comment_id);
        assert_eq!(newest, last, "found again, though nobody noted it");
    }
    assert_eq!((site.walk(10).await, site.page(1, 10).await), (before.clone(), before));
    site.reply(None).await;
    assert_eq!(site.count().await, CommentCount { comment_count: 2, row_count: 3, version: 5, locked: false });
    // All of them were removed before anybody noticed.
    site.store.mark_article_gone(marked).await.unwrap();
    assert_eq!(site.store.clean_up(marked, 100).await.unwrap(), 3);
    site.store.restore_article(marked).await.unwrap();
    assert_eq!(site.count().await, CommentCount { version: 6, ..CommentCount::default() });
    site.reply(None).await;
    assert_eq!((site.count().await.comment_count, site.walk(10).await.len()), (1, 1));
    site.assert_sound().await;
}

pub(super) async fn cleaning_up_goes_slice_by_slice_and_spares_the_living<H: CommentStoreHarness>(harness: H) {
    let mut site = Site::open(harness, CommentMode::Tree);
    for _ in 0..10 {
        site.reply(None).await;
    }
    assert_eq!(site.store.clean_up(site.article, SLICE_ROWS).await.unwrap(), 0, "the article is not gone");
    let gone = site.article;
    site.article = ArticleId::from_raw(72);
    site.reply(None).await;
    site.store.mark_article_gone(gone).await.unwrap();
    for removed in [7, 3, 0] {
        assert_eq!(site.store.clean_up(gone, SLICE_ROWS).await.unwrap(), removed);
    }
    assert_eq!(site.walk(10).await.len(), 1);
    site.assert_sound().await;
}

pub(super) async fn comments_racing_the_deletion_leave_neither_row_nor_counter<H: CommentStoreHarness>(harness: H) {
    let site = Arc::new(Site::open(harness, CommentMode::Tree));
    let root = site.reply(None).await.comment_id;
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let site = Arc::clone(&site);
        writers.spawn(async move {
            let mut made = 0;
            if writer == WRITERS / 2 {
                site.store.mark_article_gone(site.article).await.unwrap();
                while site.store.clean_up(site.article, SLICE_ROWS).await.unwrap() == SLICE_ROWS {}
            }
            for _ in 0..10 {
                match site.store.create(site.draft(Some(root))).await.unwrap() {
                    CreateOutcome::Created(_) => made += 1,
                    CreateOutcome::Gone => {}
                    other => panic!("{other:?}"),
                }
            }
            made
        });
    }
    let made: usize = writers.join_all().await.into_iter().sum();
    assert_eq!(site.events().await.len(), made + 1, "what was refused was not reported");
    assert_eq!(site.store.clean_up(site.article, SLICE_ROWS).await.unwrap(), 0, "nothing came after the mark");
    assert_eq!(site.count().await, CommentCount::default());
    site.assert_sound().await;
}

pub(super) async fn articles_with_comments_are_listed_after_the_cursor<H: CommentStoreHarness>(harness: H) {
    let mut site = Site::open(harness, CommentMode::TwoLevel);
    let articles = [71, 72, 79].map(ArticleId::from_raw);
    for article in articles {
        site.article = article;
        site.reply(None).await;
        site.reply(None).await;
    }
    let listed = async |after: Option<ArticleId>| {
        site.store.counted_articles(after, PageSize::new("size", 2).unwrap()).await.unwrap()
    };
    assert_eq!(listed(None).await, articles[..2]);
    assert_eq!(listed(Some(articles[1])).await, articles[2..]);
    assert_eq!(listed(Some(articles[2])).await, []);
    // Marked and not yet cleaned up, it has no counter and is still found; cleaned up, it is not.
    site.store.mark_article_gone(articles[2]).await.unwrap();
    assert_eq!(listed(Some(articles[1])).await, articles[2..]);
    assert_eq!(site.store.clean_up(articles[2], SLICE_ROWS).await.unwrap(), 2);
    assert_eq!(listed(Some(articles[1])).await, []);
    site.assert_sound().await;
}
