//! Everything in one process over one SQLite file: the outbox row is the log entry, and the query model is in memory.

mod backing;
mod check;
mod disk;
mod kept;
mod stores;

use std::sync::Arc;

use anyhow::Context as _;
use madang_article::ArticleService;
use madang_comment::CommentService;
use madang_hot_article::HotService;
use madang_kernel::{Clock, NodeLeases as _, SteadyClock, SystemClock};
use madang_member::{MemberService, Moderated, Moderation, SigningKeys};
use madang_memory::{LocalSearchOwners, MemoryReadModel, local_owners};
use madang_messaging::GroupId;
use madang_search::{SearchOwners, SearchService};
use madang_sqlite::{
    Sqlite, SqliteDeadLetters, SqliteJoinedArticles, SqliteLeases, SqliteLog, SqliteModeration, SqliteOptions,
    SqliteProgress,
};
use madang_view::{GuestKey, MemoryLiveViews, ViewConfig, ViewService};
use madang_web::LiveHub;

use self::backing::Embedded;
use self::disk::Disk;
use self::stores::EmbeddedStores;
use super::base::{Base, NodeNumber};
use super::site::{Services, Site, Stores};
use crate::config::data_directory::DataDirectory;
use crate::config::roles::Roles;
use crate::config::{Settings, keys};
use crate::tasks::consumers::HOT_GROUP;
use crate::tasks::running_groups::RunningGroups;

/// How long the node number is leased: the lock on the directory makes it ours, so this is about crashes only.
const LEASE_MS: i64 = 10_000;

/// Opens the site in a data directory that is ours.
pub(super) async fn open(settings: &Settings, roles: Roles, data: &DataDirectory) -> anyhow::Result<Site> {
    let opening = Opening::begin(settings, data).await?;
    let services = opening.services();
    Ok(opening.site(roles, services))
}

/// What the services of an embedded site are made of.
struct Opening<'a> {
    base: Base<'a>,
    database: Sqlite,
    disk: Disk,
    tokens: SigningKeys,
    stores: EmbeddedStores,
    model: Arc<MemoryReadModel>,
}

impl<'a> Opening<'a> {
    async fn begin(settings: &'a Settings, data: &DataDirectory) -> anyhow::Result<Self> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let tokens = keys::token_keys(data.path())?;
        let options = SqliteOptions {
            readers: settings.readers,
            foreground_queue: settings.foreground_queue,
            background_queue: settings.background_queue,
            batch_max: settings.batch_max,
            ..SqliteOptions::in_directory(data.path())
        };
        let explained = |error: anyhow::Error| disk::explained(data.path(), error);
        let database = madang_sqlite::open(options, clock.clone()).map_err(|error| explained(error.into()))?;
        let leases = Arc::new(SqliteLeases::new(database.clone()));
        let first = leases.acquire(LEASE_MS).await.context("cannot lease a node number").map_err(explained)?;
        let guests = GuestKey::new(keys::guest_key(data.path())?);
        Ok(Self {
            stores: EmbeddedStores::on(&database),
            model: Arc::new(MemoryReadModel::new(settings.read_model_mb * 1_000_000, clock.clone())),
            base: Base::new(settings, clock, NodeNumber { leases, first, lease_ms: LEASE_MS }, guests)?,
            disk: Disk::of(data.path(), &database),
            database,
            tokens,
        })
    }

    fn services(&self) -> Services {
        let (base, stores) = (&self.base, &self.stores);
        let members = base.members(stores.members.clone(), self.tokens.clone());
        let articles = Arc::new(base.articles(stores.articles.clone()));
        let comments = base.comments(stores.comments.clone(), articles.clone());
        let likes = base.likes(stores.likes.clone(), articles.clone());
        let views = self.views(&articles);
        let joined = Arc::new(SqliteJoinedArticles::new(self.database.clone()));
        let owners = local_owners(articles.clone(), comments.clone(), likes.clone(), views.clone(), Some(joined));
        Services {
            sessions: members.sessions(),
            article_lookup: articles.clone(),
            moderation: Some(self.moderation(&members, &articles, &comments)),
            read: Some(base.read(self.model.clone(), owners)),
            hot: Some(self.hot()),
            search: Some(Arc::new(SearchService::new(stores.search.clone(), search_owners(&articles, &comments)))),
            members: Some(members),
            articles: Some(articles),
            comments: Some(comments),
            likes: Some(likes),
            views: Some(views),
        }
    }

    fn views(&self, articles: &Arc<ArticleService>) -> Arc<ViewService> {
        let config = ViewConfig { live: self.base.live_limits(), ..ViewConfig::default() };
        let live = MemoryLiveViews::new(&config, &self.base.guests);
        self.base.views(self.stores.views.clone(), articles.clone(), Arc::new(live))
    }

    fn moderation(
        &self,
        members: &Arc<MemberService>,
        articles: &Arc<ArticleService>,
        comments: &Arc<CommentService>,
    ) -> Arc<Moderation> {
        let store = Arc::new(SqliteModeration::new(self.database.clone()));
        let moderated = Moderated {
            articles: articles.clone(),
            boards: articles.clone(),
            comments: comments.clone(),
            // One file has all of them.
            acts: Vec::new(),
        };
        Arc::new(Moderation::new(store, members.clone(), moderated))
    }

    fn hot(&self) -> Arc<HotService> {
        let progress = SqliteProgress::new(self.database.clone(), GroupId::new(HOT_GROUP));
        // There is no other clock to ask here: one that jumped ahead must not end days that are not over.
        let ending = Arc::new(SteadyClock::new(self.base.clock.clone()));
        Arc::new(self.base.hot(self.stores.hot.clone(), Arc::new(progress)).ending_days_by(ending))
    }

    /// Joins the services with what stands behind them.
    fn site(self, roles: Roles, services: Services) -> Site {
        let texts = services.articles.as_ref().zip(services.comments.as_ref());
        let search = texts.map(|(articles, comments)| search_owners(articles, comments));
        let Self { base, database, disk, stores, model, .. } = self;
        let log = SqliteLog::new(database.clone());
        Site {
            roles,
            services,
            stores: Stores {
                comments: Some(stores.comments.clone()),
                likes: Some(stores.likes.clone()),
                hot: Some(stores.hot.clone()),
                search: search.map(|owners| (stores.search.clone() as _, owners)),
            },
            read_model: model.clone(),
            internal: None,
            days: base.days,
            groups: RunningGroups::default(),
            guests: base.guests,
            site_url: base.settings.base().map(Arc::from),
            setup_token: hex::encode(rand::random::<[u8; 32]>()).into(),
            log: Arc::new(log.clone()),
            dead_letters: Arc::new(SqliteDeadLetters::new(database.clone())),
            ids: base.ids,
            leases: base.leases,
            lease_ms: base.lease_ms,
            clock: base.clock,
            buckets: None,
            live: LiveHub::default(),
            backing: Arc::new(Embedded { database, disk, log, stores, model }),
        }
    }
}

/// Whose texts are searched.
fn search_owners(articles: &Arc<ArticleService>, comments: &Arc<CommentService>) -> Arc<dyn SearchOwners> {
    Arc::new(LocalSearchOwners::new(articles.clone(), comments.clone()))
}
