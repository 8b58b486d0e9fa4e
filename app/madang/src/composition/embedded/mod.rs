//! Everything in one process over one SQLite file: the outbox row is the log entry, and the query model is in memory.

mod check;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use async_trait::async_trait;
use jiff::tz::TimeZone;
use madang_api::PartState;
use madang_article::ArticleService;
use madang_article_read::ReadService;
use madang_comment::{CommentService, DepthMax};
use madang_hot_article::{HotService, SiteDays};
use madang_kernel::{Clock, IDEMPOTENCY_KEPT_MS, IdGenerator, NodeLeases as _, SystemClock, Timestamp};
use madang_like::LikeService;
use madang_member::{MemberService, MemberStore as _, Moderated, Moderation};
use madang_memory::{LocalOwners, MemoryReadModel};
use madang_messaging::{ConsumerConfig, GroupId, Inbox as _, Outage};
use madang_sqlite::{
    GroupLag, Lane, RetentionOptions, Sqlite, SqliteArticles, SqliteComments, SqliteDeadLetters, SqliteHot,
    SqliteInbox, SqliteLeases, SqliteLikes, SqliteLog, SqliteMembers, SqliteModeration, SqliteOptions, SqliteProgress,
    SqliteTogether, SqliteViews,
};
use madang_view::{GuestKey, ViewConfig, ViewService};
use madang_web::LiveHub;
use tracing::info;

use super::{hex, member_options};
use crate::commands::report::Report;
use crate::composition::site::{Backing, GroupProgress, SeedStore, Services, Site, Stages, Stores};
use crate::config::Settings;
use crate::config::data_directory::DataDirectory;
use crate::config::keys;
use crate::config::roles::Roles;
use crate::tasks::consumers::READ_GROUP;
use crate::tasks::groups::Groups;
use crate::tasks::upkeep::{INBOX_KEPT, warn_on_error};
use crate::tasks::{hot, lag};

/// How long the node number is leased: the lock on the directory makes it ours, so this is about crashes only.
const LEASE_MS: i64 = 10_000;

/// What stands behind an embedded site.
struct Embedded {
    database: Sqlite,
    log: SqliteLog,
    inbox: SqliteInbox,
    members: Arc<SqliteMembers>,
    articles: Arc<SqliteArticles>,
    model: Arc<MemoryReadModel>,
}

/// Opens the site in a data directory that is ours.
pub(super) async fn open(settings: &Settings, roles: Roles, data: &DataDirectory) -> anyhow::Result<Site> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let key = keys::token_keys(data.path())?;
    let options = SqliteOptions {
        readers: settings.readers,
        people_queue: settings.people_queue,
        background_queue: settings.background_queue,
        batch_max: settings.batch_max,
        ..SqliteOptions::in_directory(data.path())
    };
    let database = Sqlite::open(options, clock.clone())?;
    let leases = Arc::new(SqliteLeases::new(database.clone()));
    let node = leases.acquire(LEASE_MS).await.context("cannot lease a node number")?;
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
    let model = Arc::new(MemoryReadModel::new(settings.read_model_mb * 1_000_000, clock.clone()));
    let owners = LocalOwners {
        articles: articles.clone(),
        comments: comments.clone(),
        likes: likes.clone(),
        views: views.clone(),
        together: Some(Arc::new(SqliteTogether::new(database.clone()))),
    };
    let members = MemberService::new(member_store.clone(), ids.clone(), clock.clone(), key, member_options(settings));
    let members = Arc::new(members);
    let store = Arc::new(SqliteModeration::new(database.clone()));
    let moderated = Moderated {
        articles: articles.clone(),
        boards: articles.clone(),
        comments: comments.clone(),
        // One file has all of them.
        acts: Vec::new(),
    };
    let moderation = Moderation::new(store, members.clone(), moderated);
    let services = Services {
        moderation: Some(Arc::new(moderation)),
        sessions: members.sessions(),
        members: Some(members),
        articles: Some(articles.clone()),
        comments: Some(comments),
        likes: Some(likes),
        views: Some(views),
        read: Some(Arc::new(ReadService::new(model.clone(), Arc::new(owners), clock.clone()))),
        hot: Some(Arc::new(HotService::new(hot_store.clone(), clock.clone(), days.clone(), progress))),
    };
    let backing = Embedded {
        inbox: SqliteInbox::new(database.clone()),
        log: log.clone(),
        members: member_store,
        articles: article_store,
        model: model.clone(),
        database: database.clone(),
    };
    Ok(Site {
        roles,
        services,
        stores: Stores { comments: Some(comment_store), likes: Some(like_store), hot: Some(hot_store) },
        lookup: articles,
        read_model: Some(model),
        internal: None,
        days,
        groups: Groups::default(),
        guests,
        setup_token: hex(&rand::random::<[u8; 32]>()).into(),
        log: Arc::new(log),
        dead_letters: Arc::new(SqliteDeadLetters::new(database)),
        ids,
        leases,
        lease_ms: LEASE_MS,
        clock,
        buckets: None,
        live: LiveHub::default(),
        backing: Arc::new(backing),
    })
}

