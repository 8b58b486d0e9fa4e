//! A small site to test on: gives and takes back likes with ids in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use madang_board::{ArticleId, MemberId};
use madang_event::{ArticleLikes, Envelope, Event, Topic, Writer};
use madang_kernel::{EventId, Id, PageSize, ShardId, StoreError, Timestamp};
use madang_like::{Like, LikeAnswer, LikeOutcome, LikeState, LikeStore, Unlike};

use super::LikeStoreHarness;

/// The article that most cases are about.
pub(super) const ARTICLE: i64 = 1 << 40;
/// Times that a caller who is told to ask again does so.
const ASK_MAX: usize = 1_000;

pub(super) struct Site<H> {
    pub(super) harness: H,
    pub(super) store: Arc<dyn LikeStore>,
    next: AtomicI64,
}

impl<H: LikeStoreHarness> Site<H> {
    pub(super) fn open(harness: H) -> Self {
        let store = harness.store();
        Self { harness, store, next: AtomicI64::new(1) }
    }

    /// Gives (or takes back) a like; asks again for as long as the store says that nothing was done.
    pub(super) async fn change(&self, article: ArticleId, member: i64, liked: bool) -> LikeOutcome {
        for _ in 0..ASK_MAX {
            let event_id = EventId::from_raw(self.next.fetch_add(1, Ordering::Relaxed));
            let member = writer(member);
            let outcome = if liked {
                let created_at = Timestamp::from_millis(1_750_000_000_000);
                self.store.like(Like { article_id: article, member, created_at, event_id }).await
            } else {
                self.store.unlike(Unlike { article_id: article, member_id: member.member_id, event_id }).await
            };
            match outcome {
                Err(StoreError::Unavailable { .. }) => tokio::task::yield_now().await,
                outcome => return outcome.unwrap(),
            }
        }
        panic!("refused {ASK_MAX} times")
    }

    pub(super) async fn answer(&self, article: ArticleId, member: i64, liked: bool) -> LikeAnswer {
        match self.change(article, member, liked).await {
            LikeOutcome::Done(answer) => answer,
            LikeOutcome::Gone => panic!("the article is not gone"),
        }
    }

    pub(super) async fn state(&self, article: ArticleId, member: i64) -> LikeState {
        self.store.state(article, Some(MemberId::from_raw(member))).await.unwrap().unwrap()
    }

    /// The members who like an article, collected page by page.
    pub(super) async fn members(&self, article: ArticleId, size: i64) -> Vec<i64> {
        let (mut members, mut after) = (Vec::new(), None);
        loop {
            let step = self.store.likers(article, after, page_size(size)).await.unwrap().unwrap();
            members.extend(step.items.iter().map(|liker| liker.member.member_id.raw()));
            after = step.next;
            if after.is_none() {
                return members;
            }
        }
    }

    /// The committed events, decoded, each on its topic and shard.
    pub(super) async fn events(&self) -> Vec<(Envelope, ArticleLikes)> {
        let messages = self.harness.committed().await;
        let decoded = messages.iter().map(|message| {
            let envelope = Envelope::decode(&message.payload).unwrap();
            let Event::ArticleLikesChanged(likes) = envelope.event.clone() else { panic!("{envelope:?}") };
            assert_eq!(message.topic, Topic::Like.name());
            assert_eq!(message.key, likes.article_id.to_string());
            assert_eq!(message.shard, ShardId::of_parts(likes.article_id));
            assert_eq!((envelope.key, envelope.event_id), (likes.article_id, message.event_id));
            (envelope, likes)
        });
        decoded.collect()
    }

    pub(super) async fn assert_sound(&self) {
        assert_eq!(self.harness.differences().await, Vec::<String>::new());
    }
}

pub(super) fn article() -> ArticleId {
    ArticleId::from_raw(ARTICLE)
}

pub(super) fn writer(member: i64) -> Writer {
    Writer { member_id: MemberId::from_raw(member), name: format!("\"마당\" {member}") }
}

pub(super) fn page_size(size: i64) -> PageSize {
    PageSize::new("page_size", size).unwrap()
}
