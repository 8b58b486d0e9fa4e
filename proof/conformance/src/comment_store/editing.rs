//! Correcting a comment: its version decides, the counts stay, and open pages hear of it in the order of the other changes.

use std::sync::Arc;

use madang_board::{Act, ActId, ActKind, Actor, ArticleId, CommentId, CommentMode, MemberId, Role};
use madang_comment::{Comment, CommentCount, CreateOutcome, DeleteComment, DeleteOutcome, EditComment, EditOutcome};
use madang_event::Event;
use madang_kernel::{Created, EventId, Id, Timestamp};
use tokio::task::JoinSet;

use super::CommentStoreHarness;
use super::site::{Site, idempotency, page_size};

const EDITORS: u64 = 32;

impl<H: CommentStoreHarness> Site<H> {
    fn new_text(&self, comment: CommentId, text: &str, expected_version: Option<u64>) -> EditComment {
        EditComment {
            comment_id: comment,
            content: text.to_owned(),
            content_html: format!("<p>{text}</p>\n"),
            modified_at: Timestamp::from_millis(1_760_000_000_000),
            expected_version,
            event_id: EventId::from_raw(self.next_id()),
            act: None,
        }
    }

    async fn edit(&self, comment: CommentId, text: &str, expected_version: Option<u64>) -> EditOutcome {
        self.store.edit(self.new_text(comment, text, expected_version)).await.unwrap()
    }

    async fn delete_at(&self, comment: CommentId, version: u64) -> DeleteOutcome {
        let delete = DeleteComment {
            comment_id: comment,
            expected_version: Some(version),
            event_id: EventId::from_raw(self.next_id()),
            act: None,
        };
        self.store.delete(delete).await.unwrap()
    }
}

pub(super) async fn an_edited_comment_is_found_with_its_new_text_everywhere<H: CommentStoreHarness>(harness: H) {
    let mut site = Site::open(harness, CommentMode::TwoLevel);
    for (mode, article) in [(CommentMode::TwoLevel, 71), (CommentMode::Tree, 72)] {
        (site.mode, site.article) = (mode, ArticleId::from_raw(article));
        let root = site.reply(None).await;
        let reply = site.reply(Some(root.comment_id)).await;
        assert_eq!((root.version, root.modified_at), (1, root.created_at));
        let longest = "\u{10ffff}".repeat(3_000);
        for (version, text) in [(2, "고친 글"), (3, longest.as_str())] {
            let edited = Comment {
                content: Some(text.to_owned()),
                content_html: Some(format!("<p>{text}</p>\n")),
                version,
                modified_at: Timestamp::from_millis(1_760_000_000_000),
                ..reply.clone()
            };
            let outcome = site.edit(reply.comment_id, text, Some(version - 1)).await;
            assert_eq!(outcome, EditOutcome::Edited(edited.clone()), "what is not the text stays");
            assert_eq!(site.store.find(reply.comment_id).await.unwrap(), Some(edited.clone()));
            let both = vec![root.clone(), edited];
            assert_eq!((site.walk(1).await, site.page(1, 10).await), (both.clone(), both.clone()));
            let theirs = site.store.by_writer(MemberId::from_raw(7), None, page_size(1)).await.unwrap();
            assert_eq!(theirs.items, both[1..]);
        }
    }
    site.assert_sound().await;
}

pub(super) async fn an_edit_keeps_the_counts_and_is_reported_at_their_next_version<H: CommentStoreHarness>(harness: H) {
    let site = Site::open(harness, CommentMode::Tree);
    let root = site.reply(None).await.comment_id;
    let reply = site.reply(Some(root)).await.comment_id;
    assert!(matches!(site.edit(reply, "마당을 고침", None).await, EditOutcome::Edited(_)));
    assert_eq!(site.count().await, CommentCount { comment_count: 2, row_count: 2, version: 3, locked: false });
    let told = site.events().await;
    assert_eq!((told.len(), told[2].version, told[2].key), (3, 3, site.article));
    let Event::CommentEdited(change) = &told[2].event else { panic!("{:?}", told[2].event) };
    assert_eq!((change.comment_id, change.parent_id, change.comment_count), (reply, Some(root), 2));
    let payload = String::from_utf8(site.harness.committed().await[2].payload.to_vec()).unwrap();
    assert!(!payload.contains("마당"), "{payload}");
    site.assert_sound().await;
}

