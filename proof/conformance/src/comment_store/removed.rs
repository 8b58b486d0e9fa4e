//! What moderators removed of discussions: a mark keeps its place until it is back or purged.

use std::time::Duration;

use madang_board::{Act, ActId, ActKind, Actor, ArticleId, CommentId, CommentMode, MemberId, Role};
use madang_comment::{
    Comment, CommentCount, DeleteComment, DeleteOutcome, PurgeComment, RestoreComment, RestoreOutcome,
};
use madang_event::Event;
use madang_kernel::{Clock as _, EventId, Id, Timestamp};

use super::CommentStoreHarness;
use super::site::{Site, ids};

const DAY: Duration = Duration::from_secs(24 * 3_600);

impl<H: CommentStoreHarness> Site<H> {
    fn act(&self, kind: ActKind, comment: CommentId) -> Act {
        let moderator = Actor::new(MemberId::from_raw(8), "관리자", Role::Moderator);
        let act_id = ActId::from_raw(self.next_id());
        let act = Act::of(&moderator, act_id, kind, comment.raw(), self.harness.clock().now());
        Act { reason: "off topic 🗑".to_owned(), ..act }
    }

    async fn remove(&self, comment: CommentId) -> DeleteOutcome {
        let (event_id, act) = (EventId::from_raw(self.next_id()), Some(self.act(ActKind::CommentDeleted, comment)));
        let delete = DeleteComment { comment_id: comment, expected_version: None, event_id, act };
        self.store.delete(delete).await.unwrap()
    }

    async fn restore(&self, comment: CommentId) -> RestoreOutcome {
        let restore = RestoreComment {
            comment_id: comment,
            content_html: "<p>again</p>".to_owned(),
            event_id: EventId::from_raw(self.next_id()),
            act: self.act(ActKind::CommentRestored, comment),
        };
        self.store.restore(restore).await.unwrap()
    }

    async fn purge(&self, comment: CommentId, removed_until: Timestamp) -> bool {
        let event_id = EventId::from_raw(self.next_id());
        self.store.purge(PurgeComment { comment_id: comment, removed_until, event_id }).await.unwrap()
    }
}

pub(super) async fn what_a_moderator_removed_keeps_its_place_and_comes_back<H: CommentStoreHarness>(harness: H) {
    let site = Site::open(harness, CommentMode::Tree);
    let root = site.reply(None).await;
    let leaf = site.reply(Some(root.comment_id)).await;
    let before = site.walk(10).await;
    let removed_at = site.harness.clock().now();
    let counts = CommentCount { comment_count: 1, row_count: 2, version: 3, locked: false };
    assert_eq!(site.remove(leaf.comment_id).await, DeleteOutcome::Deleted(counts), "a leaf too becomes a mark");
    assert_eq!(site.remove(leaf.comment_id).await, DeleteOutcome::Absent);
    let mark = site.store.find(leaf.comment_id).await.unwrap().unwrap();
    assert_eq!((mark.deleted, mark.content, mark.writer, mark.version), (true, None, None, 2));
    let found = site.store.find_removed(leaf.comment_id).await.unwrap().unwrap();
    assert_eq!((Some(found.content), Some(found.writer)), (leaf.content.clone(), leaf.writer.clone()));
    assert_eq!((found.removal.removed_at, found.removal.reason.as_str()), (removed_at, "off topic 🗑"));
    // Its writer's parent goes, and what may come back keeps the place of both.
    assert!(matches!(site.delete(root.comment_id).await, DeleteOutcome::Deleted(_)));
    assert_eq!(ids(&site.walk(10).await), ids(&before));

    let RestoreOutcome::Restored(back) = site.restore(leaf.comment_id).await else { panic!("must be restored") };
    assert_eq!(back, Comment { version: 3, content_html: Some("<p>again</p>".to_owned()), ..leaf.clone() });
    assert_eq!(site.store.find(leaf.comment_id).await.unwrap(), Some(back));
    assert_eq!(site.store.find_removed(leaf.comment_id).await.unwrap(), None);
    assert_eq!(site.restore(leaf.comment_id).await, RestoreOutcome::Absent, "it is there");
    assert_eq!(site.restore(root.comment_id).await, RestoreOutcome::Absent, "its writer removed it");
    assert_eq!(site.count().await, CommentCount { comment_count: 1, row_count: 2, version: 5, locked: false });
    let last = site.events().await.pop().unwrap();
    let Event::CommentEdited(change) = &last.event else { panic!("{last:?}") };
    assert_eq!((last.version, change.comment_id, change.comment_count), (5, leaf.comment_id, 1));
    site.assert_sound().await;
}

pub(super) async fn what_is_purged_goes_with_the_marks_left_childless<H: CommentStoreHarness>(harness: H) {
    let site = Site::open(harness, CommentMode::Tree);
    let root = site.reply(None).await.comment_id;
    let (middle, spared) = (site.reply(Some(root)).await.comment_id, site.reply(None).await.comment_id);
    let leaf = site.reply(Some(middle)).await.comment_id;
    let answered = site.reply(Some(spared)).await.comment_id;
    let first = site.harness.clock().now();
    // A mark above, one that may be restored in between, and a leaf below it.
    assert!(matches!(site.delete(root).await, DeleteOutcome::Deleted(_)));
    for removed in [leaf, spared] {
        assert!(matches!(site.remove(removed).await, DeleteOutcome::Deleted(_)));
    }
    site.harness.clock().set(first.plus(DAY));
    assert!(matches!(site.remove(middle).await, DeleteOutcome::Deleted(_)));
    let mut due = site.store.removed_until(first, 10).await.unwrap();
    due.sort_unstable();
    let mut expected = vec![leaf, spared];
    expected.sort_unstable();
    assert_eq!(due, expected);
    assert!(!site.purge(middle, first).await, "not yet");
    let told = site.events().await.len();
    assert!(site.purge(leaf, first).await);
    assert!(!site.purge(leaf, first).await);
    assert_eq!(ids(&site.walk(10).await), [root, middle, spared, answered], "what may come back keeps its place");
    assert!(site.purge(spared, first).await);
    assert_eq!(site.events().await.len(), told + 1, "a mark with replies stays, and nobody has to hear of it");
    assert!(site.purge(middle, first.plus(DAY)).await);
    assert_eq!(ids(&site.walk(10).await), [spared, answered]);
    assert_eq!(site.restore(spared).await, RestoreOutcome::Absent);
    let count = site.count().await;
    assert_eq!((count.comment_count, count.row_count), (1, 2));
    site.assert_sound().await;
}

pub(super) async fn what_was_removed_goes_with_its_article_and_in_its_time<H: CommentStoreHarness>(harness: H) {
    let mut site = Site::open(harness, CommentMode::TwoLevel);
    let removed = site.reply(None).await.comment_id;
    assert!(matches!(site.remove(removed).await, DeleteOutcome::Deleted(_)));
    let gone = site.article;
    site.store.mark_article_gone(gone).await.unwrap();
    assert_eq!(site.restore(removed).await, RestoreOutcome::Gone);
    assert_eq!(site.store.clean_up(gone, 10).await.unwrap(), 1);
    assert_eq!(site.store.find_removed(removed).await.unwrap(), None);
    site.article = ArticleId::from_raw(72);
    let late = site.reply(None).await.comment_id;
    assert!(matches!(site.remove(late).await, DeleteOutcome::Deleted(_)));
    let now = site.harness.clock().now();
    site.harness.clock().set(now.plus(30 * DAY));
    assert_eq!(site.restore(late).await, RestoreOutcome::Absent, "thirty days are over");
    site.assert_sound().await;
}
