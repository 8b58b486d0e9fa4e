//! The answering end: the parts that a process owns, for its peers only. Mounted on the internal listener, never on the
//! public one.

mod articles;
mod counts;
mod guard;
mod members;
mod moderation;
mod outboxes;
mod reply;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use madang_article_read::{ArticleOwner, CommentOwner, LikeOwner, ViewOwner};
use madang_board::ArticleLookup;
use madang_member::RevocationSource;

use crate::InternalSecret;
use crate::wire::BODY_BYTES_MAX;
use guard::Guard;
pub use moderation::{InternalBoards, InternalComments};
pub use outboxes::Outboxes;

/// What a process has to answer with; a part that it has not is 404 to its peers.
pub struct InternalParts {
    /// What every call must know.
    pub secret: InternalSecret,
    /// Boards and articles.
    pub articles: Option<InternalArticles>,
    /// Comments.
    pub comments: Option<Arc<dyn CommentOwner>>,
    /// Likes.
    pub likes: Option<Arc<dyn LikeOwner>>,
    /// Views.
    pub views: Option<Arc<dyn ViewOwner>>,
    /// What was revoked of sessions and roles.
    pub members: Option<Arc<dyn RevocationSource>>,
    /// What moderation asks about boards and articles.
    pub moderated_articles: Option<InternalBoards>,
    /// What moderation asks about comments.
    pub moderated_comments: Option<InternalComments>,
    /// Where events wait to be sent.
    pub outboxes: Outboxes,
}

impl InternalParts {
    /// None of the parts.
    pub fn new(secret: InternalSecret) -> Self {
        Self {
            secret,
            articles: None,
            comments: None,
            likes: None,
            views: None,
            members: None,
            moderated_articles: None,
            moderated_comments: None,
            outboxes: Vec::new(),
        }
    }
}

/// The owner of articles, in its two capacities.
pub struct InternalArticles {
    /// Whether an article exists.
    pub lookup: Arc<dyn ArticleLookup>,
    /// What rebuilds ask.
    pub owner: Arc<dyn ArticleOwner>,
}

/// The router of the internal listener: everything under `/internal/v1`, and nothing without the secret.
pub fn internal_router(parts: InternalParts) -> Router {
    let mut router = Router::new();
    if let Some(articles) = &parts.articles {
        router = articles::routes(router, articles);
    }
    if let Some(comments) = &parts.comments {
        router = counts::comments(router, comments);
    }
    if let Some(likes) = &parts.likes {
        router = counts::likes(router, likes);
    }
    if let Some(views) = &parts.views {
        router = counts::views(router, views);
    }
    if let Some(members) = &parts.members {
        router = members::routes(router, members);
    }
    if let Some(boards) = &parts.moderated_articles {
        router = moderation::boards(router, boards);
    }
    if let Some(comments) = &parts.moderated_comments {
        router = moderation::comments(router, comments);
    }
    if !parts.outboxes.is_empty() {
        router = outboxes::routes(router, &Arc::new(parts.outboxes));
    }
    router
        .fallback(reply::not_served)
        .method_not_allowed_fallback(reply::not_served)
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        // Last, and so first to see a request: without the secret nothing is read, nor told apart.
        .layer(from_fn_with_state(Arc::new(Guard::new(parts.secret)), guard::admit))
}
