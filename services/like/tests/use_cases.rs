//! The rules of the use cases: what is refused and how, what the store is asked, and what the end of an article does.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod memory;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use madang_board::{Actor, ArticleId, BoardId, MemberId, Role};
use madang_event::{ArticleDeleted, ArticleDeletions, BoardCount, Envelope, Event, Topic};
use madang_kernel::{
    EventId, ID_EPOCH_MS, Id, IdGenerator, ManualClock, NodeId, NodeLease, PageSize, ShardId, StoreError, Timestamp,
};
use madang_like::{
    CLEAN_UP_SLICE_ROWS, COUNTS_MAX, LikeCount, LikeError, LikeParts, LikeService, LikeState, LikeStore,
    article_deletions,
};
use madang_messaging::{Delivery, Handled, Handler, HandlerError, Message, Position};
use memory::{KnownArticles, MemoryLikes};

const ARTICLE: i64 = 77;

struct Site {
    service: LikeService,
    consumer: ArticleDeletions<LikeParts>,
    store: Arc<MemoryLikes>,
    articles: Arc<KnownArticles>,
}

/// A site with articles 77 and 78.
fn site() -> Site {
    let now_ms = ID_EPOCH_MS + 1_000_000;
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(now_ms)));
    let lease = NodeLease { node: NodeId(1), from_ms: now_ms, until_ms: now_ms + 1_000_000 };
    let ids = Arc::new(IdGenerator::new(clock.clone(), lease));
    let (store, articles) = (Arc::new(MemoryLikes::default()), Arc::new(KnownArticles::default()));
    articles.0.lock().unwrap().extend([article(), ArticleId::from_raw(ARTICLE + 1)]);
    let service = LikeService::new(store.clone(), articles.clone(), ids.clone(), clock);
    let consumer = article_deletions(store.clone(), articles.clone(), ids);
    Site { service, consumer, store, articles }
}

fn article() -> ArticleId {
    ArticleId::from_raw(ARTICLE)
}

fn actor(member: i64) -> Actor {
    Actor::new(MemberId::from_raw(member), format!("member_{member}"), Role::Member)
}

fn delivery(payload: Bytes) -> Delivery {
    let message = Message {
        event_id: EventId::from_raw(1),
        topic: Topic::Article.name().into(),
        key: ARTICLE.to_string(),
        shard: ShardId::HOME,
        occurred_at: Timestamp::from_millis(0),
        headers: vec![],
        payload,
    };
    Delivery { position: Position { topic: message.topic.clone(), partition: 0, offset: 1 }, message }
}

fn deleted(article_id: ArticleId) -> Delivery {
    let board_count = BoardCount { article_count: 0, version: 2 };
    let gone = ArticleDeleted { article_id, board_id: BoardId::from_raw(1), board_count, restorable: false };
    let event = Event::ArticleDeleted(gone);
    let occurred_at = Timestamp::from_millis(0);
    delivery(Envelope { event_id: EventId::from_raw(1), occurred_at, key: article_id, version: 2, event }.encode())
}

#[tokio::test]
async fn a_like_counts_once_however_often_it_is_given() {
    let site = site();
    for round in 0..3 {
        let answer = site.service.like(&actor(1), article()).await.unwrap();
        assert_eq!(answer.state, LikeState { liked: true, like_count: 1 });
        assert_eq!((answer.changed, answer.committed.version), (round == 0, 1));
    }
    let answer = site.service.unlike(&actor(1), article()).await.unwrap();
    assert_eq!(answer.committed, LikeCount { like_count: 0, version: 2 });
    assert_eq!(site.store.rows().unwrap().events.len(), 2);
}

#[tokio::test]
async fn events_carry_the_shard_of_what_belongs_to_the_article() {
    let site = site();
    site.service.like(&actor(1), article()).await.unwrap();
    let rows = site.store.rows().unwrap();
    assert_eq!(rows.events[0].event_id.shard(), ShardId::of_parts(article()));
    assert_eq!((rows.events[0].key, rows.events[0].version), (article(), 1));
}

#[tokio::test]
async fn an_article_that_does_not_exist_is_not_found() {
    let site = site();
    let absent = ArticleId::from_raw(5);
    assert!(matches!(site.service.like(&actor(1), absent).await, Err(LikeError::NotFound)));
    assert!(matches!(site.service.unlike(&actor(1), absent).await, Err(LikeError::NotFound)));
    assert!(matches!(site.service.state(absent, None).await, Err(LikeError::NotFound)));
    assert!(matches!(site.service.likers(absent, None, PageSize::DEFAULT).await, Err(LikeError::NotFound)));
    assert!(site.store.rows().unwrap().likes.is_empty());
}

#[tokio::test]
async fn a_mark_outranks_a_look_up_that_still_knows_the_article() {
    let site = site();
    site.store.mark_article_gone(article()).await.unwrap();
    assert!(matches!(site.service.like(&actor(1), article()).await, Err(LikeError::NotFound)));
    assert!(matches!(site.service.unlike(&actor(1), article()).await, Err(LikeError::NotFound)));
    assert!(matches!(site.service.state(article(), None).await, Err(LikeError::NotFound)));
    assert!(matches!(site.service.likers(article(), None, PageSize::DEFAULT).await, Err(LikeError::NotFound)));
}

