//! The rules of the use cases: who may do what, what is refused and how, and what a deleted article means.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod memory;

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use madang_board::{
    ActKind, Actor, ArticleFacts, ArticleId, ArticleLookup, BoardId, CommentId, CommentMode, MemberId, Reason, Role,
    TextRenderer,
};
use madang_comment::{
    CLEAN_UP_SLICE_ROWS, COUNTS_MAX, Comment, CommentDraft, CommentError, CommentService, CommentStore, DepthMax,
    article_deletions,
};
use madang_event::{ArticleDeleted, BoardCount, Envelope, Event};
use madang_kernel::{
    EventId, ID_EPOCH_MS, Id, IdGenerator, ManualClock, NodeId, NodeLease, PageNumber, PageSize, ShardId, StoreError,
    Timestamp,
};
use madang_messaging::{Delivery, Handled, Handler, HandlerError, Message, Position};
use memory::MemoryComments;

const TREE: i64 = 71;
const TWO_LEVEL: i64 = 72;

/// Articles that exist.
struct Articles(Mutex<HashMap<ArticleId, CommentMode>>);

#[async_trait]
impl ArticleLookup for Articles {
    async fn facts(&self, article: ArticleId) -> Result<Option<ArticleFacts>, StoreError> {
        let mode = self.0.lock().unwrap().get(&article).copied();
        Ok(mode.map(|comment_mode| ArticleFacts { board_id: BoardId::from_raw(5), comment_mode, archived: false }))
    }
}

/// Marks what it rendered.
struct Marked;

#[async_trait]
impl TextRenderer for Marked {
    async fn html(&self, text: &str) -> String {
        format!("<p>{text}</p>")
    }
}

struct Site {
    service: CommentService,
    store: Arc<MemoryComments>,
    articles: Arc<Articles>,
}

fn site() -> Site {
    let now_ms = ID_EPOCH_MS + 1_000_000;
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(now_ms)));
    let lease = NodeLease { node: NodeId(1), from_ms: now_ms, until_ms: now_ms + 1_000_000 };
    let ids = Arc::new(IdGenerator::new(clock.clone(), lease));
    let store: Arc<MemoryComments> = Arc::default();
    let modes = [(article(TREE), CommentMode::Tree), (article(TWO_LEVEL), CommentMode::TwoLevel)];
    let articles = Arc::new(Articles(Mutex::new(modes.into())));
    let service =
        CommentService::new(store.clone(), articles.clone(), Arc::new(Marked), ids, clock, DepthMax::new(3).unwrap());
    Site { service, store, articles }
}

fn article(raw: i64) -> ArticleId {
    ArticleId::from_raw(raw)
}

fn actor(member: i64, role: Role) -> Actor {
    Actor::new(MemberId::from_raw(member), format!("member_{member}"), role)
}

impl Site {
    async fn reply(&self, on: i64, parent: Option<&Comment>) -> Result<Comment, CommentError> {
        let draft = CommentDraft { content: "text".into(), parent_id: parent.map(|parent| parent.comment_id) };
        self.service.create(&actor(1, Role::Member), article(on), draft, None).await
    }
}

fn deletion(of: i64) -> Delivery {
    let board_count = BoardCount { article_count: 0, version: 2 };
    let board_id = BoardId::from_raw(5);
    let gone = ArticleDeleted { article_id: article(of), board_id, board_count, restorable: false };
    let envelope = Envelope {
        event_id: EventId::from_raw(9),
        occurred_at: Timestamp::from_millis(ID_EPOCH_MS),
        key: article(of),
        version: 2,
        event: Event::ArticleDeleted(gone),
    };
    let message = Message {
        event_id: envelope.event_id,
        topic: envelope.event.topic().name().to_owned(),
        key: envelope.key.to_string(),
        shard: ShardId::HOME,
        occurred_at: envelope.occurred_at,
        headers: Vec::new(),
        payload: envelope.encode(),
    };
    Delivery { position: Position { topic: message.topic.clone(), partition: 0, offset: 1 }, message }
}

