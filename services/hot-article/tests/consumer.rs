//! What the consumer answers for when messages or the store are at fault. A store that fails on purpose cannot be had for
//! real; what a sound one does is shown by the conformance suite.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use jiff::tz::TimeZone;
use madang_board::{ArticleId, BoardId};
use madang_event::{ArticleDeleted, ArticleViews, BoardCount, Envelope, Event, Topic};
use madang_hot_article::{
    Day, Forgotten, HotApplied, HotChange, HotConsumer, HotItem, HotList, HotStore, Offsets, RankingSlice, Replacement,
    SiteDays,
};
use madang_kernel::{EventId, Id, ManualClock, ShardId, StoreError, Timestamp};
use madang_messaging::{Delivery, GroupId, Handled, Handler, HandlerError, Message, Position};

/// 2026-03-05T12:00:00Z.
const NOW_MS: i64 = 1_772_712_000_000;
const DAY_MS: i64 = 86_400_000;
const ID_EPOCH_MS: i64 = 1_704_067_200_000;

/// How the store behaves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mood {
    Sound,
    ApartFromTheLog,
    Away,
    /// Cannot take a change of the article with this number.
    BrokenBy(i64),
}

struct MoodyStore {
    mood: Mood,
    applied: Mutex<Vec<(Vec<HotChange>, Offsets)>>,
}

#[async_trait]
impl HotStore for MoodyStore {
    async fn apply(&self, changes: Vec<HotChange>, done: Offsets) -> Result<HotApplied, StoreError> {
        match self.mood {
            Mood::Away => return Err(StoreError::unavailable("store", "away")),
            Mood::BrokenBy(number) if changes.iter().any(|change| change.article_id == article(number, 0)) => {
                return Err(StoreError::broken("store", "a defect"));
            }
            _ => {}
        }
        let changed = changes.len() as u64;
        self.applied.lock().unwrap().push((changes, done));
        Ok(HotApplied { changed, offsets_stored: self.mood != Mood::ApartFromTheLog })
    }

    async fn top(&self, _: Day, _: usize) -> Result<Vec<HotItem>, StoreError> {
        Ok(Vec::new())
    }
    async fn lists(&self, _: Vec<Day>) -> Result<Vec<HotList>, StoreError> {
        Ok(Vec::new())
    }
    async fn finalise(&self, _: Day) -> Result<bool, StoreError> {
        Ok(false)
    }
    async fn is_final(&self, _: Day) -> Result<bool, StoreError> {
        Ok(false)
    }
    async fn replace(&self, _: Day, _: Vec<Replacement>) -> Result<Vec<ArticleId>, StoreError> {
        Ok(Vec::new())
    }
    async fn forget_before(&self, _: Day, _: usize) -> Result<Forgotten, StoreError> {
        Ok(Forgotten { removed: 0, done: true })
    }
    async fn rebuild_ranking(&self, _: Option<(Day, ArticleId)>, _: usize) -> Result<RankingSlice, StoreError> {
        Ok(RankingSlice { looked_at: 0, corrected: 0, next: None })
    }
}

fn consumer(mood: Mood) -> (HotConsumer, Arc<MoodyStore>) {
    let store = Arc::new(MoodyStore { mood, applied: Mutex::default() });
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(NOW_MS)));
    let days = SiteDays::new(TimeZone::UTC);
    (HotConsumer::new(store.clone(), clock, days, GroupId::new("hot-article")), store)
}

/// Article `number`, created so many days ago.
fn article(number: i64, days_ago: i64) -> ArticleId {
    ArticleId::from_raw((NOW_MS - days_ago * DAY_MS - ID_EPOCH_MS) << 22 | number)
}

fn delivery(offset: i64, topic: Topic, payload: impl Into<Bytes>) -> Delivery {
    let topic = topic.name().to_owned();
    let message = Message {
        event_id: EventId::from_raw(offset),
        topic: topic.clone(),
        key: "key".to_owned(),
        shard: ShardId::HOME,
        occurred_at: Timestamp::from_millis(NOW_MS),
        headers: Vec::new(),
        payload: payload.into(),
    };
    Delivery { position: Position { topic, partition: 0, offset }, message }
}

fn event(key: ArticleId, event: Event) -> Bytes {
    let (event_id, occurred_at) = (EventId::from_raw(1), Timestamp::from_millis(NOW_MS));
    Envelope { event_id, occurred_at, key, version: 1, event }.encode()
}

/// A view of article `offset`.
fn viewed(offset: i64) -> Delivery {
    let key = article(offset, 0);
    delivery(offset, Topic::View, event(key, Event::ArticleViewed(ArticleViews { article_id: key, view_count: 1 })))
}

