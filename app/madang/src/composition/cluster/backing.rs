//! What stands behind the ports of a site on servers: databases, Redis and Kafka, with the relays between them.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use async_trait::async_trait;
use madang_article::CreateArticle;
use madang_board::check::CheckReport;
use madang_engine_redis::{RedisBroadcast, RedisPauses};
use madang_http::HttpPeers;
use madang_kernel::{IDEMPOTENCY_KEPT_MS, StoreError, Timestamp};
use madang_member::{MemberStore as _, forgettable_at};
use madang_memory::NearReadModel;
use madang_messaging::{ConsumerConfig, InstanceId, Membership, OnError, Outage, Position};
use madang_mysql::{Announce, MysqlArticles};
use madang_redis::{RankedHot, RedisEpochs, RedisReadModel};
use madang_server::PartState;

use super::backlogs::Backlogs;
use super::clock_skew::{CLOCK, ClockSkews};
use super::health::{self, LastLags, MYSQL, Naming, REDIS};
use super::near::Invalidations;
use super::servers::Servers;
use super::stores::ClusterStores;
use super::{another_redis, check, live, paused_groups, pools, relays, topics};
use crate::commands::output::Output;
use crate::composition::site::{Backing, GroupLagText, SeedStore, Site, SliceStore, Stages};
use crate::config::Settings;
use crate::config::roles::Role;
use crate::serve::readiness::{self, SESSIONS};
use crate::tasks::consumers;
use crate::tasks::upkeep::warn_on_error;

/// How long the log may take to end: to send what it has, and to leave its groups.
const LOG_CLOSE_MAX: Duration = Duration::from_secs(3);

/// Servers, and what this process is among others.
pub(super) struct Cluster {
    pub(super) servers: Servers,
    pub(super) stores: ClusterStores,
    pub(super) instance: InstanceId,
    pub(super) membership: Arc<dyn Membership>,
    pub(super) model: Arc<RedisReadModel>,
    pub(super) near: Arc<NearReadModel>,
    pub(super) invalidations: Invalidations,
    pub(super) broadcast: RedisBroadcast,
    pub(super) peers: Arc<HttpPeers>,
    pub(super) lags: LastLags,
    pub(super) backlogs: Backlogs,
    pub(super) clock_skews: ClockSkews,
    pub(super) naming: Naming,
    pub(super) epochs: Arc<RedisEpochs>,
    pub(super) ranked: Option<Arc<RankedHot>>,
    pub(super) paused: RedisPauses,
}

#[async_trait]
impl Backing for Cluster {
    fn is_shared(&self) -> bool {
        true
    }

    fn start(&self, site: &Site, stages: &Stages<'_>) {
        for database in self.servers.databases.iter().filter(|(service, _)| relays::has_outbox(*service)) {
            relays::start(database, self, site, stages);
        }
        let reads = site.services.read.is_some().then_some(&self.near);
        self.invalidations.start(stages.background, reads, site.services.read.as_ref());
        live::start(stages.background, &self.broadcast, &site.live, &site.services, site.roles.has(Role::Web));
        let groups: Vec<_> = consumers::all(site).into_iter().filter(|group| is_of(group, site)).collect();
        let (log, wanted) = (self.servers.log.clone(), groups.clone());
        stages
            .background
            .spawn("topics", OnError::Restart, move |stop| topics::keep(log.clone(), wanted.clone(), stop));
        let (lags, log) = (self.lags.clone(), self.servers.log.clone());
        stages
            .background
            .spawn("lags", OnError::Restart, move |stop| lags.clone().keep(log.clone(), groups.clone(), stop));
        let with_outbox = self.servers.databases.iter().filter(|(service, _)| relays::has_outbox(*service));
        let (backlogs, with_outbox) = (self.backlogs.clone(), with_outbox.cloned().collect::<Vec<_>>());
        stages
            .background
            .spawn("backlogs", OnError::Restart, move |stop| backlogs.clone().keep(with_outbox.clone(), stop));
        let pooled: Vec<_> = self.servers.of_all().map(|(service, database)| (service, database.clone())).collect();
        stages.background.spawn("pools", OnError::Restart, move |stop| pools::show(pooled.clone(), stop));
        let clock_skews = self.clock_skews.clone();
        stages.background.spawn("clock-skew", OnError::Restart, move |stop| clock_skews.clone().keep(stop));
        let (epochs, ranked, near) = (self.epochs.clone(), self.ranked.clone(), self.near.clone());
        stages.background.spawn("another-redis", OnError::Restart, move |stop| {
            another_redis::notice(epochs.clone(), ranked.clone(), near.clone(), stop)
        });
        let (paused, groups) = (self.paused.clone(), site.groups.clone());
        stages.background.spawn("paused-groups", OnError::Restart, move |stop| {
            paused_groups::follow(paused.clone(), groups.clone(), stop)
        });
    }