#[tokio::test]
async fn a_comment_lives_where_the_parts_of_its_article_live() {
    let site = site();
    let comment = site.reply(TREE, None).await.unwrap();
    let shard = ShardId::of_parts(article(TREE));
    assert_eq!((comment.comment_id.shard(), site.store.events()[0].shard()), (shard, shard));
    assert_eq!(comment.writer.as_ref().unwrap().name, "member_1");
    assert_eq!(site.service.get(comment.comment_id).await.unwrap(), comment);
}

#[tokio::test]
async fn two_level_boards_refuse_a_reply_to_a_reply() {
    let site = site();
    let root = site.reply(TWO_LEVEL, None).await.unwrap();
    let reply = site.reply(TWO_LEVEL, Some(&root)).await.unwrap();
    assert_eq!((reply.depth, reply.path.clone(), reply.parent_id), (2, None, Some(root.comment_id)));
    assert!(matches!(site.reply(TWO_LEVEL, Some(&reply)).await, Err(CommentError::TooDeep(_))));
}

#[tokio::test]
async fn a_tree_refuses_replies_past_its_depth() {
    let site = site();
    let mut last = site.reply(TREE, None).await.unwrap();
    for depth in 2..=3 {
        last = site.reply(TREE, Some(&last)).await.unwrap();
        assert_eq!((last.depth, last.path.as_ref().unwrap().depth()), (depth, depth));
    }
    let error = site.reply(TREE, Some(&last)).await.unwrap_err();
    assert_eq!(error.to_string(), "is at level 3, the deepest that replies can go on this site");
}

#[tokio::test]
async fn a_parent_on_another_article_is_an_invalid_field() {
    let site = site();
    let root = site.reply(TWO_LEVEL, None).await.unwrap();
    let Err(CommentError::Invalid(invalid)) = site.reply(TREE, Some(&root)).await else { panic!("must be refused") };
    assert_eq!(invalid.0[0].field, "parent_id");
}

#[tokio::test]
async fn text_out_of_its_range_is_refused() {
    let site = site();
    for content in [String::new(), "a".repeat(3_001)] {
        let draft = CommentDraft { content, parent_id: None };
        let refused = site.service.create(&actor(1, Role::Member), article(TREE), draft, None).await;
        assert!(matches!(refused, Err(CommentError::Invalid(_))));
    }
    assert_eq!(site.store.row_count(), 0);
}

#[tokio::test]
async fn an_overtaken_id_is_replaced_a_limited_number_of_times() {
    let site = site();
    site.store.late.store(3, Ordering::SeqCst);
    assert!(site.reply(TWO_LEVEL, None).await.is_ok());
    site.store.late.store(1_000, Ordering::SeqCst);
    let error = site.reply(TWO_LEVEL, None).await.unwrap_err();
    assert!(matches!(error, CommentError::Store(StoreError::Unavailable { .. })));
}

#[tokio::test]
async fn only_author_and_moderator_delete() {
    let site = site();
    for (member, role, allowed) in [(2, Role::Member, false), (1, Role::Member, true), (2, Role::Moderator, true)] {
        let comment = site.reply(TREE, None).await.unwrap().comment_id;
        match site.service.delete(&actor(member, role), comment, Reason::default(), None).await {
            Ok(count) => assert!(allowed && count.comment_count == 1, "the refused one stays: {count:?}"),
            Err(error) => assert!(!allowed && matches!(error, CommentError::Forbidden(_)), "{error}"),
        }
    }
    let acts: Vec<_> = site.store.acts().iter().map(|act| (act.kind, act.moderator_id.raw())).collect();
    assert_eq!(acts, [(ActKind::CommentDeleted, 2)], "not what authors do");
    let suspended_until = Some(Timestamp::from_millis(i64::MAX));
    let suspended = Actor { suspended_until, ..actor(1, Role::Admin) };
    let comment = site.reply(TREE, None).await.unwrap().comment_id;
    let refused = site.service.delete(&suspended, comment, Reason::default(), None).await;
    assert!(matches!(refused, Err(CommentError::Forbidden(_))));
}

