//! What the handlers work with: the services behind each group of calls, the limits, and what the process says about its
//! own health. A process serves the calls of its roles, so every group may be absent.

use std::ops::Deref;
use std::sync::Arc;

use axum::http::HeaderValue;
use madang_article::ArticleService;
use madang_article_read::ReadService;
use madang_comment::CommentService;
use madang_hot_article::HotService;
use madang_like::LikeService;
use madang_member::{MemberService, Moderation, Sessions};
use madang_search::SearchService;
use madang_server::{ByteCache, CacheMiss, CachedBody, Readiness, RequestPolicy, SingleFlight};
use madang_view::{GuestKey, ViewService};

use crate::article_cache::{ArticleCacheKey, article_cache};
use crate::{ApiError, reply};

/// Everything the calls of a process need. A group of calls that is absent is served by another process.
pub struct ApiState {
    /// Knows whose a token is; every process does.
    pub sessions: Arc<Sessions>,
    /// Members and sessions.
    pub members: Option<Arc<MemberService>>,
    /// Boards, and writing articles.
    pub articles: Option<ArticleCalls>,
    /// Reading articles and their lists.
    pub read: Option<ReadCalls>,
    /// Comments.
    pub comments: Option<Arc<CommentService>>,
    /// Locks of articles, which are served where comments are.
    pub locks: Option<LockCalls>,
    /// Likes.
    pub likes: Option<Arc<LikeService>>,
    /// Views.
    pub views: Option<ViewCalls>,
    /// Hot articles.
    pub hot: Option<HotCalls>,
    /// Search.
    pub search: Option<Arc<SearchService>>,
    /// Reports, the log of moderation, moderators of boards; served where members are.
    pub moderation: Option<Arc<Moderation>>,
    /// What `/readyz` reports.
    pub readiness: Arc<dyn Readiness>,
    /// Renders `/metrics` in Prometheus' text format.
    pub metrics: Arc<dyn Fn() -> String + Send + Sync>,
    /// Whether the public may ask both; otherwise they are for [`crate::operations_router`] alone.
    pub operations_public: bool,
    /// What a request may cost, and whom it is believed to come from.
    pub policy: RequestPolicy,
}

// What calls about one service work with: the service.
/// Members and sessions.
pub(crate) type MemberCalls = Arc<MemberService>;
/// Moderation, which is served where members are.
pub(crate) type ModerationCalls = Arc<Moderation>;
/// Comments.
pub(crate) type CommentCalls = Arc<CommentService>;
/// Likes.
pub(crate) type LikeCalls = Arc<LikeService>;
/// Search.
pub(crate) type SearchCalls = Arc<SearchService>;

/// What calls about boards and calls that write articles work with.
pub struct ArticleCalls {
    /// Boards and articles.
    pub articles: Arc<ArticleService>,
    /// The counts beside an article that was edited.
    pub read: Arc<ReadService>,
}

/// What calls about locks work with.
pub struct LockCalls {
    /// Comments, whose owner keeps the lock.
    pub comments: Arc<CommentService>,
    /// The article that was locked.
    pub read: Arc<ReadService>,
}

/// What calls that read articles work with.
pub struct ReadCalls {
    pub(crate) read: Arc<ReadService>,
    cache: ByteCache<ArticleCacheKey>,
}

impl ReadCalls {
    /// Calls over articles and lists with their counts.
    pub fn new(read: Arc<ReadService>) -> Self {
        Self { cache: article_cache(read.rendered_ttl()), read }
    }

    /// The response if it is cached and fresh. A model that does not count what is merged into it cannot tell, so nothing
    /// of it is cached.
    pub(crate) fn cached(&self, key: ArticleCacheKey) -> Result<Arc<CachedBody>, CacheMiss<ArticleCacheKey>> {
        let generation = self.read.generation();
        self.cache.find(generation.is_some().then_some(key), generation.unwrap_or_default())
    }

    /// Caches a response, as JSON.
    pub(crate) fn cache(
        &self,
        miss: CacheMiss<ArticleCacheKey>,
        json: Vec<u8>,
        tag: Option<HeaderValue>,
    ) -> Arc<CachedBody> {
        self.cache.insert(miss, json.into(), reply::JSON, tag)
    }
}

/// What calls about views work with.
pub struct ViewCalls {
    /// Views.
    pub views: Arc<ViewService>,
    /// Turns a guest's address into somebody who can be counted once and not be recognised.
    pub guests: GuestKey,
}

/// What calls about hot articles work with.
pub struct HotCalls {
    pub(crate) hot: Arc<HotService>,
    pub(crate) read: Arc<ReadService>,
    /// The encoded list that everybody asks for.
    pub(crate) days: SingleFlight<Result<Arc<CachedBody>, ApiError>>,
}

impl HotCalls {
    /// Calls over the hot articles of the last days, with titles from `read`.
    pub fn new(hot: Arc<HotService>, read: Arc<ReadService>) -> Self {
        Self { hot, read, days: SingleFlight::default() }
    }
}

/// A group of calls with what all of them need, as axum carries it: one reference to count per request.
pub(crate) type Shared<T> = Arc<Served<T>>;

/// A group of calls that is served here.
pub(crate) struct Served<T> {
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) policy: RequestPolicy,
    pub(crate) calls: T,
}

impl<T> Deref for Served<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.calls
    }
}

/// What the calls of operators work with.
#[derive(Clone)]
pub(crate) struct Operators {
    pub(crate) readiness: Arc<dyn Readiness>,
    pub(crate) metrics: Arc<dyn Fn() -> String + Send + Sync>,
}

impl Operators {
    pub(crate) fn of(state: &ApiState) -> Self {
        Self { readiness: state.readiness.clone(), metrics: state.metrics.clone() }
    }
}