pub(super) async fn a_stale_version_changes_nothing<H: CommentStoreHarness>(harness: H) {
    let site = Site::open(harness, CommentMode::TwoLevel);
    let comment = site.reply(None).await;
    for version in [0, 2, u64::MAX] {
        assert_eq!(site.edit(comment.comment_id, "late", Some(version)).await, EditOutcome::Changed);
        assert_eq!(site.delete_at(comment.comment_id, version).await, DeleteOutcome::Changed);
    }
    assert_eq!(site.store.find(comment.comment_id).await.unwrap().as_ref(), Some(&comment));
    assert_eq!((site.count().await.version, site.events().await.len()), (1, 1));
    assert!(matches!(site.edit(comment.comment_id, "in time", Some(1)).await, EditOutcome::Edited(_)));
    assert_eq!(site.delete_at(comment.comment_id, 1).await, DeleteOutcome::Changed);
    assert!(matches!(site.delete_at(comment.comment_id, 2).await, DeleteOutcome::Deleted(_)));
    site.assert_sound().await;
}

pub(super) async fn a_mark_and_what_is_absent_are_not_edited<H: CommentStoreHarness>(harness: H) {
    let mut site = Site::open(harness, CommentMode::Tree);
    let root = site.reply(None).await;
    site.reply(Some(root.comment_id)).await;
    let EditOutcome::Edited(edited) = site.edit(root.comment_id, "text", None).await else { panic!("must be edited") };
    site.delete(root.comment_id).await;
    let mark = edited.into_mark();
    assert_eq!((mark.version, mark.content.as_deref()), (3, None));
    assert_eq!(site.store.find(root.comment_id).await.unwrap().as_ref(), Some(&mark));
    for version in [None, Some(3)] {
        assert_eq!(site.edit(root.comment_id, "back again", version).await, EditOutcome::Absent);
    }
    assert_eq!(site.store.find(root.comment_id).await.unwrap(), Some(mark), "a mark stays a mark");
    assert_eq!(site.edit(CommentId::from_raw(5), "x", None).await, EditOutcome::Absent);
    assert_eq!((site.count().await.version, site.events().await.len()), (4, 4));

    site.article = ArticleId::from_raw(72);
    let elsewhere = site.reply(None).await.comment_id;
    site.store.mark_article_gone(site.article).await.unwrap();
    assert_eq!(site.edit(elsewhere, "x", None).await, EditOutcome::Gone);
    assert_eq!((site.count().await, site.events().await.len()), (CommentCount::default(), 5));
    site.assert_sound().await;
}

pub(super) async fn a_repeated_request_answers_with_the_corrected_text<H: CommentStoreHarness>(harness: H) {
    let site = Site::open(harness, CommentMode::TwoLevel);
    let mut draft = site.draft(None);
    draft.idempotency = idempotency("k", 1);
    site.store.create(draft.clone()).await.unwrap();
    let EditOutcome::Edited(edited) = site.edit(draft.comment_id, "corrected", None).await else {
        panic!("not edited")
    };
    assert_eq!(site.store.create(draft).await.unwrap(), CreateOutcome::Created(Created::Before(edited)));
    assert_eq!(site.events().await.len(), 2);
}

