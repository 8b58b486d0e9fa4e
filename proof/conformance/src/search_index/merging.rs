//! Changes merge by version, whatever the order in which they come.

use madang_kernel::Timestamp;
use madang_search::{GONE_FOR_EVER, Held, Kind};

use super::SearchIndexHarness;
use super::site::{Site, TOPIC, article_gone, comment_gone, done, group, put, put_comment};

pub(super) async fn the_newer_version_wins_and_the_older_changes_nothing<H: SearchIndexHarness>(harness: H) {
    let site = Site::open(harness).await;
    site.apply(vec![put(1, 2, "새 제목", "새로운 글")]).await;
    assert_eq!(site.apply(vec![put(1, 1, "옛 제목", "오래된 글")]).await, 0);
    assert_eq!((site.newest("새로운").await, site.newest("오래된").await), (vec![1], vec![]));
    assert_eq!(site.apply(vec![put(1, 3, "세번째", "마지막 글")]).await, 1);
    assert_eq!((site.newest("새로운").await, site.newest("마지막").await), (vec![], vec![1]));
    assert_eq!(site.index.versions(vec![1, 2]).await.unwrap(), [Some(3), None]);
}

pub(super) async fn what_is_gone_stays_gone_until_something_newer_comes<H: SearchIndexHarness>(harness: H) {
    let site = Site::open(harness).await;
    site.apply(vec![put(1, 1, "마당", "글"), put_comment(2, 1, 1, "마당"), put_comment(3, 1, 1, "마당")]).await;
    site.apply(vec![comment_gone(2, 1, 2), comment_gone(3, 1, GONE_FOR_EVER)]).await;
    assert_eq!(site.newest("마당").await, [1]);
    assert_eq!(site.apply(vec![put_comment(2, 1, 1, "마당"), put_comment(3, 1, 9, "마당")]).await, 0);
    // A restore is a version above the mark.
    site.apply(vec![put_comment(2, 1, 3, "마당")]).await;
    assert_eq!(site.newest("마당").await, [2, 1]);
    // A mark that comes late says nothing of it.
    site.apply(vec![comment_gone(2, 1, 2)]).await;
    assert_eq!(site.newest("마당").await, [2, 1]);
    // What was seen to be absent at the version that is held is gone.
    site.apply(vec![article_gone(1, 1)]).await;
    assert_eq!(site.newest("마당").await, Vec::<i64>::new());
    let size = site.index.size().await.unwrap();
    assert_eq!(size.documents, 0);
}

pub(super) async fn an_article_that_goes_takes_its_comments_along<H: SearchIndexHarness>(harness: H) {
    let site = Site::open(harness).await;
    site.apply(vec![put(1, 1, "마당", "글"), put(2, 1, "마당", "글")]).await;
    let comments = (10..310).map(|number| put_comment(number, 1, 1, "마당 이야기"));
    site.apply(comments.chain([put_comment(500, 2, 1, "마당 이야기")]).collect()).await;
    assert_eq!(site.newest("이야기").await.len(), 301);
    site.apply(vec![article_gone(1, 2)]).await;
    assert_eq!(site.newest("마당").await, [500, 2]);
    // One that comes late stays out.
    site.apply(vec![put_comment(11, 1, 1, "마당 이야기"), put_comment(400, 1, 1, "마당 이야기")]).await;
    assert_eq!(site.newest("이야기").await, [500]);
    // Back, at versions that were there before: a removal of the article changed no comment.
    site.apply(vec![put(1, 3, "마당", "글"), put_comment(11, 1, 1, "마당 이야기")]).await;
    assert_eq!(site.newest("마당").await, [500, 11, 2, 1]);
}

pub(super) async fn applying_again_changes_nothing<H: SearchIndexHarness>(harness: H) {
    let site = Site::open(harness).await;
    let changes =
        || vec![put(1, 1, "마당", "글"), put_comment(2, 1, 1, "글"), comment_gone(3, 1, 2), article_gone(4, 2)];
    assert_eq!(site.apply(changes()).await, 2);
    let before = (site.index.size().await.unwrap(), site.newest("글").await);
    assert_eq!(site.apply(changes()).await, 0);
    assert_eq!((site.index.size().await.unwrap(), site.newest("글").await), before);
    let held = site.index.held_below(i64::MAX, 10).await.unwrap();
    let expected = [Held { kind: Kind::Comment, id: 2, version: 1 }, Held { kind: Kind::Article, id: 1, version: 1 }];
    assert_eq!(held, expected);
    assert_eq!(site.index.held_below(2, 10).await.unwrap(), expected[1..]);
}

pub(super) async fn offsets_commit_with_the_changes<H: SearchIndexHarness>(harness: H) {
    let site = Site::open(harness).await;
    let applied = site.index.apply(vec![put(1, 1, "마당", "글")], Some(done(7))).await.unwrap();
    let stored = site.harness.stored_offset(&group(), TOPIC).await;
    assert_eq!(stored, applied.offsets_stored.then_some(7));
}

pub(super) async fn marks_are_forgotten_in_their_time<H: SearchIndexHarness>(harness: H) {
    let site = Site::open(harness).await;
    site.apply((1..=600).map(|number| article_gone(number, 2)).collect()).await;
    assert_eq!(site.index.forget_tombstones(Timestamp::from_millis(1_000)).await.unwrap(), 0);
    let late = Timestamp::from_millis(i64::MAX / 2);
    assert_eq!(site.index.forget_tombstones(late).await.unwrap(), 600);
    assert_eq!(site.index.size().await.unwrap().tombstones, 0);
}

pub(super) async fn a_restart_loses_nothing<H: SearchIndexHarness>(harness: H) {
    let mut site = Site::open(harness).await;
    site.apply(vec![put(1, 1, "마당", "글"), put(2, 1, "마당", "글"), article_gone(2, 2)]).await;
    site.restart().await;
    assert_eq!(site.newest("마당").await, [1]);
    assert_eq!(site.apply(vec![put(2, 1, "마당", "글")]).await, 0);
    assert!(!site.is_partial().await);
}
