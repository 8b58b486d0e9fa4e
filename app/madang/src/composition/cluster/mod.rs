//! The same services on servers: MySQL, Redis and Kafka, and other processes for the roles that this one has not.

mod backing;
mod carriers;
mod check;
mod commits;
mod dead_letters;
mod health;
mod hot_source;
mod keys;
mod limits;
mod live;
mod model;
mod peers;
mod progress;
mod rests;
mod servers;
mod topics;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use jiff::tz::TimeZone;
use madang_article::ArticleService;
use madang_article_read::{ReadModel, ReadService};
use madang_comment::{CommentService, DepthMax};
use madang_hot_article::{HotService, SiteDays};
use madang_kernel::{Clock, IdGenerator, NodeId, NodeLease, NodeLeases, StoreError, SystemClock};
use madang_like::LikeService;
use madang_member::{MemberService, Moderation};
use madang_messaging::InstanceId;
use madang_mysql::{
    MysqlActs, MysqlArticles, MysqlComments, MysqlHot, MysqlImport, MysqlLeases, MysqlLikes, MysqlMembers,
    MysqlModeration, MysqlViews, Service,
};
use madang_redis::{
    RankedHot, RedisBroadcast, RedisBuckets, RedisLiveViews, RedisMembership, RedisReadModel, RedisRests,
};
use madang_view::{GuestKey, LiveLimits, ViewService};
use madang_web::LiveHub;
use tracing::warn;

use self::backing::Cluster;
use self::dead_letters::AllDeadLetters;
use self::health::Lags;
use self::keys::ClusterKeys;
use self::limits::ClusterBuckets;
use self::model::Dispensable;
use self::peers::Acts;
use self::progress::KafkaProgress;
use self::servers::Servers;
pub(super) use self::servers::mysql_options;
use super::{hex, member_options};
use crate::composition::site::{Services, Site, Stores};
use crate::config::roles::{Role, Roles};
use crate::config::{ClusterSettings, Settings};
use crate::tasks::groups::Groups;
use crate::tasks::{consumers, hot};

/// What a process has before it has leased a number: no id can be issued under it.
const NO_LEASE: NodeLease = NodeLease { node: NodeId(0), from_ms: 0, until_ms: 0 };

