//! A site with one board and its administrator, over a SQLite file of its own.

use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use madang_api::{ApiState, ArticleCalls, HotCalls, LockCalls, ReadCalls, ViewCalls};
use madang_article::ArticleService;
use madang_article::markdown::Markdown;
use madang_board::Role;
use madang_comment::{CommentService, DepthMax};
use madang_event::Envelope;
use madang_hot_article::{HotService, SiteDays};
use madang_kernel::{IdGenerator, NodeId, NodeLease, SystemClock};
use madang_like::LikeService;
use madang_member::{Client, MemberOptions, MemberService, Moderated, Moderation};
use madang_memory::{LocalSearchOwners, MemoryReadModel};
use madang_messaging::AfterCommit;
use madang_search::SearchService;
use madang_server::RequestPolicy;
use madang_sqlite::{
    SqliteArticles, SqliteComments, SqliteHot, SqliteLikes, SqliteMembers, SqliteModeration, SqliteOptions,
    SqliteSearch, SqliteViews,
};
use madang_view::{GuestKey, ViewConfig, ViewService};

use super::failing_site::Store;
use super::read_side::read_side;
use super::{Answer, send};

/// The label of a JSON body.
pub(crate) const JSON: (&str, &str) = ("content-type", "application/json");

const PASSWORD: &str = "correct horse";

/// The site.
pub(crate) struct BoardSite {
    router: Router,
    members: Arc<MemberService>,
    /// The id of its board.
    pub(crate) board: String,
    /// What an administrator sends as `Authorization`.
    pub(crate) admin: String,
    _directory: tempfile::TempDir,
}

/// As in the product, the query model has a change before whoever made it is answered.
struct OwnCommits(Arc<MemoryReadModel>);

#[async_trait]
impl AfterCommit<Envelope> for OwnCommits {
    fn committed(&self, events: &[Envelope]) {
        self.0.merge_committed(events);
    }
}

impl BoardSite {
    /// A fresh site.
    pub(crate) async fn open() -> Self {
        Self::open_with(RequestPolicy::default()).await
    }

