//! The other processes of the cluster: whom this one asks for what it has not itself, and what it answers them.

use std::sync::Arc;

use anyhow::Context as _;
use axum::Router;
use madang_article::ArticleService;
use madang_article_read::{ArticleOwner, CommentOwner, LikeOwner, Owners, ViewOwner};
use madang_board::{ArticleLookup, BoardLookup, CommentLookup};
use madang_comment::CommentService;
use madang_http::{
    HttpPeers, InternalArticles, InternalBoards, InternalComments, InternalParts, PeerAddress, PeerOptions,
    internal_router,
};
use madang_kernel::Clock;
use madang_member::{ActSource, MemberService, Moderated, RevocationSource, Sessions};
use madang_memory::{LocalArticles, LocalComments, LocalLikes, LocalViews};
use madang_mysql::{MysqlActs, MysqlMembers, Service};

use super::keys::ClusterKeys;
use super::relays;
use super::servers::Servers;
use crate::composition::site::Services;
use crate::config::ClusterSettings;
use crate::config::roles::Role;

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
        ..PeerOptions::new(keys.internal())
    };
    Ok(HttpPeers::new(&options, clock))
}

/// Who knows whether an article exists: a service of this process, or a peer.
pub(super) fn lookup(articles: Option<&Arc<ArticleService>>, peers: &Arc<HttpPeers>) -> Arc<dyn ArticleLookup> {
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
pub(super) fn owners(services: &Services, peers: &Arc<HttpPeers>) -> Owners {
    let local = Local::of(services);
    Owners {
        articles: local.articles.unwrap_or_else(|| peers.clone()),
        comments: local.comments.unwrap_or_else(|| peers.clone()),
        likes: local.likes.unwrap_or_else(|| peers.clone()),
        views: local.views.unwrap_or_else(|| peers.clone()),
        joined: None,
    }
}

/// What moderators did, as far as the databases of this process tell.
pub(super) struct Acts {
    pub(super) articles: Option<MysqlActs>,
    pub(super) comments: Option<MysqlActs>,
}

impl Acts {
    /// Those in the databases that this process has.
    pub(super) fn of(servers: &Servers) -> Self {
        let acts = |service| servers.database(service).map(MysqlActs::new);
        Self { articles: acts(Service::Article), comments: acts(Service::Comment) }
    }
}

/// What moderation asks others: services of this process, or peers.
pub(super) fn moderated(
    lookup: Arc<dyn ArticleLookup>,
    articles: Option<&Arc<ArticleService>>,
    comments: Option<&Arc<CommentService>>,
    acts: &Acts,
    peers: &Arc<HttpPeers>,
) -> Moderated {
    let boards: Arc<dyn BoardLookup> = match articles {
        Some(articles) => articles.clone(),
        None => peers.clone(),
    };
    let comments: Arc<dyn CommentLookup> = match comments {
        Some(comments) => comments.clone(),
        None => peers.clone(),
    };
    let here = |acts: &Option<MysqlActs>| acts.clone().map(|acts| Arc::new(acts) as Arc<dyn ActSource>);
    let on_articles = here(&acts.articles).unwrap_or_else(|| Arc::new(peers.article_acts()));
    let on_comments = here(&acts.comments).unwrap_or_else(|| Arc::new(peers.comment_acts()));
    Moderated { articles: lookup, boards, comments, acts: vec![on_articles, on_comments] }
}

/// What this process answers others.
pub(super) fn router(
    services: &Services,
    members: Option<Arc<MysqlMembers>>,
    servers: &Servers,
    keys: &ClusterKeys,
) -> Router {
    let (local, acts) = (Local::of(services), Acts::of(servers));
    let articles = services.articles.clone().zip(local.articles);
    let boards = services.articles.clone().zip(acts.articles);
    let comments = services.comments.clone().zip(acts.comments);
    internal_router(InternalParts {
        articles: articles.map(|(lookup, owner)| InternalArticles { lookup, owner }),
        comments: local.comments,
        likes: local.likes,
        views: local.views,
        members: members.map(|store| Arc::new(store) as Arc<dyn RevocationSource>),
        moderated_articles: boards.map(|(boards, acts)| InternalBoards { boards, acts: Arc::new(acts) }),
        moderated_comments: comments.map(|(comments, acts)| InternalComments { comments, acts: Arc::new(acts) }),
        outboxes: relays::outboxes(servers),
        ..InternalParts::new(keys.internal())
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
