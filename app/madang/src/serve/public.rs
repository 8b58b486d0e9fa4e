//! The public face of a process: the calls and pages of its roles on one router, and beside it what operators ask.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use axum::Router;
use madang_api::{ApiState, ArticleCalls, HotCalls, LockCalls, ReadCalls, ViewCalls};
use madang_server::{Limiter, MemoryBuckets, RateLimits, RequestPolicy};

use super::pages;
use super::readiness::SiteReadiness;
use crate::composition::site::Site;
use crate::config::roles::Role;
use crate::config::{Settings, Switch};
use crate::telemetry::Metrics;

/// The routers of a process.
pub(crate) struct Routers {
    /// For everybody.
    pub(crate) public: Router,
    /// For operators.
    pub(crate) operations: Router,
}

/// The routers of a process.
pub(crate) fn routers(site: &Site, settings: &Settings, metrics: Metrics) -> anyhow::Result<Routers> {
    let api = calls(site, settings, metrics.clone())?;
    let operations = madang_api::operations_router(&api);
    if !site.roles.has(Role::Web) {
        return Ok(Routers { public: madang_api::router(api), operations });
    }
    let pages = pages::state(site, settings, api.policy.clone(), metrics)?;
    Ok(Routers { public: madang_api::router_with_pages(api, madang_web::pages(pages)), operations })
}

fn calls(site: &Site, settings: &Settings, metrics: Metrics) -> anyhow::Result<ApiState> {
    let services = &site.services;
    let read = || services.read.clone();
    // Pages run the use cases of every role; their calls are still for the processes of those roles.
    let of = |role: Role| site.roles.has(role);
    Ok(ApiState {
        sessions: services.sessions.clone(),
        members: services.members.clone().filter(|_| of(Role::Member)),
        articles: services
            .articles
            .clone()
            .zip(read())
            .filter(|_| of(Role::Article))
            .map(|(articles, read)| ArticleCalls { articles, read }),
        read: read().filter(|_| of(Role::ArticleRead)).map(ReadCalls::new),
        comments: services.comments.clone().filter(|_| of(Role::Comment)),
        locks: services
            .comments
            .clone()
            .zip(read())
            .filter(|_| of(Role::Comment))
            .map(|(comments, read)| LockCalls { comments, read }),
        likes: services.likes.clone().filter(|_| of(Role::Like)),
        views: services
            .views
            .clone()
            .filter(|_| of(Role::View))
            .map(|views| ViewCalls { views, guests: site.guests.clone() }),
        hot: services
            .hot
            .clone()
            .zip(read())
            .filter(|_| of(Role::HotArticle))
            .map(|(hot, read)| HotCalls::new(hot, read)),
        // Without an engine every process says so.
        search: services.search.clone().filter(|search| of(Role::Search) || !search.is_configured()),
        moderation: services.moderation.clone().filter(|_| of(Role::Member)),
        readiness: Arc::new(SiteReadiness(site.clone())),
        metrics: Arc::new(move || metrics.render()),
        operations_public: settings.operations_are_public(),
        policy: RequestPolicy {
            body_bytes: settings.body_limit_bytes,
            in_flight: settings.in_flight_max,
            request_timeout: Duration::from_millis(settings.request_timeout_ms),
            body_timeout: Duration::from_millis(settings.body_timeout_ms),
            hsts: settings.speaks_tls(),
            cookies_secure: settings.cookies_secure || settings.speaks_tls(),
            trusted_proxies: settings.trusted_proxies.parse().context("setting `trusted_proxies`")?,
            site_url: settings.base().map(Arc::from),
            limiter: (settings.rate_limit == Switch::On).then(|| limiter(site)),
            request_log: settings.request_log,
        },
    })
}

fn limiter(site: &Site) -> Limiter {
    let (limits, own, clock) = (RateLimits::default(), MemoryBuckets::default(), site.clock.clone());
    match site.buckets.clone() {
        Some(shared) => Limiter::sharing(limits, own, shared, clock),
        None => Limiter::new(limits, own, clock),
    }
}