    /// A group joins when a broker answers, and goes on where it stopped.
    async fn prepare_groups(&self, groups: &[ConsumerConfig]) -> Result<(), Outage> {
        topics::make_at_start(&self.servers.log, groups).await;
        Ok(())
    }

    async fn parts(&self, site: &Site) -> Vec<PartState> {
        let servers = health::servers(&self.servers, self.naming).await;
        let mut parts = health::in_short(&servers, site.groups.names().len());
        parts.extend(servers);
        let peers = self.peers.states();
        parts.extend(peers.iter().enumerate().map(|(place, peer)| health::peer(place, peer, self.naming)));
        parts.push(readiness::ids(site));
        parts.push(self.clock_skews.part());
        parts.push(readiness::sessions(site));
        parts.extend(self.backlogs.parts());
        for name in site.groups.names() {
            let lag = self.lags.of(name).unwrap_or_else(|| "not known yet".to_owned());
            parts.push(site.groups.part(name, lag));
        }
        parts
    }

    /// As long as one relational server answers, its shards are served; and what is in the query model is read without.
    /// Members are served only where it is known which sessions have ended, and nobody by a clock that is wrong.
    fn can_serve(&self, parts: &[PartState]) -> bool {
        let is_well = |name: &str| parts.iter().any(|part| part.ok && part.name == name);
        is_well(SESSIONS)
            && is_well(CLOCK)
            && parts.iter().any(|part| part.ok && (part.name.starts_with(MYSQL) || part.name == REDIS))
    }

    async fn groups(&self, site: &Site) -> anyhow::Result<Vec<GroupLagText>> {
        let lags = health::lags(&self.servers.log, &consumers::all(site)).await;
        Ok(paused_groups::add_to(&self.paused, lags).await)
    }

    async fn set_paused(&self, group: &str, paused: bool) -> anyhow::Result<()> {
        let stored = if paused { self.paused.pause(group).await } else { self.paused.resume(group).await };
        stored.context("cannot store in Redis which groups are paused")
    }

    async fn skip(&self, group: &str, record: &Position) -> anyhow::Result<()> {
        self.paused.skip(group, record).await.context("cannot store in Redis which record to skip")
    }

    async fn forget_old(&self, site: &Site, _settings: &Settings, now: Timestamp) {
        let before = Timestamp::from_millis(now.as_millis() - IDEMPOTENCY_KEPT_MS);
        if let Some(articles) = self.stores.articles.as_ref().filter(|_| site.roles.has(Role::Article)) {
            warn_on_error("remove old idempotency keys of articles", articles.purge_once(before).await);
            warn_on_error("remove counters of boards that were never created", articles.drop_stray_counts().await);
        }
        if let Some(comments) = self.stores.comments.as_ref().filter(|_| site.roles.has(Role::Comment)) {
            warn_on_error("remove old idempotency keys of comments", comments.purge_once(before).await);
        }
        if let Some(members) = self.stores.members.as_ref().filter(|_| site.roles.has(Role::Member)) {
            warn_on_error("remove ended sessions", members.forget_expired(forgettable_at(now)).await);
        }
    }

    fn holds_query_model(&self, _site: &Site) -> bool {
        true
    }

    async fn check(&self, site: &Site, full: bool, output: &Output) -> anyhow::Result<CheckReport> {
        check::check(self, site, full, output).await
    }

    /// Through the lanes of what people write: there is none behind theirs.
    fn seed_store(&self, _in_background: bool) -> anyhow::Result<SeedStore> {
        let store = self.stores.articles.clone().context("this process does not have the role article")?;
        Ok(SeedStore::Slices(Arc::new(Slices(store))))
    }

    async fn close(&self) {
        if !self.servers.log.close(LOG_CLOSE_MAX).await {
            tracing::warn!(
                "kafka: the client did not close within {LOG_CLOSE_MAX:?}; the broker removes it from its groups by time-out"
            );
        }
        // All at once: a server that hangs costs its time-out one time.
        let databases = self.servers.databases.iter().map(|(_, database)| database).chain([&self.servers.member]);
        futures_util::future::join_all(databases.map(madang_mysql::Mysql::close)).await;
    }
}

/// Articles by the slice, by the store's own way to fill a site.
struct Slices(Arc<MysqlArticles>);

#[async_trait]
impl SliceStore for Slices {
    async fn create_slice(&self, new: Vec<CreateArticle>) -> Result<(), StoreError> {
        self.0.create_many(new, Announce::Each).await.map(|_| ())
    }
}

/// Whether this process runs a group.
fn is_of(group: &ConsumerConfig, site: &Site) -> bool {
    Role::ALL.into_iter().any(|role| role.name() == group.group.as_str() && site.roles.has(role))
}