#[tokio::test]
async fn only_author_and_moderator_edit_and_the_log_names_the_moderator() {
    let site = site();
    let mut version = 1;
    let comment = site.reply(TREE, None).await.unwrap();
    for (member, role, allowed) in [(2, Role::Member, false), (1, Role::Member, true), (2, Role::Moderator, true)] {
        let text = format!("text of {member}, {role:?}");
        match site.service.edit(&actor(member, role), comment.comment_id, text.clone(), Some(version)).await {
            Ok(edited) => {
                version += 1;
                let html = Some(format!("<p>{text}</p>"));
                assert!(allowed);
                assert_eq!((edited.content, edited.content_html, edited.version), (Some(text), html, version));
                assert_eq!((edited.writer, edited.created_at), (comment.writer.clone(), comment.created_at));
            }
            Err(error) => assert!(!allowed && matches!(error, CommentError::Forbidden(_)), "{error}"),
        }
    }
    let acts: Vec<_> = site.store.acts().iter().map(|act| (act.kind, act.subject, act.moderator_id.raw())).collect();
    assert_eq!(acts, [(ActKind::CommentEdited, comment.comment_id.raw(), 2)], "not what authors do");
    let suspended_until = Some(Timestamp::from_millis(i64::MAX));
    let suspended = Actor { suspended_until, ..actor(1, Role::Admin) };
    let refused = site.service.edit(&suspended, comment.comment_id, "x".into(), None).await;
    assert!(matches!(refused, Err(CommentError::Forbidden(_))));
}

#[tokio::test]
async fn an_edit_is_refused_for_its_text_its_version_and_where_nothing_is_left() {
    let site = site();
    let author = actor(1, Role::Member);
    let root = site.reply(TREE, None).await.unwrap();
    assert_eq!((root.version, root.modified_at, root.is_edited()), (1, root.created_at, false));
    let edit = async |text: &str, version| site.service.edit(&author, root.comment_id, text.into(), version).await;
    for text in ["", " \u{200b}", "a\0", "a".repeat(3_001).as_str()] {
        assert!(matches!(edit(text, None).await, Err(CommentError::Invalid(_))));
    }
    let edited = edit("second", Some(1)).await.unwrap();
    assert!(edited.is_edited() && edited.modified_at >= root.created_at);
    assert!(matches!(edit("third", Some(1)).await, Err(CommentError::Changed)));
    assert_eq!(site.service.get(root.comment_id).await.unwrap(), edited);
    let delete = async |version| site.service.delete(&author, root.comment_id, Reason::default(), version).await;
    site.reply(TREE, Some(&root)).await.unwrap();
    assert!(matches!(delete(Some(1)).await, Err(CommentError::Changed)));
    delete(Some(2)).await.unwrap();
    let mark = site.service.get(root.comment_id).await.unwrap();
    assert_eq!((mark.version, mark.is_edited(), mark.content), (3, false, None));
    assert!(matches!(edit("fourth", Some(3)).await, Err(CommentError::NotFound("comment"))));
    let other = site.reply(TREE, None).await.unwrap();
    site.store.mark_article_gone(article(TREE)).await.unwrap();
    let gone = site.service.edit(&author, other.comment_id, "x".into(), None).await;
    assert!(
        matches!(gone, Err(CommentError::NotFound("comment"))),
        "the look-up may still say that the article is there"
    );
}

#[tokio::test]
async fn a_mark_tells_nothing_and_is_not_deleted_again() {
    let site = site();
    let root = site.reply(TREE, None).await.unwrap();
    site.reply(TREE, Some(&root)).await.unwrap();
    let author = actor(1, Role::Admin);
    site.service.delete(&author, root.comment_id, Reason::default(), None).await.unwrap();
    let mark = site.service.get(root.comment_id).await.unwrap();
    assert_eq!((mark.deleted, mark.content, mark.writer), (true, None, None));
    assert!(matches!(
        site.service.delete(&author, root.comment_id, Reason::default(), None).await,
        Err(CommentError::NotFound("comment"))
    ));
    assert!(matches!(site.reply(TREE, Some(&root)).await, Err(CommentError::Invalid(_))));
}