#[async_trait]
impl Backing for Embedded {
    fn is_shared(&self) -> bool {
        false
    }

    /// From here on people read their own writes: the model hears of a change before whoever made it is answered.
    fn start(&self, site: &Site, _stages: &Stages<'_>) {
        let (model, read, live) = (self.model.clone(), site.services.read.clone(), site.live.clone());
        self.database.on_commit(Arc::new(move |events| {
            model.merge_committed(events);
            if let Some(read) = &read {
                read.note_committed(events);
            }
            live.publish(events);
        }));
    }

    /// The query model starts empty, so its group starts at the end of the log.
    async fn prepare_groups(&self, groups: &[ConsumerConfig]) -> Result<(), Outage> {
        for group in groups.iter().filter(|group| group.group.as_str() == READ_GROUP) {
            self.log.forget_group(&group.group).await?;
            self.log.register_group_at_head(&group.group, &group.topics).await?;
        }
        Ok(())
    }

    async fn parts(&self, site: &Site) -> Vec<PartState> {
        let (writer, lags) = tokio::join!(self.database.write(Lane::People, |_| Ok(())), self.log.lag());
        // Renewing the lease is a write to disk every few seconds: a disk that is full or gone shows here.
        let mut parts = vec![
            part("store", writer.map(|()| "takes writes".to_owned())),
            part("log", lags.as_ref().map(|lags| format!("{} consumer groups", lags.len()))),
            crate::serve::readiness::ids(site),
        ];
        // A group that is behind is no reason to send readers elsewhere: what it keeps is old, and says how old.
        parts.extend(lags.unwrap_or_default().iter().map(|lag| group(site, lag)));
        parts
    }

    async fn groups(&self) -> anyhow::Result<Vec<GroupProgress>> {
        let lags = self.log.lag().await?;
        let progress = |lag: &GroupLag| GroupProgress { name: lag.group.to_string(), words: lag::in_words(lag) };
        Ok(lags.iter().map(progress).collect())
    }

    async fn forget_old(&self, site: &Site, settings: &Settings) {
        match self.log.trim(retention(settings)).await {
            Ok(trimmed) if trimmed.removed > 0 => info!(removed = trimmed.removed, "trimmed the event log"),
            outcome => warn_on_error("trim the event log", outcome),
        }
        let now = site.clock.now();
        let before = Timestamp::from_millis(now.as_millis() - IDEMPOTENCY_KEPT_MS);
        warn_on_error("forget idempotency keys", self.articles.purge_once(before).await);
        warn_on_error("forget ended sessions", self.members.forget_expired(now).await);
        warn_on_error("forget processed events", self.inbox.forget_older_than(INBOX_KEPT).await);
    }

    fn holds_query_model(&self, site: &Site) -> bool {
        !site.groups.names().is_empty()
    }

    async fn check(&self, site: &Site, full: bool, report: &Report) -> anyhow::Result<usize> {
        check::check(&self.database, site, full, report).await
    }

    fn seed_store(&self, beside_people: bool) -> anyhow::Result<SeedStore> {
        Ok(SeedStore::OneByOne(match beside_people {
            true => Arc::new(SqliteArticles::in_background(self.database.clone())),
            false => Arc::new(SqliteArticles::new(self.database.clone())),
        }))
    }

    async fn close(&self) {
        self.database.clone().close().await;
    }
}

fn retention(settings: &Settings) -> RetentionOptions {
    RetentionOptions {
        keep_rows: settings.event_log_keep_rows,
        keep_for: Duration::from_secs(settings.event_log_keep_for_s),
        hard_max_rows: settings.event_log_hard_max_rows,
        ..RetentionOptions::default()
    }
}

fn group(site: &Site, lag: &GroupLag) -> PartState {
    let name = lag.group.as_str();
    PartState { name: format!("group {name}"), ok: true, detail: site.groups.in_words(name, lag::in_words(lag)) }
}

fn part<E: std::fmt::Display>(name: &str, state: Result<String, E>) -> PartState {
    let (ok, detail) = match state {
        Ok(detail) => (true, detail),
        Err(error) => (false, error.to_string()),
    };
    PartState { name: name.to_owned(), ok, detail }
}
