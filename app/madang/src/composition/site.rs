//! What a server or a command works with: the services of this process and the ports behind them. Which adapters stand
//! there is decided in [`crate::composition`], and nothing here can tell.

use std::sync::Arc;

use anyhow::Context as _;
use async_trait::async_trait;
use axum::Router;
use madang_article::{ArticleService, ArticleStore, CreateArticle};
use madang_article_read::{ReadModel, ReadService};
use madang_board::ArticleLookup;
use madang_board::check::CheckReport;
use madang_comment::{CommentService, CommentStore};
use madang_hot_article::{HotService, HotStore, SiteDays};
use madang_kernel::{Clock, IdGenerator, NodeLeases, StoreError, Timestamp};
use madang_like::{LikeService, LikeStore};
use madang_member::{MemberService, Moderation, Sessions};
use madang_messaging::{ConsumerConfig, DeadLetters, EventLog, OnError, Outage, Position, Supervisor};
use madang_search::{SearchIndex, SearchOwners, SearchService};
use madang_server::{PartState, SharedBuckets};
use madang_view::{GuestKey, ViewService};
use madang_web::LiveHub;

use crate::commands::output::Output;
use crate::config::Settings;
use crate::config::roles::{Role, Roles};
use crate::tasks::lease;
use crate::tasks::running_groups::RunningGroups;

/// Everything a server or a command works with. Clones share it.
#[derive(Clone)]
pub(crate) struct Site {
    /// The roles of this process.
    pub roles: Roles,
    /// The services it runs.
    pub services: Services,
    /// The stores behind them that others than a service work with.
    pub stores: Stores,
    /// The query model itself, which consumers merge into.
    pub read_model: Arc<dyn ReadModel>,
    /// What this process answers others, where there are any.
    pub internal: Option<Router>,
    /// The days of the site.
    pub days: SiteDays,
    /// The consumer groups of this process.
    pub groups: RunningGroups,
    /// Under which guests are counted.
    pub guests: GuestKey,
    /// Scheme and host under which the site is known, if the settings say.
    pub site_url: Option<Arc<str>>,
    /// Opens the set-up page while the site has no administrator.
    pub setup_token: Arc<str>,
    /// The event log.
    pub log: Arc<dyn EventLog>,
    /// Messages that were given up.
    pub dead_letters: Arc<dyn DeadLetters>,
    /// Issues ids under the leased node number.
    pub ids: Arc<IdGenerator>,
    /// Where node numbers are leased.
    pub leases: Arc<dyn NodeLeases>,
    /// For how long.
    pub lease_ms: i64,
    /// The host's clock.
    pub clock: Arc<dyn Clock>,
    /// Where limits are kept that processes share; without it each keeps its own.
    pub buckets: Option<Arc<dyn SharedBuckets>>,
    /// Tells open pages of what is committed here.
    pub live: LiveHub,
    /// What stands behind the ports, for what is no port.
    pub backing: Arc<dyn Backing>,
}

/// The services of a process; one that its roles do not need is absent.
#[derive(Clone)]
pub(crate) struct Services {
    /// Knows whose a token is; in every process.
    pub sessions: Arc<Sessions>,
    /// Knows whether an article exists; in every process.
    pub article_lookup: Arc<dyn ArticleLookup>,
    /// Members and sessions.
    pub members: Option<Arc<MemberService>>,
    /// Reports and the log of moderation, beside the members.
    pub moderation: Option<Arc<Moderation>>,
    /// Boards and articles.
    pub articles: Option<Arc<ArticleService>>,
    /// Comments.
    pub comments: Option<Arc<CommentService>>,
    /// Likes.
    pub likes: Option<Arc<LikeService>>,
    /// Views.
    pub views: Option<Arc<ViewService>>,
    /// Reading: articles and lists with their counts, from the query model.
    pub read: Option<Arc<ReadService>>,
    /// The hot articles of the last days.
    pub hot: Option<Arc<HotService>>,
    /// Search; on a site without an engine it says so.
    pub search: Option<Arc<SearchService>>,
}

/// Stores that consumers and seeding work with.
#[derive(Clone, Default)]
pub(crate) struct Stores {
    /// Comments, for cleaning up.
    pub comments: Option<Arc<dyn CommentStore>>,
    /// Likes, for cleaning up.
    pub likes: Option<Arc<dyn LikeStore>>,
    /// Scores of hot articles, for the group that keeps them.
    pub hot: Option<Arc<dyn HotStore>>,
    /// The search index, for the group that keeps it, and the owners of what is in it.
    pub search: Option<(Arc<dyn SearchIndex>, Arc<dyn SearchOwners>)>,
}

/// A consumer group and its lag, as operators read it.
pub(crate) struct GroupLagText {
    /// The group.
    pub name: String,
    /// How far it is behind.
    pub lag: String,
}

/// Where the tasks of a composition go: each stage is stopped at its moment.
pub(crate) struct Stages<'a> {
    /// Tell who of the processes serves which shards; these leave first.
    pub coordinators: &'a Supervisor,
    /// Carry committed events to the log; these end after the last write.
    pub relays: &'a Supervisor,
    /// Everything that may end at any time.
    pub background: &'a Supervisor,
}