/// Opens the part of the site that the roles of this process need.
pub(super) async fn open(settings: &Settings, cluster: &ClusterSettings, roles: Roles) -> anyhow::Result<Site> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let keys = ClusterKeys::read(cluster)?;
    let servers = Servers::reach(cluster, &roles, &clock).await?;
    is_whole(&servers).await?;
    let leases = Arc::new(MysqlLeases::new(servers.member.clone()));
    let lease_ms = i64::try_from(cluster.node_lease_ms).context("cluster.node_lease_ms is out of its range")?;
    let ids = Arc::new(IdGenerator::new(clock.clone(), first_lease(leases.as_ref(), lease_ms).await?));
    let of = |service: Service| servers.database(service);

    let member_store = roles.runs(Role::Member).then(|| Arc::new(MysqlMembers::new(servers.member.clone())));
    let members = member_store
        .clone()
        .map(|store| MemberService::new(store, ids.clone(), clock.clone(), keys.token(), member_options(settings)));
    let members = members.map(Arc::new);
    let article_store = of(Service::Article).map(|database| Arc::new(MysqlArticles::new(database)));
    let articles = article_store
        .clone()
        .map(|store| Arc::new(ArticleService::new(store, ids.clone(), clock.clone()).sharing_its_store()));
    let peers = Arc::new(peers::of(cluster, &keys, clock.clone())?);
    let lookup = peers::lookup(articles.as_ref(), &peers);
    let sessions = peers::sessions(members.as_ref(), &peers, clock.clone(), &keys);
    let comment_store = of(Service::Comment).map(|database| Arc::new(MysqlComments::new(database)));
    let depth = DepthMax::new(settings.comment_depth_max).context("comment_depth_max is out of its range")?;
    let comments = comment_store
        .clone()
        .map(|store| Arc::new(CommentService::new(store, lookup.clone(), ids.clone(), clock.clone(), depth)));
    let like_store = of(Service::Like).map(|database| Arc::new(MysqlLikes::new(database)));
    let likes =
        like_store.clone().map(|store| Arc::new(LikeService::new(store, lookup.clone(), ids.clone(), clock.clone())));
    let guests = GuestKey::new(keys.guest());
    let time_zone = TimeZone::get(&settings.time_zone)?;
    let live = Arc::new(RedisLiveViews::new(servers.redis.clone(), guests.clone(), LiveLimits::default()));
    let view_store = of(Service::View).map(|database| Arc::new(MysqlViews::new(database)));
    let views = view_store.clone().map(|store| {
        let zone = time_zone.clone();
        Arc::new(ViewService::over(store, lookup.clone(), ids.clone(), clock.clone(), live, zone))
    });
    let acts =
        Acts { articles: of(Service::Article).map(MysqlActs::new), comments: of(Service::Comment).map(MysqlActs::new) };
    let moderation = members.clone().map(|members| {
        let store = Arc::new(MysqlModeration::new(servers.member.clone()));
        let moderated = peers::moderated(lookup.clone(), articles.as_ref(), comments.as_ref(), &acts, &peers);
        Arc::new(Moderation::new(store, members, moderated))
    });
    let (read, hot) = (None, None);
    let mut services = Services { sessions, members, moderation, articles, comments, likes, views, read, hot };
    let days = SiteDays::new(time_zone);
    let internal = peers::router(&services, member_store.clone(), acts, &keys);
    let own_write_wait = Duration::from_millis(cluster.redis.own_write_wait_ms);
    let model = RedisReadModel::new(servers.redis.clone(), clock.clone()).with_committed_wait(own_write_wait);
    let model = Arc::new(model);
    let read_model: Arc<dyn ReadModel> = Arc::new(Dispensable(model.clone()));
    if roles.reads() {
        let owners = Arc::new(peers::owners(&services, &peers));
        services.read = Some(Arc::new(ReadService::new(read_model.clone(), owners, clock.clone())));
    }
    let scores = of(Service::HotArticle).map(|database| Arc::new(MysqlHot::new(database)));
    let hot_store = scores.clone().map(|scores| Arc::new(RankedHot::new(scores, servers.redis.clone())));
    let progress = || Arc::new(KafkaProgress::new(servers.log.clone(), consumers::config(hot::GROUP)));
    services.hot =
        hot_store.clone().map(|store| Arc::new(HotService::new(store, clock.clone(), days.clone(), progress())));
    let log = servers.log.clone();
    let dead_letters = AllDeadLetters::of(&servers);
    let broadcast = RedisBroadcast::new(servers.redis.clone());
    let hub = LiveHub::shared(Arc::new(live::Followed(broadcast.clone())));
    let buckets = Arc::new(ClusterBuckets(RedisBuckets::new(servers.redis.clone())));
    let backing = Cluster {
        instance: InstanceId::new(format!("{}-{:08x}", std::process::id(), rand::random::<u32>())),
        membership: Arc::new(RedisMembership::new(servers.redis.clone())),
        model,
        broadcast,
        peers,
        members: member_store,
        articles: article_store,
        comments: comment_store.clone(),
        views: view_store,
        scores,
        lags: Lags::default(),
        rests: RedisRests::new(servers.redis.clone()),
        servers,
    };
    Ok(Site {
        roles,
        services,
        stores: Stores {
            comments: comment_store.map(|store| store as _),
            likes: like_store.map(|store| store as _),
            hot: hot_store.map(|store| store as _),
        },
        lookup,
        read_model: Some(read_model),
        internal: Some(internal),
        days,
        groups: Groups::default(),
        guests,
        setup_token: hex(&keys.setup()).into(),
        log: Arc::new(log),
        dead_letters: Arc::new(dead_letters),
        ids,
        leases,
        lease_ms,
        clock,
        buckets: Some(buckets),
        live: hub,
        backing: Arc::new(backing),
    })
}

/// A site that is still being copied here lacks what has not come yet, and what is written to it would be in the way.
async fn is_whole(servers: &Servers) -> anyhow::Result<()> {
    match MysqlImport::is_half_done(&servers.member).await {
        Ok(true) => bail!("a copy to this cluster has begun and not ended: run `madang copy` again, which goes on"),
        // A server that is away keeps nobody from starting.
        Ok(false) | Err(StoreError::Unavailable { .. }) => Ok(()),
        Err(error) => Err(error).context("cannot tell whether a copy to this cluster has ended"),
    }
}

/// A number at once where that can be had; otherwise the renewal takes one when the database is there.
async fn first_lease(leases: &dyn NodeLeases, lease_ms: i64) -> anyhow::Result<NodeLease> {
    match leases.acquire(lease_ms).await {
        Ok(lease) => Ok(lease),
        Err(error @ StoreError::Unavailable { .. }) => {
            warn!("starting without a node number, so nothing can be created yet: {error}");
            Ok(NO_LEASE)
        }
        Err(error) => Err(error).context("cannot lease a node number"),
    }
}
