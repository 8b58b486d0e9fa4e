//! The owners of a small site, in memory: what is asked of them is counted, and they can be told to fail or to wait.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use madang_article_read::{
    ActiveArticle, ArticleHead, ArticleOwner, ArticlePlace, ArticleText, CommentOwner, Count, Discussion, LikeOwner,
    NewestArticles, ViewOwner,
};
use madang_board::{
    Act, ActId, ActKind, Actor, ArticleFacts, ArticleId, ArticleLookup, BoardId, BoardLookup, CommentId, CommentLookup,
    CommentMode, MemberId, Pin, Role,
};
use madang_event::{BoardCount, Writer};
use madang_http::{
    InternalArticles, InternalBoards, InternalComments, InternalParts, InternalSecret, OutboxOf, internal_router,
};
use madang_kernel::{Id, Page, PageNumber, PageSize, Scroll, StoreError, Timestamp};
use madang_member::{ActSource, Revocation, RevocationCursor, RevocationSource};
use madang_messaging::{Outage, UnsentMessages};
use tokio::sync::Semaphore;

/// The only board.
pub(crate) fn board() -> BoardId {
    BoardId::from_raw(77)
}

/// An id; those up to the size of the site exist.
pub(crate) fn article(raw: i64) -> ArticleId {
    ArticleId::from_raw(raw)
}

/// A site of so many articles.
pub(crate) struct Site {
    articles: i64,
    pub(crate) content: String,
    pub(crate) revocations: Mutex<Vec<Revocation>>,
    /// Questions that reached an owner.
    pub(crate) asked: AtomicUsize,
    pub(crate) away: AtomicBool,
    pub(crate) broken: AtomicBool,
    /// Each question takes one of these; there are more than enough unless a test takes them away.
    pub(crate) answers: Semaphore,
}

impl Site {
    pub(crate) fn of(articles: i64) -> Arc<Self> {
        Self::with_content(articles, "text")
    }

    pub(crate) fn with_content(articles: i64, content: &str) -> Arc<Self> {
        Arc::new(Self {
            articles,
            content: content.to_owned(),
            revocations: Mutex::default(),
            asked: AtomicUsize::new(0),
            away: AtomicBool::new(false),
            broken: AtomicBool::new(false),
            answers: Semaphore::new(Semaphore::MAX_PERMITS),
        })
    }

    /// A router with every part.
    pub(crate) fn router(self: &Arc<Self>, secret: InternalSecret) -> Router {
        internal_router(InternalParts {
            secret,
            articles: Some(InternalArticles { lookup: self.clone(), owner: self.clone() }),
            comments: Some(self.clone()),
            likes: Some(self.clone()),
            views: Some(self.clone()),
            members: Some(self.clone()),
            moderated_articles: Some(InternalBoards { boards: self.clone(), acts: self.clone() }),
            moderated_comments: Some(InternalComments { comments: self.clone(), acts: self.clone() }),
            outboxes: vec![(OutboxOf::Like, self.clone())],
        })
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    /// Takes all answers away: questions wait until some are given back.
    pub(crate) fn hold_answers(&self) {
        self.answers.forget_permits(Semaphore::MAX_PERMITS);
    }

    async fn question(&self) -> Result<(), StoreError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.answers.acquire().await.unwrap().forget();
        if self.away.load(Ordering::SeqCst) {
            let retry_after = Duration::from_millis(1_234);
            return Err(StoreError::Unavailable { what: "shard 3", reason: "is away".to_owned(), retry_after });
        }
        match self.broken.load(Ordering::SeqCst) {
            true => Err(StoreError::broken("shard 3", "a row that makes no sense")),
            false => Ok(()),
        }
    }

    pub(crate) fn text(&self, article: ArticleId) -> Option<ArticleText> {
        let text =
            |head| ArticleText { head, content: self.content.clone(), content_html: "<p>\u{0}마당".to_owned() };
        self.head(article).map(text)
    }

