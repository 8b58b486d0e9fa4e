//! The other processes of the cluster: whom this one asks for what it has not itself, and what it answers them.

use std::sync::Arc;

use anyhow::Context as _;
use axum::Router;
use madang_article_read::{ArticleOwner, CommentOwner, LikeOwner, MixedOwners, ViewOwner};
use madang_http::{
    HttpPeers, InternalArticles, InternalParts, InternalSecret, PeerAddress, PeerOptions, internal_router,
};
use madang_kernel::{ArticleLookup, Clock};
use madang_member::{MemberService, RevocationSource, Sessions};
use madang_memory::{LocalArticles, LocalComments, LocalLikes, LocalViews};
use madang_mysql::MysqlMembers;

use super::keys::ClusterKeys;
use crate::config::ClusterSettings;
use crate::roles::Role;
use crate::site::Services;

/// The processes with roles that this one may ask.
pub(super) fn of(settings: &ClusterSettings, keys: &ClusterKeys, clock: Arc<dyn Clock>) -> anyhow::Result<HttpPeers> {
    let addresses = |role: Role| -> anyhow::Result<Vec<PeerAddress>> {
        let parsed = settings.peers_of(role).iter().map(|text| text.parse());
        parsed.collect::<Result<_, _>>().with_context(|| format!("setting `cluster.peers.{}`", role.name()))
    };
    let options = PeerOptions {
        articles: addresses(Role::Article)?,
        comments: addresses(Role::Comment)?,
        likes: addresses(Role::Like)?,
        views: addresses(Role::View)?,
        members: addresses(Role::Member)?,
        ..PeerOptions::new(InternalSecret::new(keys.internal()))
    };
    Ok(HttpPeers::new(&options, clock))
}

/// Who knows whether an article exists: a service of this process, or a peer.
pub(super) fn lookup(
    articles: Option<&Arc<madang_article::ArticleService>>,
    peers: &Arc<HttpPeers>,
) -> Arc<dyn ArticleLookup> {
    match articles {
        Some(articles) => articles.clone(),
        None => peers.clone(),
    }
}

/// Who knows whose a token is. Without the members here, a peer tells which sessions have ended.
pub(super) fn sessions(
    members: Option<&Arc<MemberService>>,
    peers: &Arc<HttpPeers>,
    clock: Arc<dyn Clock>,
    keys: &ClusterKeys,
) -> Arc<Sessions> {
    match members {
        Some(members) => members.sessions(),
        None => Arc::new(Sessions::new(peers.clone(), clock, keys.token())),
    }
}

/// The owners of what the query model is made of, each in this process or at a peer.
pub(super) fn owners(services: &Services, peers: &Arc<HttpPeers>) -> MixedOwners {
    let local = Local::of(services);
    MixedOwners {
        articles: local.articles.unwrap_or_else(|| peers.clone()),
        comments: local.comments.unwrap_or_else(|| peers.clone()),
        likes: local.likes.unwrap_or_else(|| peers.clone()),
        views: local.views.unwrap_or_else(|| peers.clone()),
    }
}

/// What this process answers others.
pub(super) fn router(services: &Services, members: Option<Arc<MysqlMembers>>, keys: &ClusterKeys) -> Router {
    let local = Local::of(services);
    let articles = services.articles.clone().zip(local.articles);
    internal_router(InternalParts {
        articles: articles.map(|(lookup, owner)| InternalArticles { lookup, owner }),
        comments: local.comments,
        likes: local.likes,
        views: local.views,
        members: members.map(|store| Arc::new(store) as Arc<dyn RevocationSource>),
        ..InternalParts::new(InternalSecret::new(keys.internal()))
    })
}

/// The owners that are in this process.
struct Local {
    articles: Option<Arc<dyn ArticleOwner>>,
    comments: Option<Arc<dyn CommentOwner>>,
    likes: Option<Arc<dyn LikeOwner>>,
    views: Option<Arc<dyn ViewOwner>>,
}

impl Local {
    fn of(services: &Services) -> Self {
        Self {
            articles: services.articles.clone().map(|service| Arc::new(LocalArticles(service)) as _),
            comments: services.comments.clone().map(|service| Arc::new(LocalComments(service)) as _),
            likes: services.likes.clone().map(|service| Arc::new(LocalLikes(service)) as _),
            views: services.views.clone().map(|service| Arc::new(LocalViews(service)) as _),
        }
    }
}