    /// A fresh site with this policy.
    pub(crate) async fn open_with(policy: RequestPolicy) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let clock = Arc::new(SystemClock);
        let db = madang_sqlite::open(SqliteOptions::in_directory(directory.path()), clock.clone()).unwrap();
        let lease = NodeLease { node: NodeId(1), from_ms: 0, until_ms: i64::MAX };
        let ids = Arc::new(IdGenerator::new(clock.clone(), lease));
        let options = MemberOptions { hash_memory_kib: 8, hash_passes: 1, ..MemberOptions::default() };
        let store = Arc::new(SqliteMembers::new(db.clone()));
        let members = Arc::new(MemberService::new(store, ids.clone(), clock.clone(), [7; 32], options));
        members.refresh_revocations().await.unwrap();
        let store = Arc::new(SqliteArticles::new(db.clone()));
        let articles = Arc::new(ArticleService::new(store, ids.clone(), clock.clone()));
        let store = Arc::new(SqliteComments::new(db.clone()));
        let comments = CommentService::new(
            store,
            articles.clone(),
            Arc::new(Markdown),
            ids.clone(),
            clock.clone(),
            DepthMax::DEFAULT,
        );
        let comments = Arc::new(comments);
        let store = Arc::new(SqliteLikes::new(db.clone()));
        let likes = Arc::new(LikeService::new(store, articles.clone(), ids.clone(), clock.clone()));
        let store = Arc::new(SqliteModeration::new(db.clone()));
        let (boards, commented) = (articles.clone(), comments.clone());
        let moderated = Moderated { articles: articles.clone(), boards, comments: commented, acts: Vec::new() };
        let moderation = Arc::new(Moderation::new(store, members.clone(), moderated));
        let (store, guests) = (Arc::new(SqliteViews::new(db.clone())), GuestKey::new([9; 32]));
        let views = ViewService::new(store, articles.clone(), ids, clock.clone(), &guests, ViewConfig::default());
        let views = Arc::new(views);
        let (read, model) = read_side(articles.clone(), comments.clone(), likes.clone(), views.clone());
        db.after_commit(Arc::new(OwnCommits(model)));
        let days = SiteDays::new(jiff::tz::TimeZone::UTC);
        let owners = LocalSearchOwners::new(articles.clone(), comments.clone());
        let search = SearchService::new(Arc::new(SqliteSearch::new(db.clone())), Arc::new(owners));
        let hot = HotService::new(Arc::new(SqliteHot::new(db)), clock, days, Arc::new(Store::Away));
        articles.ensure_first_board().await.unwrap();
        let board = articles.boards().await.unwrap()[0].board.board_id.to_string();
        members.register_with_role("root", PASSWORD, Role::Admin).await.unwrap();
        let admin = format!("Bearer {}", members.sign_in("root", PASSWORD, Client::default()).await.unwrap().token);
        let router = madang_api::router(ApiState {
            sessions: members.sessions(),
            members: Some(members.clone()),
            moderation: Some(moderation),
            articles: Some(ArticleCalls { articles, read: read.clone() }),
            read: Some(ReadCalls::new(read.clone())),
            locks: Some(LockCalls { comments: comments.clone(), read: read.clone() }),
            comments: Some(comments),
            likes: Some(likes),
            views: Some(ViewCalls { views, guests }),
            hot: Some(HotCalls::new(Arc::new(hot), read)),
            search: Some(Arc::new(search)),
            readiness: Arc::new(Store::Away),
            metrics: Arc::new(String::new),
            operations_public: false,
            policy,
        });
        Self { router, members, board, admin, _directory: directory }
    }

    /// Registers a member and returns their token.
    pub(crate) async fn member(&self, name: &str) -> String {
        self.members.register(name, PASSWORD).await.unwrap();
        self.members.sign_in(name, PASSWORD, Client::default()).await.unwrap().token
    }

    /// Registers a member with a role; returns their id and what they send as `Authorization`.
    pub(crate) async fn register(&self, name: &str, role: Role) -> (String, String) {
        let member = self.members.register_with_role(name, PASSWORD, role).await.unwrap();
        let token = self.members.sign_in(name, PASSWORD, Client::default()).await.unwrap().token;
        (member.member_id.to_string(), format!("Bearer {token}"))
    }

    /// Registers a member and returns what they send as `Authorization`.
    pub(crate) async fn bearer(&self, name: &str) -> String {
        format!("Bearer {}", self.member(name).await)
    }

    /// Signs somebody in once more; returns what that session sends as `Authorization`.
    pub(crate) async fn sign_in(&self, name: &str) -> String {
        format!("Bearer {}", self.members.sign_in(name, PASSWORD, Client::default()).await.unwrap().token)
    }

    /// Sends a request.
    pub(crate) async fn send(&self, line: &str, headers: &[(&str, &str)], body: impl Into<Body>) -> Answer {
        send(&self.router, line, headers, body).await
    }

    /// Writes an article on the board.
    pub(crate) async fn write(&self, who: &str, draft: &str, extra: &[(&str, &str)]) -> Answer {
        let headers = [&[JSON, ("authorization", who)], extra].concat();
        self.send(&format!("POST /api/v1/boards/{}/articles", self.board), &headers, draft.to_owned()).await
    }

    /// How many articles the board says it has.
    pub(crate) async fn count(&self) -> u64 {
        let answer = self.send(&format!("GET /api/v1/boards/{}/articles/count", self.board), &[], "").await;
        answer.assert(200).json()["count"].as_u64().unwrap()
    }

    /// Sends a request of a member, with a JSON body unless it is empty.
    pub(crate) async fn by(&self, who: &str, line: &str, body: &str) -> Answer {
        let label = (!body.is_empty()).then_some(JSON);
        let headers: Vec<_> = [("authorization", who)].into_iter().chain(label).collect();
        self.send(line, &headers, body.to_owned()).await
    }

    /// Sends a request of a guest without a body.
    pub(crate) async fn guest(&self, line: &str) -> Answer {
        self.send(line, &[], "").await
    }

    /// Writes an article on the board, whose comments have two levels, and returns its path.
    pub(crate) async fn article(&self, who: &str) -> String {
        let written = self.write(who, r#"{"title":"t","content":"c"}"#, &[]).await;
        written.assert(201).header("location").to_owned()
    }

    /// Writes an article on a new board whose comments are trees, and returns its path.
    pub(crate) async fn tree_article(&self, who: &str) -> String {
        let board = r#"{"slug":"trees","title":"Trees","comment_mode":"tree"}"#;
        let board = self.by(&self.admin, "POST /api/v1/boards", board).await;
        let articles = format!("POST {}/articles", board.assert(201).header("location"));
        let written = self.by(who, &articles, r#"{"title":"t","content":"c"}"#).await;
        written.assert(201).header("location").to_owned()
    }
}
