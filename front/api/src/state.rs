//! What the handlers work with: the services, the limits, and what the process says about its own health.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use madang_article::ArticleService;
use madang_article_read::ReadService;
use madang_comment::CommentService;
use madang_hot_article::HotService;
use madang_like::LikeService;
use madang_member::{MemberService, Sessions};
use madang_view::{GuestKey, ViewService};
use serde::Serialize;
use utoipa::ToSchema;

use crate::rendered::Rendered;

use crate::TrustedProxies;

/// Everything a handler may need.
pub struct ApiState {
    /// Who asks: tokens and what was revoked, known in every process.
    pub sessions: Arc<Sessions>,
    /// Members, signing in and out.
    pub members: Arc<MemberService>,
    /// Boards and articles.
    pub articles: Arc<ArticleService>,
    /// Comments.
    pub comments: Arc<CommentService>,
    /// Likes.
    pub likes: Arc<LikeService>,
    /// Views.
    pub views: Arc<ViewService>,
    /// Reading: articles and lists with their counts.
    pub read: Arc<ReadService>,
    /// Answers of the last moment.
    pub rendered: Rendered,
    /// The hot articles of the last days.
    pub hot: Arc<HotService>,
    /// Turns a guest's address into somebody who can be counted once and not be recognised.
    pub guests: GuestKey,
    /// What `/readyz` reports.
    pub readiness: Arc<dyn Readiness>,
    /// Renders `/metrics` in Prometheus' text format.
    pub metrics: Arc<dyn Fn() -> String + Send + Sync>,
    /// What a request may cost.
    pub limits: ApiLimits,
}

/// The state as axum carries it: one reference to count per request instead of one for each part.
pub(crate) type Shared = Arc<ApiState>;

/// What a request may cost, how careful its cookie is, and whose word about its origin counts.
#[derive(Debug, Clone)]
pub struct ApiLimits {
    /// The largest body that is read.
    pub body_bytes: usize,
    /// Requests worked on at the same time; more are refused at once.
    pub in_flight: usize,
    /// How long one request may take.
    pub request_timeout: Duration,
    /// Whether the session cookie is sent over TLS only.
    pub cookies_secure: bool,
    /// Whose `X-Forwarded-For` is believed.
    pub trusted_proxies: TrustedProxies,
}

impl Default for ApiLimits {
    fn default() -> Self {
        Self {
            body_bytes: 256 * 1_024,
            in_flight: 2_048,
            request_timeout: Duration::from_secs(10),
            cookies_secure: false,
            trusted_proxies: TrustedProxies::default(),
        }
    }
}

/// Knows whether the parts a process depends on are there.
#[async_trait]
pub trait Readiness: Send + Sync {
    /// Each part, with its state at this moment.
    async fn parts(&self) -> Vec<PartState>;
}

/// One part a process depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PartState {
    /// Which part.
    pub name: String,
    /// Whether it does its work.
    pub ok: bool,
    /// What an operator should know.
    pub detail: String,
}
