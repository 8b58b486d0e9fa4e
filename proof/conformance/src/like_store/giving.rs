//! Giving and taking back: once per member, with one event for each change and none for a repetition.

use madang_board::{ArticleId, MemberId};
use madang_kernel::{Id, PageSize, Timestamp};
use madang_like::{LikeAnswer, LikeCount, LikeState, Liker};

use super::LikeStoreHarness;
use super::site::{ARTICLE, Site, article, writer};

pub(super) async fn an_article_nobody_likes_counts_zero<H: LikeStoreHarness>(harness: H) {
    let site = Site::open(harness);
    assert_eq!(site.state(article(), 1).await, LikeState { liked: false, like_count: 0 });
    assert_eq!(site.store.counts(vec![article()]).await.unwrap(), [Some(LikeCount::default())]);
    assert_eq!(site.members(article(), 10).await, [0; 0]);
}

pub(super) async fn a_like_counts_once_however_often_it_is_given<H: LikeStoreHarness>(harness: H) {
    let site = Site::open(harness);
    for round in 0..3 {
        let state = LikeState { liked: true, like_count: 1 };
        let committed = LikeCount { like_count: 1, version: 1 };
        let expected = LikeAnswer { state, changed: round == 0, committed };
        assert_eq!(site.answer(article(), 1, true).await, expected);
        assert_eq!(site.state(article(), 1).await, state);
    }
    assert_eq!(site.store.state(article(), None).await.unwrap().unwrap(), LikeState { liked: false, like_count: 1 });
    assert_eq!(site.events().await.len(), 1);
    site.assert_sound().await;
}

pub(super) async fn taking_back_what_was_not_given_changes_nothing<H: LikeStoreHarness>(harness: H) {
    let site = Site::open(harness);
    let state = LikeState { liked: false, like_count: 0 };
    let never = LikeAnswer { state, changed: false, committed: LikeCount::default() };
    assert_eq!(site.answer(article(), 1, false).await, never);
    assert_eq!(site.events().await.len(), 0);
    site.answer(article(), 1, true).await;
    for round in 0..3 {
        let committed = LikeCount { like_count: 0, version: 2 };
        let expected = LikeAnswer { state, changed: round == 0, committed };
        assert_eq!(site.answer(article(), 1, false).await, expected);
    }
    assert_eq!(site.events().await.len(), 2);
    site.assert_sound().await;
}

pub(super) async fn each_change_has_one_event_with_the_count_after_it<H: LikeStoreHarness>(harness: H) {
    let site = Site::open(harness);
    for (member, liked) in [(1, true), (2, true), (2, true), (1, false), (1, false), (1, true)] {
        site.answer(article(), member, liked).await;
    }
    let events = site.events().await;
    let told: Vec<_> = events.iter().map(|(envelope, likes)| (envelope.version, likes.like_count)).collect();
    assert_eq!(told, [(1, 1), (2, 2), (3, 1), (4, 2)]);
    let one = [MemberId::from_raw(1)];
    assert_eq!((&events[2].1.liked[..], &events[2].1.unliked[..]), (&[][..], &one[..]));
    assert_eq!((&events[3].1.liked[..], &events[3].1.unliked[..]), (&one[..], &[][..]));
}

pub(super) async fn a_name_and_a_time_are_kept_as_they_were<H: LikeStoreHarness>(harness: H) {
    let site = Site::open(harness);
    site.answer(article(), 7, true).await;
    let likers = site.store.likers(article(), None, PageSize::DEFAULT).await.unwrap().unwrap();
    assert_eq!(likers.items, [Liker { member: writer(7), created_at: Timestamp::from_millis(1_750_000_000_000) }]);
}

pub(super) async fn articles_do_not_mix<H: LikeStoreHarness>(harness: H) {
    let site = Site::open(harness);
    let other = ArticleId::from_raw(i64::MAX);
    site.answer(article(), 1, true).await;
    site.answer(other, i64::MAX, true).await;
    site.answer(other, 1, true).await;
    site.answer(article(), i64::MAX, false).await;
    assert_eq!(site.members(article(), 10).await, [1]);
    assert_eq!(site.members(other, 1).await, [1, i64::MAX]);
    assert_eq!(site.members(ArticleId::from_raw(ARTICLE + 1), 1).await, [0; 0]);
    assert_eq!(site.state(other, i64::MAX).await, LikeState { liked: true, like_count: 2 });
    site.assert_sound().await;
}
