//! The rules of the use cases: who may do what, what is refused and how, and what the store is asked.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod memory;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use madang_article::{
    ArticleDraft, ArticleError, ArticleService, ArticleStore, Board, BoardDraft, CommentMode, DeleteArticle,
    FIND_MANY_MAX, NEWEST_MAX, NewBoard, SHARED_FACTS_TTL_MS,
};
use madang_board::{ActKind, Actor, ArticleFacts, ArticleId, ArticleLookup as _, BoardId, MemberId, Reason, Role};
use madang_kernel::{
    Clock, EventId, ID_EPOCH_MS, Id, IdGenerator, Idempotency, ManualClock, NodeId, NodeLease, PageNumber, PageSize,
    ShardId, StoreError, Timestamp,
};
use memory::MemoryArticles;

struct Site {
    service: ArticleService,
    store: Arc<MemoryArticles>,
    clock: Arc<ManualClock>,
}

fn site_over(store: &Arc<MemoryArticles>) -> Site {
    let now_ms = ID_EPOCH_MS + 1_000_000;
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(now_ms)));
    let lease = NodeLease { node: NodeId(1), from_ms: now_ms, until_ms: now_ms + 1_000_000 };
    let ids = Arc::new(IdGenerator::new(clock.clone(), lease));
    Site { service: ArticleService::new(store.clone(), ids, clock.clone()), store: store.clone(), clock }
}

fn site() -> Site {
    site_over(&Arc::default())
}

fn actor(member: i64, role: Role) -> Actor {
    Actor::new(MemberId::from_raw(member), format!("member_{member}"), role)
}

fn draft(content: &str) -> ArticleDraft {
    ArticleDraft { title: " Title ".into(), content: content.into() }
}

fn board_draft(slug: &str) -> BoardDraft {
    BoardDraft { slug: slug.into(), title: "A board".into(), comment_mode: CommentMode::Tree }
}

async fn board(site: &Site) -> BoardId {
    let created = site.service.create_board(&actor(1, Role::Admin), board_draft("yard"), None).await.unwrap();
    created.board.board_id
}

#[tokio::test]
async fn an_empty_site_gets_its_first_board_once() {
    let site = site();
    assert!(site.service.ensure_first_board().await.unwrap());
    assert!(!site.service.ensure_first_board().await.unwrap());
    let boards = site.service.boards().await.unwrap();
    assert_eq!(boards.iter().map(|board| board.board.slug.as_str()).collect::<Vec<_>>(), ["general"]);
}

#[tokio::test]
async fn only_an_administrator_creates_boards() {
    let site = site();
    for role in [Role::Member, Role::Moderator] {
        let refused = site.service.create_board(&actor(1, role), board_draft("yard"), None).await;
        assert!(matches!(refused, Err(ArticleError::Forbidden(_))));
    }
    let created = site.service.create_board(&actor(1, Role::Admin), board_draft("yard"), None).await.unwrap();
    assert_eq!((created.board.board_id.shard(), created.article_count), (ShardId::for_name("yard"), 0));
    let again = site.service.create_board(&actor(1, Role::Admin), board_draft("yard"), None).await;
    assert!(matches!(again, Err(ArticleError::SlugTaken)));
}

#[tokio::test]
async fn a_created_article_is_complete() {
    let site = site();
    let board = board(&site).await;
    let article = site.service.create(&actor(7, Role::Member), board, draft("**bold**"), None).await.unwrap();
    assert_eq!((article.title.as_str(), article.content.as_str()), ("Title", "**bold**"));
    assert_eq!(article.content_html, "<p><strong>bold</strong></p>\n");
    assert_eq!((article.writer.member_id, article.writer.name.as_str()), (MemberId::from_raw(7), "member_7"));
    assert_eq!((article.created_at, article.modified_at, article.version), (site.clock.now(), site.clock.now(), 1));
    assert_eq!(article.article_id.shard(), board.shard());
    assert_eq!(site.store.events().iter().map(|event| event.shard()).collect::<Vec<_>>(), [board.shard()]);
    assert_eq!(site.service.get(article.article_id).await.unwrap(), article);
}

