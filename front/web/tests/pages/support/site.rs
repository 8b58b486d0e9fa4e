//! The site: every service over one SQLite file, the query model told of commits, the pages in front.

use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use axum::extract::Request;
use jiff::tz::TimeZone;
use madang_article::markdown::Markdown;
use madang_article::{ArticleService, BoardDraft};
use madang_article_read::ReadService;
use madang_board::{Actor, ArticleId, CommentMode, Role};
use madang_comment::{CommentService, DepthMax};
use madang_event::Envelope;
use madang_hot_article::{Counts, HotChange, HotService, HotStore as _, Offsets, Progress, Reading, SiteDays, Tally};
use madang_kernel::{IdGenerator, NodeId, NodeLease, StoreError, SystemClock, Timestamp};
use madang_like::LikeService;
use madang_member::{MemberOptions, MemberService, Moderated, Moderation};
use madang_memory::{LocalSearchOwners, MemoryReadModel, local_owners};
use madang_messaging::{AfterCommit, ConsumerConfig, GroupId, Ladders, OnError, Supervisor};
use madang_search::SearchService;
use madang_server::{Admission, HealthHistory, HealthSlot, Pages, PartState, Readiness, RequestMetrics, RequestPolicy};
use madang_sqlite::{
    Sqlite, SqliteArticles, SqliteComments, SqliteDeadLetters, SqliteHot, SqliteLikes, SqliteLog, SqliteMembers,
    SqliteModeration, SqliteOptions, SqliteSearch, SqliteViews,
};
use madang_view::{GuestKey, ViewConfig, ViewService};
use madang_web::{LiveHub, WebState};

use super::Person;

/// Everybody's password.
pub(crate) const PASSWORD: &str = "correct horse";
/// Memory for the few articles of a test.
const BUDGET_BYTES: u64 = 16_000_000;

/// The site.
pub(crate) struct TestSite {
    /// What the pages work with.
    pub(crate) state: WebState,
    /// The pages.
    pub(crate) pages: Router,
    /// Told of every commit.
    pub(crate) live: LiveHub,
    db: Sqlite,
    _directory: tempfile::TempDir,
}

impl TestSite {
    /// A fresh site with the boards `general` (two levels) and `trees`, and no administrator.
    pub(crate) async fn open() -> Self {
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
        let depth = DepthMax::new(8).unwrap();
        let (rendering, minted) = (Arc::new(Markdown), ids.clone());
        let comments = Arc::new(CommentService::new(store, articles.clone(), rendering, minted, clock.clone(), depth));
        let store = Arc::new(SqliteLikes::new(db.clone()));
        let likes = Arc::new(LikeService::new(store, articles.clone(), ids.clone(), clock.clone()));
        let (store, guests) = (Arc::new(SqliteViews::new(db.clone())), GuestKey::new([9; 32]));
        let views = ViewService::new(store, articles.clone(), ids, clock.clone(), &guests, ViewConfig::default());
        let views = Arc::new(views);
        let model = Arc::new(MemoryReadModel::new(BUDGET_BYTES, clock.clone()));
        let owners = local_owners(articles.clone(), comments.clone(), likes.clone(), views.clone(), None);
        let read = Arc::new(ReadService::new(model.clone(), owners, clock.clone()));
        load_in_background(&read);
        let live = LiveHub::default();
        db.after_commit(Arc::new(OwnCommits { model, read: read.clone(), live: live.clone() }));
        let days = SiteDays::new(TimeZone::UTC);
        let hot = HotService::new(Arc::new(SqliteHot::new(db.clone())), clock.clone(), days, Arc::new(Nothing));
        let moderated = Moderated {
            articles: articles.clone(),
            boards: articles.clone(),
            comments: comments.clone(),
            acts: Vec::new(),
        };
        let store = Arc::new(SqliteModeration::new(db.clone()));
        let moderation = Arc::new(Moderation::new(store, members.clone(), moderated));
        let owners = LocalSearchOwners::new(articles.clone(), comments.clone());
        let search = SearchService::new(Arc::new(SqliteSearch::new(db.clone())), Arc::new(owners));
        let state = WebState {
            members,
            moderation,
            articles,
            comments,
            likes,
            views,
            read,
            hot: Arc::new(hot),
            search: Arc::new(search),
            guests,
            live: Arc::new(live.clone()),
            readiness: Arc::new(Nothing),
            history: Arc::new(Nothing),
            policy: RequestPolicy::default(),
            clock,
            zone: TimeZone::get("Asia/Seoul").unwrap(),
            dead_letters: Arc::new(SqliteDeadLetters::new(db.clone())),
            log: Arc::new(SqliteLog::new(db.clone())),
            ladders: Ladders::of(&[ConsumerConfig::new(GroupId::new("hot-article"), vec!["madang.like.v1".into()])]),
            setup_token: Some("right".into()),
        };
        state.articles.ensure_first_board().await.unwrap();
        let trees = BoardDraft { slug: "trees".into(), title: "Trees".into(), comment_mode: CommentMode::Tree };
        state.articles.create_board(&god(), trees, None).await.unwrap();
        let pages = served(state.clone());
        Self { state, pages, live, db, _directory: directory }
    }

