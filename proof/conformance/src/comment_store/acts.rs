//! What a moderator does to a comment is told in the log, in the transaction that does it.

use madang_board::{Act, ActId, ActKind, Actor, CommentId, CommentMode, MemberId, Role};
use madang_comment::{DeleteComment, DeleteOutcome};
use madang_kernel::{EventId, Id, Timestamp};

use super::CommentStoreHarness;
use super::site::{Site, page_size};

pub(super) async fn a_moderators_deletion_is_told_with_it_and_only_with_it<H: CommentStoreHarness>(harness: H) {
    let site = Site::open(harness, CommentMode::Tree);
    let (root, other) = (site.reply(None).await.comment_id, site.reply(None).await.comment_id);
    site.reply(Some(root)).await;
    let moderator = Actor::new(MemberId::from_raw(8), "관리자", Role::Moderator);
    let act = |comment: CommentId| {
        let at = Timestamp::from_millis(1_760_000_000_000);
        let act_id = ActId::from_raw(site.next_id());
        Act { reason: "spam".into(), ..Act::of(&moderator, act_id, ActKind::CommentDeleted, comment.raw(), at) }
    };
    let delete = |comment_id: CommentId, act: &Act| DeleteComment {
        comment_id,
        expected_version: None,
        event_id: EventId::from_raw(site.next_id()),
        act: Some(act.clone()),
    };
    let (marked, removed, again) = (act(root), act(other), act(other));
    for (comment, act) in [(root, &marked), (other, &removed)] {
        assert!(matches!(site.store.delete(delete(comment, act)).await.unwrap(), DeleteOutcome::Deleted(_)));
    }
    assert_eq!(site.store.delete(delete(other, &again)).await.unwrap(), DeleteOutcome::Absent);
    let told = site.harness.acts().acts(None, None, page_size(10)).await.unwrap().items;
    assert_eq!(told, [removed, marked]);
}
