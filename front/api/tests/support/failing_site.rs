//! A site without a store: what a request meets before any data is asked for, and what it gets when the data is away.

use std::sync::Arc;
use std::time::Duration;

use super::read_side::read_side;
use async_trait::async_trait;
use axum::Router;
use madang_api::{ApiState, ArticleCalls, HotCalls, LockCalls, ReadCalls, ViewCalls};
use madang_article::markdown::Markdown;
use madang_article::{
    Article, ArticleHead, ArticlePlace, ArticleService, ArticleStore, BoardWithCount, CreateArticle, CreateBoard,
    CreateOutcome, DeleteArticle, DeleteBoard, DeleteOutcome, EditArticle, EditBoard, EditOutcome, NewBoard,
    NewestArticles, PinArticle, PinOutcome, PurgeArticle, RemovedArticle, RestoreArticle, RestoreOutcome,
};
use madang_board::{ArticleId, BoardId, MemberId, Pin, SessionId};
use madang_comment::{CommentService, DepthMax};
use madang_hot_article::{HotService, SiteDays};
use madang_kernel::{
    IdGenerator, NodeId, NodeLease, Page, PageNumber, PageSize, Scroll, StoreError, SystemClock, Timestamp,
};
use madang_like::LikeService;
use madang_member::{
    ChangeMember, ChangeOutcome, CreateMember, Member, MemberOptions, MemberRecord, MemberService, MemberStore,
    NewMember, PasswordReset, ResetDigest, Revocation, RevocationCursor, SessionRecord,
};
use madang_search::SearchService;
use madang_server::{PartState, Readiness, RequestPolicy};
use madang_view::{GuestKey, ViewConfig, ViewService};

/// How the store of a site fails.
#[derive(Clone, Copy)]
pub(crate) enum Store {
    /// It cannot be reached.
    Away,
    /// It finds something it cannot understand.
    Broken,
}

impl Store {
    pub(super) fn fail<T>(self) -> Result<T, StoreError> {
        Err(match self {
            Self::Away => StoreError::unavailable("store", "secret reason"),
            Self::Broken => StoreError::broken("store", "secret cause"),
        })
    }
}

/// A site over a failing store.
pub(crate) fn site(store: Store, policy: RequestPolicy) -> Router {
    madang_api::router(state(store, policy))
}

/// The same in a process that has not these roles.
pub(crate) fn site_without(store: Store, roles: &[&str]) -> Router {
    let mut state = state(store, policy());
    for role in roles {
        match *role {
            "member" => state.members = None,
            "article" => state.articles = None,
            "article-read" => state.read = None,
            "comment" => (state.comments, state.locks) = (None, None),
            "like" => state.likes = None,
            "view" => state.views = None,
            other => panic!("no such role: {other}"),
        }
    }
    madang_api::router(state)
}

fn state(store: Store, policy: RequestPolicy) -> ApiState {
    let clock = Arc::new(SystemClock);
    let lease = NodeLease { node: NodeId(1), from_ms: 0, until_ms: i64::MAX };
    let ids = Arc::new(IdGenerator::new(clock.clone(), lease));
    let options = MemberOptions { hash_memory_kib: 8, hash_passes: 1, ..MemberOptions::default() };
    let members = Arc::new(MemberService::new(Arc::new(store), ids.clone(), clock.clone(), [7; 32], options));
    let store = Arc::new(store);
    let articles = Arc::new(ArticleService::new(store.clone(), ids.clone(), clock.clone()));
    let comments = CommentService::new(
        store.clone(),
        articles.clone(),
        Arc::new(Markdown),
        ids.clone(),
        clock.clone(),
        DepthMax::DEFAULT,
    );
    let comments = Arc::new(comments);
    let likes = Arc::new(LikeService::new(store.clone(), articles.clone(), ids.clone(), clock.clone()));
    let guests = GuestKey::new([9; 32]);
    let views = ViewService::new(store.clone(), articles.clone(), ids, clock.clone(), &guests, ViewConfig::default());
    let views = Arc::new(views);
    let (read, _) = read_side(articles.clone(), comments.clone(), likes.clone(), views.clone());
    let days = SiteDays::new(jiff::tz::TimeZone::UTC);
    ApiState {
        sessions: members.sessions(),
        members: Some(members),
        articles: Some(ArticleCalls { articles, read: read.clone() }),
        read: Some(ReadCalls::new(read.clone())),
        locks: Some(LockCalls { comments: comments.clone(), read: read.clone() }),
        comments: Some(comments),
        likes: Some(likes),
        views: Some(ViewCalls { views, guests }),
        hot: Some(HotCalls::new(Arc::new(HotService::new(store.clone(), clock, days, store.clone())), read)),
        search: Some(Arc::new(SearchService::not_configured())),
        moderation: None,
        readiness: store,
        metrics: Arc::new(|| "madang_up 1\n".to_owned()),
        operations_public: true,
        policy,
    }
}

/// The policy, with time-outs short enough for tests that wait for none.
pub(crate) fn policy() -> RequestPolicy {
    RequestPolicy { body_bytes: 1_024, request_timeout: Duration::from_secs(30), ..RequestPolicy::default() }
}

#[async_trait]
impl Readiness for Store {
    async fn parts(&self) -> Vec<PartState> {
        let store = PartState { name: "store".to_owned(), ok: false, detail: "does not answer".to_owned() };
        vec![PartState { name: "process".to_owned(), ok: true, detail: String::new() }, store]
    }
}

