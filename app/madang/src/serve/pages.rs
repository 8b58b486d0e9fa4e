//! What the pages are given of a site, and the end of the streams that their readers hold open.

use std::convert::Infallible;
use std::sync::Arc;

use anyhow::Context as _;
use async_trait::async_trait;
use jiff::tz::TimeZone;
use madang_api::{ApiLimits, Limiter, PartState, Readiness};
use madang_messaging::{OnError, Stop, Supervisor};
use madang_web::{FormLimits, FormSender, Health, LiveHub, PartHealth, WebState};

use super::readiness::SiteReadiness;
use crate::composition::site::Site;
use crate::config::Settings;

/// The state of the pages.
pub(crate) fn state(site: &Site, settings: &Settings, limits: &ApiLimits) -> anyhow::Result<WebState> {
    let proxies = limits.trusted_proxies.clone();
    let services = &site.services;
    Ok(WebState {
        members: services.members()?.clone(),
        moderation: services.moderation()?.clone(),
        articles: services.articles()?.clone(),
        comments: services.comments()?.clone(),
        likes: services.likes()?.clone(),
        views: services.views()?.clone(),
        read: services.read()?.clone(),
        hot: services.hot()?.clone(),
        guests: site.guests.clone(),
        live: Arc::new(site.live.clone()),
        health: Arc::new(SiteHealth(SiteReadiness(site.clone()))),
        limits: Arc::new(PageLimits(limits.limiter.clone())),
        clock: site.clock.clone(),
        zone: TimeZone::get(&settings.time_zone).context("setting `time_zone`")?,
        client: Arc::new(move |parts| madang_api::client_address(parts, &proxies)),
        cookies_secure: limits.cookies_secure,
        site_url: Some(settings.site_url.trim_end_matches('/')).filter(|url| !url.is_empty()).map(Arc::from),
        dead_letters: site.dead_letters.clone(),
        log: site.log.clone(),
        setup_token: Some(site.setup_token.clone()),
    })
}

/// Ends every open stream when HTTP stops: otherwise the drain would wait for people to close their browsers.
pub(crate) fn end_streams(http: &Supervisor, live: LiveHub) {
    http.spawn("live-streams", OnError::Restart, move |stop: Stop| {
        let live = live.clone();
        async move {
            stop.cancelled().await;
            live.close();
            Ok::<(), Infallible>(())
        }
    });
}

/// The limits of the API, for forms.
struct PageLimits(Option<Limiter>);

#[async_trait]
impl FormLimits for PageLimits {
    async fn admit(&self, sender: FormSender<'_>) -> bool {
        let Some(limiter) = &self.0 else { return true };
        let admitted = match sender {
            FormSender::Member(member) => limiter.admit_write(member).await,
            FormSender::Named(name) => limiter.admit_sign_in(name).await,
        };
        admitted.is_ok()
    }
}

/// What `/readyz` says, for the administration page.
struct SiteHealth(SiteReadiness);

#[async_trait]
impl Health for SiteHealth {
    async fn parts(&self) -> Vec<PartHealth> {
        let parts = self.0.parts().await.into_iter();
        parts.map(|PartState { name, ok, detail }| PartHealth { name, ok, detail }).collect()
    }
}