/// Where seeding puts its articles, and how it is fastest there.
pub(crate) enum SeedStore {
    /// Many calls at once, which the store folds by itself.
    OneByOne(Arc<dyn ArticleStore>),
    /// Slices of many articles.
    Slices(Arc<dyn SliceStore>),
}

/// Creates articles by the slice.
#[async_trait]
pub(crate) trait SliceStore: Send + Sync {
    /// Creates the articles of one board: all of them or none, each with its event.
    async fn create_slice(&self, new: Vec<CreateArticle>) -> Result<(), StoreError>;
}

/// The files of a site, fit for copying until this is dropped.
pub(crate) trait KeptFiles: Send + Sync {
    /// Why they are not, or must not be kept any longer; asked while they are copied, and after.
    fn problem(&self) -> Option<String>;
}

/// What stands behind the ports of a site, asked for what only it can know.
#[async_trait]
pub(crate) trait Backing: Send + Sync {
    /// Whether other processes work on the same site. Then a server starts while a part of it is away, and who runs a
    /// group cannot be told from here.
    fn is_shared(&self) -> bool;
    /// From here on commits reach the query model and the log.
    fn start(&self, site: &Site, stages: &Stages<'_>);
    /// Makes the groups of this process ready to be run.
    async fn prepare_groups(&self, groups: &[ConsumerConfig]) -> Result<(), Outage>;

    /// The parts that requests need, as they are now.
    async fn parts(&self, site: &Site) -> Vec<PartState>;
    /// Whether a process whose parts are in this state should be sent requests.
    fn can_serve(&self, parts: &[PartState]) -> bool {
        parts.iter().all(|part| part.ok)
    }
    /// Whether a group has consumed everything that occurred before `now`; where that cannot be told, it is believed.
    async fn is_caught_up(&self, _group: &ConsumerConfig, _now: Timestamp) -> Result<bool, Outage> {
        Ok(true)
    }
    /// The lag of each consumer group.
    async fn groups(&self, site: &Site) -> anyhow::Result<Vec<GroupLagText>>;
    /// Pauses or resumes a group in every process that works on the site; only where it is shared.
    async fn set_paused(&self, group: &str, _paused: bool) -> anyhow::Result<()> {
        anyhow::bail!("{group} runs in this process alone")
    }

    /// Has a group pass over a record, in every process that works on the site; only where it is shared.
    async fn skip(&self, group: &str, _record: &Position) -> anyhow::Result<()> {
        anyhow::bail!("{group} runs in this process alone")
    }

    /// Keeps the files of the site fit for copying; only where it has files.
    async fn keep_files(&self) -> anyhow::Result<Box<dyn KeptFiles>> {
        anyhow::bail!("the data of this site is on servers")
    }

    /// Forgets what is at `now` older than anybody needs.
    async fn forget_old(&self, site: &Site, settings: &Settings, now: Timestamp);
    /// Whether the query model can be asked by this process, or is in the memory of one that does not run.
    fn holds_query_model(&self, site: &Site) -> bool;
    /// Compares counters with rows and derived data with its source.
    async fn check(&self, site: &Site, full: bool, output: &Output) -> anyhow::Result<CheckReport>;
    /// Where seeding puts its articles; in the background it gives way to requests.
    fn seed_store(&self, in_background: bool) -> anyhow::Result<SeedStore>;

    /// Closes everything.
    async fn close(&self);
}

/// Each service, or why this process has none.
macro_rules! required {
    ($($service:ident: $type:ty, $role:expr;)*) => {
        impl Services {$(
            pub(crate) fn $service(&self) -> anyhow::Result<&Arc<$type>> {
                self.$service.as_ref().with_context(|| absent($role))
            }
        )*}
    };
}

required! {
    members: MemberService, Role::Member;
    // Runs where members do.
    moderation: Moderation, Role::Member;
    articles: ArticleService, Role::Article;
    comments: CommentService, Role::Comment;
    likes: LikeService, Role::Like;
    views: ViewService, Role::View;
    read: ReadService, Role::ArticleRead;
    hot: HotService, Role::HotArticle;
    search: SearchService, Role::Search;
}

fn absent(role: Role) -> String {
    format!("this process does not have the role {}", role.name())
}

impl Site {
    /// Starts what every holder of a site needs: the renewal of its lease.
    pub(crate) fn keep(&self, supervisor: &Supervisor) {
        let (leases, ids, ttl_ms) = (self.leases.clone(), self.ids.clone(), self.lease_ms);
        supervisor
            .spawn("node-lease", OnError::Restart, move |stop| lease::keep(leases.clone(), ids.clone(), ttl_ms, stop));
    }

    /// Gives the lease back and closes the store. Whatever may still ask for ids must have ended.
    pub(crate) async fn close(self) {
        if let Err(error) = self.leases.release(self.ids.lease(), self.ids.unused_from_ms()).await {
            tracing::warn!("the node lease could not be given back and will expire by itself: {error}");
        }
        self.backing.close().await;
    }
}
