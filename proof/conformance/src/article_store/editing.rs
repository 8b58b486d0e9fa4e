//! Edits and deletions: versions decide, and what does not happen leaves no trace.

use madang_article::{Article, DeleteOutcome, EditOutcome};
use madang_board::ArticleId;
use madang_event::Event;
use madang_kernel::Id;

use super::ArticleStoreHarness;
use super::site::Site;

pub(super) async fn an_edit_replaces_the_text_and_nothing_else<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let before = site.create().await;
    let other = site.create().await;
    let edit = site.edit_of(before.article_id, "새 제목", Some(1));
    let expected = Article {
        title: edit.title.clone(),
        content: edit.content.clone(),
        content_html: edit.content_html.clone(),
        modified_at: edit.modified_at,
        version: 2,
        ..before.clone()
    };
    assert_eq!(site.store.edit(edit).await.unwrap(), EditOutcome::Edited(expected.clone()));
    assert_eq!(site.store.find(before.article_id).await.unwrap(), Some(expected));
    assert_eq!(site.store.find(other.article_id).await.unwrap(), Some(other));
    assert_eq!(site.count().await, 2);
    site.assert_sound().await;
}

pub(super) async fn an_edit_of_an_old_version_changes_nothing<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let id = site.create().await.article_id;
    let second = site.edit(id, "second").await;
    for stale in [0, 1, 3] {
        let outcome = site.store.edit(site.edit_of(id, "stale", Some(stale))).await.unwrap();
        assert_eq!(outcome, EditOutcome::Changed);
    }
    assert_eq!(site.store.find(id).await.unwrap(), Some(second));
    assert_eq!(site.events().await.len(), 2);
    assert_eq!(site.edit(id, "third").await.version, 3);
}

pub(super) async fn a_deletion_of_an_old_version_changes_nothing<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let id = site.create().await.article_id;
    let second = site.edit(id, "second").await;
    for stale in [0, 1, 3] {
        assert_eq!(site.delete_at(id, Some(stale)).await, DeleteOutcome::Changed);
    }
    assert_eq!(site.store.find(id).await.unwrap(), Some(second));
    assert_eq!((site.count().await, site.events().await.len()), (1, 2));
    assert_eq!(site.delete_at(id, Some(2)).await, DeleteOutcome::Deleted);
    assert_eq!((site.count().await, site.events().await.len()), (0, 3));
    site.assert_sound().await;
}

pub(super) async fn what_is_absent_is_neither_edited_nor_deleted<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let absent = ArticleId::from_raw(12_345);
    assert_eq!(site.store.edit(site.edit_of(absent, "x", None)).await.unwrap(), EditOutcome::Absent);
    assert_eq!(site.delete(absent).await, DeleteOutcome::Absent);
    let id = site.create().await.article_id;
    assert_eq!(site.delete(id).await, DeleteOutcome::Deleted);
    assert_eq!(site.delete(id).await, DeleteOutcome::Absent);
    assert_eq!(site.store.edit(site.edit_of(id, "x", Some(1))).await.unwrap(), EditOutcome::Absent);
    assert_eq!((site.count().await, site.events().await.len()), (0, 2));
    site.assert_sound().await;
}

pub(super) async fn a_deletion_outranks_every_version_before_it<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let id = site.create().await.article_id;
    for round in 0..5 {
        site.edit(id, &format!("round {round}")).await;
    }
    site.delete(id).await;
    assert_eq!(site.store.find(id).await.unwrap(), None);
    let events = site.events().await;
    let last = events.last().unwrap();
    assert!(matches!(last.event, Event::ArticleDeleted(_)));
    assert!(events[..events.len() - 1].iter().all(|earlier| earlier.version < last.version));
}