fn deleted(offset: i64, key: ArticleId) -> Delivery {
    let board_count = BoardCount { article_count: 0, version: 1 };
    let gone = ArticleDeleted { article_id: key, board_id: BoardId::from_raw(1), board_count, restorable: false };
    delivery(offset, Topic::Article, event(key, Event::ArticleDeleted(gone)))
}

fn offsets(done: &Offsets) -> Vec<(&str, i64)> {
    done.positions.iter().map(|position| (position.topic.as_str(), position.offset)).collect()
}

#[tokio::test]
async fn a_batch_is_one_transaction_with_the_last_offset_of_each_topic() {
    let (consumer, store) = consumer(Mood::Sound);
    let batch = [viewed(1), deleted(2, article(9, 0)), viewed(3), viewed(4)];
    assert_eq!(consumer.handle(&batch).await, vec![Ok(Handled::DoneWithOffset); 4]);
    let applied = store.applied.lock().unwrap();
    let [(changes, done)] = &applied[..] else { panic!("one transaction") };
    assert_eq!(changes.len(), 4);
    assert_eq!(offsets(done), [("madang.article.v1", 2), ("madang.view.v1", 4)]);
}

#[tokio::test]
async fn a_store_apart_from_the_log_leaves_the_offset_to_others() {
    let (consumer, _) = consumer(Mood::ApartFromTheLog);
    assert_eq!(consumer.handle(&[viewed(1), viewed(2)]).await, vec![Ok(Handled::Done); 2]);
}

#[tokio::test]
async fn answers_end_with_the_first_unreadable_message() {
    let (consumer, store) = consumer(Mood::Sound);
    let batch = [viewed(1), viewed(2), delivery(3, Topic::View, "{"), viewed(4)];
    let answers = consumer.handle(&batch).await;
    assert_eq!(answers[..2], vec![Ok(Handled::DoneWithOffset); 2]);
    assert!(matches!(answers[2..], [Err(HandlerError::Undecodable(_))]), "{answers:?}");
    assert_eq!(offsets(&store.applied.lock().unwrap()[0].1), [("madang.view.v1", 2)], "no offset passes it");
    let answers = consumer.handle(&batch[2..]).await;
    assert!(matches!(answers[..], [Err(HandlerError::Undecodable(_))]), "{answers:?}");
    assert_eq!(consumer.handle(&batch[3..]).await, [Ok(Handled::DoneWithOffset)]);
}

#[tokio::test]
async fn a_store_that_is_away_blames_no_message() {
    let (consumer, _) = consumer(Mood::Away);
    let answers = consumer.handle(&[viewed(1), viewed(2), delivery(3, Topic::View, "{")]).await;
    assert!(matches!(answers[..], [Err(HandlerError::Outage(_))]), "{answers:?}");
}

#[tokio::test]
async fn a_message_that_breaks_the_store_fails_alone() {
    let (consumer, store) = consumer(Mood::BrokenBy(7));
    let batch: Vec<_> = (1..=10).map(viewed).collect();
    let (mut next, mut calls, mut failed) = (0, 0, Vec::new());
    while next < batch.len() {
        let answers = consumer.handle(&batch[next..]).await;
        calls += 1;
        for answer in answers {
            if let Err(error) = answer {
                assert!(matches!(error, HandlerError::Failed(_)), "{error:?}");
                failed.push(batch[next].position.offset);
            }
            next += 1;
        }
    }
    assert_eq!(failed, [7]);
    assert!(calls < batch.len(), "it is not looked for one by one");
    let applied = store.applied.lock().unwrap();
    assert_eq!(applied.iter().map(|(changes, _)| changes.len()).sum::<usize>(), 9);
}

#[tokio::test]
async fn texts_are_passed_unread() {
    let (consumer, store) = consumer(Mood::Sound);
    let text = r#"{"event_id":"1","type":"article.edited","key":"2","version":3,"occurred_at":"","data":{"title":?}}"#;
    assert_eq!(consumer.handle(&[delivery(5, Topic::Article, text)]).await, [Ok(Handled::DoneWithOffset)]);
    let applied = store.applied.lock().unwrap();
    assert_eq!((applied[0].0.len(), offsets(&applied[0].1)), (0, vec![("madang.article.v1", 5)]));
}

#[tokio::test]
async fn a_deletion_is_written_for_as_long_as_its_day_is_kept() {
    let (consumer, store) = consumer(Mood::Sound);
    consumer.handle(&[deleted(1, article(1, 7)), deleted(2, article(2, 8)), deleted(3, article(3, 400))]).await;
    let applied = store.applied.lock().unwrap();
    let written: Vec<_> = applied[0].0.iter().map(|change| change.article_id).collect();
    assert_eq!(written, [article(1, 7)]);
}
