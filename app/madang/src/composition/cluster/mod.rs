//! The same services on servers: MySQL, Redis and Kafka, and other processes for the roles that this one has not.

mod another_redis;
mod backing;
mod backlogs;
mod check;
mod clock_skew;
mod commits;
mod dead_letters;
mod health;
mod keys;
mod limits;
mod live;
mod near;
mod paused_groups;
mod peers;
mod pools;
mod progress;
mod relays;
mod servers;
mod stores;
mod topics;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use madang_article::ArticleService;
use madang_board::ArticleLookup;
use madang_comment::CommentService;
use madang_engine_redis::{RedisBroadcast, RedisBuckets, RedisMembership, RedisPauses};
use madang_http::HttpPeers;
use madang_kernel::{Clock, NodeId, NodeLease, NodeLeases, StoreError, SystemClock};
use madang_member::{MemberService, Moderation};
use madang_memory::NearReadModel;
use madang_messaging::InstanceId;
use madang_mysql::{MysqlImport, MysqlLeases, MysqlModeration};
use madang_redis::{RankedHot, RedisEpochs, RedisLiveViews, RedisReadModel};
use madang_search::SearchService;
use madang_view::{GuestKey, ViewService};
use madang_web::LiveHub;
use tracing::warn;

use self::backing::Cluster;
use self::backlogs::Backlogs;
use self::clock_skew::ClockSkews;
use self::dead_letters::AllDeadLetters;
use self::health::{LastLags, Naming};
use self::keys::ClusterKeys;
use self::limits::ClusterBuckets;
use self::near::Invalidations;
use self::peers::Acts;
use self::progress::KafkaProgress;
use self::servers::Servers;
pub(super) use self::servers::{kafka_options, mysql_options, redis_options};
use self::stores::ClusterStores;
use super::base::{Base, NodeNumber};
use super::site::{Services, Site, Stores};
use crate::config::roles::Roles;
use crate::config::{ClusterSettings, Settings};
use crate::tasks::consumers::{self, HOT_GROUP};
use crate::tasks::running_groups::RunningGroups;

/// What a process has before it has leased a number: no id can be issued under it.
const NO_LEASE: NodeLease = NodeLease { node: NodeId(0), from_ms: 0, until_ms: 0 };

/// Opens the part of the site that the roles of this process need.
pub(super) async fn open(settings: &Settings, cluster: &ClusterSettings, roles: Roles) -> anyhow::Result<Site> {
    let opening = Opening::begin(settings, cluster, &roles).await?;
    let services = opening.services(&roles);
    Ok(opening.site(roles, services))
}

/// What the services of a process of a cluster are made of.
struct Opening<'a> {
    base: Base<'a>,
    servers: Servers,
    keys: ClusterKeys,
    stores: ClusterStores,
    /// Scores with the ranking in front of them.
    ranked: Option<Arc<RankedHot>>,
    peers: Arc<HttpPeers>,
    model: Arc<RedisReadModel>,
    near: Arc<NearReadModel>,
    invalidations: Invalidations,
    epochs: Arc<RedisEpochs>,
    clock_skews: ClockSkews,
}

impl<'a> Opening<'a> {
    async fn begin(settings: &'a Settings, cluster: &ClusterSettings, roles: &Roles) -> anyhow::Result<Self> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let keys = ClusterKeys::read(cluster)?;
        let servers = Servers::reach(cluster, roles, &clock).await?;
        is_whole(&servers).await?;
        let clock_skews = ClockSkews::new(servers.member.clone(), cluster.clock_skew_max_ms);
        clock_skews.measure().await;
        let leases = Arc::new(MysqlLeases::new(&servers.member));
        let lease_ms =
            i64::try_from(cluster.node_lease_ms).context("setting `cluster.node_lease_ms` is out of range")?;
        let first = first_lease(leases.as_ref(), lease_ms).await?;
        let stores = ClusterStores::on(&servers, roles);
        let own_write_wait = Duration::from_millis(cluster.redis.own_write_wait_ms);
        let model = RedisReadModel::new(servers.redis.clone(), clock.clone()).with_committed_wait(own_write_wait);
        let model = Arc::new(model);
        let invalidations = Invalidations::new(servers.redis.clone());
        let near_bytes = cluster.near_cache_mb * 1_000_000;
        let near = NearReadModel::new(model.clone(), near_bytes, clock.clone(), Arc::new(invalidations.clone()));
        let epochs = Arc::new(RedisEpochs::new(servers.redis.clone()));
        // Where Redis is away now, it is looked at as soon as it is back.
        let _ = epochs.renew().await;
        Ok(Self {
            epochs,
            clock_skews,
            peers: Arc::new(peers::of(cluster, &keys, clock.clone())?),
            ranked: stores.scores.clone().map(|scores| Arc::new(RankedHot::new(scores, servers.redis.clone()))),
            model,
            near: Arc::new(near),
            invalidations,
            base: Base::new(settings, clock, NodeNumber { leases, first, lease_ms }, GuestKey::new(keys.guest()))?,
            servers,
            keys,
            stores,
        })
    }

