//! Numbered pages and cursors.

use madang_article::Article;
use madang_board::{ArticleId, BoardId, MemberId};
use madang_kernel::Id;

use super::ArticleStoreHarness;
use super::site::{LATE_ARTICLE, Site, ids, page_number, page_size};

pub(super) async fn an_empty_board_has_an_empty_page<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let page = site.page(1, 30).await;
    assert_eq!((page.items.len(), page.known_count), (0, 0));
    let nowhere = site.store.page(BoardId::from_raw(99), page_number(1), page_size(30)).await.unwrap();
    assert_eq!((nowhere.items.len(), nowhere.known_count), (0, 0));
    let step = site.store.scroll(site.board, None, page_size(1)).await.unwrap();
    assert_eq!((step.items.len(), step.next), (0, None));
}

pub(super) async fn pages_are_newest_first_without_gap_or_overlap<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let mut expected = Vec::new();
    for _ in 0..25 {
        expected.insert(0, site.create().await.article_id.raw());
    }
    let mut listed = Vec::new();
    for number in 1..=4 {
        listed.extend(ids(&site.page(number, 7).await.items));
    }
    assert_eq!(listed, expected);
}

pub(super) async fn a_page_past_the_end_is_empty<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    for _ in 0..3 {
        site.create().await;
    }
    for (number, size, items) in [(2, 2, 1), (2, 3, 0), (3, 2, 0), (1_000_000_000, 100, 0), (1_000_000_000, 1, 0)] {
        let page = site.page(number, size).await;
        assert_eq!((page.items.len(), page.known_count), (items, 3), "page {number} of {size}");
    }
}

pub(super) async fn the_count_beside_a_page_is_capped<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    for _ in 0..25 {
        site.create().await;
    }
    for (number, size, known) in [(1, 1, 11), (10, 1, 11), (11, 1, 21), (21, 1, 25), (1, 2, 21), (1, 3, 25)] {
        assert_eq!(site.page(number, size).await.known_count, known, "page {number} of {size}");
    }
}

pub(super) async fn scroll_excludes_its_cursor_and_ends<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let mut expected = Vec::new();
    for _ in 0..7 {
        expected.insert(0, site.create().await.article_id.raw());
    }
    for size in [1, 2, 3, 6, 7, 8, 100] {
        let (mut listed, mut before) = (Vec::new(), None);
        loop {
            let step = site.store.scroll(site.board, before, page_size(size)).await.unwrap();
            assert!(step.items.iter().all(|item| before.is_none_or(|before| item.article_id < before)));
            listed.extend(ids(&step.items));
            before = step.next;
            if before.is_none() {
                break;
            }
        }
        assert_eq!(listed, expected, "in steps of {size}");
    }
}

pub(super) async fn scroll_goes_on_from_a_deleted_cursor<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let oldest = site.create().await.article_id;
    let middle = site.create().await.article_id;
    site.create().await;
    site.delete(middle).await;
    let step = site.store.scroll(site.board, Some(middle), page_size(5)).await.unwrap();
    assert_eq!((ids(&step.items), step.next), (vec![oldest.raw()], None));
}

pub(super) async fn boards_do_not_mix<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let other = site.add_board(2, "other").await;
    let mut expected = [Vec::new(), Vec::new()];
    for turn in 0..10 {
        let (index, board) = if turn % 3 == 0 { (1, other) } else { (0, site.board) };
        let draft = site.draft_at(site.next_id(), board);
        expected[index].insert(0, site.create_from(draft).await.article_id.raw());
    }
    for (board, expected) in [(site.board, &expected[0]), (other, &expected[1])] {
        let page = site.store.page(board, page_number(1), page_size(100)).await.unwrap();
        assert_eq!(&ids(&page.items), expected);
        let step = site.store.scroll(board, None, page_size(100)).await.unwrap();
        assert_eq!(&ids(&step.items), expected);
        assert_eq!(site.count_of(board).await, expected.len() as u64);
    }
    site.assert_sound().await;
}

pub(super) async fn late_small_ids_are_listed_and_counted<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let newest = site.create().await.article_id.raw();
    let late = [LATE_ARTICLE + 6, 5, 1, LATE_ARTICLE];
    for id in late {
        site.create_from(site.draft_at(id, site.board)).await;
    }
    let mut expected = late.to_vec();
    expected.push(newest);
    expected.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!(ids(&site.page(1, 30).await.items), expected);
    assert_eq!(site.count().await, 5);
    site.assert_sound().await;
}

pub(super) async fn a_writers_articles_are_listed_newest_first_over_all_boards<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let mut expected = Vec::new();
    for _ in 0..7 {
        let article = site.create().await;
        expected.insert(0, article.article_id.raw());
    }
    let writer = site.store.find(ArticleId::from_raw(expected[0])).await.unwrap().unwrap().writer.member_id;
    site.delete(ArticleId::from_raw(expected.remove(3))).await;
    for size in [1, 2, 6, 100] {
        let (mut listed, mut before) = (Vec::new(), None);
        loop {
            let step = site.store.by_writer(writer, before, page_size(size)).await.unwrap();
            listed.extend(ids(&step.items));
            before = step.next;
            if before.is_none() {
                break;
            }
        }
        assert_eq!(listed, expected, "in steps of {size}");
    }
    let nobody = site.store.by_writer(MemberId::from_raw(i64::MAX), None, page_size(10)).await.unwrap();
    assert_eq!((nobody.items.len(), nobody.next), (0, None));
}

pub(super) async fn the_newest_of_the_site_are_those_of_all_boards<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let other = site.add_board(2, "other").await;
    let mut expected = Vec::new();
    for number in 0..6 {
        let created = if number % 2 == 0 {
            site.create().await
        } else {
            site.create_from(site.draft_at(site.next_id(), other)).await
        };
        expected.insert(0, created);
    }
    let gone = expected.remove(2);
    site.delete(gone.article_id).await;
    let newest = site.store.site_newest(None, 100).await.unwrap();
    assert_eq!(newest.iter().map(|place| place.article_id).collect::<Vec<_>>(), ids_of(&expected));
    let told: Vec<_> = newest.iter().map(|place| (place.board_id, place.created_at)).collect();
    assert_eq!(told, expected.iter().map(|article| (article.board_id, article.created_at)).collect::<Vec<_>>());
    let (second, after) = (newest[1].article_id, site.store.site_newest(Some(newest[1].article_id), 2).await.unwrap());
    assert_eq!(after, newest[2..4], "older than {second}");
    let asked = vec![expected[3].article_id, gone.article_id, expected[0].article_id];
    let places = site.store.places(asked).await.unwrap();
    assert_eq!(places, [Some(newest[3]), None, Some(newest[0])]);
    assert_eq!(site.store.places(Vec::new()).await.unwrap(), []);
}

fn ids_of(articles: &[Article]) -> Vec<ArticleId> {
    articles.iter().map(|article| article.article_id).collect()
}
