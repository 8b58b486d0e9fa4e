//! The composition root: opens the store and puts the services on it, the same for a server and for a command.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use madang_article::ArticleService;
use madang_kernel::{Clock, IdGenerator, NodeLeases as _, SystemClock};
use madang_member::{MemberOptions, MemberService};
use madang_messaging::{OnError, Supervisor};
use madang_sqlite::{
    Sqlite, SqliteArticles, SqliteDeadLetters, SqliteInbox, SqliteLeases, SqliteLog, SqliteMembers, SqliteOptions,
};

use crate::config::Settings;
use crate::data_directory::DataDirectory;
use crate::{keys, lease};

/// Everything a server or a command works with. Clones share it.
#[derive(Clone)]
pub struct Site {
    /// The store itself.
    pub database: Sqlite,
    /// Members and sessions.
    pub members: Arc<MemberService>,
    /// Boards and articles.
    pub articles: Arc<ArticleService>,
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
        Ok(Self {
            members: Arc::new(MemberService::new(
                member_store.clone(),
                ids.clone(),
                clock.clone(),
                key,
                member_options(settings),
            )),
            articles: Arc::new(ArticleService::new(article_store.clone(), ids.clone(), clock.clone())),
            log: SqliteLog::new(database.clone()),
            inbox: SqliteInbox::new(database.clone()),
            dead_letters: SqliteDeadLetters::new(database.clone()),
            database,
            member_store,
            article_store,
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