    fn head(&self, article: ArticleId) -> Option<ArticleHead> {
        (article.raw() <= self.articles).then(|| ArticleHead {
            article_id: article,
            board_id: board(),
            title: format!("제목 {article} \"\\"),
            writer: Writer { member_id: MemberId::from_raw(i64::MAX), name: "Zoë".to_owned() },
            created_at: Timestamp::from_millis(article.raw()),
            modified_at: Timestamp::from_millis(article.raw() + 1),
            version: u64::MAX,
        })
    }

    /// Newest first, before `before`.
    fn heads(&self, before: i64, count: usize) -> Vec<ArticleHead> {
        (1..before).rev().take(count).filter_map(|raw| self.head(article(raw))).collect()
    }
}

#[async_trait]
impl ArticleLookup for Site {
    async fn facts(&self, article: ArticleId) -> Result<Option<ArticleFacts>, StoreError> {
        self.question().await?;
        let facts = ArticleFacts { board_id: board(), comment_mode: CommentMode::Tree, archived: false };
        Ok((article.raw() <= self.articles).then_some(facts))
    }
}

#[async_trait]
impl ArticleOwner for Site {
    async fn articles(&self, articles: &[ArticleId]) -> Result<Vec<Option<ArticleText>>, StoreError> {
        self.question().await?;
        Ok(articles.iter().map(|article| self.text(*article)).collect())
    }

    async fn newest(&self, asked: BoardId, limit: usize) -> Result<Option<NewestArticles>, StoreError> {
        self.question().await?;
        let ids: Vec<_> = self.heads(self.articles + 1, limit).iter().map(|head| head.article_id).collect();
        let count = BoardCount { article_count: self.articles as u64, version: u64::MAX };
        Ok((asked == board()).then_some(NewestArticles { is_all: ids.len() as i64 == self.articles, ids, count }))
    }

    async fn site_newest(&self, before: Option<ArticleId>, limit: usize) -> Result<Vec<ArticlePlace>, StoreError> {
        self.question().await?;
        let heads = self.heads(before.map_or(self.articles + 1, |before| before.raw()), limit);
        Ok(heads.iter().map(place).collect())
    }

    async fn places(&self, articles: &[ArticleId]) -> Result<Vec<Option<ArticlePlace>>, StoreError> {
        self.question().await?;
        Ok(articles.iter().map(|article| self.text(*article).map(|text| place(&text.head))).collect())
    }

    async fn pins(&self, asked: BoardId) -> Result<Arc<[Pin]>, StoreError> {
        self.question().await?;
        let pin = Pin {
            article_id: ArticleId::from_raw(1),
            board_id: board(),
            pinned_at: Timestamp::from_millis(7),
            until: None,
        };
        Ok(if asked == board() { Arc::new([pin]) } else { Arc::default() })
    }

    async fn page(
        &self,
        asked: BoardId,
        page: PageNumber,
        size: PageSize,
    ) -> Result<Option<Page<ArticleHead>>, StoreError> {
        self.question().await?;
        let before = self.articles + 1 - page.offset(size) as i64;
        let items = self.heads(before, size.get() as usize);
        Ok((asked == board()).then_some(Page { items, known_count: self.articles as u64 }))
    }

    async fn scroll(
        &self,
        asked: BoardId,
        before: Option<ArticleId>,
        size: PageSize,
    ) -> Result<Option<Scroll<ArticleHead, ArticleId>>, StoreError> {
        self.question().await?;
        let items = self.heads(before.map_or(self.articles + 1, |before| before.raw()), size.get() as usize + 1);
        Ok((asked == board()).then(|| Scroll::from_surplus(items, size, |head| head.article_id)))
    }
}

#[async_trait]
impl CommentOwner for Site {
    async fn comment_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<Discussion>>, StoreError> {
        self.question().await?;
        let locked = |count| Discussion { locked: true, ..Discussion::from(count) };
        Ok(articles.iter().map(|article| self.count(*article, 1).map(locked)).collect())
    }