#[tokio::test]
async fn a_cursor_goes_on_and_nonsense_is_refused() {
    let site = site();
    for _ in 0..3 {
        site.reply(TREE, None).await.unwrap();
    }
    let two = PageSize::new("limit", 2).unwrap();
    let first = site.service.scroll(article(TREE), None, two).await.unwrap();
    let cursor = first.next.unwrap().to_string();
    let second = site.service.scroll(article(TREE), Some(&cursor), two).await.unwrap();
    assert_eq!((first.items.len(), second.items.len(), second.next), (2, 1, None));
    let refused = site.service.scroll(article(TREE), Some("7.7"), two).await;
    assert!(matches!(refused, Err(CommentError::Cursor(_))));
}

#[tokio::test]
async fn an_article_that_does_not_exist_has_no_comments() {
    let site = site();
    let comment = site.reply(TREE, None).await.unwrap().comment_id;
    site.articles.0.lock().unwrap().remove(&article(TREE));
    let missing = |error: CommentError| matches!(error, CommentError::NotFound(_));
    assert!(missing(site.reply(TREE, None).await.unwrap_err()));
    assert!(missing(site.service.get(comment).await.unwrap_err()));
    assert!(missing(site.service.delete(&actor(1, Role::Admin), comment, Reason::default(), None).await.unwrap_err()));
    let edited = site.service.edit(&actor(1, Role::Admin), comment, "x".into(), None).await;
    assert!(missing(edited.unwrap_err()));
    assert!(missing(site.service.count(article(TREE)).await.unwrap_err()));
    assert!(missing(site.service.scroll(article(TREE), None, PageSize::DEFAULT).await.unwrap_err()));
    assert!(missing(site.service.page(article(TREE), PageNumber::FIRST, PageSize::DEFAULT).await.unwrap_err()));
    assert!(missing(site.service.get(CommentId::from_raw(1)).await.unwrap_err()));
}

#[tokio::test]
async fn a_deleted_article_takes_its_comments_along_and_keeps_the_others() {
    let site = site();
    for _ in 0..=2 * CLEAN_UP_SLICE_ROWS {
        site.reply(TREE, None).await.unwrap();
    }
    site.reply(TWO_LEVEL, None).await.unwrap();
    let cleaner = article_deletions(site.store.clone(), site.articles.clone());
    let mode = site.articles.0.lock().unwrap().remove(&article(TREE)).unwrap();
    // Twice, as a redelivery does.
    assert_eq!(cleaner.handle(&[deletion(TREE), deletion(TREE)]).await, [Ok(Handled::Done), Ok(Handled::Done)]);
    assert_eq!(site.store.row_count(), 1);
    // The look-up may still say that the article exists.
    site.articles.0.lock().unwrap().insert(article(TREE), mode);
    assert!(matches!(site.reply(TREE, None).await, Err(CommentError::NotFound("article"))));
}

#[tokio::test]
async fn a_store_that_is_away_is_no_fault_of_the_message() {
    let site = site();
    site.reply(TREE, None).await.unwrap();
    // Once while all articles are marked before anything is removed, and once when the first message is answered for.
    site.store.outages.store(2, Ordering::SeqCst);
    site.articles.0.lock().unwrap().remove(&article(TREE));
    let cleaner = article_deletions(site.store.clone(), site.articles.clone());
    let mut nonsense = deletion(TREE);
    nonsense.message.payload = b"{}".to_vec().into();
    let answers = cleaner.handle(&[deletion(TREE), nonsense, deletion(TREE)]).await;
    assert!(matches!(answers[0], Err(HandlerError::Outage(_))));
    assert!(matches!(answers[1], Err(HandlerError::Undecodable(_))));
    assert_eq!((answers[2].clone(), site.store.row_count()), (Ok(Handled::Done), 0));
}

#[tokio::test]
async fn counts_of_many_articles_are_asked_for_within_a_limit() {
    let site = site();
    let draft = CommentDraft { content: "text".into(), parent_id: None };
    site.service.create(&actor(7, Role::Member), article(TREE), draft, None).await.unwrap();
    let counts = site.service.counts(vec![article(TWO_LEVEL), article(TREE)]).await.unwrap();
    assert_eq!(counts.iter().map(|counted| counted.as_ref().unwrap().count.comment_count).collect::<Vec<_>>(), [0, 1]);
    assert!(site.service.counts(vec![article(TREE); COUNTS_MAX]).await.is_ok());
    let refused = site.service.counts(vec![article(TREE); COUNTS_MAX + 1]).await;
    assert!(matches!(refused, Err(CommentError::Invalid(_))));
}