#[tokio::test]
async fn a_known_board_costs_a_writer_no_query() {
    let store = Arc::default();
    let board = board(&site_over(&store)).await;
    // Another process, which has not seen the board yet.
    let site = site_over(&store);
    for _ in 0..5 {
        site.service.create(&actor(7, Role::Member), board, draft("text"), None).await.unwrap();
    }
    assert_eq!(store.board_lookups.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn an_absent_board_is_found_once_another_process_creates_it() {
    let store = Arc::new(MemoryArticles::default());
    let site = site_over(&store);
    let absent = BoardId::from_raw(1 << 40);
    let first = PageNumber::FIRST;
    for _ in 0..3 {
        let refused = site.service.page(absent, first, PageSize::DEFAULT).await;
        assert!(matches!(refused, Err(ArticleError::NotFound("board"))));
        let refused = site.service.scroll(absent, None, PageSize::DEFAULT).await;
        assert!(matches!(refused, Err(ArticleError::NotFound("board"))));
        let refused = site.service.create(&actor(7, Role::Member), absent, draft("text"), None).await;
        assert!(matches!(refused, Err(ArticleError::NotFound("board"))));
    }
    assert_eq!(store.board_lookups.load(Ordering::Relaxed), 1, "a guessed board is looked up once in a while");
    let elsewhere = Board {
        board_id: absent,
        slug: "yard".into(),
        title: "Yard".into(),
        comment_mode: CommentMode::Tree,
        description: String::new(),
        position: 0,
        created_at: site.clock.now(),
    };
    store.create_board(NewBoard { board: elsewhere, idempotency: None }).await.unwrap();
    site.clock.advance(Duration::from_secs(1));
    assert!(site.service.page(absent, first, PageSize::DEFAULT).await.is_ok(), "asked again after a second");
}

#[tokio::test]
async fn a_repeated_request_has_one_effect_and_one_answer() {
    let site = site();
    let (board, writer) = (board(&site).await, actor(7, Role::Member));
    let idempotency = |fingerprint| {
        Some(Idempotency {
            caller: writer.member_id.raw(),
            scope: "POST /a".into(),
            key: "k".into(),
            fingerprint: [fingerprint; 32],
        })
    };
    let first = site.service.create(&writer, board, draft("text"), idempotency(1)).await.unwrap();
    let second = site.service.create(&writer, board, draft("text"), idempotency(1)).await.unwrap();
    assert_eq!(first, second);
    let other = site.service.create(&writer, board, draft("other"), idempotency(2)).await;
    assert!(matches!(other, Err(ArticleError::KeyReused)));
    assert_eq!(site.service.board(board).await.unwrap().article_count, 1);
}

#[tokio::test]
async fn author_and_moderators_change_an_article_and_nobody_else() {
    let site = site();
    let board = board(&site).await;
    let article = site.service.create(&actor(7, Role::Member), board, draft("one"), None).await.unwrap().article_id;
    let stranger = actor(8, Role::Member);
    assert!(matches!(site.service.edit(&stranger, article, draft("x"), None).await, Err(ArticleError::Forbidden(_))));
    assert!(matches!(
        site.service.delete(&stranger, article, Reason::default(), None).await,
        Err(ArticleError::Forbidden(_))
    ));

    site.clock.advance(Duration::from_secs(5));
    let edited = site.service.edit(&actor(7, Role::Member), article, draft("*two*"), Some(1)).await.unwrap();
    assert_eq!((edited.version, edited.content_html.as_str()), (2, "<p><em>two</em></p>\n"));
    assert!(edited.modified_at > edited.created_at);
    assert_eq!(edited.writer.member_id, MemberId::from_raw(7));
    site.clock.set(edited.created_at);
    let by_moderator = site.service.edit(&actor(9, Role::Moderator), article, draft("three"), None).await.unwrap();
    assert_eq!(by_moderator.writer.member_id, MemberId::from_raw(7), "it stays its author's");
    assert_eq!(by_moderator.modified_at, edited.modified_at, "a clock that stepped back takes no edit back");

    site.service.delete(&actor(10, Role::Admin), article, Reason::required("spam").unwrap(), None).await.unwrap();
    for gone in [article, ArticleId::from_raw(5)] {
        assert!(matches!(site.service.get(gone).await, Err(ArticleError::NotFound("article"))));
        let refused = site.service.delete(&actor(7, Role::Member), gone, Reason::default(), None).await;
        assert!(matches!(refused, Err(ArticleError::NotFound("article"))));
    }
    let acts = site.store.acts();
    let told: Vec<_> = acts.iter().map(|act| (act.kind, act.moderator_id.raw(), act.reason.as_str())).collect();
    assert_eq!(told, [(ActKind::ArticleEdited, 9, ""), (ActKind::ArticleDeleted, 10, "spam")], "not what authors do");
    assert!(acts.iter().all(|act| act.subject == article.raw() && act.board_id == Some(board)));
}

#[tokio::test]
async fn a_boards_moderator_changes_what_is_on_it_and_who_is_suspended_changes_nothing() {
    let site = site();
    let board = board(&site).await;
    let author = actor(7, Role::Member);
    let article = site.service.create(&author, board, draft("one"), None).await.unwrap().article_id;
    let here = Actor { moderates: vec![board], ..actor(8, Role::Member) };
    let elsewhere = Actor { moderates: vec![BoardId::from_raw(5)], ..actor(8, Role::Member) };
    assert!(matches!(site.service.edit(&elsewhere, article, draft("x"), None).await, Err(ArticleError::Forbidden(_))));
    assert!(site.service.edit(&here, article, draft("x"), None).await.is_ok());
    let suspended_until = Some(Timestamp::from_millis(i64::MAX));
    for suspended in [author, here, actor(9, Role::Admin)].map(|actor| Actor { suspended_until, ..actor }) {
        let create = site.service.create(&suspended, board, draft("x"), None).await;
        assert!(matches!(create, Err(ArticleError::Forbidden(_))));
        let edit = site.service.edit(&suspended, article, draft("x"), None).await;
        assert!(matches!(edit, Err(ArticleError::Forbidden(_))));
        let delete = site.service.delete(&suspended, article, Reason::default(), None).await;
        assert!(matches!(delete, Err(ArticleError::Forbidden(_))));
    }
}

#[tokio::test]
async fn an_edit_of_an_older_version_is_refused() {
    let site = site();
    let (board, writer) = (board(&site).await, actor(7, Role::Member));
    let article = site.service.create(&writer, board, draft("one"), None).await.unwrap().article_id;
    site.service.edit(&writer, article, draft("two"), Some(1)).await.unwrap();
    assert!(matches!(site.service.edit(&writer, article, draft("x"), Some(1)).await, Err(ArticleError::Changed)));
    assert_eq!(site.service.get(article).await.unwrap().content, "two");
}

#[tokio::test]
async fn invalid_drafts_are_refused_with_every_wrong_field() {
    let site = site();
    let (board, writer) = (board(&site).await, actor(7, Role::Member));
    let blank = || ArticleDraft { title: " ".into(), content: "\0".repeat(3) };
    let Err(ArticleError::Invalid(invalid)) = site.service.create(&writer, board, blank(), None).await else {
        panic!("accepted")
    };
    assert_eq!(invalid.0.iter().map(|error| error.field).collect::<Vec<_>>(), ["title", "content"]);
    let article = site.service.create(&writer, board, draft("one"), None).await.unwrap().article_id;
    assert!(matches!(site.service.edit(&writer, article, blank(), None).await, Err(ArticleError::Invalid(_))));
}

#[tokio::test]
async fn without_a_lease_writes_wait() {
    let site = site();
    let board = board(&site).await;
    site.clock.advance(Duration::from_secs(3_600));
    let refused = site.service.create(&actor(7, Role::Member), board, draft("text"), None).await;
    assert!(matches!(refused, Err(ArticleError::Store(StoreError::Unavailable { .. }))));
}

#[tokio::test]
async fn lists_are_newest_first() {
    let site = site();
    let (board, writer) = (board(&site).await, actor(7, Role::Member));
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.insert(0, site.service.create(&writer, board, draft("text"), None).await.unwrap().article_id);
    }
    let size = PageSize::new("page_size", 2).unwrap();
    let page = site.service.page(board, PageNumber::new("page", 2).unwrap(), size).await.unwrap();
    assert_eq!(page.items.iter().map(|item| item.article_id).collect::<Vec<_>>(), ids[2..4]);
    let step = site.service.scroll(board, Some(ids[2]), size).await.unwrap();
    assert_eq!(step.items.iter().map(|item| item.article_id).collect::<Vec<_>>(), ids[3..]);
    assert_eq!(step.next, None);
}

#[tokio::test]
async fn an_article_is_looked_up_once() {
    let site = site();
    let board = board(&site).await;
    let article = site.service.create(&actor(2, Role::Member), board, draft("text"), None).await.unwrap().article_id;
    let facts = ArticleFacts { board_id: board, comment_mode: CommentMode::Tree, archived: false };
    assert_eq!(site.service.facts(article).await.unwrap(), Some(facts));
    assert_eq!(site.service.facts(ArticleId::from_raw(12_345)).await.unwrap(), None);
    let behind_its_back =
        DeleteArticle { article_id: article, expected_version: None, event_id: EventId::from_raw(1), act: None };
    site.store.delete(behind_its_back).await.unwrap();
    assert_eq!(site.service.facts(article).await.unwrap(), Some(facts), "the store was not asked again");
}

#[tokio::test]
async fn a_deleted_article_is_gone_from_look_ups_at_once() {
    let site = site();
    let board = board(&site).await;
    let author = actor(2, Role::Member);
    let article = site.service.create(&author, board, draft("text"), None).await.unwrap().article_id;
    assert!(site.service.facts(article).await.unwrap().is_some());
    site.service.delete(&author, article, Reason::default(), None).await.unwrap();
    assert_eq!(site.service.facts(article).await.unwrap(), None);
}

#[tokio::test]
async fn what_was_changed_meanwhile_is_not_deleted() {
    let site = site();
    let (board, author) = (board(&site).await, actor(2, Role::Member));
    let article = site.service.create(&author, board, draft("text"), None).await.unwrap().article_id;
    site.service.edit(&author, article, draft("other text"), None).await.unwrap();
    let delete = async |version| site.service.delete(&author, article, Reason::default(), version).await;
    assert!(matches!(delete(Some(1)).await, Err(ArticleError::Changed)));
    assert!(site.service.facts(article).await.unwrap().is_some(), "it is still there");
    delete(Some(2)).await.unwrap();
}

#[tokio::test]
async fn many_articles_are_asked_for_within_a_limit() {
    let site = site();
    let (board, writer) = (board(&site).await, actor(7, Role::Member));
    let article = site.service.create(&writer, board, draft("text"), None).await.unwrap();
    let absent = ArticleId::from_raw(5);
    let found = site.service.find_many(vec![absent, article.article_id]).await.unwrap();
    assert_eq!(found, [None, Some(article)]);
    assert!(site.service.find_many(vec![absent; FIND_MANY_MAX]).await.is_ok());
    let refused = site.service.find_many(vec![absent; FIND_MANY_MAX + 1]).await;
    assert!(matches!(refused, Err(ArticleError::Invalid(_))));
}

#[tokio::test]
async fn the_newest_of_a_board_are_asked_for_within_a_limit() {
    let site = site();
    let (board, writer) = (board(&site).await, actor(7, Role::Member));
    let article = site.service.create(&writer, board, draft("text"), None).await.unwrap();
    let newest = site.service.newest(board, NEWEST_MAX).await.unwrap();
    assert_eq!((newest.ids, newest.is_all, newest.count.article_count), (vec![article.article_id], true, 1));
    assert!(matches!(site.service.newest(board, NEWEST_MAX + 1).await, Err(ArticleError::Invalid(_))));
    let nowhere = site.service.newest(BoardId::from_raw(5), 1).await;
    assert!(matches!(nowhere, Err(ArticleError::NotFound("board"))));
}

#[tokio::test]
async fn an_article_that_another_process_deleted_is_gone_for_all_once_one_looked_anew() {
    let here = site();
    let there = site_over(&here.store);
    let shared = Site { service: there.service.sharing_its_store(), store: there.store, clock: there.clock };
    let board = board(&here).await;
    let article = here.service.create(&actor(1, Role::Member), board, draft("text"), None).await.unwrap().article_id;
    assert!(shared.service.facts(article).await.unwrap().is_some());
    here.service.delete(&actor(1, Role::Member), article, Reason::default(), None).await.unwrap();
    shared.clock.advance(Duration::from_millis(SHARED_FACTS_TTL_MS / 2 - 1));
    assert!(shared.service.facts(article).await.unwrap().is_some(), "believed without asking");
    shared.clock.advance(Duration::from_millis(1));
    for asked in ["anew, by one", "by the others, who need not wait for the end of its time"] {
        assert_eq!(shared.service.facts(article).await.unwrap(), None, "{asked}");
    }
}

#[tokio::test]
async fn moderators_of_the_board_pin_and_what_they_do_is_seen_at_once() {
    let site = site();
    let (board, author) = (board(&site).await, actor(2, Role::Member));
    let article = site.service.create(&author, board, draft("c"), None).await.unwrap().article_id;
    let theirs = Actor { moderates: vec![board], ..actor(3, Role::Member) };
    let other = Actor { moderates: vec![BoardId::from_raw(99)], ..actor(4, Role::Member) };
    for refused in [&author, &other] {
        assert!(matches!(site.service.pin(refused, article, None).await, Err(ArticleError::Forbidden(_))));
        assert!(matches!(site.service.unpin(refused, article).await, Err(ArticleError::Forbidden(_))));
    }
    let now = site.clock.now();
    for until in [now, Timestamp::from_millis(i64::MAX)] {
        assert!(matches!(site.service.pin(&theirs, article, Some(until)).await, Err(ArticleError::Invalid(_))));
    }
    assert_eq!(site.service.pins(board).await.unwrap().len(), 0);
    let until = now.plus(Duration::from_secs(60));
    assert_eq!(site.service.pin(&theirs, article, Some(until)).await.unwrap().version, 2);
    let pins = site.service.pins(board).await.unwrap();
    assert_eq!((pins[0].article_id, pins[0].until), (article, Some(until)));
    site.service.unpin(&theirs, article).await.unwrap();
    site.service.unpin(&theirs, article).await.unwrap();
    assert_eq!(site.service.pins(board).await.unwrap().len(), 0);
    site.service.pin(&theirs, article, None).await.unwrap();
    site.service.delete(&author, article, Reason::default(), None).await.unwrap();
    assert_eq!(site.service.pins(board).await.unwrap().len(), 0);
    let acts: Vec<_> = site.store.acts().into_iter().map(|act| (act.kind, act.board_id, act.detail)).collect();
    let (board, forever) = (Some(board), String::new());
    let expected = [
        (ActKind::ArticlePinned, board, until.to_string()),
        (ActKind::ArticleUnpinned, board, forever.clone()),
        (ActKind::ArticlePinned, board, forever),
    ];
    assert_eq!(acts, expected);
}

#[tokio::test]
async fn moderators_of_the_board_restore_what_a_moderator_removed_for_thirty_days() {
    let site = site();
    let (board, author) = (board(&site).await, actor(2, Role::Member));
    let of_board = Actor { moderates: [board].into_iter().collect(), ..actor(8, Role::Member) };
    let elsewhere = Actor { moderates: [BoardId::from_raw(77)].into_iter().collect(), ..actor(9, Role::Member) };
    let article = site.service.create(&author, board, draft("text"), None).await.unwrap().article_id;
    let restore = async |by: &Actor| site.service.restore(by, article).await;
    assert!(matches!(restore(&of_board).await, Err(ArticleError::NotFound(_))), "nothing was removed");
    site.service.delete(&of_board, article, Reason::required("spam").unwrap(), None).await.unwrap();
    assert_eq!(site.service.facts(article).await.unwrap(), None);
    assert_eq!(site.service.exist(&[article]).await.unwrap(), [true], "nothing of it may be destroyed");
    for other in [&author, &elsewhere] {
        assert!(matches!(site.service.removed(other, article).await, Err(ArticleError::Forbidden(_))));
        assert!(matches!(restore(other).await, Err(ArticleError::Forbidden(_))));
    }
    let removed = site.service.removed(&of_board, article).await.unwrap();
    assert_eq!((removed.article.content.as_str(), removed.removal.reason.as_str()), ("text", "spam"));
    assert_eq!(restore(&of_board).await.unwrap().version, 3);
    assert!(site.service.facts(article).await.unwrap().is_some(), "at once, where it was deleted too");
    let acts: Vec<_> = site.store.acts().iter().map(|act| (act.kind, act.board_id)).collect();
    assert_eq!(acts, [(ActKind::ArticleDeleted, Some(board)), (ActKind::ArticleRestored, Some(board))]);

    site.service.delete(&of_board, article, Reason::default(), None).await.unwrap();
    let now = site.clock.now();
    assert_eq!(site.service.purge_removed(now).await.unwrap(), 0);
    let later = now.plus(Duration::from_secs(30 * 24 * 3_600));
    assert_eq!(site.service.purge_removed(later).await.unwrap(), 1);
    assert_eq!(site.service.exist(&[article]).await.unwrap(), [false]);
    assert!(matches!(restore(&of_board).await, Err(ArticleError::NotFound(_))));

    let own = site.service.create(&of_board, board, draft("own"), None).await.unwrap().article_id;
    site.service.delete(&of_board, own, Reason::default(), None).await.unwrap();
    assert_eq!(site.service.exist(&[own]).await.unwrap(), [false], "what its writer removes is gone at once");
}