    async fn active(
        &self,
        board: Option<BoardId>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<ActiveArticle>, StoreError> {
        self.question().await?;
        let version = board.map_or(1, |board| board.raw() as u64);
        let active = |raw| ActiveArticle { article_id: ArticleId::from_raw(raw), last_at: until, version };
        Ok((1..=self.articles).rev().take(limit).map(active).collect())
    }
}

#[async_trait]
impl LikeOwner for Site {
    async fn like_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<Count>>, StoreError> {
        self.question().await?;
        Ok(articles.iter().map(|article| self.count(*article, 2)).collect())
    }
}

#[async_trait]
impl ViewOwner for Site {
    async fn view_counts(&self, articles: &[ArticleId]) -> Result<Vec<Option<u64>>, StoreError> {
        self.question().await?;
        Ok(articles.iter().map(|article| self.count(*article, 3).map(|count| count.count)).collect())
    }
}

impl Site {
    /// Counts that tell the article and the kind.
    pub(crate) fn count(&self, article: ArticleId, kind: u64) -> Option<Count> {
        let known = article.raw() <= self.articles;
        known.then(|| Count { count: article.raw() as u64 * 10 + kind, version: u64::MAX - kind })
    }
}

#[async_trait]
impl RevocationSource for Site {
    async fn revocations_after(
        &self,
        after: RevocationCursor,
        limit: usize,
    ) -> Result<(Vec<Revocation>, RevocationCursor), StoreError> {
        self.question().await?;
        let revocations = self.revocations.lock().unwrap();
        let page: Vec<_> = revocations.iter().skip(after.0 as usize).take(limit).cloned().collect();
        let next = RevocationCursor(after.0 + page.len() as i64);
        Ok((page, next))
    }
}

/// An act on the only board.
pub(crate) fn act(raw: i64) -> Act {
    let moderator = Actor::new(MemberId::from_raw(i64::MAX), "관리자", Role::Admin);
    let at = Timestamp::from_millis(raw);
    let act = Act::of(&moderator, ActId::from_raw(raw), ActKind::CommentDeleted, i64::MAX, at);
    Act { board_id: Some(board()), detail: "\u{0}".into(), reason: "\"\\".into(), ..act }
}

#[async_trait]
impl ActSource for Site {
    async fn acts(
        &self,
        on: Option<BoardId>,
        before: Option<ActId>,
        size: PageSize,
    ) -> Result<Scroll<Act, ActId>, StoreError> {
        self.question().await?;
        let raws = (1..before.map_or(self.articles + 1, Id::raw)).rev().take(size.get() as usize + 1);
        let acts = raws.map(act).filter(|_| on.is_none_or(|on| on == board())).collect();
        Ok(Scroll::from_surplus(acts, size, |act| act.act_id))
    }
}

#[async_trait]
impl BoardLookup for Site {
    async fn has_board(&self, asked: BoardId) -> Result<bool, StoreError> {
        self.question().await?;
        Ok(asked == board())
    }
}

/// A comment has the number of its article.
#[async_trait]
impl CommentLookup for Site {
    async fn article_of(&self, comment: CommentId) -> Result<Option<ArticleId>, StoreError> {
        self.question().await?;
        Ok((comment.raw() <= self.articles).then(|| article(comment.raw())))
    }
}

/// What was committed in the first second is unsent.
#[async_trait]
impl UnsentMessages for Site {
    async fn has_unsent_before(&self, moment: Timestamp) -> Result<bool, Outage> {
        self.question().await.map_err(|error| Outage::new("outbox", error.to_string()))?;
        Ok(moment.as_millis() >= 1_000)
    }
}

fn place(head: &ArticleHead) -> ArticlePlace {
    ArticlePlace { article_id: head.article_id, board_id: head.board_id, created_at: head.created_at }
}