pub(super) async fn of_racing_edits_of_one_version_one_wins<H: CommentStoreHarness>(harness: H) {
    let site = Arc::new(Site::open(harness, CommentMode::Tree));
    let comment = site.reply(None).await.comment_id;
    let mut editors = JoinSet::new();
    for editor in 0..EDITORS {
        let site = Arc::clone(&site);
        editors.spawn(async move {
            let text = format!("by {editor}");
            match site.edit(comment, &text, Some(1)).await {
                EditOutcome::Edited(edited) => Some((text, edited.content)),
                EditOutcome::Changed => None,
                other => panic!("{other:?}"),
            }
        });
    }
    let won: Vec<_> = editors.join_all().await.into_iter().flatten().collect();
    let [(text, answered)] = won.as_slice() else { panic!("{won:?}") };
    let found = site.store.find(comment).await.unwrap().unwrap();
    assert_eq!((Some(text), found.version), (answered.as_ref(), 2));
    assert_eq!((found.content.as_ref(), site.events().await.len()), (Some(text), 2));
    // Those that expect nothing are all taken, one after another.
    let mut editors = JoinSet::new();
    for editor in 0..EDITORS {
        let site = Arc::clone(&site);
        editors.spawn(async move {
            let EditOutcome::Edited(edited) = site.edit(comment, &format!("again by {editor}"), None).await else {
                panic!("must be edited");
            };
            edited.version
        });
    }
    let mut versions = editors.join_all().await;
    versions.sort_unstable();
    assert_eq!(versions, (3..3 + EDITORS).collect::<Vec<_>>(), "each has its own");
    let told: Vec<_> = site.events().await.iter().map(|event| event.version).collect();
    assert_eq!(told, (1..=EDITORS + 2).collect::<Vec<_>>(), "in commit order");
    site.assert_sound().await;
}

pub(super) async fn an_edit_that_races_a_deletion_brings_no_text_back<H: CommentStoreHarness>(harness: H) {
    let site = Arc::new(Site::open(harness, CommentMode::Tree));
    for has_reply in [true, false] {
        let root = site.reply(None).await.comment_id;
        if has_reply {
            site.reply(Some(root)).await;
        }
        let before = site.events().await.len();
        let mut calls = JoinSet::new();
        for caller in 0..EDITORS {
            let site = Arc::clone(&site);
            calls.spawn(async move {
                if caller == EDITORS / 2 {
                    assert!(matches!(site.delete(root).await, DeleteOutcome::Deleted(_)));
                    return 1;
                }
                match site.edit(root, &format!("by {caller}"), None).await {
                    EditOutcome::Edited(edited) => assert!(!edited.deleted),
                    EditOutcome::Absent => return 0,
                    other => panic!("{other:?}"),
                }
                1
            });
        }
        let changes: usize = calls.join_all().await.into_iter().sum();
        assert_eq!(site.events().await.len(), before + changes, "what was refused was not reported");
        let left = site.store.find(root).await.unwrap();
        assert_eq!(left.is_some(), has_reply);
        if let Some(mark) = left {
            assert_eq!((mark.deleted, mark.content, mark.content_html, mark.writer), (true, None, None, None));
            assert_eq!(mark.version, 1 + changes as u64);
        }
    }
    site.assert_sound().await;
}

pub(super) async fn a_moderators_edit_is_told_with_it_and_only_with_it<H: CommentStoreHarness>(harness: H) {
    let site = Site::open(harness, CommentMode::Tree);
    let comment = site.reply(None).await.comment_id;
    let moderator = Actor::new(MemberId::from_raw(8), "관리자", Role::Moderator);
    let at = Timestamp::from_millis(1_760_000_000_000);
    let act = || Act::of(&moderator, ActId::from_raw(site.next_id()), ActKind::CommentEdited, comment.raw(), at);
    let (done, refused) = (act(), act());
    for (act, version) in [(&done, 1), (&refused, 1)] {
        let edit = EditComment { act: Some(act.clone()), ..site.new_text(comment, "tidied", Some(version)) };
        site.store.edit(edit).await.unwrap();
    }
    assert_eq!(site.harness.acts().acts(None, None, page_size(10)).await.unwrap().items, [done]);
}
