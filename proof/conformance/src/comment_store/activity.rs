//! Which articles are active: by their newest visible comment, whatever is deleted and restored meanwhile.

use madang_board::{Act, ActId, ActKind, Actor, ArticleId, BoardId, CommentId, CommentMode, MemberId, Role};
use madang_comment::{DeleteComment, RestoreComment, RestoreOutcome};
use madang_kernel::{EventId, Id, PageSize, Timestamp};

use super::CommentStoreHarness;
use super::site::{Site, home};

/// Later than every comment.
const END: Timestamp = Timestamp::from_millis(i64::MAX);

impl<H: CommentStoreHarness> Site<H> {
    async fn active(&self, board: Option<BoardId>, until: Timestamp, limit: usize) -> Vec<i64> {
        let active = self.store.active(board, until, limit).await.unwrap();
        for found in &active {
            let counted = self.store.counts(vec![found.article_id]).await.unwrap().pop().flatten().unwrap();
            let told = (counted.last.unwrap().created_at, counted.count.version);
            assert_eq!((found.last_at, found.version), told, "as it is told beside the count");
        }
        active.iter().map(|found| found.article_id.raw()).collect()
    }
}

pub(super) async fn active_articles_are_those_last_commented<H: CommentStoreHarness>(harness: H) {
    let mut site = Site::open(harness, CommentMode::Tree);
    let mut comments = Vec::new();
    for article in [71, 72, 73, 71, 74, 72] {
        site.article = ArticleId::from_raw(article);
        comments.push(site.reply(None).await);
    }
    assert_eq!(site.active(None, END, 10).await, [72, 74, 71, 73]);
    assert_eq!(site.active(Some(home()), END, 3).await, [72, 74, 71]);
    assert_eq!(site.active(Some(BoardId::from_raw(10)), END, 3).await, Vec::<i64>::new());
    assert_eq!(site.active(None, comments[3].created_at, 10).await, [71, 73], "from that moment back");
    // What goes takes its activity back; an older comment takes none.
    site.article = ArticleId::from_raw(72);
    site.delete(comments[5].comment_id).await;
    assert_eq!(site.active(None, END, 10).await, [74, 71, 73, 72]);
    site.delete(comments[0].comment_id).await;
    assert_eq!(site.active(None, END, 10).await, [74, 71, 73, 72]);
    site.delete(comments[1].comment_id).await;
    assert_eq!(site.active(None, END, 10).await, [74, 71, 73], "nobody comments on it any more");
    site.store.mark_article_gone(ArticleId::from_raw(74)).await.unwrap();
    assert_eq!(site.active(None, END, 10).await, [71, 73]);
    assert_eq!(site.store.unplaced(None, PageSize::DEFAULT).await.unwrap(), [], "this version notes all");
    site.store.place(ArticleId::from_raw(71), BoardId::from_raw(10)).await.unwrap();
    let before = site.count().await;
    assert_eq!(site.active(Some(BoardId::from_raw(10)), END, 10).await, [71]);
    assert_eq!(site.count().await, before, "where it stands is no change");
    site.assert_sound().await;
}

pub(super) async fn a_restored_comment_is_the_newest_again<H: CommentStoreHarness>(harness: H) {
    let site = Site::open(harness, CommentMode::Tree);
    let (older, newer) = (site.reply(None).await, site.reply(None).await);
    let moderator = Actor::new(MemberId::from_raw(8), "anna", Role::Moderator);
    let act = |kind, comment: CommentId, id| {
        Act::of(&moderator, ActId::from_raw(id), kind, comment.raw(), Timestamp::from_millis(1))
    };
    let delete = DeleteComment {
        comment_id: newer.comment_id,
        expected_version: None,
        event_id: EventId::from_raw(site.next_id()),
        act: Some(act(ActKind::CommentDeleted, newer.comment_id, site.next_id())),
    };
    site.store.delete(delete).await.unwrap();
    assert_eq!(site.counted().await.last, older.as_last());
    let restore = RestoreComment {
        comment_id: newer.comment_id,
        content_html: "<p>again</p>".into(),
        event_id: EventId::from_raw(site.next_id()),
        act: act(ActKind::CommentRestored, newer.comment_id, site.next_id()),
    };
    assert!(matches!(site.store.restore(restore).await.unwrap(), RestoreOutcome::Restored(_)));
    assert_eq!(site.counted().await.last, newer.as_last());
    let told = site.events().await.pop().unwrap();
    let madang_event::Event::CommentEdited(change) = told.event else { panic!("{told:?}") };
    assert_eq!(change.last, newer.as_last());
    site.assert_sound().await;
}

/// Sixteen write and delete at once: whatever is left, the newest of it is the one that is told.
pub(super) async fn racing_comments_and_deletions_leave_the_newest_told<H: CommentStoreHarness>(harness: H) {
    let site = std::sync::Arc::new(Site::open(harness, CommentMode::Tree));
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..16 {
        let site = std::sync::Arc::clone(&site);
        tasks.spawn(async move {
            for turn in 0..6 {
                let comment = site.reply(None).await;
                if (number + turn) % 3 > 0 {
                    site.delete(comment.comment_id).await;
                }
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    let visible = site.walk(30).await.into_iter().filter(|comment| !comment.deleted);
    let newest = visible.max_by_key(|comment| comment.comment_id).unwrap();
    assert_eq!(site.counted().await.last, newest.as_last());
    let events = site.events().await;
    let last = events.iter().max_by_key(|event| event.version).unwrap();
    let (madang_event::Event::CommentCreated(change) | madang_event::Event::CommentDeleted(change)) = &last.event
    else {
        panic!("{last:?}")
    };
    assert_eq!(change.last, newest.as_last(), "the last event tells what is left");
    site.assert_sound().await;
}
