//! Owners that answer from the truth, can be slow or fail, and count who asks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use madang_article_read::{
    ActiveArticle, ArticleHead, ArticleOwner, ArticlePlace, ArticleText, CommentOwner, Count, Discussion, LikeOwner,
    NewestArticles, ViewOwner,
};
use madang_board::{ArticleId, BoardId, Pin};
use madang_kernel::{Page, PageNumber, PageSize, Scroll, StoreError, Timestamp, known_count};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::Truth;
use super::truth::Owned;

/// Calls that pass the gate at once while it is open.
const GATE: usize = 1_000;

pub(crate) struct World {
    truth: Mutex<Truth>,
    /// Whoever asks passes here twice, before and after looking at the truth.
    gate: Semaphore,
    /// How often a call steps aside on its way, each time another number: other tasks go on meanwhile.
    pub(crate) slow: AtomicUsize,
    /// The next calls that fail: this many, as a defect when the number is odd.
    pub(crate) failing: AtomicUsize,
    pub(crate) calls: Calls,
}

#[derive(Default)]
pub(crate) struct Calls {
    pub(crate) articles: AtomicUsize,
    pub(crate) comments: AtomicUsize,
    pub(crate) likes: AtomicUsize,
    pub(crate) views: AtomicUsize,
    pub(crate) newest: AtomicUsize,
    pub(crate) older: AtomicUsize,
    /// What rankings are built of.
    pub(crate) active: AtomicUsize,
}

impl Calls {
    /// Articles, comments, likes, views, newest, older.
    pub(crate) fn all(&self) -> [usize; 6] {
        [&self.articles, &self.comments, &self.likes, &self.views, &self.newest, &self.older]
            .map(|calls| calls.load(Ordering::SeqCst))
    }
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            truth: Mutex::default(),
            gate: Semaphore::new(GATE),
            slow: AtomicUsize::new(0),
            failing: AtomicUsize::new(0),
            calls: Calls::default(),
        }
    }

    pub(crate) fn truth(&self) -> MutexGuard<'_, Truth> {
        self.truth.lock().unwrap()
    }

    /// Closes the gate until the permit is dropped: whoever asks waits.
    pub(crate) async fn closed(&self) -> SemaphorePermit<'_> {
        self.gate.acquire_many(GATE as u32).await.unwrap()
    }

    /// Takes an answer from the truth at some moment between the call and the reply.
    async fn answer<T>(&self, calls: &AtomicUsize, answer: impl FnOnce(&Truth) -> T) -> Result<T, StoreError> {
        calls.fetch_add(1, Ordering::SeqCst);
        self.dawdle().await;
        let _passed = self.gate.acquire().await.unwrap();
        let failing = self.failing.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        match failing {
            Ok(left) if left % 2 == 1 => return Err(StoreError::broken("world", "a defect")),
            Ok(_) => return Err(StoreError::unavailable("world", "away")),
            Err(_) => {}
        }
        let answer = answer(&self.truth());
        self.dawdle().await;
        Ok(answer)
    }

    async fn dawdle(&self) {
        let steps = self.slow.load(Ordering::SeqCst);
        if steps > 0 {
            self.slow.store(steps * 7 % 13 + 1, Ordering::SeqCst);
        }
        for _ in 0..steps {
            tokio::task::yield_now().await;
        }
    }
}

#[async_trait]
impl ArticleOwner for World {
    async fn articles(&self, articles: &[ArticleId]) -> Result<Vec<Option<ArticleText>>, StoreError> {
        let text = |truth: &Truth, id| truth.articles.get(id).map(|owned| owned.text.clone());
        self.answer(&self.calls.articles, |truth| articles.iter().map(|id| text(truth, id)).collect()).await
    }

    async fn newest(&self, board: BoardId, limit: usize) -> Result<Option<NewestArticles>, StoreError> {
        let newest = |truth: &Truth| {
            let count = *truth.boards.get(&board)?;
            let ids: Vec<_> = truth.newest_first(board).map(|owned| owned.text.head.article_id).take(limit).collect();
            Some(NewestArticles { is_all: ids.len() as u64 == count.article_count, ids, count })
        };
        self.answer(&self.calls.newest, newest).await
    }

