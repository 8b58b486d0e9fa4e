//! Pins: a few on each board, the last one first, gone with their article; and a new version, so that everybody hears of them.

use std::sync::Arc;
use std::time::Duration;

use madang_article::{Article, BoardState, DeleteOutcome, EditBoard, PinArticle, PinOutcome, Pinning};
use madang_board::{Act, ActId, ActKind, Actor, ArticleId, MemberId, PINS_MAX, Role, pinned};
use madang_event::Event;
use madang_kernel::{Clock as _, Id, Timestamp};
use tokio::task::JoinSet;

use super::ArticleStoreHarness;
use super::site::{Site, page_size};

fn call<H: ArticleStoreHarness>(site: &Site<H>, article: ArticleId, pinning: Pinning) -> PinArticle {
    let kind = if pinning == Pinning::Unpin { ActKind::ArticleUnpinned } else { ActKind::ArticlePinned };
    let moderator = Actor::new(MemberId::from_raw(8), "관리자", Role::Moderator);
    // Ids of the article's shard, which say on which server the line is written.
    let act_id = ActId::from_raw(article.raw() + (site.next_id() << 22));
    let pinned_at = Timestamp::from_millis(1_760_000_000_000);
    let act = Act::of(&moderator, act_id, kind, article.raw(), pinned_at);
    PinArticle { article_id: article, pinning, pinned_at, event_id: site.event_id(), act }
}

async fn set<H: ArticleStoreHarness>(site: &Site<H>, article: ArticleId, pinning: Pinning) -> PinOutcome {
    site.store.pin(call(site, article, pinning)).await.unwrap()
}

async fn pin<H: ArticleStoreHarness>(site: &Site<H>, article: ArticleId) -> Article {
    match set(site, article, Pinning::Pin { until: None }).await {
        PinOutcome::Done(article) => article,
        other => panic!("{other:?}"),
    }
}

async fn on_top<H: ArticleStoreHarness>(site: &Site<H>) -> Vec<ArticleId> {
    let pins = site.store.pins(site.board).await.unwrap();
    pinned(&pins, site.harness.clock().now())
}

pub(super) async fn what_is_pinned_last_comes_first_and_each_pin_is_told_once<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let (first, second) = (site.create().await, site.create().await);
    assert_eq!(site.store.pins(site.board).await.unwrap(), []);
    let done = pin(&site, second.article_id).await;
    assert_eq!(done, Article { version: 2, ..second.clone() }, "the text and its moment stay as they were");
    assert_eq!(site.store.find(second.article_id).await.unwrap(), Some(done.clone()));
    pin(&site, first.article_id).await;
    assert_eq!(on_top(&site).await, [first.article_id, second.article_id]);
    assert_eq!(pin(&site, second.article_id).await.version, 3, "pinned again, it moves up");
    assert_eq!(on_top(&site).await, [second.article_id, first.article_id]);

    let events = site.events().await;
    let Event::ArticleEdited(state) = &events[2].event else { panic!("{:?}", events[2].event) };
    assert_eq!((events[2].version, &state.title, state.modified_at), (2, &second.title, second.modified_at));
    assert_eq!(state.board_count.article_count, 2);
    assert_eq!(set(&site, first.article_id, Pinning::Unpin).await, PinOutcome::Done(Article { version: 3, ..first }));
    assert_eq!(on_top(&site).await, [second.article_id]);
    let (told, acts) = (site.events().await.len(), site.harness.acts());
    let kinds: Vec<_> =
        acts.acts(None, None, page_size(10)).await.unwrap().items.iter().rev().map(|act| act.kind).collect();
    let (set_kind, taken) = (ActKind::ArticlePinned, ActKind::ArticleUnpinned);
    assert_eq!(kinds, [set_kind, set_kind, set_kind, taken]);
    assert!(matches!(set(&site, state.article_id, Pinning::Unpin).await, PinOutcome::Done(_)));
    let nothing = set(&site, state.article_id, Pinning::Unpin).await;
    assert!(matches!(nothing, PinOutcome::Done(article) if article.version == 4), "taken away twice is once");
    assert_eq!(site.events().await.len(), told + 1);
    site.assert_sound().await;
}

