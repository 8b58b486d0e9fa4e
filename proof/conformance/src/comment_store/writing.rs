//! Writing and deleting one comment after another.

use madang_board::{ArticleId, CommentId, CommentMode};
use madang_comment::{Comment, CommentCount, CommentCursor, CreateOutcome, DeleteOutcome, DepthMax, Refusal};
use madang_event::{CommentChange, Event, Topic};
use madang_kernel::{Id, ShardId, Timestamp};

use super::CommentStoreHarness;
use super::site::{Site, home, ids, page_size};

const MODES: [CommentMode; 2] = [CommentMode::TwoLevel, CommentMode::Tree];

pub(super) async fn a_created_comment_is_found_as_it_was<H: CommentStoreHarness>(harness: H) {
    let mut site = Site::open(harness, CommentMode::TwoLevel);
    for (mode, article) in [(CommentMode::TwoLevel, 71), (CommentMode::Tree, 72)] {
        (site.mode, site.article) = (mode, ArticleId::from_raw(article));
        let mut draft = site.draft(None);
        draft.content = "\u{10ffff}".repeat(3_000);
        let CreateOutcome::Created(created) = site.store.create(draft).await.unwrap() else { panic!("refused") };
        let madang_kernel::Created::Now(root) = created else { panic!("not now") };
        let reply = site.reply(Some(root.comment_id)).await;
        assert_eq!((root.parent_id, root.depth, reply.parent_id, reply.depth), (None, 1, Some(root.comment_id), 2));
        assert_eq!(root.path.is_some(), mode == CommentMode::Tree);
        for comment in [root, reply] {
            assert_eq!(site.store.find(comment.comment_id).await.unwrap(), Some(comment));
        }
        assert_eq!(site.count().await, CommentCount { comment_count: 2, row_count: 2, version: 2, locked: false });
    }
    site.assert_sound().await;
}

/// Of writers, only who wrote what is the newest at that moment is named.
pub(super) async fn each_change_has_one_event_without_text<H: CommentStoreHarness>(harness: H) {
    let site = Site::open(harness, CommentMode::Tree);
    let moment = Timestamp::from_millis(1_755_000_000_000);
    site.harness.clock().set(moment);
    let first = site.reply(None).await;
    let second = site.reply(Some(first.comment_id)).await;
    let (root, reply) = (first.comment_id, second.comment_id);
    site.delete(root).await;
    site.delete(reply).await;
    for message in site.harness.committed().await {
        assert_eq!((message.topic.as_str(), message.key), (Topic::Comment.name(), site.article.to_string()));
        assert_eq!((message.shard, message.occurred_at), (ShardId::of_parts(site.article), moment));
        let payload = String::from_utf8(message.payload.to_vec()).unwrap();
        assert!(!payload.contains("마당"), "{payload}");
    }
    let events = site.events().await;
    assert!(events.iter().zip(1..).all(|(event, version)| event.version == version && event.key == site.article));
    let change = |comment_id, parent_id, comment_count, last: Option<&Comment>| CommentChange {
        locked: false,
        board_id: Some(home()),
        last: last.and_then(Comment::as_last),
        article_id: site.article,
        comment_id,
        parent_id,
        comment_count,
    };
    let expected = [
        Event::CommentCreated(change(root, None, 1, Some(&first))),
        Event::CommentCreated(change(reply, Some(root), 2, Some(&second))),
        Event::CommentDeleted(change(root, None, 1, Some(&second))),
        Event::CommentDeleted(change(reply, Some(root), 0, None)),
    ];
    assert_eq!(events.into_iter().map(|event| event.event).collect::<Vec<_>>(), expected);
}

pub(super) async fn a_parent_of_another_article_is_refused<H: CommentStoreHarness>(harness: H) {
    let mut site = Site::open(harness, CommentMode::Tree);
    let elsewhere = site.reply(None).await.comment_id;
    site.article = ArticleId::from_raw(72);
    for parent in [elsewhere, CommentId::from_raw(5)] {
        let refused = site.store.create(site.draft(Some(parent))).await.unwrap();
        assert_eq!(refused, CreateOutcome::Refused(Refusal::NoParent));
    }
    assert_eq!((site.count().await, site.events().await.len()), (CommentCount::default(), 1));
    assert_eq!(site.reply(None).await.path.unwrap().as_str(), "00000", "each article has paths of its own");
}