#[tokio::test]
async fn a_rebuild_removes_the_comments_of_articles_whose_deletion_was_missed() {
    let site = site();
    let half_cleaned = 70;
    site.articles.0.lock().unwrap().insert(article(half_cleaned), CommentMode::Tree);
    for on in [TREE, TWO_LEVEL, half_cleaned] {
        site.reply(on, None).await.unwrap();
    }
    // A process that died while it cleaned up has left the mark and comments.
    site.store.mark_article_gone(article(half_cleaned)).await.unwrap();
    for gone in [TREE, half_cleaned] {
        site.articles.0.lock().unwrap().remove(&article(gone));
    }
    let cleaner = article_deletions(site.store.clone(), site.articles.clone());
    site.store.outages.store(1, Ordering::SeqCst);
    assert!(cleaner.rebuild().await.is_err(), "a store that is away is told, and the rebuild tried again");
    cleaner.rebuild().await.unwrap();
    assert_eq!(site.store.row_count(), 1);
    assert_eq!(site.service.count(article(TWO_LEVEL)).await.unwrap().comment_count, 1);
    site.articles.0.lock().unwrap().insert(article(TREE), CommentMode::Tree);
    assert!(matches!(site.reply(TREE, None).await, Err(CommentError::NotFound("article"))), "marked for ever");
}

#[tokio::test]
async fn a_comment_is_rendered_when_it_is_written() {
    let site = site();
    let written = site.reply(TREE, None).await.unwrap();
    assert_eq!(written.content_html.as_deref(), Some("<p>text</p>"));
    let stored = site.store.find(written.comment_id).await.unwrap().unwrap();
    assert_eq!(stored, written, "the HTML is stored with the text");
    let other = CommentDraft { content: "other".into(), parent_id: Some(written.comment_id) };
    let other = site.service.create(&actor(1, Role::Member), article(TREE), other, None).await.unwrap();
    site.service.delete(&actor(1, Role::Member), written.comment_id, Reason::default(), None).await.unwrap();
    let mark = site.service.get(written.comment_id).await.unwrap();
    assert_eq!((mark.content, mark.content_html, mark.deleted), (None, None, true));
    assert_eq!(other.content_html.as_deref(), Some("<p>other</p>"));
}

#[tokio::test]
async fn a_comment_older_than_its_html_is_rendered_when_it_is_read() {
    let site = site();
    let written = site.reply(TREE, None).await.unwrap();
    site.store.forget_html();
    assert_eq!(site.store.find(written.comment_id).await.unwrap().unwrap().content_html, None);
    assert_eq!(site.service.get(written.comment_id).await.unwrap(), written);
    let size = PageSize::DEFAULT;
    let page = site.service.page(article(TREE), PageNumber::FIRST, size).await.unwrap();
    let step = site.service.scroll(article(TREE), None, size).await.unwrap();
    let of_writer = site.service.by_writer(MemberId::from_raw(1), None, size).await.unwrap();
    for items in [page.items, step.items, of_writer.items] {
        assert_eq!(items, std::slice::from_ref(&written));
    }
}

#[tokio::test]
async fn moderators_of_the_board_lock_an_article_and_only_they_comment_on_it_then() {
    let site = site();
    let (writer, id) = (actor(1, Role::Member), article(TREE));
    let theirs = Actor { moderates: vec![BoardId::from_raw(5)], ..actor(2, Role::Member) };
    let other = Actor { moderates: vec![BoardId::from_raw(6)], ..actor(3, Role::Member) };
    let draft = || CommentDraft { content: "c".into(), parent_id: None };
    for refused in [&writer, &other] {
        assert!(matches!(site.service.set_lock(refused, id, true).await, Err(CommentError::Forbidden(_))));
    }
    let nowhere = site.service.set_lock(&theirs, article(9), true).await;
    assert!(matches!(nowhere, Err(CommentError::NotFound("article"))));
    assert!(site.service.set_lock(&theirs, id, true).await.unwrap().locked);
    for refused in [&writer, &other] {
        assert!(matches!(site.service.create(refused, id, draft(), None).await, Err(CommentError::Locked)));
    }
    site.service.create(&theirs, id, draft(), None).await.unwrap();
    site.service.create(&actor(4, Role::Admin), id, draft(), None).await.unwrap();
    site.service.create(&writer, article(TWO_LEVEL), draft(), None).await.unwrap();
    assert!(!site.service.set_lock(&theirs, id, false).await.unwrap().locked);
    site.service.create(&writer, id, draft(), None).await.unwrap();
    let acts: Vec<_> = site.store.acts().into_iter().map(|act| (act.kind, act.subject, act.board_id)).collect();
    let board = Some(BoardId::from_raw(5));
    assert_eq!(acts, [(ActKind::ArticleLocked, TREE, board), (ActKind::ArticleUnlocked, TREE, board)]);
}