pub(super) async fn a_board_has_room_for_a_few_pins_and_those_that_are_over_make_room<H: ArticleStoreHarness>(
    harness: H,
) {
    let site = Site::open(harness).await;
    let until = site.harness.clock().now().plus(Duration::from_secs(60));
    let passing = site.create().await.article_id;
    assert!(matches!(set(&site, passing, Pinning::Pin { until: Some(until) }).await, PinOutcome::Done(_)));
    for _ in 1..PINS_MAX {
        pin(&site, site.create().await.article_id).await;
    }
    let late = site.create().await;
    let events = site.events().await.len();
    assert_eq!(set(&site, late.article_id, Pinning::Pin { until: None }).await, PinOutcome::Full);
    assert_eq!(site.store.find(late.article_id).await.unwrap(), Some(late.clone()), "nothing was done");
    assert_eq!(site.events().await.len(), events);
    // One of them again is no further one.
    assert!(matches!(set(&site, passing, Pinning::Pin { until: Some(until) }).await, PinOutcome::Done(_)));
    let other = site.add_board(2, "other").await;
    let elsewhere = site.create_from(site.draft_at(site.next_id(), other)).await.article_id;
    pin(&site, elsewhere).await;

    site.harness.clock().set(until);
    assert_eq!(on_top(&site).await.len(), PINS_MAX - 1, "over at the very moment");
    pin(&site, late.article_id).await;
    let left = site.store.pins(site.board).await.unwrap();
    assert!(left.len() == PINS_MAX && left.iter().all(|pin| pin.article_id != passing), "{left:?}");
    site.assert_sound().await;
}

pub(super) async fn a_pin_goes_with_its_article<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let article = site.create().await.article_id;
    pin(&site, article).await;
    assert_eq!(site.delete_at(article, Some(2)).await, DeleteOutcome::Deleted);
    assert_eq!(site.store.pins(site.board).await.unwrap(), []);
    assert_eq!(set(&site, article, Pinning::Pin { until: None }).await, PinOutcome::Absent);
    assert_eq!(set(&site, article, Pinning::Unpin).await, PinOutcome::Absent);
    assert_eq!(site.store.pins(site.board).await.unwrap(), []);
    site.assert_sound().await;
}

pub(super) async fn an_archived_board_keeps_its_pins_as_they_are<H: ArticleStoreHarness>(harness: H) {
    let site = Site::open(harness).await;
    let (top, other) = (site.create().await.article_id, site.create().await.article_id);
    pin(&site, top).await;
    let archive = EditBoard {
        board_id: site.board,
        title: "t".into(),
        description: String::new(),
        position: 0,
        state: BoardState::Archived,
    };
    site.store.edit_board(archive).await.unwrap().unwrap();
    assert_eq!(set(&site, other, Pinning::Pin { until: None }).await, PinOutcome::Archived);
    assert_eq!(set(&site, top, Pinning::Unpin).await, PinOutcome::Archived);
    assert_eq!(on_top(&site).await, [top]);
}

pub(super) async fn racing_moderators_never_pin_more_than_fit<H: ArticleStoreHarness>(harness: H) {
    let site = Arc::new(Site::open(harness).await);
    let mut articles = Vec::new();
    for _ in 0..PINS_MAX + 6 {
        articles.push(site.create().await.article_id);
    }
    let mut racing = JoinSet::new();
    for article in articles {
        let site = Arc::clone(&site);
        racing.spawn(async move { set(&site, article, Pinning::Pin { until: None }).await });
    }
    let outcomes = racing.join_all().await;
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == PinOutcome::Full).count(), 6);
    assert_eq!(site.store.pins(site.board).await.unwrap().len(), PINS_MAX);
    site.assert_sound().await;
}