pub(super) async fn two_levels_and_the_depth_of_a_tree_are_kept<H: CommentStoreHarness>(harness: H) {
    let mut site = Site::open(harness, CommentMode::TwoLevel);
    let mut last = site.reply(None).await.comment_id;
    last = site.reply(Some(last)).await.comment_id;
    let refused = site.store.create(site.draft(Some(last))).await.unwrap();
    assert_eq!(refused, CreateOutcome::Refused(Refusal::ReplyToReply));
    (site.mode, site.article) = (CommentMode::Tree, ArticleId::from_raw(72));
    last = site.reply(None).await.comment_id;
    for depth in 2..=5 {
        let reply = site.reply(Some(last)).await;
        assert_eq!(reply.path.as_ref().unwrap().as_str(), "00000".repeat(depth));
        last = reply.comment_id;
    }
    let refused = site.store.create(site.draft(Some(last))).await.unwrap();
    assert_eq!(refused, CreateOutcome::Refused(Refusal::TooDeep(DepthMax::DEFAULT)));
    assert_eq!((site.count().await.version, site.events().await.len()), (5, 7), "a refusal leaves nothing");
}

pub(super) async fn a_comment_with_replies_becomes_a_mark<H: CommentStoreHarness>(harness: H) {
    let mut site = Site::open(harness, CommentMode::TwoLevel);
    for (mode, article) in MODES.into_iter().zip(80..) {
        (site.mode, site.article) = (mode, ArticleId::from_raw(article));
        let root = site.reply(None).await;
        let reply = site.reply(Some(root.comment_id)).await.comment_id;
        let count = CommentCount { comment_count: 1, row_count: 2, version: 3, locked: false };
        assert_eq!(site.delete(root.comment_id).await, DeleteOutcome::Deleted(count));
        let mark = root.into_mark();
        assert_eq!(site.store.find(mark.comment_id).await.unwrap().as_ref(), Some(&mark));
        assert_eq!((site.walk(10).await[0].clone(), site.page(1, 10).await[0].clone()), (mark.clone(), mark.clone()));
        assert_eq!(site.delete(mark.comment_id).await, DeleteOutcome::Absent, "a mark is not deleted again");
        let refused = site.store.create(site.draft(Some(mark.comment_id))).await.unwrap();
        assert_eq!(refused, CreateOutcome::Refused(Refusal::NoParent));
        let count = CommentCount { comment_count: 0, row_count: 0, version: 4, locked: false };
        assert_eq!(site.delete(reply).await, DeleteOutcome::Deleted(count), "the mark goes with its last reply");
        assert_eq!(site.store.find(mark.comment_id).await.unwrap(), None);
    }
    site.assert_sound().await;
}

pub(super) async fn a_leaf_goes_with_every_mark_left_childless<H: CommentStoreHarness>(harness: H) {
    let site = Site::open(harness, CommentMode::Tree);
    let mut chain = vec![site.reply(None).await.comment_id];
    for _ in 1..5 {
        chain.push(site.reply(chain.last().copied()).await.comment_id);
    }
    let beside = site.reply(Some(chain[1])).await.comment_id;
    for comment in &chain[..4] {
        site.delete(*comment).await;
    }
    let count = CommentCount { comment_count: 1, row_count: 3, version: 11, locked: false };
    assert_eq!(site.delete(chain[4]).await, DeleteOutcome::Deleted(count));
    assert_eq!(ids(&site.walk(2).await), [chain[0], chain[1], beside], "a mark with another reply stays");
    assert!(matches!(site.delete(beside).await, DeleteOutcome::Deleted(CommentCount { row_count: 0, .. })));
    site.assert_sound().await;
}

pub(super) async fn what_is_absent_is_not_deleted<H: CommentStoreHarness>(harness: H) {
    let site = Site::open(harness, CommentMode::Tree);
    assert_eq!(site.delete(CommentId::from_raw(5)).await, DeleteOutcome::Absent);
    let comment = site.reply(None).await.comment_id;
    assert!(matches!(site.delete(comment).await, DeleteOutcome::Deleted(_)));
    assert_eq!(site.delete(comment).await, DeleteOutcome::Absent);
    assert_eq!((site.count().await.version, site.events().await.len()), (2, 2));
}

pub(super) async fn two_levels_take_only_growing_ids<H: CommentStoreHarness>(harness: H) {
    let site = Site::open(harness, CommentMode::TwoLevel);
    let overtaken = site.draft(None);
    let comment = site.reply(None).await.comment_id;
    assert_eq!(site.store.create(overtaken.clone()).await.unwrap(), CreateOutcome::Late);
    site.delete(comment).await;
    // A reader may have seen the deleted one, and would go on behind it.
    assert_eq!(site.store.create(overtaken).await.unwrap(), CreateOutcome::Late);
    assert_eq!(site.events().await.len(), 2);
}

pub(super) async fn a_comment_that_takes_a_deleted_path_is_not_skipped<H: CommentStoreHarness>(harness: H) {
    let site = Site::open(harness, CommentMode::Tree);
    site.reply(None).await;
    let shown = site.reply(None).await;
    site.delete(shown.comment_id).await;
    let new = site.reply(None).await;
    assert_eq!(new.path, shown.path);
    let cursor = Some(CommentCursor::after(&shown));
    let step = site.store.scroll(site.article, site.mode, cursor, page_size(10)).await.unwrap();
    assert_eq!(ids(&step.items), [new.comment_id]);
}