#[tokio::test]
async fn too_many_counts_at_once_are_refused() {
    let site = site();
    let articles = vec![article(); COUNTS_MAX + 1];
    assert!(matches!(site.service.counts(articles).await, Err(LikeError::Invalid(_))));
    assert_eq!(site.service.counts(vec![article(); COUNTS_MAX]).await.unwrap().len(), COUNTS_MAX);
}

#[tokio::test]
async fn a_store_that_is_away_is_said_to_be() {
    let site = site();
    site.store.away.store(true, Ordering::Relaxed);
    let refused = site.service.like(&actor(1), article()).await;
    assert!(matches!(refused, Err(LikeError::Store(StoreError::Unavailable { .. }))));
}

#[tokio::test]
async fn a_deleted_article_loses_its_likes_in_slices_and_another_keeps_them() {
    let site = site();
    let other = ArticleId::from_raw(ARTICLE + 1);
    for member in 1..=2 * CLEAN_UP_SLICE_ROWS as i64 + 1 {
        site.service.like(&actor(member), article()).await.unwrap();
    }
    site.service.like(&actor(1), other).await.unwrap();
    site.articles.0.lock().unwrap().remove(&article());
    // The second time is a redelivery.
    for _ in 0..2 {
        assert_eq!(site.consumer.handle(&[deleted(article())]).await, [Ok(Handled::Done)]);
        assert!(matches!(site.service.like(&actor(1), article()).await, Err(LikeError::NotFound)));
    }
    assert_eq!(site.store.slices.load(Ordering::Relaxed), 3 + 1);
    let rows = site.store.rows().unwrap();
    assert_eq!(rows.likes.keys().map(|(article, _)| *article).collect::<Vec<_>>(), [other]);
    assert_eq!(rows.counts.keys().copied().collect::<Vec<_>>(), [other]);
}

#[tokio::test]
async fn each_delivery_is_answered_for_itself() {
    let site = site();
    site.service.like(&actor(1), article()).await.unwrap();
    site.articles.0.lock().unwrap().remove(&article());
    let answers = site.consumer.handle(&[delivery(Bytes::from("{")), deleted(article())]).await;
    assert!(matches!(answers[..], [Err(HandlerError::Undecodable(_)), Ok(Handled::Done)]), "{answers:?}");
    assert!(site.store.rows().unwrap().likes.is_empty());
    site.store.away.store(true, Ordering::Relaxed);
    let answers = site.consumer.handle(&[deleted(article())]).await;
    assert!(matches!(answers[..], [Err(HandlerError::Outage(_))]), "{answers:?}");
}

#[tokio::test]
async fn an_event_that_says_of_an_existing_article_that_it_is_deleted_removes_nothing() {
    let site = site();
    let gone = ArticleId::from_raw(ARTICLE + 1);
    for liked in [article(), gone] {
        site.service.like(&actor(1), liked).await.unwrap();
    }
    site.articles.0.lock().unwrap().remove(&gone);
    // The deletion that is none comes with one that is.
    let answers = site.consumer.handle(&[deleted(article()), deleted(gone)]).await;
    assert_eq!(answers, [Ok(Handled::Done), Ok(Handled::Done)]);
    assert_eq!(site.store.rows().unwrap().gone.iter().copied().collect::<Vec<_>>(), [gone]);
    assert_eq!(site.service.like(&actor(2), article()).await.unwrap().state.like_count, 2);
}

#[tokio::test]
async fn marks_on_articles_that_exist_are_found_and_taken_away() {
    let site = site();
    let gone = ArticleId::from_raw(ARTICLE + 1);
    site.service.like(&actor(1), article()).await.unwrap();
    for marked in [article(), gone] {
        site.store.mark_article_gone(marked).await.unwrap();
    }
    site.articles.0.lock().unwrap().remove(&gone);
    assert_eq!(site.consumer.wrongly_marked(10).await.unwrap(), [article()]);
    assert_eq!(site.consumer.restore_wrongly_marked().await.unwrap(), 1);
    assert_eq!(site.consumer.wrongly_marked(10).await.unwrap(), []);
    assert_eq!(site.service.state(article(), None).await.unwrap().like_count, 1);
    assert!(site.store.rows().unwrap().gone.contains(&gone));
}

#[tokio::test]
async fn a_rebuild_forgets_articles_whose_deletion_was_missed() {
    let site = site();
    let kept = ArticleId::from_raw(ARTICLE + 1);
    site.service.like(&actor(1), article()).await.unwrap();
    site.service.like(&actor(1), kept).await.unwrap();
    site.articles.0.lock().unwrap().remove(&article());
    site.consumer.rebuild().await.unwrap();
    let rows = site.store.rows().unwrap();
    assert_eq!(rows.counts.keys().copied().collect::<Vec<_>>(), [kept]);
    assert!(rows.gone.contains(&article()) && !rows.gone.contains(&kept));
}