#[async_trait]
impl ArticleStore for Store {
    async fn create_board(&self, _: NewBoard) -> Result<CreateBoard, StoreError> {
        self.fail()
    }
    async fn boards(&self) -> Result<Vec<BoardWithCount>, StoreError> {
        self.fail()
    }
    async fn edit_board(&self, _: EditBoard) -> Result<Option<BoardWithCount>, StoreError> {
        self.fail()
    }
    async fn delete_board(&self, _: BoardId) -> Result<DeleteBoard, StoreError> {
        self.fail()
    }
    async fn find_board(&self, _: BoardId) -> Result<Option<BoardWithCount>, StoreError> {
        self.fail()
    }
    async fn site_newest(&self, _: Option<ArticleId>, _: usize) -> Result<Vec<ArticlePlace>, StoreError> {
        self.fail()
    }
    async fn places(&self, _: Vec<ArticleId>) -> Result<Vec<Option<ArticlePlace>>, StoreError> {
        self.fail()
    }
    async fn create(&self, _: CreateArticle) -> Result<CreateOutcome, StoreError> {
        self.fail()
    }
    async fn edit(&self, _: EditArticle) -> Result<EditOutcome, StoreError> {
        self.fail()
    }
    async fn delete(&self, _: DeleteArticle) -> Result<DeleteOutcome, StoreError> {
        self.fail()
    }
    async fn restore(&self, _: RestoreArticle) -> Result<RestoreOutcome, StoreError> {
        self.fail()
    }
    async fn purge(&self, _: PurgeArticle) -> Result<bool, StoreError> {
        self.fail()
    }
    async fn find_removed(&self, _: ArticleId) -> Result<Option<RemovedArticle>, StoreError> {
        self.fail()
    }
    async fn removed_until(&self, _: Timestamp, _: usize) -> Result<Vec<ArticleId>, StoreError> {
        self.fail()
    }
    async fn holds(&self, _: Vec<ArticleId>) -> Result<Vec<bool>, StoreError> {
        self.fail()
    }
    async fn pin(&self, _: PinArticle) -> Result<PinOutcome, StoreError> {
        self.fail()
    }
    async fn pins(&self, _: BoardId) -> Result<Vec<Pin>, StoreError> {
        self.fail()
    }
    async fn find(&self, _: ArticleId) -> Result<Option<Article>, StoreError> {
        self.fail()
    }
    async fn find_many(&self, _: Vec<ArticleId>) -> Result<Vec<Option<Article>>, StoreError> {
        self.fail()
    }
    async fn newest(&self, _: BoardId, _: usize) -> Result<Option<NewestArticles>, StoreError> {
        self.fail()
    }
    async fn page(&self, _: BoardId, _: PageNumber, _: PageSize) -> Result<Page<ArticleHead>, StoreError> {
        self.fail()
    }
    async fn scroll(
        &self,
        _: BoardId,
        _: Option<ArticleId>,
        _: PageSize,
    ) -> Result<Scroll<ArticleHead, ArticleId>, StoreError> {
        self.fail()
    }
    async fn by_writer(
        &self,
        _: MemberId,
        _: Option<ArticleId>,
        _: PageSize,
    ) -> Result<Scroll<ArticleHead, ArticleId>, StoreError> {
        self.fail()
    }
}

#[async_trait]
impl MemberStore for Store {
    async fn create(&self, _: NewMember) -> Result<CreateMember, StoreError> {
        self.fail()
    }
    async fn create_many(&self, _: Vec<NewMember>) -> Result<u64, StoreError> {
        self.fail()
    }
    async fn give_skeletons(&self, _: usize) -> Result<usize, StoreError> {
        self.fail()
    }
    async fn staff(&self, _: usize) -> Result<Vec<Member>, StoreError> {
        self.fail()
    }
    async fn find(&self, _: MemberId) -> Result<Option<Member>, StoreError> {
        self.fail()
    }
    async fn find_credentials(&self, _: &str) -> Result<Option<MemberRecord>, StoreError> {
        self.fail()
    }
    async fn change(&self, _: ChangeMember) -> Result<ChangeOutcome, StoreError> {
        self.fail()
    }
    async fn find_reset(&self, _: ResetDigest) -> Result<Option<PasswordReset>, StoreError> {
        self.fail()
    }
    async fn has_admin(&self) -> Result<bool, StoreError> {
        self.fail()
    }
    async fn add_session(&self, _: SessionRecord) -> Result<(), StoreError> {
        self.fail()
    }
    async fn sessions(&self, _: MemberId, _: usize) -> Result<Vec<SessionRecord>, StoreError> {
        self.fail()
    }
    async fn find_session(&self, _: SessionId) -> Result<Option<SessionRecord>, StoreError> {
        self.fail()
    }
    async fn note_seen(&self, _: Vec<(SessionId, Timestamp)>) -> Result<(), StoreError> {
        self.fail()
    }
    async fn end_session(&self, _: SessionId, _: Timestamp) -> Result<(), StoreError> {
        self.fail()
    }
    async fn revocations(
        &self,
        _: RevocationCursor,
        _: usize,
    ) -> Result<(Vec<Revocation>, RevocationCursor), StoreError> {
        self.fail()
    }
    async fn forget_expired(&self, _: Timestamp) -> Result<u64, StoreError> {
        self.fail()
    }
}