#[tokio::test]
async fn moderators_restore_what_a_moderator_removed_and_nobody_what_its_writer_did() {
    let site = site();
    let (author, moderator) = (actor(1, Role::Member), actor(8, Role::Moderator));
    let comment = site.reply(TREE, None).await.unwrap();
    let id = comment.comment_id;
    let restore = async |by: &Actor| site.service.restore(by, id).await;
    assert!(matches!(restore(&moderator).await, Err(CommentError::NotFound(_))), "nothing was removed");
    site.service.delete(&moderator, id, Reason::required("spam").unwrap(), None).await.unwrap();
    assert!(matches!(restore(&author).await, Err(CommentError::Forbidden(_))));
    assert!(matches!(site.service.removed(&author, id).await, Err(CommentError::Forbidden(_))));
    assert_eq!(site.service.removed(&moderator, id).await.unwrap().content, "text");
    let back = restore(&moderator).await.unwrap();
    assert_eq!(back, Comment { version: 3, ..comment });
    let kinds: Vec<_> = site.store.acts().iter().map(|act| act.kind).collect();
    assert_eq!(kinds, [ActKind::CommentDeleted, ActKind::CommentRestored]);

    // With its article away nothing of it is told, and nothing is lost.
    site.service.delete(&moderator, id, Reason::default(), None).await.unwrap();
    let mode = site.articles.0.lock().unwrap().remove(&article(TREE)).unwrap();
    assert!(matches!(restore(&moderator).await, Err(CommentError::NotFound(_))));
    site.articles.0.lock().unwrap().insert(article(TREE), mode);
    restore(&moderator).await.unwrap();

    site.service.delete(&moderator, id, Reason::default(), None).await.unwrap();
    let later = Timestamp::from_millis(ID_EPOCH_MS + 31 * 24 * 3_600_000);
    assert_eq!(site.service.purge_removed(later).await.unwrap(), 1);
    assert_eq!(site.store.row_count(), 0, "its mark went with it");
    let own = site.reply(TREE, None).await.unwrap().comment_id;
    site.service.delete(&author, own, Reason::default(), None).await.unwrap();
    assert!(matches!(site.service.restore(&moderator, own).await, Err(CommentError::NotFound(_))));
}

#[tokio::test]
async fn while_its_article_is_removed_a_comment_is_in_no_list_and_nothing_is_destroyed() {
    let site = site();
    let comment = site.reply(TREE, None).await.unwrap();
    let mode = site.articles.0.lock().unwrap().remove(&article(TREE)).unwrap();
    let by_writer =
        async || site.service.by_writer(MemberId::from_raw(1), None, PageSize::DEFAULT).await.unwrap().items;
    assert_eq!(by_writer().await, []);
    let consumer = article_deletions(site.store.clone(), site.articles.clone());
    let mut removal = deletion(TREE);
    let mut envelope = Envelope::decode(&removal.message.payload).unwrap();
    if let Event::ArticleDeleted(gone) = &mut envelope.event {
        gone.restorable = true;
    }
    removal.message.payload = envelope.encode();
    assert!(matches!(consumer.handle(&[removal]).await[..], [Ok(Handled::Done)]));
    assert_eq!(site.store.row_count(), 1);
    site.articles.0.lock().unwrap().insert(article(TREE), mode);
    assert_eq!(by_writer().await, [comment]);
}
