//! A store and a look-up in memory, as small as the use cases need, that can be away.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use madang_board::{ArticleFacts, ArticleId, ArticleLookup, BoardId, CommentMode, MemberId};
use madang_event::{Envelope, Writer};
use madang_kernel::{EventId, Id, PageSize, Scroll, StoreError, Timestamp};
use madang_like::{
    CleanedUp, Like, LikeAnswer, LikeCount, LikeOutcome, LikeState, LikeStore, Liker, Replay, Unlike, events,
};

#[derive(Default)]
pub(crate) struct MemoryLikes {
    rows: Mutex<Rows>,
    pub(crate) away: AtomicBool,
    pub(crate) slices: AtomicUsize,
}

#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) likes: BTreeMap<(ArticleId, MemberId), Liker>,
    pub(crate) counts: BTreeMap<ArticleId, LikeCount>,
    pub(crate) gone: BTreeSet<ArticleId>,
    pub(crate) events: Vec<Envelope>,
}

impl MemoryLikes {
    pub(crate) fn rows(&self) -> Result<MutexGuard<'_, Rows>, StoreError> {
        if self.away.load(Ordering::Relaxed) {
            return Err(StoreError::unavailable("memory", "told to be away"));
        }
        Ok(self.rows.lock().unwrap())
    }

    fn change(
        &self,
        article: ArticleId,
        member: &Writer,
        since: Option<Timestamp>,
        event_id: EventId,
    ) -> Result<LikeOutcome, StoreError> {
        let mut rows = self.rows()?;
        if rows.gone.contains(&article) {
            return Ok(LikeOutcome::Gone);
        }
        let key = (article, member.member_id);
        let before = rows.counts.get(&article).copied().unwrap_or_default();
        let mut replay = Replay::new(before, rows.likes.contains_key(&key).then_some(member.member_id));
        let (state, changed) = replay.apply(member.member_id, since.is_some());
        let replayed = replay.finish();
        let committed = replayed.count;
        if changed {
            match since {
                Some(created_at) => rows.likes.insert(key, Liker { member: member.clone(), created_at }),
                None => rows.likes.remove(&key),
            };
            rows.counts.insert(article, committed);
            rows.events.push(events::changed(article, replayed, event_id, Timestamp::from_millis(0)));
        }
        Ok(LikeOutcome::Done(LikeAnswer { state, changed, committed }))
    }
}

#[async_trait]
impl LikeStore for MemoryLikes {
    async fn like(&self, like: Like) -> Result<LikeOutcome, StoreError> {
        self.change(like.article_id, &like.member, Some(like.created_at), like.event_id)
    }

    async fn unlike(&self, unlike: Unlike) -> Result<LikeOutcome, StoreError> {
        let member = Writer { member_id: unlike.member_id, name: String::new() };
        self.change(unlike.article_id, &member, None, unlike.event_id)
    }

    async fn state(&self, article: ArticleId, member: Option<MemberId>) -> Result<Option<LikeState>, StoreError> {
        let rows = self.rows()?;
        let liked = member.is_some_and(|member| rows.likes.contains_key(&(article, member)));
        let like_count = rows.counts.get(&article).copied().unwrap_or_default().like_count;
        Ok((!rows.gone.contains(&article)).then_some(LikeState { liked, like_count }))
    }

    async fn likers(
        &self,
        article: ArticleId,
        after: Option<MemberId>,
        size: PageSize,
    ) -> Result<Option<Scroll<Liker, MemberId>>, StoreError> {
        let rows = self.rows()?;
        let first = (article, MemberId::from_raw(after.map_or(0, |after| after.raw() + 1)));
        let likers = rows.likes.range(first..=(article, MemberId::from_raw(i64::MAX)));
        let items = likers.take(size.get() as usize + 1).map(|(_, liker)| liker.clone()).collect();
        let scroll = Scroll::from_surplus(items, size, |liker: &Liker| liker.member.member_id);
        Ok((!rows.gone.contains(&article)).then_some(scroll))
    }

    async fn counts(&self, articles: Vec<ArticleId>) -> Result<Vec<Option<LikeCount>>, StoreError> {
        let rows = self.rows()?;
        let count = |id: &ArticleId| rows.counts.get(id).copied().unwrap_or_default();
        Ok(articles.iter().map(|id| (!rows.gone.contains(id)).then(|| count(id))).collect())
    }

    async fn mark_article_gone(&self, article: ArticleId) -> Result<bool, StoreError> {
        Ok(self.rows()?.gone.insert(article))
    }

    async fn clean_up(&self, article: ArticleId, slice: usize) -> Result<CleanedUp, StoreError> {
        self.slices.fetch_add(1, Ordering::Relaxed);
        let mut rows = self.rows()?;
        let keys: Vec<_> = rows.likes.keys().filter(|(id, _)| *id == article).take(slice).copied().collect();
        for key in &keys {
            rows.likes.remove(key);
        }
        let done = keys.len() < slice;
        if done {
            rows.counts.remove(&article);
        }
        Ok(CleanedUp { removed: keys.len() as u64, done })
    }

    async fn counted_articles(&self, after: Option<ArticleId>, size: PageSize) -> Result<Vec<ArticleId>, StoreError> {
        let rows = self.rows()?;
        let later = rows.counts.keys().filter(|id| after.is_none_or(|after| **id > after));
        Ok(later.take(size.get() as usize).copied().collect())
    }

    async fn gone_articles(&self, after: Option<ArticleId>, size: PageSize) -> Result<Vec<ArticleId>, StoreError> {
        let rows = self.rows()?;
        let later = rows.gone.iter().filter(|id| after.is_none_or(|after| **id > after));
        Ok(later.take(size.get() as usize).copied().collect())
    }

    async fn restore_article(&self, article: ArticleId, _event_id: EventId) -> Result<(), StoreError> {
        self.rows()?.gone.remove(&article);
        Ok(())
    }
}

/// Knows the articles it is told of.
#[derive(Default)]
pub(crate) struct KnownArticles(pub(crate) Mutex<BTreeSet<ArticleId>>);

#[async_trait]
impl ArticleLookup for KnownArticles {
    async fn facts(&self, article: ArticleId) -> Result<Option<ArticleFacts>, StoreError> {
        let facts = ArticleFacts { board_id: BoardId::from_raw(1), comment_mode: CommentMode::Tree, archived: false };
        Ok(self.0.lock().unwrap().contains(&article).then_some(facts))
    }
}