    fn services(&self, roles: &Roles) -> Services {
        let (base, stores) = (&self.base, &self.stores);
        let members = stores.members.clone().map(|store| base.members(store, self.keys.token()));
        let articles = stores.articles.clone().map(|store| Arc::new(base.articles(store).sharing_its_store()));
        let lookup = peers::lookup(articles.as_ref(), &self.peers);
        let comments = stores.comments.clone().map(|store| base.comments(store, lookup.clone()));
        let moderation =
            members.as_ref().map(|members| self.moderation(members, &lookup, articles.as_ref(), comments.as_ref()));
        let mut services = Services {
            sessions: peers::sessions(members.as_ref(), &self.peers, base.clock.clone(), &self.keys),
            moderation,
            members,
            articles,
            comments,
            likes: stores.likes.clone().map(|store| base.likes(store, lookup.clone())),
            views: self.views(&lookup),
            read: None,
            hot: self.ranked.clone().map(|store| Arc::new(base.hot(store, Arc::new(self.progress())))),
            // No engine can be configured yet: whoever asks is told.
            search: Some(Arc::new(SearchService::not_configured())),
            article_lookup: lookup,
        };
        if roles.reads() {
            let owners = peers::owners(&services, &self.peers);
            services.read = Some(base.read(self.near.clone(), owners));
        }
        services
    }

    fn views(&self, lookup: &Arc<dyn ArticleLookup>) -> Option<Arc<ViewService>> {
        let store = self.stores.views.clone()?;
        let live = RedisLiveViews::new(self.servers.redis.clone(), self.base.guests.clone(), self.base.live_limits());
        Some(self.base.views(store, lookup.clone(), Arc::new(live)))
    }

    fn moderation(
        &self,
        members: &Arc<MemberService>,
        lookup: &Arc<dyn ArticleLookup>,
        articles: Option<&Arc<ArticleService>>,
        comments: Option<&Arc<CommentService>>,
    ) -> Arc<Moderation> {
        let store = Arc::new(MysqlModeration::new(self.servers.member.clone()));
        let acts = Acts::of(&self.servers);
        let moderated = peers::moderated(lookup.clone(), articles, comments, &acts, &self.peers);
        Arc::new(Moderation::new(store, members.clone(), moderated))
    }

    fn progress(&self) -> KafkaProgress {
        let outboxes = relays::WITH_OUTBOX.map(|service| relays::outbox(service, &self.servers, &self.peers));
        KafkaProgress::new(self.servers.log.clone(), consumers::config(HOT_GROUP), outboxes.into())
    }

    /// Joins the services with what stands behind them.
    fn site(self, roles: Roles, services: Services) -> Site {
        let Self { base, servers, keys, stores, ranked, peers, model, near, invalidations, epochs, clock_skews } = self;
        let members = stores.members.clone();
        let broadcast = RedisBroadcast::new(servers.redis.clone(), live::BROADCAST);
        Site {
            roles,
            internal: Some(peers::router(&services, members, &servers, &keys)),
            services,
            stores: Stores {
                comments: stores.comments.clone().map(|store| store as _),
                likes: stores.likes.clone().map(|store| store as _),
                hot: ranked.clone().map(|store| store as _),
                search: None,
            },
            read_model: near.clone(),
            days: base.days,
            groups: RunningGroups::default(),
            guests: base.guests,
            site_url: base.settings.base().map(Arc::from),
            setup_token: hex::encode(keys.setup()).into(),
            log: Arc::new(servers.log.clone()),
            dead_letters: Arc::new(AllDeadLetters::of(&servers)),
            ids: base.ids,
            leases: base.leases,
            lease_ms: base.lease_ms,
            clock: base.clock,
            buckets: Some(Arc::new(ClusterBuckets(RedisBuckets::new(servers.redis.clone())))),
            live: LiveHub::shared(Arc::new(live::Subscriptions(broadcast.clone()))),
            backing: Arc::new(Cluster {
                instance: InstanceId::new(format!("{}-{:08x}", std::process::id(), rand::random::<u32>())),
                membership: Arc::new(RedisMembership::new(servers.redis.clone())),
                paused: RedisPauses::new(servers.redis.clone()),
                lags: LastLags::default(),
                backlogs: Backlogs::default(),
                clock_skews,
                naming: if base.settings.operations_are_public() { Naming::Numbers } else { Naming::Hosts },
                epochs,
                ranked,
                servers,
                stores,
                model,
                near,
                invalidations,
                broadcast,
                peers,
            }),
        }
    }
}

/// A site that is still being copied here lacks what has not come yet, and what is written to it would be in the way.
async fn is_whole(servers: &Servers) -> anyhow::Result<()> {
    match MysqlImport::is_half_done(&servers.member).await {
        Ok(true) => bail!("a copy to this cluster was interrupted: run `madang copy` again to finish it, then start"),
        // A server that is away keeps nobody from starting.
        Ok(false) | Err(StoreError::Unavailable { .. }) => Ok(()),
        Err(error) => Err(error).context("cannot find out whether a copy to this cluster was interrupted"),
    }
}

/// A number at once where that can be had; otherwise the renewal takes one when the database is there.
async fn first_lease(leases: &dyn NodeLeases, lease_ms: i64) -> anyhow::Result<NodeLease> {
    match leases.acquire(lease_ms).await {
        Ok(lease) => Ok(lease),
        Err(error @ StoreError::Unavailable { .. }) => {
            warn!(
                "starting without a node number, retrying; boards, articles and comments cannot be created until there is one: {error}"
            );
            Ok(NO_LEASE)
        }
        Err(error) => Err(error).context("cannot lease a node number"),
    }
}
