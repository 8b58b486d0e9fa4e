//! The composition root: opens the store and puts the services on it, the same for a server and for a command.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use jiff::tz::TimeZone;
use madang_article::ArticleService;
use madang_article_read::ReadService;
use madang_comment::{CommentService, DepthMax};
use madang_hot_article::{HotService, SiteDays};
use madang_kernel::{Clock, IdGenerator, NodeLeases as _, SystemClock};
use madang_like::LikeService;
use madang_member::{MemberOptions, MemberService};
use madang_memory::{LocalOwners, MemoryReadModel};
use madang_messaging::{GroupId, OnError, Supervisor};
use madang_sqlite::{
    Sqlite, SqliteArticles, SqliteComments, SqliteDeadLetters, SqliteHot, SqliteInbox, SqliteLeases, SqliteLikes,
    SqliteLog, SqliteMembers, SqliteOptions, SqliteProgress, SqliteTogether, SqliteViews,
};
use madang_view::{GuestKey, ViewConfig, ViewService};

use crate::config::Settings;
use crate::data_directory::DataDirectory;
use crate::groups::Groups;
use crate::{hot, keys, lease};

/// Everything a server or a command works with. Clones share it.
#[derive(Clone)]
pub struct Site {
    /// The store itself.
    pub database: Sqlite,
    /// Members and sessions.
    pub members: Arc<MemberService>,
    /// Boards and articles.
    pub articles: Arc<ArticleService>,
    /// Comments.
    pub comments: Arc<CommentService>,
    /// Likes.
    pub likes: Arc<LikeService>,
    /// Views; their live counts are this process's memory.
    pub views: Arc<ViewService>,
    /// Reading: articles and lists with their counts, from the query model.
    pub read: Arc<ReadService>,
    /// The query model itself, which consumers and commits merge into.
    pub read_model: Arc<MemoryReadModel>,
    /// The hot articles of the last days.
    pub hot: Arc<HotService>,
    /// The store of their scores, for the group that keeps them.
    pub hot_store: Arc<SqliteHot>,
    /// The days of the site.
    pub days: SiteDays,
    /// The consumer groups of this process.
    pub groups: Groups,
    /// Under which guests are counted.
    pub guests: GuestKey,
    /// The store of comments, for cleaning up.
    pub comment_store: Arc<SqliteComments>,
    /// The store of likes, for cleaning up.
    pub like_store: Arc<SqliteLikes>,
    /// The store of members, for upkeep.
    pub member_store: Arc<SqliteMembers>,
    /// The store of articles, for upkeep and seeding.
    pub article_store: Arc<SqliteArticles>,
    /// The embedded event log.
    pub log: SqliteLog,
    /// What consumer groups remember.
    pub inbox: SqliteInbox,
    /// Messages that were given up.
    pub dead_letters: SqliteDeadLetters,
    /// Issues ids under the leased node number.
    pub ids: Arc<IdGenerator>,
    /// Where node numbers are leased.
    pub leases: Arc<SqliteLeases>,
    /// The host's clock.
    pub clock: Arc<dyn Clock>,
}

impl Site {
    /// Opens the site in a data directory that is ours.
    pub async fn open(settings: &Settings, data: &DataDirectory) -> anyhow::Result<Self> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let key = keys::token_key(data.path())?;
        let options = SqliteOptions {
            readers: settings.readers,
            people_queue: settings.people_queue,
            background_queue: settings.background_queue,
            batch_max: settings.batch_max,
            ..SqliteOptions::in_directory(data.path())
        };
        let database = Sqlite::open(options, clock.clone())?;
        let leases = Arc::new(SqliteLeases::new(database.clone()));
        let node = leases.acquire(lease::TTL_MS).await.context("cannot lease a node number")?;
        let ids = Arc::new(IdGenerator::new(clock.clone(), node));
        let member_store = Arc::new(SqliteMembers::new(database.clone()));
        let article_store = Arc::new(SqliteArticles::new(database.clone()));
        let comment_store = Arc::new(SqliteComments::new(database.clone()));
        let like_store = Arc::new(SqliteLikes::new(database.clone()));
        let articles = Arc::new(ArticleService::new(article_store.clone(), ids.clone(), clock.clone()));
        let guests = GuestKey::new(keys::guest_key(data.path())?);
        let time_zone = TimeZone::get(&settings.time_zone)?;
        let comments = Arc::new(CommentService::new(
            comment_store.clone(),
            articles.clone(),
            ids.clone(),
            clock.clone(),
            DepthMax::new(settings.comment_depth_max).context("comment_depth_max is out of its range")?,
        ));
        let likes = Arc::new(LikeService::new(like_store.clone(), articles.clone(), ids.clone(), clock.clone()));
        let views = Arc::new(ViewService::new(
            Arc::new(SqliteViews::new(database.clone())),
            articles.clone(),
            ids.clone(),
            clock.clone(),
            &guests,
            ViewConfig { time_zone: time_zone.clone(), ..ViewConfig::default() },
        ));
        let log = SqliteLog::new(database.clone());
        let days = SiteDays::new(time_zone);
        let hot_store = Arc::new(SqliteHot::new(database.clone()));
        let progress = Arc::new(SqliteProgress::new(database.clone(), GroupId::new(hot::GROUP)));
        let read_model = Arc::new(MemoryReadModel::new(settings.read_model_mb * 1_000_000, clock.clone()));
        let owners = LocalOwners {
            articles: articles.clone(),
            comments: comments.clone(),
            likes: likes.clone(),
            views: views.clone(),
            together: Some(Arc::new(SqliteTogether::new(database.clone()))),
        };
        Ok(Self {
            read: Arc::new(ReadService::new(read_model.clone(), Arc::new(owners), clock.clone())),
            hot: Arc::new(HotService::new(hot_store.clone(), clock.clone(), days.clone(), progress)),
            groups: Groups::default(),
            members: Arc::new(MemberService::new(
                member_store.clone(),
                ids.clone(),
                clock.clone(),
                key,
                member_options(settings),
            )),
            articles,
            inbox: SqliteInbox::new(database.clone()),
            dead_letters: SqliteDeadLetters::new(database.clone()),
            database,
            log,
            days,
            comments,
            likes,
            views,
            read_model,
            hot_store,
            guests,
            member_store,
            article_store,
            comment_store,
            like_store,
            ids,
            leases,
            clock,
        })
    }

    /// Starts what every holder of a site needs: the renewal of its lease.
    pub fn keep(&self, supervisor: &Supervisor) {
        let (leases, ids) = (self.leases.clone(), self.ids.clone());
        supervisor.spawn("node-lease", OnError::Restart, move |stop| lease::keep(leases.clone(), ids.clone(), stop));
    }

    /// Gives the lease back and closes the store. Whatever may still ask for ids must have ended.
    pub async fn close(self) {
        if let Err(error) = self.leases.release(self.ids.lease(), self.ids.unused_from_ms()).await {
            tracing::warn!("the node lease was not given back and runs out by itself: {error}");
        }
        self.database.close().await;
    }
}

fn member_options(settings: &Settings) -> MemberOptions {
    MemberOptions {
        session_ttl: Duration::from_secs(settings.session_ttl_s),
        hash_memory_kib: settings.hash_memory_kib,
        hash_passes: settings.hash_passes,
        hash_concurrency: settings.hash_concurrency,
        hash_queue: settings.hash_queue,
    }
}