    async fn site_newest(&self, before: Option<ArticleId>, limit: usize) -> Result<Vec<ArticlePlace>, StoreError> {
        let newest = |truth: &Truth| {
            let older = truth.articles.values().rev().map(place);
            older.filter(|place| before.is_none_or(|before| place.article_id < before)).take(limit).collect()
        };
        self.answer(&self.calls.active, newest).await
    }

    async fn places(&self, articles: &[ArticleId]) -> Result<Vec<Option<ArticlePlace>>, StoreError> {
        let places = |truth: &Truth| articles.iter().map(|id| truth.articles.get(id).map(place)).collect();
        self.answer(&self.calls.active, places).await
    }

    async fn pins(&self, board: BoardId) -> Result<Arc<[Pin]>, StoreError> {
        // From memory, as an owner does: neither slow nor counted.
        Ok(self.truth().pins.iter().filter(|pin| pin.board_id == board).copied().collect())
    }

    async fn page(
        &self,
        board: BoardId,
        page: PageNumber,
        size: PageSize,
    ) -> Result<Option<Page<ArticleHead>>, StoreError> {
        let items = |truth: &Truth| {
            let count = truth.boards.get(&board)?.article_count;
            let heads = truth.newest_first(board).map(|owned| owned.text.head.clone());
            let items = heads.skip(page.offset(size) as usize).take(size.get() as usize).collect();
            Some(Page { items, known_count: known_count(count, page, size) })
        };
        self.answer(&self.calls.older, items).await
    }

    async fn scroll(
        &self,
        board: BoardId,
        before: Option<ArticleId>,
        size: PageSize,
    ) -> Result<Option<Scroll<ArticleHead, ArticleId>>, StoreError> {
        let items = |truth: &Truth| {
            truth.boards.get(&board)?;
            let heads = truth.newest_first(board).map(|owned| owned.text.head.clone());
            let below = heads.filter(|head| before.is_none_or(|before| head.article_id < before));
            let items = below.take(size.get() as usize + 1).collect();
            Some(Scroll::from_surplus(items, size, |head: &ArticleHead| head.article_id))
        };
        self.answer(&self.calls.older, items).await
    }
}

#[async_trait]
impl CommentOwner for World {
    async fn comment_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<Discussion>>, StoreError> {
        let count = |truth: &Truth, id| match truth.gone.contains(id) {
            true => None,
            false => Some(truth.articles.get(id).map(|owned| owned.comments.clone()).unwrap_or_default()),
        };
        self.answer(&self.calls.comments, |truth| articles.iter().map(|id| count(truth, id)).collect()).await
    }

    async fn active(
        &self,
        board: Option<BoardId>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<ActiveArticle>, StoreError> {
        let active = |truth: &Truth| {
            let there = truth.articles.values().filter(|owned| board.is_none_or(|id| owned.text.head.board_id == id));
            let active = there.filter_map(|owned| {
                let last_at = owned.comments.last.as_ref()?.created_at;
                let (article_id, version) = (owned.text.head.article_id, owned.comments.version);
                (last_at <= until).then_some(ActiveArticle { article_id, last_at, version })
            });
            let mut active: Vec<_> = active.collect();
            active.sort_by_key(|found| std::cmp::Reverse((found.last_at, found.article_id)));
            active.truncate(limit);
            active
        };
        self.answer(&self.calls.active, active).await
    }
}

#[async_trait]
impl LikeOwner for World {
    async fn like_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<Count>>, StoreError> {
        let count = |truth: &Truth, id| match truth.gone.contains(id) {
            true => None,
            false => Some(truth.articles.get(id).map(|owned| owned.likes).unwrap_or_default()),
        };
        self.answer(&self.calls.likes, |truth| articles.iter().map(|id| count(truth, id)).collect()).await
    }
}

#[async_trait]
impl ViewOwner for World {
    async fn view_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<u64>>, StoreError> {
        let count = |truth: &Truth, id| match truth.gone.contains(id) {
            true => None,
            false => Some(truth.articles.get(id).map_or(0, |owned| owned.views)),
        };
        self.answer(&self.calls.views, |truth| articles.iter().map(|id| count(truth, id)).collect()).await
    }
}

fn place(owned: &Owned) -> ArticlePlace {
    let head = &owned.text.head;
    ArticlePlace { article_id: head.article_id, board_id: head.board_id, created_at: head.created_at }
}