    /// The same site with pages that are given something else.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut WebState)) -> Self {
        change(&mut self.state);
        self.pages = served(self.state.clone());
        self
    }

    /// A guest.
    pub(crate) fn guest(&self) -> Person {
        Person::new(self.pages.clone())
    }

    /// Somebody who signed up here.
    pub(crate) async fn member(&self, name: &str) -> Person {
        let person = self.guest();
        person.post("/sign-up", &[("name", name), ("password", PASSWORD)]).await.leads_to();
        person
    }

    /// Somebody with a role.
    pub(crate) async fn with_role(&self, name: &str, role: Role) -> Person {
        self.state.members.register_with_role(name, PASSWORD, role).await.unwrap();
        let person = self.guest();
        person.post("/sign-in", &[("name", name), ("password", PASSWORD)]).await.leads_to();
        person
    }

    /// Has an article score today and yesterday, as after a change of the site's time zone.
    pub(crate) async fn make_hot(&self, article_id: ArticleId) {
        let today = SiteDays::new(TimeZone::UTC).day_of(self.state.clock.now());
        let counts = Counts { likes: Reading::new(3, 1), ..Counts::default() };
        let changes = [today, today.minus(1)].map(|day| HotChange { day, article_id, tally: Tally::Live(counts) });
        let done = Offsets { group: GroupId::new("hot-article"), positions: Vec::new() };
        SqliteHot::new(self.db.clone()).apply(changes.into(), done).await.unwrap();
    }

    /// Takes the store away.
    pub(crate) async fn lose_store(&self) {
        self.db.close().await;
    }
}

impl Person {
    /// Writes an article and gives its path.
    pub(crate) async fn write(&self, board: &str, title: &str, content: &str) -> String {
        let page = format!("/b/{board}/write");
        self.submit(&page, &page, &[("title", title), ("content", content)]).await.leads_to()
    }

    /// Writes a comment, or a reply, on the article at a path, and gives its id.
    pub(crate) async fn comment(&self, article: &str, content: &str, parent: &str) -> String {
        let path = format!("{article}/comments");
        let answer = self.submit(article, &path, &[("content", content), ("parent", parent)]).await;
        answer.leads_to().split_once("#c").unwrap().1.to_owned()
    }
}

/// The pages as the product serves them: behind admission control, with their page for addresses that lead nowhere.
pub(crate) fn served(state: WebState) -> Router {
    let policy = state.policy.clone();
    let Pages { router, refusals, .. } = madang_web::pages(state);
    let lost = refusals.clone();
    let metrics = Arc::new(RequestMetrics::new([]));
    router.fallback(async move |request: Request| lost.not_found(request)).layer(Admission::with_pages(
        policy,
        metrics,
        Some(refusals),
    ))
}

/// An administrator without a row.
fn god() -> Actor {
    Actor::new(madang_kernel::Id::from_raw(1), "god", Role::Admin)
}

fn load_in_background(read: &Arc<ReadService>) {
    // Lives as long as the runtime of the test.
    let loads: &'static Supervisor = Box::leak(Box::new(Supervisor::new("loads")));
    let running = read.clone();
    loads.spawn("loads", OnError::Restart, move |stop| {
        let running = running.clone();
        async move { running.run(stop).await }
    });
}

/// As in the product, everything in this process has a change before whoever made it is answered.
struct OwnCommits {
    model: Arc<MemoryReadModel>,
    read: Arc<ReadService>,
    live: LiveHub,
}

#[async_trait]
impl AfterCommit<Envelope> for OwnCommits {
    fn committed(&self, events: &[Envelope]) {
        self.model.merge_committed(events);
        self.read.note_committed(events);
        self.live.publish(events);
    }
}

struct Nothing;

#[async_trait]
impl Progress for Nothing {
    async fn caught_up(&self, _: Timestamp) -> Result<bool, StoreError> {
        Ok(false)
    }
}

impl HealthHistory for Nothing {
    fn slots(&self) -> Vec<HealthSlot> {
        Vec::new()
    }
}

#[async_trait]
impl Readiness for Nothing {
    async fn parts(&self) -> Vec<PartState> {
        vec![PartState { name: "store".into(), ok: true, detail: "takes writes".into() }]
    }
}
